"""HuberUCB: UCB with Huber's M-estimator, for heavy tails and corruption by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from ..errors import InvalidInput
from ..estimators import Huber
from ..marks import cold, hot
from ..policy import Policy
from ..rules.forced_pulls import too_few
from ..validation import number, optional

HALF_ROOT = math.sqrt(0.5)
FIELDS = {
    "spread": "cache float[arms]",
    "enough_until": "cache int[1]",
    "leader": "cache int[1]",
    "leader_scale": "cache float[1]",
    "threat": "cache float[1]",
    "threat_scale": "cache float[1]",
    "threat_until": "cache int[1]",
}


@hot
def huber_radius(s, q):
    """Return the radius for q = sqrt(log(1/delta) / n), or inf if it has none.

    It grows with q.
    """
    under = s.inner - HALF_ROOT * q
    return (s.steep * q + s.beta / 3.0 * (q * q) + s.offset) / under if under > 0.0 else math.inf


@cold
def scan(s, t):
    """Compute all indices, and what the others can reach until about t * 17/16."""
    scale = math.sqrt(2.0 * math.log(t))
    best = s.leader[0]
    s.leader_scale[0] = scale
    if (
        t <= s.threat_until[0]
        and s.estimate[best] + huber_radius(s, scale * s.spread[best]) > s.threat[0]
    ):
        return best
    until = t + t // 16 + 8
    later = math.sqrt(2.0 * math.log(until))
    best = 0
    highest = -math.inf
    runner_up = -math.inf
    reach = -math.inf
    for a in range(s.arms):
        index = s.estimate[a] + huber_radius(s, scale * s.spread[a])
        its_reach = s.estimate[a] + huber_radius(s, later * s.spread[a])
        if index > highest:
            runner_up = max(runner_up, reach)
            best = a
            highest = index
            reach = its_reach
        else:
            runner_up = max(runner_up, its_reach)
    s.leader[0] = best
    s.threat[0] = runner_up
    s.threat_scale[0] = later
    s.threat_until[0] = until
    return best


@hot
def huber_moved(s, a):
    """Take note that the estimate or the count of arm a has changed."""
    s.spread[a] = 1.0 / math.sqrt(s.n[a]) if s.n[a] > 0 else 0.0
    if a != s.leader[0] and s.threat_until[0] > 0:
        reach = s.estimate[a] + huber_radius(s, s.threat_scale[0] * s.spread[a])
        s.threat[0] = max(s.threat[0], reach)


@dataclass(frozen=True)
class HuberUCB(Policy):
    """UCB with Huber's M-estimator, for heavy tails and corruption by chance.

    **Experimental.** The paper's text was not available. The radius below was derived
    independently; the number of forced pulls was not derived. docs/policies.md has its
    formula, and says what has been shown.

    Rewards have a finite variance, and a share epsilon of them is replaced by anything.
    The estimate of arm a is the root m of sum psi(X_i - m) = 0, psi(x) = min(max(x,
    -beta), beta). With L = 2 log t, round t pulls an arm with too few rewards (lowest
    number first), or else the arm with the largest

        m_a + (sigma sqrt(2 L / n_a) + beta L / (3 n_a) + 2 beta e sqrt(L / n_a)
            + 2 beta epsilon) / (p - sqrt(L / (2 n_a)) - epsilon),

    with e = sqrt((1 - 2 epsilon) / log((1 - epsilon) / epsilon)), 0 for epsilon = 0.

    **Not for heavy corruption:** epsilon must be below p/5, and near it the forced
    exploration explodes. With the defaults and T = 100,000 every arm is pulled 51 times
    at epsilon = 0, 117 times at 0.05 and 617 times at 0.125; `MedEUCB` pulls 47 times.

    Parameters
    ----------
    epsilon : the largest share of corrupt rewards, 0 <= epsilon < p/5.
    sigma : an upper bound on the standard deviation of clean rewards, in units of
        reward, > 0.
    beta : the threshold, in units of reward, at least sigma. None: 4 sigma.
    p : the probability that a clean reward is within beta/2 of the Huber centre of its
        law (the mean, for symmetric laws), or a lower bound on it, 0 < p <= 1. None:
        that of normal rewards.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 0, 2])
    >>> attack = ia.OppositeUniform(rho=0.05, scale=100)
    >>> result = ia.simulate(
    ...     [ia.policies.HuberUCB(epsilon=0.05), ia.UCB()],
    ...     bandit,
    ...     attack,
    ...     horizon=20_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(float(share), 2) for share in result.optimal[:, :, -1].mean(axis=1)]
    [0.96, 0.0]

    References
    ----------
    Basu, Maillard, Mathieu, Bandits corrupted by nature: lower bounds on regret and
    robust optimistic algorithms, TMLR 2024 (arXiv 2203.03186).
    """

    epsilon: float
    sigma: float = 1.0
    beta: float | None = None
    p: float | None = None

    needs = {"epsilon": "bound on rho", "sigma": "sigma"}
    family = "upper confidence", "Huber"
    use_when = (
        "as `RUCB`, for a corrupt share below 0.19; not all of its formulas are checked "
        "(docs/paper-notes.md)"
    )

    estimator = Huber
    experimental = True
    fields = FIELDS

    def __post_init__(self) -> None:
        self._set(
            epsilon=number("epsilon", self.epsilon, at_least=0, below=0.5),
            sigma=number("sigma", self.sigma, above=0),
            beta=optional(number, "beta", self.beta, above=0, at_most=1e9),
            p=optional(number, "p", self.p, above=0, at_most=1),
        )
        if self._threshold < self.sigma:
            raise InvalidInput(
                f"beta must be at least sigma, got beta={self.beta:g} with sigma={self.sigma:g}; "
                "below that, nothing is known about the estimate's error. Use beta=None, which is "
                "4 sigma."
            )
        if self.epsilon >= self._inside / 5:
            raise InvalidInput(
                f"epsilon={self.epsilon:g} is too large for HuberUCB: it must be below p/5 = "
                f"{self._inside / 5:.3g}, where p is the probability that a clean reward is "
                "within beta/2 of its mean. Use a larger beta, or MedEUCB or CountIMED, which "
                "withstand more."
            )

    @property
    def _threshold(self) -> float:
        """The beta that is used."""
        return 4 * self.sigma if self.beta is None else self.beta

    @property
    def _inside(self) -> float:
        """The p that is used."""
        return (
            2 * NormalDist().cdf(self._threshold / 2 / self.sigma) - 1 if self.p is None else self.p
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        epsilon, beta, p = self.epsilon, self._threshold, self._inside
        e = math.sqrt((1 - 2 * epsilon) / math.log((1 - epsilon) / epsilon)) if epsilon > 0 else 0.0
        return {
            "beta": beta,
            "each": 98
            / 128
            * (1 + 2 * math.sqrt(2) * max(e, 9 / (14 * math.sqrt(2)))) ** 2
            / (p - 5 * epsilon) ** 2,
            "steep": math.sqrt(2) * self.sigma + 2 * beta * e,
            "offset": 2 * beta * epsilon,
            "inner": p - epsilon,
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        # log t is 0 at t = 1, where an agent can have estimates from a warm start
        t = max(t, 2)
        if t > s.enough_until[0]:
            forced = too_few(s.n, s.rewards, s.enough_until, t, s.each)
            if forced >= 0:
                return forced
        leader = s.leader[0]
        # first the bare estimate, then the radius with log t of an earlier round, which
        # is no larger: neither needs a logarithm
        if t <= s.threat_until[0] and (
            s.estimate[leader] > s.threat[0]
            or s.estimate[leader] + huber_radius(s, s.leader_scale[0] * s.spread[leader])
            > s.threat[0]
        ):
            return leader
        return scan(s, t)

    @staticmethod
    @hot
    def update(s, a, x):
        huber_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        s.enough_until[0] = 0
        huber_moved(s, a)
