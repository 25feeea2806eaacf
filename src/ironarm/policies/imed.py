"""IMED for normal rewards of known variance: pull the least evidence against an arm."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..rules.highest_index import first_unrewarded
from ..rules.lazy_imed import (
    ImedPolicy,
    found_leader,
    highest_estimate,
    still_leads,
)
from ..validation import number

# how far the leader's mean may fall, in standard deviations, before all indices are
# computed again
REACH = 0.02


@hot
def gap(best, estimate, sigma):
    """Return (best - estimate) / sigma, 0 for equal infinities."""
    return 0.0 if best == estimate else (best - estimate) / sigma


@cold
def smallest_index(s):
    """Return the arm with the smallest index.

    Also write down how long the leader is certain to keep it.
    """
    lead = highest_estimate(s.estimate)
    top = s.estimate[lead]
    low = top - REACH * s.sigma
    best = lead
    smallest = math.log(s.n[lead])
    others = math.inf
    second = -math.inf
    for a in range(s.arms):
        if a == lead:
            continue
        z = gap(top, s.estimate[a], s.sigma)
        index = s.n[a] * (z * z / 2.0) + math.log(s.n[a])
        if index < smallest or (index == smallest and a < best):
            smallest = index
            best = a
        z = max(0.0, gap(low, s.estimate[a], s.sigma))
        others = min(others, s.n[a] * (z * z / 2.0) + math.log(s.n[a]))
        second = max(second, s.estimate[a])
    found_leader(s, lead, others, second, low)
    return best


@dataclass(frozen=True)
class IMED(ImedPolicy):
    """IMED (indexed minimum empirical divergence) for normal rewards of known variance.

    It is asymptotically optimal when nobody corrupts the feedback. Every arm is pulled
    once. Then, with mu* the highest mean so far, round t pulls the arm with the
    smallest

        n_a (mu* - mean_a)^2 / (2 sigma^2) + log n_a.

    The first term is the log-likelihood ratio against "arm a is as good as the best";
    the second grows with the number of tries. The best arm's own index is log n, so
    another arm gets its next pull when the log of the leader's count exceeds the
    evidence: about 2 sigma^2 log T / gap^2 pulls in all, the least possible.

    **Not for corrupted rewards**: it compares means, and one unbounded reward moves a
    mean anywhere. `CountIMED` is the same idea with evidence that an attacker cannot
    forge.

    Parameters
    ----------
    sigma : the rewards' standard deviation, in units of reward, > 0; or an upper bound.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> result = ia.simulate(
    ...     ia.IMED(), bandit, horizon=1000, trials=20, seed=1, progress=False
    ... )
    >>> bool(result.regret[0, :, -1].mean() < 25)
    True

    References
    ----------
    Honda and Takemura, Non-asymptotic analysis of a new bandit algorithm for
    semi-bounded rewards, Journal of Machine Learning Research 16, 2015.
    """

    sigma: float = 1.0

    needs = {"sigma": "sigma"}
    family = "least evidence against an arm", "mean"
    use_when = "nobody corrupts the rewards, which are normal: the least regret possible"

    def __post_init__(self) -> None:
        self._set(sigma=number("sigma", self.sigma, above=0))

    @staticmethod
    @hot
    def choose(s, t, g):
        if still_leads(s):
            return s.leader[0]
        if s.unrewarded[0] > 0:
            return first_unrewarded(s.n, s.rewards, s.fresh)
        return smallest_index(s)
