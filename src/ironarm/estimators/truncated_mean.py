"""The truncated mean: rewards that are too large for their number count as zero."""

from __future__ import annotations

import math

from ..marks import cold, hot
from .base import HoldsRewards


@hot
def truncated(x, i, scale, order):
    """Return x, the i-th reward, or 0 if |x| exceeds (scale * i)^(1/order)."""
    largest = math.sqrt(scale * i) if order == 2.0 else (scale * i) ** (1.0 / order)
    return x if abs(x) <= largest else 0.0


@cold
def truncated_sum(values, start, n, scale, order):
    """Return the truncated sum of n rewards in the order of their arrival."""
    total = 0.0
    for i in range(n):
        total += truncated(values[start + i], i + 1, scale, order)
    return total


class TruncatedMean(HoldsRewards):
    """The mean in which a reward counts as zero if it is too large for its number.

    That is the sum of X_i 1{|X_i| <= (u i / log(1/delta))^(1/(1 + e))} divided by all
    n. O(1) per reward while delta stays, O(n) when it changes; about 11 bytes per
    reward.

    `s.truncation` is u / log(1/delta), or 0 while delta is not known. Then rewards are
    only stored, and the policy calls `truncated_sum` later. Sums are always taken in
    the order of arrival, so the result does not depend on when that is. Infinite
    rewards are truncated like any other that is too large.
    """

    fields = {**HoldsRewards.fields, "kept_sum": "float[arms]"}

    @staticmethod
    @hot
    def add(s, a, x):
        n = s.slot_size[a]
        s.pool[s.slot_start[a] + n] = x
        s.slot_size[a] = n + 1
        s.kept_sum[a] += truncated(x, n + 1, s.truncation[0], s.order)
        return s.kept_sum[a] / (n + 1)
