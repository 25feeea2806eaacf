"""Count-IMED: IMED with evidence that counts rewards and ignores their size."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from ..errors import InvalidInput
from ..estimators import OrderedMedian
from ..marks import hot
from ..rules.corrupted_kl import smallest_gap
from ..rules.count_evidence import FIELDS, MOVED, least_evidence, reward_came
from ..rules.lazy_imed import ImedPolicy
from ..validation import number

MARGIN = 0.05  # epsilon minus rho, in `for_rho`


@dataclass(frozen=True)
class CountIMED(ImedPolicy):
    """Count-IMED: IMED with evidence that an attacker cannot forge.

    This is the project's own policy. An attacker may replace rewards by anything; the
    regret stays close to the least that such attacks allow.

    Every arm is pulled once. Then the leader is the arm with the highest lower median,
    and x = Med_leader + beta, beta = sigma Phi^-1(1 / (2 (1 - epsilon))), allows for
    what corruption can take from a median. The leader's index is log n. Any other arm
    has E_a(x) + log n_a, where E_a(x) is the evidence against "the mean of arm a is at
    least x": too few of its rewards lie above thresholds below x, or close together in
    one window. An attacker can add such rewards but cannot take clean ones away. The
    policy pulls the arm with the smallest index.

    docs/count-imed.md has the formulas, the proofs and the costs.

    **Not for gaps below sigma Dmin(epsilon)** (`smallest_gap`): both arms are then
    pulled equally for ever. **Not for 0/1 rewards**, heavy ties or skewed rewards, nor
    if the attacker's coin can depend on the reward. epsilon must exceed rho by a
    margin; `CountIMED.for_rho` chooses it.

    Parameters
    ----------
    epsilon : an upper bound on the share of corrupt rewards, 0 <= epsilon < 0.5,
        clearly above it; rho + 0.05 where the gaps allow it.
    sigma : the clean rewards' standard deviation, in units of reward, > 0; or an upper
        bound. They are taken to be normal.
    shift : False leaves beta out of x. That protects the best arm better while a wrong
        one leads, and needs larger gaps to discard the others.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.OppositeUniform(rho=0.3, scale=1800)
    >>> policies = [ia.CountIMED(epsilon=0.35), ia.MedEUCB()]
    >>> result = ia.simulate(
    ...     policies,
    ...     bandit,
    ...     attack,
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(float(regret)) for regret in result.regret[:, :, -1].mean(axis=1)]
    [1068, 3632]

    References
    ----------
    Honda and Takemura, Non-asymptotic analysis of a new bandit algorithm for
    semi-bounded rewards, Journal of Machine Learning Research 16, 2015 (the index).
    Huber, A robust version of the probability ratio test, Annals of Mathematical
    Statistics 36, 1965 (what corruption can hide).
    """

    epsilon: float
    sigma: float = 1.0
    shift: bool = True

    estimator = OrderedMedian
    fields = FIELDS
    needs = {"epsilon": "bound on rho", "sigma": "sigma"}
    family = "least evidence against an arm", "median"
    use_when = (
        "as for `MedEUCB`, with a bound `epsilon` on the corrupt share and gaps that it cannot "
        "hide; a quarter to a sixth of the regret of `MedEUCB` on the paper's arms "
        "(docs/count-imed.md)"
    )

    def __post_init__(self) -> None:
        self._set(
            epsilon=number("epsilon", self.epsilon, at_least=0, below=0.5),
            sigma=number("sigma", self.sigma, above=0),
        )
        if not isinstance(self.shift, bool):
            raise InvalidInput(f"shift must be True or False, got {self.shift!r}.")

    @classmethod
    def for_rho(cls, rho: float, gap: float | None = None, sigma: float = 1.0) -> CountIMED:
        """Return the policy for a share rho of corrupt rewards.

        epsilon is rho + 0.05, or, if that is less, halfway between rho and the most
        that the smallest gap allows.

        Parameters
        ----------
        rho : the share of corrupt rewards, 0 <= rho < 0.5.
        gap : the smallest gap between the best arm and another, in units of reward;
            None if it is known to be large.
        sigma : the clean rewards' standard deviation, in units of reward.

        >>> import ironarm as ia
        >>> ia.CountIMED.for_rho(0.125)
        CountIMED(epsilon=0.175, sigma=1.0, shift=True)
        >>> round(ia.CountIMED.for_rho(0.125, gap=0.5).epsilon, 4)
        0.1449
        """
        rho, sigma = number("rho", rho, at_least=0, below=0.5), number("sigma", sigma, above=0)
        limit = (
            0.5
            if gap is None
            else 1 - 1 / (2 * NormalDist().cdf(number("gap", gap, above=0) / sigma / 2))
        )
        if rho >= limit:
            raise InvalidInput(
                f"a share rho={rho:g} of corrupt rewards can hide a gap of {gap:g}: with "
                f"sigma={sigma:g} rho must be below {limit:.4g}."
            )
        return cls(epsilon=rho + min(MARGIN, (limit - rho) / 2), sigma=sigma)

    @property
    def smallest_gap(self) -> float:
        """sigma Dmin(epsilon), which all gaps must exceed, in units of reward."""
        return self.sigma * smallest_gap(self.epsilon)

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {
            "epsilon": self.epsilon,
            "sigma": self.sigma,
            "beta": self.smallest_gap / 2 if self.shift else 0.0,
            "step": MOVED * self.sigma,
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        lead = s.leader[0]
        x = s.estimate[lead] + s.beta
        if (
            s.n[lead] < s.until[0]
            and s.estimate[lead] > s.rival[0]
            and x - s.lowest_at[0] <= s.step
            and s.highest_at[0] - x <= s.step
        ):
            return lead
        return least_evidence(s, s.beta, s.sigma, s.epsilon)

    @staticmethod
    @hot
    def update(s, a, x):
        reward_came(s, a)
