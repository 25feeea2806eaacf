"""KL-UCB: upper confidence for rewards of 0 and 1, or in a known range."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..rules.bernoulli_kl import kl_upper, may_exceed
from ..rules.highest_index import first_unrewarded
from ..rules.reward_range import MeanOfRange, rate
from ..validation import number

SLACK = 1.0 - 1e-9  # for rounding


@hot
def level_at(t, c):
    """Return log t + c log log t; without the second term where it is negative."""
    level = math.log(t)
    return level + c * math.log(level) if level > 1.0 else level


@hot
def leads(s):
    """Say whether the leader's index is certain to exceed what the others can reach.

    kl(p, q) is at most (q - p)^2 / 2 times the largest 1 / (x (1 - x)) between them,
    which is at one of the ends. So this needs no logarithm; and the level of an earlier
    round is enough, since levels grow.
    """
    lead = s.leader[0]
    p = rate(s, lead)
    q = s.threat[0]
    gap = q - p
    return gap < 0.0 or s.n[lead] * gap * gap < 2.0 * s.level[0] * SLACK * min(
        p * (1.0 - p), q * (1.0 - q)
    )


@cold
def highest_index(s, t):
    """Return the arm with the highest index.

    Also write down what the others can reach until about t * 513/512, not longer: arms
    that are nearly equal take turns. An index is solved for only if it may be the
    highest so far.
    """
    s.level[0] = level_at(t, s.c)
    if t <= s.threat_until[0] and leads(s):
        return s.leader[0]
    until = t + t // 512 + 8
    later = level_at(until, s.c)
    best = 0
    highest = -math.inf
    reach = -math.inf  # of the best
    threat = -math.inf  # the largest reach of the others
    for a in range(s.arms):
        p = rate(s, a)
        nats = s.level[0] / s.n[a]
        index = kl_upper(p, nats) if may_exceed(p, nats, highest) else -math.inf
        if index > highest:
            threat = max(threat, reach)
            best = a
            highest = index
            reach = kl_upper(p, later / s.n[a])
        elif may_exceed(p, later / s.n[a], threat):
            threat = max(threat, kl_upper(p, later / s.n[a]))
    s.leader[0] = best
    s.threat[0] = threat
    s.threat_level[0] = later
    s.threat_until[0] = until
    return best


@cold
def raise_threat(s, a):
    """Let the threat cover arm a, whose mean or count has changed."""
    p = rate(s, a)
    nats = s.threat_level[0] / s.n[a]
    if may_exceed(p, nats, s.threat[0]):
        s.threat[0] = max(s.threat[0], kl_upper(p, nats))


@hot
def index_moved(s, a):
    """Take note that the mean or the count of arm a has changed."""
    if a != s.leader[0] and s.threat_until[0] > 0:
        raise_threat(s, a)


@dataclass(frozen=True)
class KLUCB(MeanOfRange):
    """KL-UCB: for rewards of 0 and 1, asymptotically the least regret possible.

    Every arm is pulled once. Then round t pulls the arm with the largest

        max {q : n_a kl(mean_a, q) <= log t + c log log t},

    kl(p, q) = p log(p/q) + (1 - p) log((1 - p)/(1 - q)) the relative entropy of two
    Bernoulli laws. Rewards in another range are mapped to [0, 1] by `reward_range` and
    clipped; for laws that are far from 0/1, other policies do better. docs/policies.md
    says why the index still holds.

    **Under attack.** An attacker with a share rho can move a rate p anywhere in [(1 -
    rho) p, (1 - rho) p + rho]. For rho < gap/(1 + gap) this policy finds the best arm,
    and its regret is that of the rates after the attack. Beyond that, no policy finds
    the best arm. `ia.certify` computes both; see `ironarm.theory.limit_on_rho`.

    **Not for rewards without a range,** and not where the range is wide and the gaps
    are small: one attacked reward then weighs as much as the range. Use `CountIMED` or
    `MedEUCB` there.

    Parameters
    ----------
    c : weight of log log t, >= 0. The proof asks for 3; the authors recommend 0.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.1, 0.05, 0.02])
    >>> result = ia.simulate(
    ...     [ia.KLUCB(), ia.UCB(sigma=0.5)],
    ...     bandit,
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(row.mean) for row in result.summary().rows]
    [29, 129]

    References
    ----------
    Garivier and Cappe, The KL-UCB algorithm for bounded stochastic bandits and beyond,
    COLT 2011.
    """

    c: float = 0.0
    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"reward_range": "range"}
    family = "upper confidence", "mean in a known range"
    use_when = (
        "rewards are 0 or 1, or in a known range and mostly equal; corrupt or not (docs/clicks.md)"
    )

    fields = {
        "leader": "cache int[1]",
        "level": "cache float[1]",
        "threat": "cache float[1]",
        "threat_level": "cache float[1]",
        "threat_until": "cache int[1]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(c=number("c", self.c, at_least=0))

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {"c": self.c, **super().constants(arms, horizon)}

    @staticmethod
    @hot
    def choose(s, t, g):
        if t <= s.threat_until[0] and leads(s):
            return s.leader[0]
        if s.unrewarded[0] > 0:
            return first_unrewarded(s.n, s.rewards, s.fresh)
        return highest_index(s, t)

    @staticmethod
    @hot
    def update(s, a, x):
        index_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        index_moved(s, a)
