"""The shorth mean: the mean of the shortest interval with a given share of the rewards.

One more reward can move the shortest interval anywhere, so there is no cheap exact
update. The interval is found at the looks of `sorted_looks.py`, and in between the
estimate stays. It is always the exact shorth mean of the first rewards, at least 16/17
of all.
"""

from __future__ import annotations

import math

from ..marks import cold, hot
from .structures.sorted_looks import SortedLooks, look_due


@cold
def shorth_mean(values, start, n, share):
    """Return the mean of the first shortest run of the n sorted values.

    They are at values[start:]. A run has max(1, floor(share n)) values. NaN if it holds
    both infinities.
    """
    m = max(1, int(share * n))
    best = start
    shortest = math.inf
    for i in range(start, start + n - m + 1):
        low = values[i]
        high = values[i + m - 1]
        width = high - low if high != low else 0.0  # equal infinities are no distance apart
        if width < shortest:
            shortest = width
            best = i
    total = 0.0
    for i in range(best, best + m):
        total += values[i]
    return total / m


class Shorth(SortedLooks):
    """The mean of the shortest interval with floor((1 - alpha) n) rewards.

    Among equal intervals the lowest counts. n is the number of rewards at the last
    look. Infinite rewards are infinitely far away. If every interval with enough
    rewards is infinitely long, the lowest is taken, and its mean is infinite; with both
    infinities it counts as -inf. O(log n) amortised per reward, about 12 bytes per
    reward.
    """

    @staticmethod
    @hot
    def add(s, a, x):
        if look_due(s, a, x):
            return shorth_mean(s.pool, s.slot_start[2 * a], s.slot_size[2 * a], 1.0 - s.alpha)
        return s.estimate[a]
