"""IMED for rewards of 0 and 1, or in a known range."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..rules.bernoulli_kl import kl_plus
from ..rules.highest_index import first_unrewarded
from ..rules.lazy_imed import (
    FIELDS,
    found_leader,
    highest_estimate,
    others_moved,
    still_leads,
)
from ..rules.reward_range import MeanOfRange, rate

# how far the leader's mean may fall, in standard deviations, before all indices are
# computed again
REACH = 0.02


@cold
def smallest_index(s):
    """Return the arm with the smallest index.

    Also write down how long the leader is certain to keep it.
    """
    lead = highest_estimate(s.estimate)
    top = rate(s, lead)
    low = top - REACH * math.sqrt(top * (1.0 - top))
    best = lead
    smallest = math.log(s.n[lead])
    others = math.inf
    second = -math.inf
    for a in range(s.arms):
        if a == lead:
            continue
        p = rate(s, a)
        tries = math.log(s.n[a])
        index = s.n[a] * kl_plus(p, top) + tries
        if index < smallest or (index == smallest and a < best):
            smallest = index
            best = a
        others = min(others, s.n[a] * kl_plus(p, low) + tries)
        second = max(second, s.estimate[a])
    found_leader(s, lead, others, second, s.low + (s.high - s.low) * low)
    return best


@dataclass(frozen=True)
class BernoulliIMED(MeanOfRange):
    """IMED (indexed minimum empirical divergence) for rewards of 0 and 1.

    It is asymptotically optimal for them. Every arm is pulled once. Then, with mu* the
    highest mean so far, round t pulls the arm with the smallest

        n_a kl(mean_a, mu*) + log n_a,

    kl(p, q) = p log(p/q) + (1 - p) log((1 - p)/(1 - q)). It needs no root, no horizon
    and no random numbers. Rewards in another range are mapped to [0, 1] by
    `reward_range` and clipped; the index is then a lower bound on the evidence, as for
    `KLUCB`.

    **Under attack** it behaves like `KLUCB`: it finds the best arm for rho < gap/(1 +
    gap); beyond that, no policy does. **Not for rewards without a range**: use
    `CountIMED` or `MedEUCB`.

    Parameters
    ----------
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.1, 0.05, 0.02])
    >>> result = ia.simulate(
    ...     [ia.policies.BernoulliIMED(), ia.UCB(sigma=0.5)],
    ...     bandit,
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(row.mean) for row in result.summary().rows]
    [16, 129]

    References
    ----------
    Honda and Takemura, Non-asymptotic analysis of a new bandit algorithm for
    semi-bounded rewards, Journal of Machine Learning Research 16, 2015.
    """

    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"reward_range": "range"}
    family = "least evidence against an arm", "mean in a known range"
    use_when = "as for `KLUCB`; it is somewhat faster and has a little less regret"

    fields = FIELDS

    @staticmethod
    @hot
    def choose(s, t, g):
        if still_leads(s):
            return s.leader[0]
        if s.unrewarded[0] > 0:
            return first_unrewarded(s.n, s.rewards, s.fresh)
        return smallest_index(s)

    @staticmethod
    @hot
    def update(s, a, x):
        others_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        others_moved(s, a)
