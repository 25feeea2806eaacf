"""epsilon_n-greedy: the best mean, and uniform exploration that decays as 1/t."""

from __future__ import annotations

from dataclasses import dataclass

from ..rules.decaying_greedy import DecayingGreedy


@dataclass(frozen=True)
class EpsilonGreedy(DecayingGreedy):
    """epsilon_n-greedy: the best mean, and uniform exploration that decays as 1/t.

    Round t pulls a uniformly random arm with probability min(1, c K / t), else the arm
    with the largest mean. Auer, Cesa-Bianchi and Fischer write c K / (d^2 t) with a
    lower bound d on the gaps; here `c` stands for c / d^2, as in the paper's
    med-epsilon-greedy. There is no start: the first c K rounds explore anyway. An arm
    never pulled counts as -inf (a live agent tries it first instead).

    **Not for corrupted rewards.** One unbounded reward moves a mean anywhere; use
    `MedEpsilonGreedy`.

    Parameters
    ----------
    c : exploration, > 0; about c log T forced pulls of each arm.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> result = ia.simulate(
    ...     ia.EpsilonGreedy(c=5),
    ...     bandit,
    ...     horizon=1000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool(60 < result.regret[0, :, -1].mean() < 100)
    True

    References
    ----------
    Auer, Cesa-Bianchi, Fischer, Finite-time analysis of the multiarmed bandit problem,
    Machine Learning 47, 2002.
    """

    c: float = 10.0

    needs = {}
    family = "decaying epsilon-greedy", "mean"
    use_when = "nobody corrupts the rewards, and you do not know their scale"

    @property
    def first_pulls(self) -> int:
        return 0
