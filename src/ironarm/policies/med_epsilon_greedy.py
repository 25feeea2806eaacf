"""med-epsilon-greedy: the best median, and uniform exploration that decays as 1/t."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import LowerMedian
from ..rules.decaying_greedy import DecayingGreedy


@dataclass(frozen=True)
class MedEpsilonGreedy(DecayingGreedy):
    """med-epsilon-greedy, the paper's second policy, survives any corrupt rewards.

    An attacker may replace the reward by anything, with probability rho in each round.
    Each arm is pulled ceil(c) times; then, at round t, a uniformly random arm with
    probability c K / t, else the arm with the largest lower median (Algorithm 2). Far
    outliers need c above 1/(sqrt(1-rho) - sqrt(rho))^2: 2.95 for rho = 0.125, 12 for
    rho = 0.3. The default 10 is the paper's.

    Unlike `MedEUCB` it needs no scale of the rewards. With the default it explores
    about 1.7 times as much.

    **Not for 0/1 rewards** or heavy ties, nor for skewed rewards if the arm with the
    best mean does not have the best median.

    Parameters
    ----------
    c : exploration, > 0; about ceil(c) + c log(T / (c K)) pulls of each arm.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.OppositeUniform(rho=0.125, scale=1800)
    >>> result = ia.simulate(
    ...     ia.MedEpsilonGreedy(),
    ...     bandit,
    ...     attack,
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool(4800 < result.regret[0, :, -1].mean() < 5400)
    True

    References
    ----------
    Guan, Ji, Bucci, Hu, Palombo, Liston, Liang, Robust stochastic bandit algorithms
    under probabilistic unbounded adversarial attack, AAAI 2020, Algorithm 2.
    """

    c: float = 10.0

    needs = {}
    family = "decaying epsilon-greedy", "median"
    use_when = "as for `MedEUCB`, but you do not know the scale"

    estimator = LowerMedian
