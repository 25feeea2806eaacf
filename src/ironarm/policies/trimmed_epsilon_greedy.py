"""alpha-trimmed-mean epsilon-greedy."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import TrimmedMean
from ..rules.decaying_greedy import DecayingGreedy
from ..validation import number


@dataclass(frozen=True)
class TrimmedEpsilonGreedy(DecayingGreedy):
    """Decaying epsilon-greedy on the alpha-trimmed mean.

    It starts and explores like `MedEpsilonGreedy`: each arm is pulled ceil(c) times;
    then, at round t, a uniformly random arm with probability c K / t, else the arm with
    the largest mean after dropping the floor(alpha n) smallest and largest rewards.

    **alpha must be well above rho.** With alpha = rho, as in the paper, the attacked
    rewards outnumber alpha n about half of the time and the policy fails in most
    trials. With alpha = rho + 0.1 its median regret is that of `MedEpsilonGreedy`, but
    a few trials in a hundred still fail. If rho is not known, prefer the median.

    Parameters
    ----------
    alpha : the share trimmed at each end, 0 <= alpha < 1/2.
    c : exploration, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.OppositeUniform(rho=0.125, scale=1800)
    >>> policies = [
    ...     ia.TrimmedEpsilonGreedy(alpha=0.125),
    ...     ia.TrimmedEpsilonGreedy(alpha=0.225),
    ... ]
    >>> result = ia.simulate(
    ...     policies,
    ...     bandit,
    ...     attack,
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> at_rho, above_rho = result.regret[:, :, -1].mean(axis=1)
    >>> bool(above_rho < 6000 < at_rho)
    True

    References
    ----------
    Guan et al., AAAI 2020, section 5 (the comparison).
    """

    alpha: float
    c: float = 10.0

    needs = {"alpha": "bound on rho"}
    family = "decaying epsilon-greedy", "trimmed mean"
    use_when = (
        "as for `MedEpsilonGreedy`, and you know that the corrupt share is clearly below "
        "`alpha`; at `alpha` = rho + 0.1, 4 of 1,000 runs still failed at rho = 0.125 and 21 at "
        "0.3"
    )

    estimator = TrimmedMean

    def __post_init__(self) -> None:
        self._set(alpha=number("alpha", self.alpha, at_least=0, below=0.5))
        super().__post_init__()
