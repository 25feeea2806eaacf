"""A short sorted window of values, beside heaps that hold the rest in the pool."""

from __future__ import annotations

from ...marks import cold, hot
from .pool import widen

W = 32  # the most values in a window
HALF = 16  # how many values a window moves at a time


@hot
def insert_sorted(values, base, size, x):
    """Insert x among the `size` sorted values at values[base:]."""
    i = base + size
    while i > base and values[i - 1] > x:
        values[i] = values[i - 1]
        i -= 1
    values[i] = x


@hot
def heaps_have_room(s, a, heaps, reserve):
    """Say whether the heaps of arm a have room for one more reward.

    The arm has the pool's slots heaps * a, heaps * a + 1, ...; `s.spare` counts the
    rewards that are known to fit. The first W rewards are all in the window. False: the
    pool must grow first.
    """
    if s.spare[a] > 0:
        s.spare[a] -= 1
        return True
    return s.rewards[a] < W or make_room(s, a, heaps, reserve)


@cold
def make_room(s, a, heaps, reserve):
    """Widen the heaps of arm a, and write to `spare` how many rewards then fit.

    A reward adds at most one value to a heap, because the ranks move by at most one.
    Values that leave a window may add more. `reserve`, the values in the windows, is
    room for them that is never promised. False: the pool must grow first.
    """
    most = 1 << 62
    for slot in range(heaps * a, heaps * a + heaps):
        size = s.slot_size[slot]
        if size + reserve >= s.slot_room[slot] and not widen(s, slot, size + reserve + 1):
            return False
        most = min(most, s.slot_room[slot] - size - reserve)
    s.spare[a] = most - 1
    return True
