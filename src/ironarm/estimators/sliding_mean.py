"""The mean of an arm's rewards among the last rewards of all arms."""

from __future__ import annotations

import math

from ..marks import cold, hot
from .base import Estimator
from .structures import exact_sum, ring
from .structures.exact_sum import exact_add, exact_mean
from .structures.ring import arm_at, oldest_place, write_newest


@hot
def mean_now(s, a):
    """Return the mean of the rewards of arm a in the window, -inf if there are none."""
    if s.held[a] == 0:
        return -math.inf
    return exact_mean(s.bin_sums, s.bin_range, a, s.held[a])


@cold
def sum_up(s):
    """Add up the rewards in the ring, after a load or a change of arms."""
    for place in range(1, int(s.window) + 1):
        a = arm_at(s, place)
        if a >= 0:
            exact_add(s.bin_sums, s.bin_counts, s.bin_range, a, s.ring_value[place], 1)
    s.summed_up[0] = 1


class SlidingMean(Estimator):
    """The mean of the arm's rewards among the last `s.window` of all arms.

    Rewards are clipped to `s.low` and `s.high`. The sum is exact, so a reward that
    leaves the window leaves no rounding error. A reward of another arm that leaves
    changes that arm's estimate, too: `s.left[0]` is then one more than the arm's
    number. The estimate of an arm without a reward in the window is -inf. O(1) per
    update, 16 bytes for each place.
    """

    # sums are not saved: what compiled code uses as an index comes from no file
    fields = {
        **ring.FIELDS,
        **{name: f"cache {text}" for name, text in exact_sum.fields().items()},
        "summed_up": "cache int[1]",
    }

    @staticmethod
    @hot
    def add(s, a, x):
        if s.summed_up[0] == 0:
            sum_up(s)
        x = min(max(x, s.low), s.high)
        place = oldest_place(s)
        out = arm_at(s, place)
        if out >= 0:
            exact_add(s.bin_sums, s.bin_counts, s.bin_range, out, s.ring_value[place], -1)
            s.held[out] -= 1
            if out != a:
                s.estimate[out] = mean_now(s, out)
        s.left[0] = out + 1
        write_newest(s, a, x, place)
        exact_add(s.bin_sums, s.bin_counts, s.bin_range, a, x, 1)
        return mean_now(s, a)
