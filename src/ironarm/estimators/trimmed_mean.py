"""The exact alpha-trimmed mean, without the smallest and largest rewards."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..marks import hot
from .base import HoldsRewards
from .structures import exact_sum, two_cuts
from .structures.exact_sum import exact_add, exact_mean
from .structures.two_cuts import held, put
from .structures.window import W, heaps_have_room


@hot
def keep(s, a, x, sign):
    """Take x into the kept part (sign = 1) or out of it (sign = -1).

    Infinities are counted, so that they can leave again.
    """
    if math.isinf(x):
        s.infinite[2 * a + (x > 0)] += sign
    else:
        exact_add(s.bin_sums, s.bin_counts, s.bin_range, a, x, sign)


@hot
def trimmed_with(s, a, x, wanted):
    """Add x to the rewards of arm a; return their mean without `wanted` at each end.

    `wanted` is at most one more than before.
    """
    n = s.rewards[a]
    k = s.cut[a]
    low, high = put(
        s.pool, s.window, s.inside, s.slot_start, s.slot_size, s.slot_sifted, a, x, k, n
    )
    keep(s, a, min(max(x, low), high), 1)
    if wanted > k:  # the larger cut drops two values
        keep(s, a, low, -1)
        keep(s, a, high, -1)
        s.cut[a] = wanted
    if s.infinite[2 * a] > 0:
        return math.nan if s.infinite[2 * a + 1] > 0 else -math.inf
    if s.infinite[2 * a + 1] > 0:
        return math.inf
    return exact_mean(s.bin_sums, s.bin_range, a, n - 2 * wanted)


class TrimmedMean(HoldsRewards):
    """The mean of the rewards without the floor(alpha n) smallest and largest.

    `s.alpha` is in [0, 1/2), so something is always left. With e the sorted rewards and
    k the old count to drop, a new reward x adds clamp(x, e[k], e[n-1-k]) to the kept
    sum. When k grows, the two values at the cuts leave it. `two_cuts` finds the values
    at the cuts. An exact sum holds the kept part, so an unbounded reward that passes
    through leaves no rounding error. O(log n) amortised per update, about 11 bytes per
    reward.
    """

    fields = {
        **two_cuts.fields(),
        **exact_sum.fields(),
        "cut": "int[arms]",
        "infinite": "int[arms*2]",
    }
    any_order = True

    @staticmethod
    @hot
    def add(s, a, x):
        return trimmed_with(s, a, x, int(s.alpha * s.rewards[a]))

    @staticmethod
    @hot
    def room(s, a):
        return heaps_have_room(s, a, 3, 2 * W)

    @staticmethod
    def samples(s: Any, a: int) -> np.ndarray:
        return held(s, a)


class AmplyTrimmedMean(TrimmedMean):
    """The mean without the ceil(alpha n) smallest and largest rewards.

    The middle one or two rewards are always kept.
    """

    @staticmethod
    @hot
    def add(s, a, x):
        n = s.rewards[a]
        return trimmed_with(s, a, x, min(math.ceil(s.alpha * n), (n - 1) // 2))
