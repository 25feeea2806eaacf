"""Numbers as people read them, on certificates and in the table of the theory."""

from __future__ import annotations

import math
from collections.abc import Sequence

LARGE = 1e7


def figure(x: float) -> str:
    """Return a number to four digits, or to the unit; large ones to three digits.

    >>> [figure(x) for x in (0.12346, 741.62, 23922.6, 8.93976e10, math.inf)]
    ['0.1235', '741.6', '23,923', '8.94e+10', 'infinity']
    """
    if math.isinf(x):
        return "infinity"
    if abs(x) >= LARGE:
        return f"{x:.3g}"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def figures(values: Sequence[float]) -> list[str]:
    """Return the numbers of one row of a table, all in one format.

    They have as many decimals as the smallest needs to show four digits. If one has
    more than nine digits, all have an exponent. NaN is empty.

    >>> figures([170.94, 4679.8, 64.474, math.nan]), figures([0.0, 0.6513])
    (['170.94', '4,679.80', '64.47', ''], ['0', '0.6513'])
    >>> figures([9.4732e8, 5.16e12, 10315441])
    ['9.47e+08', '5.16e+12', '1.03e+07']
    """
    sizes = [abs(x) for x in values if x and math.isfinite(x)]
    decimals = max(0, 3 - math.floor(math.log10(min(sizes)))) if sizes else 0
    form = ".2e" if sizes and max(sizes) >= 1e9 else f",.{decimals}f"
    return [
        "" if math.isnan(x) else format(x, form) if x and math.isfinite(x) else figure(x)
        for x in values
    ]


def at_most(bound: float) -> str:
    """Return a bound like `figure`, but never below it.

    >>> [at_most(x) for x in (741.62, 23922.1, 8.93076e10)]
    ['741.7', '23,923', '8.94e+10']
    """
    if not math.isfinite(bound) or bound <= 0:
        return figure(bound)
    if 1000 <= bound < LARGE:
        return f"{math.ceil(bound):,}"
    digits = 3 if bound >= LARGE else 4
    step = 10.0 ** (math.floor(math.log10(bound)) - digits + 1)
    return f"{math.ceil(bound / step) * step:.{digits}g}"
