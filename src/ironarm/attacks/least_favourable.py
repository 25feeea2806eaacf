"""Huber's least favourable pairs: the attack that leaves the least to learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput
from ..marks import hot
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit

POINTS = 1024  # cells of a quantile table, one table for each arm
LEVELS = np.concatenate(
    [
        np.geomspace(1e-15, 1e-3, 120),
        np.linspace(1e-3, 1 - 1e-3, 2001)[1:-1],
        1 - np.geomspace(1e-3, 1e-15, 120),
    ]
)


@dataclass(frozen=True)
class LeastFavourable(Attack):
    """The attack of the lower bound: makes arms look as alike as it can.

    For the laws p of an arm and p* of the best arm, Huber's pair is

        q = (1 - rho) max(p, p*/k),   q* = (1 - rho) max(p*, p/k),

    with the k >= 1 that makes them densities. Each is (1 - rho) times the clean law
    plus rho times some law H, and an attacked reward is drawn from H. Then a reward of
    the arm carries the evidence KL(q || q*) against its being the best, which is
    kl_rho(gap/sigma) for normal arms. No policy that does well under every attack can
    pull the arm fewer than log T / kl_rho times. Arms too close for the pair to exist
    look exactly the same. docs/attacks.md says more about the pair.

    It hurts policies that need few pulls: they need more. A policy that pulls every arm
    often anyway hardly notices, and means suffer more from outliers. The arms must have
    densities: a GaussianBandit with all sigmas above 0, or a ScipyBandit of continuous
    laws.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> for attack in (ia.LeastFavourable(rho=0.3), ia.OppositeUniform(rho=0.3)):
    ...     result = ia.simulate(
    ...         ia.CountIMED(epsilon=0.35),
    ...         bandit,
    ...         attack,
    ...         horizon=5000,
    ...         trials=10,
    ...         seed=1,
    ...         progress=False,
    ...     )
    ...     print(type(attack).__name__, round(result.summary().rows[0].mean))
    LeastFavourable 1954
    OppositeUniform 1028

    References
    ----------
    Huber, A robust version of the probability ratio test, 1965. Agrawal, Mathieu, Basu,
    Maillard, CRIMED: Lower and upper bounds on regret for bandits with unbounded
    stochastic corruption, 2024.
    """

    rho: float

    def start(self, bandit: Bandit) -> np.ndarray:
        return np.concatenate([self._table(bandit, arm) for arm in range(bandit.arms)])

    def _table(self, bandit: Bandit, arm: int) -> np.ndarray:
        """Return the quantiles of an attacked reward at 0, 1/POINTS, ..., 1."""
        rival = bandit.runner_up if arm == bandit.best else bandit.best
        edges = np.unique(
            np.concatenate([_quantiles(bandit, each, LEVELS) for each in (arm, rival)])
        )
        own, other = (_masses(_cdf(bandit, each)(edges)) for each in (arm, rival))
        shown = least_favourable_pair(own, other, self.rho)[0] - (1 - self.rho) * own
        below = np.concatenate([[0.0], np.cumsum(np.maximum(shown, 0.0))])
        levels = np.linspace(0, 1, POINTS + 1)
        # inside, because a quantile may be infinite at 0 and 1
        levels[[0, -1]] = 1 / (8 * POINTS), 1 - 1 / (8 * POINTS)
        return np.interp(levels * below[-1], below, edges)

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        place = u * POINTS
        i = int(place)
        low = e.memory[a * (POINTS + 1) + i]
        return low + (place - i) * (e.memory[a * (POINTS + 1) + i + 1] - low)


def least_favourable_pair(
    p0: np.ndarray, p1: np.ndarray, rho: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Huber's pair (q0, q1) of two laws, as probabilities of the same cells.

    >>> q0, q1 = least_favourable_pair(
    ...     np.array([0.9, 0.1]), np.array([0.1, 0.9]), 0.25
    ... )
    >>> q0.round(3).tolist(), q1.round(3).tolist()
    ([0.675, 0.325], [0.325, 0.675])
    >>> least_favourable_pair(np.array([0.6, 0.4]), np.array([0.4, 0.6]), 0.25)[
    ...     0
    ... ].tolist()
    [0.5, 0.5]
    """
    union = np.maximum(p0, p1)
    if rho == 0.0:
        return p0, p1
    if union.sum() * (1 - rho) <= 1:  # one law that both can show
        return union / union.sum(), union / union.sum()
    return (1 - rho) * np.maximum(p0, p1 / _clip(p0, p1, rho)), (1 - rho) * np.maximum(
        p1, p0 / _clip(p1, p0, rho)
    )


def _clip(p: np.ndarray, other: np.ndarray, rho: float) -> float:
    """Return the k that makes (1 - rho) max(p, other/k) a law."""
    from scipy.optimize import brentq

    # at (1 - rho)/rho the sum is at most 1, because max(p, other/k) <= p + other/k
    return float(
        brentq(
            lambda k: (1 - rho) * np.maximum(p, other / k).sum() - 1,
            1.0,
            (1 - rho) / rho * (1 + 1e-9),
            xtol=1e-13,
        )
    )


def _masses(cdf: np.ndarray) -> np.ndarray:
    """Return the cells' probabilities, without what lies beyond the outermost edges."""
    masses = np.diff(cdf)
    return np.asarray(masses / masses.sum())


def _quantiles(bandit: Bandit, arm: int, levels: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri

    return bandit.rewards(arm, ndtri(levels) if bandit.location_scale is not None else levels)


def _cdf(bandit: Bandit, arm: int) -> Callable[[np.ndarray], Any]:
    """Return an arm's distribution function; refuse a law without a density."""
    from scipy.special import ndtr

    if bandit.location_scale is not None and bandit.location_scale[1][arm] > 0:
        location, scale = (values[arm] for values in bandit.location_scale)
        return lambda y: ndtr((y - location) / scale)
    law = getattr(bandit, "laws", {arm: None})[arm]
    if not callable(getattr(law, "pdf", None)):
        raise InvalidInput(
            "LeastFavourable needs arms with densities, a GaussianBandit with sigma above 0 or a "
            f"ScipyBandit of continuous laws, got {bandit!r}. Use Mimic instead."
        )
    return law.cdf  # type: ignore[no-any-return]
