"""alpha-trimmed-mean UCB."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import TrimmedMean
from ..rules.highest_index import IndexPolicy
from ..validation import number


@dataclass(frozen=True)
class TrimmedUCB(IndexPolicy):
    """UCB around the alpha-trimmed mean.

    The floor(alpha n) smallest and largest rewards of an arm are dropped before
    averaging. Every arm is pulled once. Then round t pulls the arm with the largest

        trimmed_mean_a + sqrt(omega log t / n_a).

    **Not for heavy corruption.** With alpha = rho, as in the paper, the attacked
    rewards outnumber alpha n about half of the time, and one that is not trimmed spoils
    the mean. A larger alpha helps against that, but without forced exploration an arm
    whose first rewards are attacked is given up, as with `RUCB`.

    Parameters
    ----------
    alpha : the share trimmed at each end, 0 <= alpha < 1/2.
    omega : exploration, in squared units of reward, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> agent = ia.Agent(ia.TrimmedUCB(alpha=0.25), arms=["a", "b"], seed=1)
    >>> agent.warm_start(
    ...     [
    ...         ("a", 1.0),
    ...         ("a", 1.2),
    ...         ("a", 900.0),
    ...         ("a", 1.1),
    ...         ("b", 2.0),
    ...         ("b", 2.1),
    ...         ("b", 1.9),
    ...         ("b", -900.0),
    ...     ]
    ... )
    >>> agent.best()
    'b'

    References
    ----------
    Guan et al., AAAI 2020, section 5 (the comparison); Niss and Tewari, What you see
    may not be what you get: UCB bandit algorithms robust to epsilon-contamination, UAI
    2020.
    """

    alpha: float
    omega: float = 4.0

    needs = {"alpha": "bound on rho", "omega": "sigma"}
    family = "upper confidence", "trimmed mean"
    use_when = "as `RUCB`; kept for comparison"

    estimator = TrimmedMean

    def __post_init__(self) -> None:
        self._set(
            alpha=number("alpha", self.alpha, at_least=0, below=0.5),
            omega=number("omega", self.omega, above=0),
        )
