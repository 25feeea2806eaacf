"""Lower bounds on regret for arms that are shifts of one law with a density.

The bounds of `limits` for normal arms, computed by integration on a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

TAIL = 1e-7  # what lies beyond the grid in each tail of a law
POINTS = 6001


def shifted_kl(law: Any, gap: float, rho: float) -> float:
    """Return the corrupted relative entropy of a law to itself shifted up by a gap.

    It is the least over all attacks on both; Huber's least favourable pair reaches it.

    Both densities are changed where their ratio is extreme: q0 = (1 - rho) max(f0,
    f1/c) and q1 = (1 - rho) max(f1, f0/c), with the c that makes each of them a
    density. It is 0 if the attacks can make the two equal.

    >>> from scipy.stats import norm
    >>> round(shifted_kl(norm(), 2, 0.125), 3), shifted_kl(norm(), 1, 0.3)
    (0.537, 0.0)
    """
    y, f0, f1 = _densities(law, gap)
    q0, q1 = (_filled(y, (1 - rho) * near, (1 - rho) * far) for near, far in ((f0, f1), (f1, f0)))
    return 0.0 if q0 is None or q1 is None else max(0.0, _kl(y, q0, q1))


def observed_shifted_kl(law: Any, gap: float, rho: float, attacked: Any = None) -> float:
    """Return the least relative entropy of an attacked arm to the law shifted up.

    What is seen of the arm is (1 - rho) law + rho H. The law shifted up by the gap may
    be attacked too.

    `attacked` is H, the law of an attacked reward; None for one far away from all clean
    rewards. Larger shifts are not tried.

    >>> from scipy.stats import norm
    >>> (
    ...     round(observed_shifted_kl(norm(), 2, 0.125), 3),
    ...     round(observed_shifted_kl(norm(), 2, 0.125, norm(2)), 3),
    ... )
    (0.934, 0.605)
    """
    y, f0, f1 = _densities(law, gap)
    seen = (1 - rho) * f0 + (0.0 if attacked is None else rho * np.asarray(attacked.pdf(y)))
    # there the alternative is c times what is seen
    outside = max(0.0, 1 - float(np.trapezoid(seen, y)))
    alternative = (1 - rho) * f1
    lc = _clipping(
        lambda lc: (
            float(np.trapezoid(np.maximum(alternative, math.exp(-lc) * seen), y))
            + math.exp(-lc) * outside
        )
    )
    return max(0.0, _kl(y, seen, np.maximum(alternative, math.exp(-lc) * seen)) + outside * lc)


def _densities(law: Any, gap: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid that is fine enough for two laws, and both densities on it."""
    quantiles = np.asarray(
        law.ppf(
            np.concatenate(
                [
                    np.geomspace(TAIL, 0.01, POINTS // 4),
                    np.linspace(0.01, 0.99, POINTS // 2),
                    1 - np.geomspace(0.01, TAIL, POINTS // 4),
                ]
            )
        )
    )
    ends = [end for end in law.support() if np.isfinite(end)]
    edges = np.array([*ends, *(end + gap for end in ends)])
    # a density may jump there
    y = np.unique(np.concatenate([quantiles, quantiles + gap, edges - 1e-9, edges, edges + 1e-9]))
    return (
        y,
        np.nan_to_num(np.asarray(law.pdf(y)), posinf=0.0),
        np.nan_to_num(np.asarray(law.pdf(y - gap)), posinf=0.0),
    )


def _filled(y: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray | None:
    """Return max(own, other/c) with the c >= 1 that makes it a density.

    None if it falls short of one with c = 1.
    """

    def mass(lc: float) -> float:
        return float(np.trapezoid(np.maximum(own, math.exp(-lc) * other), y))

    return None if mass(0.0) <= 1 else np.maximum(own, math.exp(-_clipping(mass)) * other)


def _clipping(mass: Callable[[float], float]) -> float:
    """Return the log(1/c) at which a decreasing mass is 1, or 0 if it is smaller."""
    from scipy.optimize import brentq

    if mass(0.0) <= 1:
        return 0.0
    high = 1.0
    while mass(high) > 1 and high < 1e3:
        high *= 2
    return float(brentq(lambda lc: mass(lc) - 1, 0.0, high, xtol=1e-12)) if high < 1e3 else high


def _kl(y: np.ndarray, p: np.ndarray, q: np.ndarray) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / q), 0.0)
    return float(np.trapezoid(terms, y))
