"""The shorth mean: the mean of the shortest interval that holds a given share of the rewards.

One more reward can move the shortest interval anywhere, so there is no cheap exact update. The interval is looked for only when the number of rewards has grown by a sixteenth
since the last look (up to sixteen rewards: at every reward), and in between the estimate stays: it is always the exact shorth mean of the first rewards, at least 16/17 of all.

Between looks new rewards wait unsorted. A look sorts them, merges them into the sorted rest from the largest down, and scans: O(log n) amortised per reward.
Arm a has the pool's slots 2a, sorted, and 2a + 1, waiting.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..marks import cold, hot
from . import pool
from .base import Estimator
from .ordered import sort_falling
from .pool import widen


@cold
def merge_waiting(pool, slot_start, slot_size, a):
    """Sort the waiting rewards of arm a and merge them into the sorted ones."""
    base = slot_start[2 * a]
    old = slot_size[2 * a]
    waiting = slot_start[2 * a + 1]
    new = slot_size[2 * a + 1]
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
    slot_size[2 * a] = old + new
    slot_size[2 * a + 1] = 0


@cold
def shorth_mean(values, start, n, share):
    """Return the mean of the first shortest run of max(1, floor(share n)) among the n sorted values at values[start:]; NaN if it holds both infinities."""
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


class Shorth(Estimator):
    """The mean of the shortest interval holding floor((1 - alpha) n) rewards, the lowest one among equals; n is the number of rewards at the last look, see the module's docstring.

    Infinite rewards are as far away as can be. If every interval with enough rewards is infinitely long, the lowest is taken, and its mean is infinite; that of both infinities
    counts as -inf. O(log n) amortised per reward, about 12 bytes per reward.
    """

    fields = {**pool.fields(2), "next_look": "int[arms]"}
    holds_rewards = True

    @staticmethod
    @hot
    def add(s, a, x):
        waiting = 2 * a + 1
        s.pool[s.slot_start[waiting] + s.slot_size[waiting]] = x
        s.slot_size[waiting] += 1
        n = s.slot_size[2 * a] + s.slot_size[waiting]
        if n < s.next_look[a]:
            return s.estimate[a]
        merge_waiting(s.pool, s.slot_start, s.slot_size, a)
        s.next_look[a] = n + max(1, n // 16)
        return shorth_mean(s.pool, s.slot_start[2 * a], n, 1.0 - s.alpha)

    @staticmethod
    @hot
    def room(s, a):
        ordered = 2 * a
        waiting = ordered + 1
        wait = s.slot_size[waiting]
        n = s.slot_size[ordered] + wait
        return (n < s.slot_room[ordered] or widen(s.pool, s.pool_used, s.pool_wanted, s.slot_start, s.slot_room, s.slot_size, ordered, n + 8, s.live)) and (
            wait < s.slot_room[waiting] or widen(s.pool, s.pool_used, s.pool_wanted, s.slot_start, s.slot_room, s.slot_size, waiting, wait + 1, s.live)
        )

    @staticmethod
    def samples(s: Any, a: int) -> np.ndarray:
        return np.concatenate([pool.values(s.pool, s.slot_start, s.slot_size, slot) for slot in (2 * a, 2 * a + 1)])
