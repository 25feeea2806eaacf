"""RUCB-MAB: UCB with the median in place of the mean."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import Estimator, LowerMedian, UpperMedian
from ..rules.highest_index import IndexPolicy
from ..validation import choice, number


@dataclass(frozen=True)
class RUCB(IndexPolicy):
    """RUCB-MAB: UCB around the sample median, without forced exploration.

    Every arm is pulled once. Then round t pulls the arm with the largest

        median_a + sqrt(omega log t / n_a).

    (Its authors add sqrt(omega) times an assumed corruption rate, the same for every
    arm, which changes no choice.)

    **Not for heavy corruption.** A median withstands attacks only once it rests on
    several rewards. If the best arm's first rewards are attacked, its median is wrong
    and the arm is not tried often enough to correct it. Under the paper's attack about
    a quarter of the trials at rho = 0.125, and 62 % at rho = 0.3, stay on a wrong arm
    for good, while the others do very well. `MedEUCB` adds the forced exploration that
    prevents this.

    Parameters
    ----------
    omega : exploration, in squared units of reward, > 0. 4 suits rewards with a
        standard deviation of 1.
    median : "lower", order statistic ceil(n/2), as in the paper; or "upper", as in the
        authors' code.

    Examples
    --------
    >>> import ironarm as ia
    >>> agent = ia.Agent(ia.RUCB(), arms=["a", "b"], seed=1)
    >>> for reward in [1.0, 2.0, 1.1, 1.9]:
    ...     agent.update(agent.select(), reward)
    >>> agent.best()
    'b'

    References
    ----------
    Kapoor, Patel, Kar, Corruption-tolerant bandit learning, Machine Learning 108, 2019.
    """

    omega: float = 4.0
    median: str = "lower"

    needs = {"omega": "sigma"}
    family = "upper confidence", "median"
    use_when = "corrupt rewards are rare, and you accept that some runs stay on a wrong arm"

    def __post_init__(self) -> None:
        self._set(
            omega=number("omega", self.omega, above=0),
            median=choice("median", self.median, ["lower", "upper"]),
        )

    @property
    def estimator(self) -> type[Estimator]:  # type: ignore[override]
        return LowerMedian if self.median == "lower" else UpperMedian
