"""Huber's M-estimator: the root m of sum psi(X_i - m) = 0.

psi(x) is x between -beta and beta, and -beta or beta beyond. The estimator has no
streaming form: every reward moves m, and then any other reward can enter or leave the
sloped part of psi. The root is solved for at the looks of `sorted_looks.py`. In between
the estimate is one Newton step from the last root m0, at which psi sums to zero over
the older rewards:

    m0 + sum over newer rewards of psi(X_i - m0)
         / #{all rewards with |X_i - m0| <= beta},

or m0 if no reward is so near. Newer rewards are at most a sixteenth, so that is close
to the root, and each costs O(1).

The root is unique except if n is even and the middle of the rewards has a gap of more
than 2 beta. Then every point that is beta away from both sides is a root, and the
smallest is taken. Rewards are clipped to +-1e12, so that the root is finite.
"""

from __future__ import annotations

from ..marks import cold, hot
from .structures.sorted_looks import SortedLooks, look_due

LARGEST = 1e12


@cold
def count_below(values, start, n, y):
    """Return how many of the n sorted values at values[start:] are less than y."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) >> 1
        if values[start + middle] < y:
            low = middle + 1
        else:
            high = middle
    return low


@cold
def count_up_to(values, start, n, y):
    """Return how many of the n sorted values at values[start:] are at most y."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) >> 1
        if values[start + middle] <= y:
            low = middle + 1
        else:
            high = middle
    return low


@cold
def huber_root(values, start, n, beta):
    """Return the smallest root for the n sorted values at values[start:].

    Newton's method from the median, with bisection where it leaves the bracket or takes
    long. On a piece between two kinks the sum is a line, so a step that stays on its
    piece is exact.
    """
    half = n // 2
    if n == 2 * half and values[start + half] - values[start + half - 1] >= 2.0 * beta:
        return values[start + half - 1] + beta
    low = values[start]
    high = values[start + n - 1]
    m = values[start + half]
    last_first = -1
    last_after = -1
    for attempt in range(200):
        first = count_below(values, start, n, m - beta)
        after = count_up_to(values, start, n, m + beta)
        beyond = beta * (n - after - first)
        total = 0.0
        for i in range(start + first, start + after):
            total += values[i]
        within = after - first
        if first == last_first and after == last_after:
            return m
        last_first = first
        last_after = after
        slack = total - within * m + beyond  # the sum of psi at m, which falls as m grows
        if slack > 0.0:
            low = m
        else:
            high = m
        step = (total + beyond) / within if within > 0 else high
        if attempt < 30 and low <= step <= high and within > 0:
            m = step
        else:
            m = 0.5 * (low + high)
            last_first = -1
    return m


class Huber(SortedLooks):
    """Huber's estimator with threshold `s.beta`, see the module's docstring.

    O(log n) amortised per reward, about 12 bytes per reward.
    """

    fields = {
        **SortedLooks.fields,
        "root": "float[arms]",
        "near_root": "int[arms]",
        "newer_sum": "float[arms]",
    }

    @staticmethod
    @hot
    def add(s, a, x):
        x = min(max(x, -LARGEST), LARGEST)
        if look_due(s, a, x):
            start = s.slot_start[2 * a]
            n = s.slot_size[2 * a]
            s.root[a] = huber_root(s.pool, start, n, s.beta)
            s.near_root[a] = count_up_to(s.pool, start, n, s.root[a] + s.beta) - count_below(
                s.pool, start, n, s.root[a] - s.beta
            )
            s.newer_sum[a] = 0.0
            return s.root[a]
        root = s.root[a]
        s.near_root[a] += root - s.beta <= x <= root + s.beta
        s.newer_sum[a] += min(max(x - root, -s.beta), s.beta)
        return root + s.newer_sum[a] / s.near_root[a] if s.near_root[a] > 0 else root
