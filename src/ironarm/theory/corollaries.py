"""Corollaries 1 and 2: what the paper asks for if the arms are normal."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..validation import number
from .arms import Normal, poison_rate
from .unmet import Unmet


@dataclass(frozen=True)
class Corollary1:
    """What Corollary 1 asks for: rho below `threshold`, and these omega and b.

    There is one pair for a bound in expectation and one with high probability; all are
    infinite where the corollary does not apply, and `why_not` says why.
    """

    threshold: float
    omega: float
    b: float
    omega_high_probability: float
    b_high_probability: float
    why_not: tuple[Unmet, ...] = ()


def corollary_1(gap: float, sigma: float, rho: float) -> Corollary1:
    """Return Corollary 1: Theorem 1 for normal arms.

    It has s = Phi(Delta_min/4 sigma) - 1/2 and xi = 1.

    Then l = phi((Delta_min/4 + 1)/sigma)/sigma, omega = 2/l^2 and b = max(omega, 2/(s -
    rho)^2).

    **What is wrong in the paper:** one omega >= 2/l^2 for both claims, while Theorem 2
    asks for 3.5/l^2 (1.5/l^2 would do). And xi = 1 is a number without a unit: measured
    in millivolts instead of volts, the same arms get another b. Prefer `theorem_1`,
    whose b does not depend on units.

    Examples
    --------
    >>> c = corollary_1(gap=2, sigma=1, rho=0.125)
    >>> round(c.threshold, 4), round(c.omega), round(c.b)
    (0.1915, 119, 453)
    >>> print(corollary_1(gap=2, sigma=1, rho=0.3).why_not[0])
    the corollaries need rho below Phi(gap/4 sigma) - 1/2 = 0.1915, got 0.3.
    """
    gap, sigma, rho, s = _read(gap, sigma, rho)
    if rho >= s:
        return Corollary1(s, math.inf, math.inf, math.inf, math.inf, (_too_much(rho, s),))
    l = float(Normal(0, 1).pdf((gap / 4 + 1) / sigma)) / sigma
    if l == 0:
        nowhere = Unmet("l = 0", "the density at a distance of gap/4 + 1 is 0 to all digits.")
        return Corollary1(s, math.inf, math.inf, math.inf, math.inf, (nowhere,))
    share = 2 / (s - rho) ** 2
    return Corollary1(s, 2 / l**2, max(2 / l**2, share), 3.5 / l**2, max(3.5 / l**2, share))


@dataclass(frozen=True)
class Corollary2:
    """What Corollary 2 asks for: rho below `threshold`, and `c` as printed.

    `c_theorem_3` and `c_theorem_4` are what the theorems behind it ask for with its s.
    All are infinite where the corollary does not apply, and `why_not` says why.
    """

    threshold: float
    c: float
    c_theorem_3: float
    c_theorem_4: float
    why_not: tuple[Unmet, ...] = ()


def corollary_2(gap: float, sigma: float, rho: float) -> Corollary2:
    """Return Corollary 2: Theorems 3 and 4 for normal arms.

    It has s = Phi(Delta_min/4 sigma) - 1/2, and x0 in the middle between the two best
    means.

    **What is wrong in the paper:** it prints c > max(10, 1/(..)^2, 1/(..)^2), which are
    the constants of neither theorem (20, 2, 2 and 40, 4, 1), and its proof drops a
    square. Evaluate `theorem_3` and `theorem_4` instead, which also choose the best s.

    Examples
    --------
    >>> c = corollary_2(gap=2, sigma=1, rho=0.125)
    >>> round(c.c), round(c.c_theorem_3), round(c.c_theorem_4)
    (226, 453, 226)
    """
    gap, sigma, rho, s = _read(gap, sigma, rho)
    if rho >= s:
        return Corollary2(s, math.inf, math.inf, math.inf, (_too_much(rho, s),))
    margin = (float(Normal(0, 1).cdf(gap / (2 * sigma))) - 0.5 - s) ** 2
    if margin == 0:
        far = Unmet("gap too large", "at this gap both quantiles of its c are 1 to all digits.")
        return Corollary2(s, math.inf, math.inf, math.inf, (far,))
    share = (s - rho) ** 2
    return Corollary2(
        s,
        max(10, 1 / margin, 1 / share),
        max(20, 2 / margin, 2 / share),
        max(40, 4 / margin, 1 / share),
    )


def _read(gap: float, sigma: float, rho: float) -> tuple[float, float, float, float]:
    """Return the checked arguments, and the s of both corollaries."""
    gap = number("gap", gap, above=0)
    sigma = number("sigma", sigma, above=0)
    s = float(Normal(0, 1).cdf(gap / (4 * sigma))) - 0.5
    return gap, sigma, poison_rate(rho), s


def _too_much(rho: float, s: float) -> Unmet:
    return Unmet(
        f"rho >= {s:.4f}",
        f"the corollaries need rho below Phi(gap/4 sigma) - 1/2 = {s:.4f}, got {rho:g}.",
    )
