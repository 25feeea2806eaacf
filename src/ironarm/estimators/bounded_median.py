"""The lower median in bounded memory, exact while it stays in a window of values."""

from __future__ import annotations

import math

from ..marks import cold, hot
from .base import HoldsRewards
from .structures.pool import slot_has_room
from .structures.window import insert_sorted

SMALLEST_WINDOW = 64


@cold
def count_or_insert(s, a, x):
    """Add x to the sorted window of arm a, or only count it if it lies outside.

    Return the lower median, or the window's nearest value if the median has left it.
    """
    values = s.pool
    n = s.rewards[a]
    start = s.slot_start[a]
    m = s.slot_size[a]
    largest = max(SMALLEST_WINDOW, int(4.0 * math.sqrt(n)))
    if m > 0 and x < values[start] and (s.below[a] > 0 or m >= largest):
        s.below[a] += 1
    elif m > 0 and x > values[start + m - 1] and (s.above[a] > 0 or m >= largest):
        s.above[a] += 1
    else:
        insert_sorted(values, start, m, x)
        m += 1
        if m > largest:
            m -= 1
            if ((n - 1) >> 1) - s.below[a] > m // 2:
                s.below[a] += 1
                for k in range(start, start + m):
                    values[k] = values[k + 1]
            else:
                s.above[a] += 1
        s.slot_size[a] = m
    place = ((n - 1) >> 1) - s.below[a]
    if place < 0 or place >= m:
        s.lost[a] += 1
        place = min(max(place, 0), m - 1)
    return values[start + place]


class BoundedMedian(HoldsRewards):
    """The lower median from a window of max(64, 4 sqrt(n)) values around it.

    Values outside the window are counted and forgotten. The answer is exact while the
    median's rank lies in the window; with independent rewards its random walk rarely
    leaves it. If the rewards drift it can. `lost` then counts the updates that had to
    use the window's nearest value. O(sqrt(n)) memory. A value inside the window costs
    O(sqrt(n)), and 4/sqrt(n) of them are inside: O(1) on average.
    """

    fields = {
        **HoldsRewards.fields,
        "below": "int[arms]",
        "above": "int[arms]",
        "lost": "int[arms]",
    }
    saved = ("below", "above", "lost")
    forgets = ("below", "above")

    @staticmethod
    @hot
    def add(s, a, x):
        return count_or_insert(s, a, x)

    @staticmethod
    @hot
    def room(s, a):
        # one more than is kept: a full window takes the new value before it drops one
        return slot_has_room(s, a, s.slot_size[a] + 1, s.slot_size[a] + 8)
