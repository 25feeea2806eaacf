"""Heavy-tailed outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import hot
from ..validation import number
from .base import Attack


@dataclass(frozen=True)
class Cauchy(Attack):
    """Outliers without a mean: Cauchy numbers.

    They lie around -down on the best arm and around +up on any other. Most of these
    outliers are moderate, so cutting off extremes does not find them. A few are so
    large that they move a mean anywhere. Medians suffer as from any attack that puts
    its outliers on the wrong side. The defaults are those of the CRIMED paper's Figure
    2, third scenario: arms N(0.8, 0.25), N(0.9, 0.25), N(1, 0.25) at rho = 0.01.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    up : centre of the outliers of arms other than the best, in units of reward.
    down : minus the centre of those of the best arm, in units of reward.
    scale : half of the outliers lie within this distance from the centre, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit([0.8, 0.9, 1.0], sigma=0.5)
    >>> result = ia.simulate(
    ...     [ia.UCB(), ia.MedEUCB()],
    ...     bandit,
    ...     ia.attacks.Cauchy(rho=0.01),
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.stuck.mean(axis=1).tolist()
    [1.0, 0.0]

    References
    ----------
    Agrawal, Mathieu, Basu, Maillard, CRIMED: Lower and upper bounds on regret for
    bandits with unbounded stochastic corruption, 2024.
    """

    rho: float
    up: float = 10.0
    down: float = 20.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            up=number("up", self.up),
            down=number("down", self.down),
            scale=number("scale", self.scale, above=0),
        )

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        outlier = e.scale * math.tan(math.pi * (u - 0.5))
        return outlier - e.down if a == e.best else outlier + e.up
