"""For estimators without a cheap exact update: look at all rewards now and then.

A look comes when the number of rewards has grown by a sixteenth since the last one; up
to 31 rewards that is at every reward. Between looks new rewards wait unsorted. A look
sorts them and merges them into the sorted rest from the largest down. That costs O(log
n) amortised per reward, and each reward pays for about sixteen of the values that the
estimator then reads. Looks depend only on the number of rewards.

Arm a has the pool's slots 2a, sorted, and 2a + 1, waiting. About 12 bytes per reward.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...marks import cold, hot
from ..base import HoldsRewards
from . import pool
from .ordered import sort_falling
from .pool import slot_has_room


@cold
def merge_waiting(s, a):
    """Sort the waiting rewards of arm a and merge them into the sorted ones."""
    pool = s.pool
    base = s.slot_start[2 * a]
    old = s.slot_size[2 * a]
    waiting = s.slot_start[2 * a + 1]
    new = s.slot_size[2 * a + 1]
    sort_falling(pool, waiting, new)
    i = base + old - 1
    at = base + old + new - 1
    for j in range(waiting, waiting + new):
        x = pool[j]
        while i >= base and pool[i] > x:
            pool[at] = pool[i]
            i -= 1
            at -= 1
        pool[at] = x
        at -= 1
    s.slot_size[2 * a] = old + new
    s.slot_size[2 * a + 1] = 0


@hot
def look_due(s, a, x):
    """Let the reward x of arm a wait, and say whether it is time for a look.

    If so, all rewards are in order, s.slot_size[2a] of them.
    """
    waiting = 2 * a + 1
    s.pool[s.slot_start[waiting] + s.slot_size[waiting]] = x
    s.slot_size[waiting] += 1
    n = s.slot_size[2 * a] + s.slot_size[waiting]
    due = n >= s.next_look[a]
    if due:
        merge_waiting(s, a)
        s.next_look[a] = n + max(1, n // 16)
    return due


class SortedLooks(HoldsRewards):
    """The base of such estimators: everything but `add`."""

    fields = {**pool.fields(2), "next_look": "int[arms]"}

    @staticmethod
    @hot
    def room(s, a):
        waiting = s.slot_size[2 * a + 1]
        n = s.slot_size[2 * a] + waiting
        return slot_has_room(s, 2 * a, n, n + 8) and slot_has_room(
            s, 2 * a + 1, waiting, waiting + 1
        )

    @staticmethod
    def samples(s: Any, a: int) -> np.ndarray:
        return np.concatenate([pool.values(s, slot) for slot in (2 * a, 2 * a + 1)])
