"""Evidence from rewards that a policy gathered and somebody watches: test martingales.

A likelihood ratio, averaged over what an arm might be, exceeds 1/a with a probability
of at most a, whenever one looks and whatever chose the arms (Ville's inequality).
Intervals of medians and means are what it does not refute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .bounded_log import ENOUGH, are_clicks, kind_of_log

LARGEST = 1e300
"""Ends of a range, at most: between larger numbers the distance is infinite."""
STEPS = 40
"""Halvings when the end of an interval is sought."""


class Interval(NamedTuple):
    """A median or mean, and what it may be; NaN without rewards."""

    value: float
    low: float
    high: float


def log_evidence(s: np.ndarray, n: np.ndarray, x: np.ndarray, above: bool) -> np.ndarray:
    """Return the logarithm of the evidence that a share is above x, or below it.

    s successes in n trials. It is the likelihood ratio of p to x, averaged over all p
    above x, or below it, with the weights of Jeffreys' prior, Beta(1/2, 1/2): it loses
    the least on arms with few rewards that all say the same.

    >>> s, n, x = np.array([6.0]), np.array([6.0]), np.array([0.5])
    >>> round(float(np.exp(log_evidence(s, n, x, True)[0])), 1), 2**6
    (28.8, 64)
    """
    from scipy.special import betainc, betaincc, betaln

    share = betaincc if above else betainc
    a, b = s + 0.5, n - s + 0.5
    with np.errstate(divide="ignore"):
        part = betaln(a, b) + np.log(share(a, b, x))
        whole = betaln(0.5, 0.5) + np.log(share(0.5, 0.5, x))
    return part - whole - s * np.log(x) - (n - s) * np.log1p(-x)


@lru_cache(maxsize=20_000)
def order_place(n: int, log_level: float, q: float = 0.5) -> int:
    """Return which of n rewards in order is a lower bound of the q-quantile.

    1 is the smallest, 0 means none. As many from the end are an upper bound of the
    median. `log_level` is log(1/a).
    """
    low, high = -1, int(n * q)  # refuted up to low, not refuted at high
    share = np.array([q])
    while high - low > 1:
        k = (low + high) // 2
        seen = log_evidence(np.array([float(k)]), np.array([float(n)]), share, False)[0]
        low, high = (k, high) if seen >= log_level else (low, k)
    return low + 1


def median_interval(ordered: np.ndarray, log_level: float) -> Interval:
    """Return the lower median of rewards in order, and its interval."""
    n = len(ordered)
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf)
    k = order_place(n, log_level)
    middle = float(ordered[(n + 1) // 2 - 1])
    if k == 0:
        return Interval(middle, -math.inf, math.inf)
    return Interval(middle, float(ordered[k - 1]), float(ordered[n - k]))


def mean_intervals(
    sums: np.ndarray, sizes: np.ndarray, ends: tuple[float, float], log_level: float
) -> list[Interval]:
    """Return the means of rewards in a range, and their intervals."""
    low, width = ends[0], ends[1] - ends[0]
    n = sizes.astype(float)
    s = np.clip((sums - n * low) / width, 0.0, n)
    means = s / np.maximum(n, 1.0)
    found = []
    for above, end in ((True, 0.0), (False, 1.0)):
        near, far = means.copy(), np.full(len(n), end)  # near is possible, far is not
        for _ in range(STEPS):
            x = np.clip((near + far) / 2, 1e-12, 1 - 1e-12)
            refuted = log_evidence(s, n, x, above) >= log_level
            near, far = np.where(refuted, near, x), np.where(refuted, x, far)
        near = np.minimum(near, means) if above else np.maximum(near, means)
        found.append(low + width * near)
    return [
        Interval(low + width * float(m), float(a), float(b)) if count else Interval(math.nan, *ends)
        for m, a, b, count in zip(means, *found, sizes, strict=True)
    ]


def kind_of(samples: Sequence[np.ndarray]) -> str:
    """Return "" if medians are to be compared, else why means are.

    >>> kind_of([np.array([0.0, 1.0]), np.array([1.0])])
    '0 or 1'
    """
    pooled = _finite(samples)
    if len(pooled) and are_clicks(pooled):
        return "0 or 1"
    enough = [np.sort(x[np.isfinite(x)]) for x in samples]
    enough = [x for x in enough if len(x) >= ENOUGH]
    return kind_of_log(enough) if enough else ""  # type: ignore[arg-type]


def _finite(samples: Sequence[np.ndarray]) -> np.ndarray:
    pooled = np.concatenate([np.zeros(0), *samples])
    return pooled[np.isfinite(pooled)]


def range_of(samples: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the ends of the finite rewards; for those of 0 and 1 always these.

    >>> range_of([np.array([0.0, 1.0] * 20), np.array([0.0, 1e9])])
    (0.0, 1.0)
    """
    pooled = np.clip(_finite(samples), -LARGEST, LARGEST)
    low, high = float(pooled.min()), float(pooled.max())
    if (low >= 0 and high <= 1) or are_clicks(pooled):
        return 0.0, 1.0
    return (low, high) if low < high else (low - abs(low), high)
