"""crUCB: contamination-robust UCB with a trimmed or a shorth mean."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import AmplyTrimmedMean, Estimator, Shorth
from ..rules.highest_index import IndexPolicy
from ..validation import choice, number


@dataclass(frozen=True)
class CRUCB(IndexPolicy):
    """crUCB: UCB around a robust mean, for a bounded share of corrupt rewards.

    At most a share alpha of an arm's rewards is corrupt at any time. Every arm is
    pulled once. Then round t pulls the arm with the largest

        robust_mean_a + sigma / (1 - 2 alpha) sqrt(4 log t / n_a).

    The robust mean is

    * "trimmed": the mean without the ceil(alpha n) smallest and largest rewards (tUCB);
    * "shorth": the mean of the shortest interval that holds floor((1 - alpha) n)
      rewards (sUCB).

    **Not for random attacks** with rho near alpha: the adversary here may choose which
    rewards to corrupt, but never more than alpha n of the first n of an arm, for any n.
    A coin with rho = alpha breaks that about half of the time, most often at the start.
    There is no forced exploration, so an arm whose first rewards are attacked is given
    up, as with `RUCB`. The theorem also needs a small alpha: 0.014 for a gap of 2 sigma
    and T = 100,000. docs/policies.md has its condition, and says how ties and infinite
    rewards are treated.

    Parameters
    ----------
    alpha : the largest share of corrupt rewards, 0 <= alpha < 1/2.
    sigma : the standard deviation (sub-Gaussian scale) of clean rewards, in units of
        reward, > 0.
    mean : "trimmed" or "shorth".

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 0, 2])
    >>> result = ia.simulate(
    ...     [ia.policies.CRUCB(alpha=0.1), ia.UCB()],
    ...     bandit,
    ...     ia.OppositeUniform(rho=0.05, scale=100),
    ...     horizon=5000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(float(share), 1) for share in result.optimal[:, :, -1].mean(axis=1)]
    [0.9, 0.0]

    References
    ----------
    Niss and Tewari, What you see may not be what you get: UCB bandit algorithms robust
    to epsilon-contamination, UAI 2020.
    """

    alpha: float
    sigma: float = 1.0
    mean: str = "trimmed"

    needs = {"alpha": "bound on rho", "sigma": "sigma"}
    family = "upper confidence", "trimmed or shorth mean"
    use_when = "as `RUCB`; kept for comparison"

    def __post_init__(self) -> None:
        self._set(
            alpha=number("alpha", self.alpha, at_least=0, below=0.5),
            sigma=number("sigma", self.sigma, above=0),
            mean=choice("mean", self.mean, ["trimmed", "shorth"]),
        )

    @property
    def estimator(self) -> type[Estimator]:  # type: ignore[override]
        return AmplyTrimmedMean if self.mean == "trimmed" else Shorth

    @property
    def coefficient(self) -> float:
        return 4 * (self.sigma / (1 - 2 * self.alpha)) ** 2
