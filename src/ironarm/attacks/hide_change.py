"""Rewards that look as if the arms had not changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..marks import hot
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class HideChange(Attack):
    """Hides changes of the laws: shows rewards as they were before the last change.

    After a change of any mean, attacked rewards of an arm are shifted back by as much
    as that change moved the arm's own mean, so they look like rewards from before.
    Until the first change the attack does nothing. It is for a `DriftingBandit`; with
    other bandits it never does anything. A slow drift has many changes, and only its
    last step is hidden.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.DriftingBandit(times=[1, 501], means=[[0, 4], [4, 0]])
    >>> result = ia.simulate(
    ...     ia.RestartingIMED(),
    ...     bandit,
    ...     ia.attacks.HideChange(rho=0.2),
    ...     horizon=2000,
    ...     trials=10,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool(result.optimal[0, :, -1].mean() > 0.9)
    True
    """

    rho: float

    def start(self, bandit: Bandit) -> np.ndarray:
        # the means as they are, then as they were
        return np.concatenate([bandit.means, bandit.means])

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        k = e.arms
        changed = False
        for i in range(k):
            changed = changed or e.means[i] != e.memory[i]
        if changed:
            for i in range(k):
                e.memory[k + i] = e.memory[i]
                e.memory[i] = e.means[i]
        return x - e.means[a] + e.memory[k + a]
