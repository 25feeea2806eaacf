"""Memory that grows with what is held: many small stacks ("slots") in one pool.

Slot j lives in `pool[slot_start[j] : slot_start[j] + slot_room[j]]` and holds
`slot_size[j]` values. A full slot moves to a place that is a quarter larger. The place
it leaves is reclaimed when the engine makes a new pool. With growth by a quarter, and
an eighth of slack in an agent's pool, a value costs at most 8 * 1.25 * 1.125 = 11.25
bytes in the long run, and under 24 while the pool is being copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...marks import cold, hot


def fields(slots_per_arm: int) -> dict[str, str]:
    """Return the arrays that an estimator needs, given its slots for each arm."""
    return {
        "slot_start": f"int[arms*{slots_per_arm}]",
        "slot_room": f"int[arms*{slots_per_arm}]",
        "slot_size": f"int[arms*{slots_per_arm}]",
        "pool_used": "int[1]",
        "pool_wanted": "int[2]",
    }


@hot
def slot_has_room(s, j, used, wanted):
    """Say whether slot j has room beyond `used` values; if not, widen it to `wanted`.

    False: the pool must grow first.
    """
    return used < s.slot_room[j] or widen(s, j, wanted)


@cold
def widen(s, j, need):
    """Give slot j room for `need` values and a quarter more.

    In a simulation, whose pool serves many trials, it gets room for twice as many.
    False: the pool is full, and the engine must make a larger one first.
    """
    room = need + (need // 4 if s.live else need)
    place = s.pool_used[0]
    if place + room > len(s.pool):
        s.pool_wanted[0] = j
        s.pool_wanted[1] = room
        return False
    start = s.slot_start[j]
    for i in range(s.slot_size[j]):
        s.pool[place + i] = s.pool[start + i]
    s.slot_start[j] = place
    s.slot_room[j] = room
    s.pool_used[0] = place + room
    return True


@cold
def move_slots(old, new, slot_start, slot_room, slot_size):
    """Copy all slots side by side into the new pool; return how much of it is used."""
    place = 0
    for j in range(len(slot_start)):
        start = slot_start[j]
        for i in range(slot_size[j]):
            new[place + i] = old[start + i]
        slot_start[j] = place
        place += slot_room[j]
    return place


def values(s: Any, j: int) -> np.ndarray:
    """Return a copy of what slot j of a state holds."""
    start = int(s.slot_start[j])
    return s.pool[start : start + int(s.slot_size[j])].copy()
