"""Sums of falling powers in closed form, to bound how often rare events happen."""

from __future__ import annotations

import math


def power_sum(factor: float, start: float, power: float, end: float) -> float:
    """Bound the sum of min(1, factor (start/t)^power) over t from `start` to `end`.

    t runs over whole numbers; the terms fall with t.

    >>> exact = sum(min(1, 5 * (10 / t) ** 2) for t in range(10, 1001))
    >>> round(exact, 2), round(power_sum(5, 10, 2, 1000), 2)
    (34.72, 35.22)
    """
    if end < start or factor <= 0:
        return 0.0
    # probabilities cannot exceed 1: up to `first` every round counts in full
    reach = (
        math.log(factor) / power if factor > 1 and power > 0 else (math.inf if factor > 1 else 0.0)
    )
    first = min(end, start * math.exp(min(reach, 700.0)))
    full = first - start
    if first >= end:
        return full + 1
    value = factor * (start / first) ** power
    # a falling function's sum is at most its first term and its integral
    rest = (
        first * math.log(end / first)
        if abs(power - 1) < 1e-12
        else first * (1 - (end / first) ** (1 - power)) / (power - 1)
    )
    return full + value * (1 + rest)


def power_tail(factor: float, start: float, power: float, after: float) -> float:
    """Bound the sum of factor (start/t)^power over all whole numbers t > `after`.

    It is infinite for a power of at most 1.

    >>> round(power_tail(5, 10, 2, 100), 2)
    5.0
    """
    if power <= 1:
        return math.inf
    return factor * (start / after) ** power * after / (power - 1)
