"""Numbers as people read them, on certificates and in the table of the theory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

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


def figures(values: Sequence[float], bounds: bool = False) -> list[str]:
    """Return the numbers of one row of a table, all in one format.

    They have as many decimals as the smallest needs to show four digits. If one has
    more than nine digits, all have an exponent. NaN is empty. Upper bounds are rounded
    up, other numbers to the nearest.

    >>> figures([170.94, 4679.8, 64.474, math.nan]), figures([0.0, 0.6513])
    (['170.94', '4,679.80', '64.47', ''], ['0', '0.6513'])
    >>> figures([9.4732e8, 5.16e12, 10315441])
    ['9.47e+08', '5.16e+12', '1.03e+07']
    >>> figures([181694.4], bounds=True), figures([9.4712e8, 5.16e12], bounds=True)
    (['181,695'], ['9.48e+08', '5.16e+12'])
    """
    sizes = [abs(x) for x in values if x and math.isfinite(x)]
    decimals = max(0, 3 - math.floor(math.log10(min(sizes)))) if sizes else 0
    exponent = bool(sizes) and max(sizes) >= 1e9

    def shown(x: float) -> str:
        if math.isnan(x):
            return ""
        if not x or math.isinf(x):
            return figure(x)
        if bounds:
            x = _rounded(x, 2 - math.floor(math.log10(abs(x))) if exponent else decimals, up=True)
        return format(x, ".2e" if exponent else f",.{decimals}f")

    return [shown(x) for x in values]


def at_most(bound: float) -> str:
    """Return an upper bound like `figure`, but rounded up.

    >>> [at_most(x) for x in (741.62, 23922.1, 8.93076e10, 0.3 * 9)]
    ['741.7', '23,923', '8.94e+10', '2.7']
    """
    return _outward(bound, up=True)


def at_least(bound: float) -> str:
    """Return a lower bound like `figure`, but rounded down.

    >>> [at_least(x) for x in (741.68, 23922.9, 8.93976e10, 0.0)]
    ['741.6', '23,922', '8.93e+10', '0']
    """
    return _outward(bound, up=False)


def _outward(bound: float, up: bool) -> str:
    if not math.isfinite(bound) or bound <= 0:
        return figure(bound)
    size = math.floor(math.log10(bound))
    decimals = 2 - size if bound >= LARGE else max(0, 3 - size)
    return figure(_rounded(bound, decimals, up))


def _rounded(x: float, decimals: int, up: bool) -> float:
    """Round up or down, after a dozen digits, since the last ones are not certain."""
    certain = Decimal(f"{x:.12g}")
    return float(
        certain.quantize(Decimal(1).scaleb(-decimals), ROUND_CEILING if up else ROUND_FLOOR)
    )
