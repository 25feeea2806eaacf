"""An attack that watches every reward, and lets the other arms overtake the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..marks import hot
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class Overtake(Attack):
    """Adaptive, sees every reward: goes just as far as is needed to trade places.

    An attacked reward of the best arm becomes the lowest clean reward of the runner-up
    so far. If the mean of the best arm's rewards as shown would still exceed that of
    the runner-up, the reward goes lower, until both are equal. An attacked reward of
    any other arm becomes the highest clean reward of the best arm so far. Before an arm
    has paid a reward, its true mean is used. A reward that already lies beyond is left
    alone.

    Once half of a sample is attacked, its median is wrong; its mean is wrong soon
    after. Policies that look for outliers find few: the attacked rewards of an arm lie
    close together, and near clean rewards of its rival. Policies that never return to
    an arm with a bad start suffer more from outliers. The attack needs no scale, and
    stays within the model.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> for attack in (ia.attacks.Overtake(rho=0.3), ia.OppositeUniform(rho=0.3)):
    ...     result = ia.simulate(
    ...         [ia.CountIMED(epsilon=0.35), ia.UCB()],
    ...         bandit,
    ...         attack,
    ...         horizon=5000,
    ...         trials=10,
    ...         seed=1,
    ...         progress=False,
    ...     )
    ...     print(
    ...         type(attack).__name__,
    ...         [round(row.mean) for row in result.summary().rows],
    ...     )
    Overtake [2306, 10084]
    OppositeUniform [1028, 56154]
    """

    rho: float

    def start(self, bandit: Bandit) -> np.ndarray:
        """Return, arm by arm, the lowest and the highest reward and the sum shown."""
        return np.concatenate([bandit.means, bandit.means, np.zeros(bandit.arms)])

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        if e.arms < 2:
            return x
        if a != e.best:
            return max(x, e.memory[e.arms + e.best])
        rival = e.runner_up
        n = e.pulls[rival]
        level = e.memory[2 * e.arms + rival] / n if n > 0 else e.means[rival]
        return min(x, e.memory[rival], e.pulls[a] * level - e.memory[2 * e.arms + a])

    @staticmethod
    @hot
    def observe(e, a, x, shown):
        e.memory[a] = min(e.memory[a], x)
        e.memory[e.arms + a] = max(e.memory[e.arms + a], x)
        e.memory[2 * e.arms + a] += shown
