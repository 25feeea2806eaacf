"""The attacks of Jun, Li, Ma and Zhu (2018) on epsilon-greedy and UCB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..marks import hot
from ..validation import number
from .aim import checked_target, target_arm, width
from .base import Attack, no_estimate

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class Jun(Attack):
    """Jun et al.'s attacks: lower an arm's mean until it is below the target's.

    Let m_a be the policy's estimate of arm a, from n_a - 1 rewards before this one. The
    reward x of an arm a that is not the target becomes the smaller of x and

        n_a level - (n_a - 1) m_a,   level = m_target - 2 beta(n_target) - margin,
        beta(n) = sqrt(2 sigma^2/n log(pi^2 K n^2/(3 delta))),

    so that the mean is at most `level` afterwards. With margin 0 it is their attack on
    epsilon-greedy, with a margin Delta_0 > 0 the one on UCB. Here it acts only when the
    coin comes up: the mean rises between attacks, and the next one lowers it again.

    The estimates are the policy's own, `e.estimate`. For policies that use means they
    are the means of the rewards seen, as in the original. For others they are medians
    or trimmed means, and the attack is a heuristic: one reward does not move them to
    the level. Against EXP3, whose estimates are log-weights, it makes no sense.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    target : the arm to be pulled: "runner_up" (the least conspicuous), "worst", or its
        number. Never the best.
    margin : the paper's Delta_0, in units of reward, >= 0; 0 is the attack on
        epsilon-greedy.
    delta : the attacker's estimates hold with probability 1 - delta.
    sigma : the noise, in units of reward, as the attacker knows it, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> result = ia.simulate(
    ...     [ia.EpsilonGreedy(), ia.MedEpsilonGreedy()],
    ...     bandit,
    ...     ia.attacks.Jun(rho=0.1),
    ...     horizon=5000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> (result.pulls.mean(axis=1) / 5000).round(2).tolist()
    [[0.01, 0.98, 0.01], [0.01, 0.01, 0.98]]

    References
    ----------
    Jun, Li, Ma, Zhu, Adversarial attacks on stochastic bandits, 2018.
    """

    rho: float
    target: str | int = "runner_up"
    margin: float = 0.0
    delta: float = 0.05
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            target=checked_target(self.target), margin=number("margin", self.margin, at_least=0)
        )
        self._set(
            delta=number("delta", self.delta, above=0, below=1),
            sigma=number("sigma", self.sigma, above=0),
        )

    def constants(self) -> dict[str, float]:
        return {"margin": self.margin, "delta": self.delta, "sigma": self.sigma}

    def start(self, bandit: Bandit) -> np.ndarray:
        """Return the target."""
        return np.array([target_arm(self.target, bandit)])

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        target = int(e.memory[0])
        if a == target or no_estimate(e, target):
            return x
        level = (
            e.estimate[target] - 2.0 * width(e.pulls[target], e.arms, e.sigma, e.delta) - e.margin
        )
        n = e.pulls[a]
        return min(x, level if n == 1 else n * level - (n - 1) * e.estimate[a])
