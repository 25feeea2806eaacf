"""(alpha, psi)-UCB: the mean plus a bonus that shrinks with the number of pulls."""

from __future__ import annotations

from dataclasses import dataclass

from ..rules.highest_index import IndexPolicy
from ..validation import number


@dataclass(frozen=True)
class UCB(IndexPolicy):
    """(alpha, psi)-UCB for sub-Gaussian rewards that nobody corrupts.

    Every arm is pulled once. Then round t pulls the arm with the largest

        mean_a + sigma * sqrt(2 alpha log t / n_a),

    which is mean_a + (psi*)^-1(alpha log t / n_a) with psi(l) = sigma^2 l^2 / 2. The
    regret is O(log T) for alpha > 2.

    **Not for corrupted rewards.** One unbounded reward moves a mean anywhere: under the
    paper's attack this policy ends on a wrong arm in every trial. Use `MedEUCB`.

    Parameters
    ----------
    alpha : exploration, > 0. The guarantee asks for more than 2; the paper tunes it.
    sigma : the rewards' sub-Gaussian scale, in units of reward; the standard deviation
        for normal rewards.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> result = ia.simulate(
    ...     ia.UCB(), bandit, horizon=1000, trials=20, seed=1, progress=False
    ... )
    >>> bool(result.regret[0, :, -1].mean() < 40)
    True

    References
    ----------
    Bubeck and Cesa-Bianchi, Regret analysis of stochastic and nonstochastic multi-armed
    bandit problems, 2012, section 2.2.
    """

    alpha: float = 2.1
    sigma: float = 1.0

    needs = {"sigma": "sigma"}
    family = "upper confidence", "mean"
    use_when = "nobody corrupts the rewards"

    def __post_init__(self) -> None:
        self._set(
            alpha=number("alpha", self.alpha, above=0), sigma=number("sigma", self.sigma, above=0)
        )

    @property
    def coefficient(self) -> float:
        return 2 * self.alpha * self.sigma**2
