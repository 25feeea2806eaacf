"""ACE, the adaptive attack of Liu and Shroff (2019), behind a coin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..marks import hot
from ..validation import number
from .aim import checked_target, target_arm, width
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class ACE(Attack):
    """Liu and Shroff's attack: makes one arm look better than all others.

    It knows neither the means nor the policy. From a reward of any arm a other than the
    target it subtracts

        max(0, m_a - m_target + beta(N_a) + beta(N_target)) / rho,
        beta(n) = sqrt(2 sigma^2/n log(pi^2 K n^2/(3 delta))),

    where m_a is the mean of the N_a clean rewards of arm a that the attacker has seen.
    In the original it may change every reward (rho = 1). Here it acts only when the
    coin comes up; the factor 1/rho lowers an arm's mean by as much as the original
    does. It learns from attacked rounds only. Until it has seen a reward of the target,
    it uses that arm's true mean.

    It defeats policies that use means with the least effort. The shift is bounded, and
    most rewards are not shifted at all, so medians and trimmed means lose little.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    target : the arm to be pulled: "runner_up" (the least conspicuous), "worst", or its
        number. Never the best.
    delta : the attacker's estimates hold with probability 1 - delta.
    sigma : the noise, in units of reward, as the attacker knows it, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> result = ia.simulate(
    ...     [ia.UCB(), ia.MedEUCB()],
    ...     bandit,
    ...     ia.attacks.ACE(rho=0.1),
    ...     horizon=5000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> (result.pulls.mean(axis=1) / 5000).round(2).tolist()
    [[0.0, 1.0, 0.0], [0.01, 0.01, 0.98]]

    References
    ----------
    Liu, Shroff, Data poisoning attacks on stochastic bandits, 2019.
    """

    rho: float
    target: str | int = "runner_up"
    delta: float = 0.05
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            target=checked_target(self.target),
            delta=number("delta", self.delta, above=0, below=1),
            sigma=number("sigma", self.sigma, above=0),
        )

    def constants(self) -> dict[str, float]:
        return {"share": self.rho, "delta": self.delta, "sigma": self.sigma}

    def start(self, bandit: Bandit) -> np.ndarray:
        """Return the target, then the sum and the number of rewards of each arm."""
        return np.array([target_arm(self.target, bandit), *[0.0] * (2 * bandit.arms)])

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        target = int(e.memory[0])
        e.memory[1 + 2 * a] += x
        e.memory[2 + 2 * a] += 1.0
        if a == target:
            return x
        n = e.memory[2 + 2 * a]
        n_target = e.memory[2 + 2 * target]
        mean_of_target = e.memory[1 + 2 * target] / n_target if n_target > 0.0 else e.means[target]
        slack = width(n, e.arms, e.sigma, e.delta) + width(
            max(n_target, 1.0), e.arms, e.sigma, e.delta
        )
        return x - max(0.0, e.memory[1 + 2 * a] / n - mean_of_target + slack) / e.share
