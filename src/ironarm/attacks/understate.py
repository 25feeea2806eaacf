"""An attack that hides how often it strikes, and gathers what it shows of the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..marks import hot
from ..validation import number, optional
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class Understate(Attack):
    """Few outliers, so that attacks seem rare; the best arm looks clean and bad.

    An attacked reward of the best arm is lowered by `down`, always by the same amount:
    it has the arm's own spread, and looks like a clean reward of a bad arm. An attacked
    reward of any other arm becomes an outlier, as in `OppositeUniform`, in a share
    `shown` of the cases; otherwise it is left alone. A policy that estimates the
    corrupt share from outliers finds rho * shown, so it gives up the best arm too soon
    if its first rewards were all attacked. The attack stays within the model.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    shown : share of attacked rewards of the other arms that are outliers, 0 to 1.
    down : how far rewards of the best arm are lowered, in units of reward, > 0; None:
        to the worst arm, by the largest gap.
    scale : outliers are raised by a uniform number below it, in units of reward, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.attacks.Understate(rho=0.3)
    >>> attack.start(bandit).tolist()  # how far the best arm's rewards are lowered
    [18.0]
    >>> result = ia.simulate(
    ...     [ia.UCB(), ia.CountIMED(epsilon=0.35)],
    ...     bandit,
    ...     attack,
    ...     horizon=5000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(row.mean) for row in result.summary().rows]
    [34515, 839]
    """

    rho: float
    shown: float = 0.4
    down: float | None = None
    scale: float = 1800.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            shown=number("shown", self.shown, at_least=0, at_most=1),
            down=optional(number, "down", self.down, above=0),
            scale=number("scale", self.scale, above=0),
        )

    def constants(self) -> dict[str, float]:
        return {"shown": self.shown, "scale": self.scale}

    def start(self, bandit: Bandit) -> np.ndarray:
        """Return how far the best arm's rewards are lowered."""
        return np.array([bandit.gaps.max() if self.down is None else self.down])

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        if a == e.best:
            return x - e.memory[0]
        return x + e.scale * u if v < e.shown else x
