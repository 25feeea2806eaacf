"""Rewards without outliers: the best arm and the others swap their laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..marks import hot
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class Mimic(Attack):
    """No outliers at all: arms swap their laws.

    An attacked reward of the best arm is drawn from the runner-up's law, one of any
    other arm from the best arm's.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 4, 5])
    >>> ia.Mimic(rho=0.1).shows(bandit).tolist()
    [2, 2, 1]
    """

    rho: float

    def shows(self, bandit: Bandit) -> np.ndarray:
        shown = np.full(bandit.arms, bandit.best)
        shown[bandit.best] = bandit.runner_up
        return shown

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return x
