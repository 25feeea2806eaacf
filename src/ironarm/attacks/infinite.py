"""Infinite rewards: -inf on the best arm, +inf on the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import hot
from ..validation import choice
from .base import Attack


@dataclass(frozen=True)
class Infinite(Attack):
    """The attack at its limit: -inf on the best arm, +inf on any other.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    sides : "both"; "down" attacks only the best arm, "up" only the others.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 5])
    >>> result = ia.simulate(
    ...     [ia.UCB(), ia.MedEUCB()],
    ...     bandit,
    ...     ia.Infinite(rho=0.2),
    ...     horizon=2000,
    ...     trials=5,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.optimal[:, :, -1].mean(axis=1).round(2).tolist()
    [0.0, 0.98]
    """

    rho: float
    sides: str = "both"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("sides", self.sides, ["both", "down", "up"])

    def constants(self) -> dict[str, float]:
        return {"down": float(self.sides != "up"), "up": float(self.sides != "down")}

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        if a == e.best:
            return -math.inf if e.down > 0.0 else x
        return math.inf if e.up > 0.0 else x
