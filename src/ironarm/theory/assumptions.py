"""Assumptions 1 and 2 of the paper: how far apart the arms' laws are.

The distance is measured where a median under attack can end up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..bandits import Bandit
from ..validation import number
from .arms import Arms, Normal

DENSITY_POINTS = 129


@dataclass(frozen=True)
class Separation:
    """How much corruption a median can take on these arms.

    Attributes
    ----------
    s_max : the supremum of the s for which the assumption holds; an attacked share
        above it can reverse the order of the medians.
    x0 : a number that still separates the medians at s_max (Assumption 2's x0).
    densities : whether every law has a density, which Assumption 1 asks for and
        Assumption 2 does not.
    """

    s_max: float
    x0: float
    densities: bool

    def assumption_1(self, rho: float) -> bool:
        """Return whether Assumption 1 holds with some s above rho."""
        return self.densities and rho < self.s_max

    def assumption_2(self, rho: float) -> bool:
        """Return whether Assumption 2 holds with some s above rho."""
        return rho < self.s_max


def separation(source: Bandit | Arms) -> Separation:
    """Return the largest s for which Assumptions 1 and 2 hold, and its x0.

    Assumption 2 asks for an s and an x0 with F_best(x0) < 1/2 - s and F_j(x0) > 1/2 + s
    for every other arm j. The best x0 maximises

        top(x0) = min(1/2 - F_best(x0), min_j F_j(x0) - 1/2).

    One term falls and the other rises with x0, so the maximum is where they cross.
    Assumption 1 asks for q_best(1/2 - s) > q_j(1/2 + s), with quantiles q, and for
    densities: for laws with a density both have the same limit s_max. For normal laws
    it is Phi(min_j Delta_j / (sigma_best + sigma_j)) - 1/2.

    The paper writes "a constant s" and "0 < s < 1"; both need 0 < s < 1/2. Its
    corollaries use s = Phi(Delta_min / 4 sigma) - 1/2, about half of s_max.

    Examples
    --------
    >>> import ironarm as ia
    >>> paper = separation(ia.GaussianBandit(range(2, 21, 2)))
    >>> (
    ...     round(paper.s_max, 4),
    ...     paper.x0,
    ...     paper.assumption_1(0.3),
    ...     paper.assumption_1(0.35),
    ... )
    (0.3413, 19.0, True, False)
    >>> separation(ia.BernoulliBandit([0.2, 0.3])).s_max  # both medians are 0
    0.0
    """
    arms = Arms.of(source)
    if arms.sigma is not None:
        # each arm j meets the best where both are z standard deviations off their means
        z = float((arms.gaps / (arms.sigma[arms.best] + arms.sigma[list(arms.others)])).min())
        return Separation(
            float(Normal(0, 1).cdf(z)) - 0.5,
            float(arms.means[arms.best] - z * arms.sigma[arms.best]),
            True,
        )
    x0, top = _crossing(arms)
    return Separation(max(0.0, top), x0, arms.continuous)


def top(source: Bandit | Arms, x0: float) -> float:
    """Return the largest s that Assumption 2 allows with this x0.

    It is min(1/2 - F_best(x0), min_j F_j(x0) - 1/2).

    >>> import ironarm as ia
    >>> round(top(ia.GaussianBandit([0, 2]), 1.0), 4)
    0.3413
    """
    arms = Arms.of(source)
    return _top(arms, number("x0", x0))


def quantile_gaps(source: Bandit | Arms, s: float) -> np.ndarray:
    """Return q_best(1/2 - s) - q_j(1/2 + s) for each of the other arms.

    This is what remains of the gaps when the attacker chooses a share s of the rewards.

    >>> import ironarm as ia
    >>> quantile_gaps(ia.GaussianBandit([0, 2, 6]), 0.1915).round(2).tolist()
    [5.0, 3.0]
    """
    arms = Arms.of(source)
    s = number("s", s, at_least=0, below=0.5)
    if arms.sigma is not None:
        return arms.gaps - float(Normal(0, 1).ppf(0.5 + s)) * (
            arms.sigma[arms.best] + arms.sigma[list(arms.others)]
        )
    best = float(arms.laws[arms.best].ppf(0.5 - s))
    return np.array([best - float(arms.laws[j].ppf(0.5 + s)) for j in arms.others])


def density_floor(source: Bandit | Arms, s: float, xi: float | np.ndarray) -> np.ndarray:
    """Return Assumption 1's l, the smallest density near the quantiles in question.

    That is the best arm's density within xi below its (1/2 - s)-quantile, and the
    others' within xi above their (1/2 + s)-quantile.

    For normal laws it is the density at the far end. For other laws it is the minimum
    over 129 points of the interval, which can miss narrower dips.

    >>> import ironarm as ia
    >>> round(
    ...     float(density_floor(ia.GaussianBandit([0, 2]), 0.1915, 1.0)), 4
    ... )  # Corollary 1's: phi(Delta/4 + 1)
    0.1295
    """
    arms = Arms.of(source)
    s = number("s", s, above=0, below=0.5)
    widths = np.asarray(xi, dtype=float)
    if arms.sigma is not None:
        # every normal arm is as many standard deviations off its mean, so only the
        # different sigmas matter
        scales = np.unique(arms.sigma)
        z = float(Normal(0, 1).ppf(0.5 + s))
        return (Normal(0, 1).pdf(z + widths[..., None] / scales) / scales).min(axis=-1)
    floor = np.full(widths.shape, math.inf)
    for j, law in enumerate(arms.laws):
        start = float(law.ppf(0.5 - s if j == arms.best else 0.5 + s))
        direction = -1.0 if j == arms.best else 1.0
        points = start + direction * widths[..., None] * np.linspace(0, 1, DENSITY_POINTS)
        floor = np.minimum(floor, np.asarray(law.pdf(points)).min(axis=-1))  # type: ignore[attr-defined]
    return floor


def _top(arms: Arms, x0: float) -> float:
    return float(
        min(
            0.5 - float(arms.laws[arms.best].cdf(x0)),
            min(float(arms.laws[j].cdf(x0)) for j in arms.others) - 0.5,
        )
    )


def _crossing(arms: Arms) -> tuple[float, float]:
    """Return the x0 that maximises `top`, by bisection of a decreasing difference.

    For laws with jumps it is the better side of the jump.
    """
    best = arms.laws[arms.best]
    medians = [float(law.ppf(0.5)) for law in arms.laws]
    low, high = min(medians) - 1.0, max(medians) + 1.0

    def falling(x: float) -> float:
        return (0.5 - float(best.cdf(x))) - (
            min(float(arms.laws[j].cdf(x)) for j in arms.others) - 0.5
        )

    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return max(((x, _top(arms, x)) for x in (low, high)), key=lambda pair: pair[1])
