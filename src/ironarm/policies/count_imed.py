"""Count-IMED: pull the arm with the least evidence against it, where evidence is
counted, so that the size of a corrupt reward does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from ..errors import InvalidInput
from ..marks import hot
from ..rules.corrupted_kl import smallest_gap
from ..rules.count_evidence import MOVED, CountPolicy, arm_with_least_evidence
from ..validation import number

MARGIN = 0.05  # of epsilon over rho


@dataclass(frozen=True)
class CountIMED(CountPolicy):
    """Count-IMED, this project's own: survives rewards that an attacker replaces by
    anything, and stays close to the regret that such attacks make unavoidable.

    **The idea.** The coin that lets the attacker in is tossed anew in each round and
    knows nothing of the clean reward. So, whatever the attacker does, if the mean of an
    arm is at least x then each of its rewards has, given all that came before,

        P(reward >= x - d)       >=  q_d = (1 - eps) Phi(d / sigma)           for every d, and
        P(|reward - mean| <= d)  >=  w_d = (1 - eps) (2 Phi(d / sigma) - 1),

    with eps any bound on the share of corrupt rewards. The attacker can only add
    rewards above a threshold or inside a window, not take clean ones away; he cannot
    forge the evidence that too few are there. With n rewards and kl+(p, q) the binary
    relative entropy if p < q, else 0,

        E_a(x) = max of  n kl+(share of rewards >= x - d, q_d)                          d = 0.5, 1, 1.5, 2, 2.5, 3 sigma
                         n kl+(largest share within d of any centre m >= x, w_d)        d = 2, 3 sigma

    is the logarithm of the odds against "the mean of arm a is at least x". Thresholds
    find an arm whose rewards lie too low; windows find one whose high rewards are
    scattered, as corrupt ones are, and not gathered around any possible mean. An
    infinite reward counts in n, can lie above a threshold, and lies in no window.

    **The rule.** Every arm is pulled once. Then the leader is the arm with the highest
    lower median, and

        x = Med_leader + beta,  beta = sigma Phi^-1(1 / (2 (1 - eps))),

    where beta is the most that corruption can pull down a median. The leader's index is
    log n, that of any other arm E_a(x) + log n_a, and the smallest index is pulled: an
    arm is tried again when the logarithm of the leader's count has outgrown the
    evidence against it. Evidence is computed for an arm with a new reward, and for any
    other when x has moved by more than 0.01 sigma since it was last computed for that
    arm; this is part of the definition.

    **When it works.** If every gap exceeds sigma Dmin(eps), Dmin = 2 Phi^-1(1 / (2 (1 -
    eps))), for the epsilon *given*: 0.56 sigma for 0.18, 1.13 for 0.3, 1.93 for 0.4
    (`smallest_gap`). Below it, evidence against the second best arm stays 0 and both
    are pulled equally for ever. And epsilon must exceed rho by a margin: with epsilon =
    rho long stalls occur, rarely. `CountIMED.for_rho` chooses it.

    **What is proved.** For one arm and a fixed number of rewards: the evidence against
    the truth exceeds z with probability at most 8 e^-z, for any adaptive attack with
    rho <= epsilon (Chernoff's bound for each of the eight tests), and with epsilon >
    rho the bound shrinks exponentially in n too. Not proved: a bound on the regret. The
    usual summation over the leader's counts suggests O(log T); it has not been written
    out, and the constants were chosen after trials on the paper's settings.

    **Not for gaps below sigma Dmin, nor for 0/1 rewards**, heavy ties or skewed
    rewards; nor if the attacker's coin can depend on the reward. Where gaps are about
    half a sigma `MedEUCB` with omega = 2 does as well.

    A round in which the leader stays costs about as much as one of `MedEUCB`. Evidence
    costs O(log n) to O(n) for an arm with n rewards, and O(n log n) the first time for
    one that has led; it is not computed while the arm has more pulls than the leader,
    so a leader deposed after long costs nothing until its successor has caught up. Arms
    that nobody can tell apart (gaps below sigma Dmin) cost O(n) in each round.

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

    def __post_init__(self) -> None:
        self._set(
            epsilon=number("epsilon", self.epsilon, at_least=0, below=0.5),
            sigma=number("sigma", self.sigma, above=0),
        )
        if not isinstance(self.shift, bool):
            raise InvalidInput(f"shift must be True or False, got {self.shift!r}.")

    @classmethod
    def for_rho(cls, rho: float, gap: float | None = None, sigma: float = 1.0) -> CountIMED:
        """Return the policy for a share rho of corrupt rewards: epsilon = rho + 0.05,
        or halfway to what the smallest gap allows if that is less.

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
        """The gap, in units of reward, that all gaps must exceed: sigma
        Dmin(epsilon).
        """
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
        return arm_with_least_evidence(s, s.beta, s.sigma, s.epsilon, s.epsilon)
