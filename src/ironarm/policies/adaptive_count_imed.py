"""Count-IMED that learns the share of corrupt rewards and the scale of clean ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..estimators.structures.ordered import nth_reward, rewards_below, sort_rewards
from ..marks import cold, hot
from ..rules.corrupted_kl import cdf
from ..rules.count_evidence import (
    LARGEST,
    MOVED,
    CountPolicy,
    least_evidence,
    upper_bound,
)
from ..rules.highest_index import first_unrewarded
from ..rules.lazy_imed import highest_estimate

FIRST_LOOK = 32  # rewards of the leader at the first look; the next is at twice as many
MOST = 0.4  # the largest epsilon, and the first
MARGIN = 0.05  # epsilon minus the bound on the share of far rewards
FAR = 4.0  # standard deviations
LEAST = 1e-12  # the smallest sigma, relative to the size of the rewards
SMALLEST = 1e-200
GREATEST = 1e300
UPPER_QUARTILE = 0.6744897501960817  # Phi^-1(3/4)
UPPER_EIGHTH = 1.1503493803760079  # Phi^-1(7/8)


@cold
def spread_of(s, a, n):
    """Write the spread of the clean rewards of arm a to learnt[0].

    Return how many of its n rewards, which are in order, are far from most others.
    """
    half = n // 2 + 1
    narrowest = math.inf
    start = 0
    for i in range(n - half + 1):
        width = nth_reward(s, a, i + half - 1) - nth_reward(s, a, i)
        if width < narrowest:
            narrowest = width
            start = i
    middle = 0.5 * nth_reward(s, a, start) + 0.5 * nth_reward(s, a, start + half - 1)
    if not narrowest <= LARGEST or abs(middle) > LARGEST:
        return n  # half of the rewards are infinite, or nearly so
    least = max(LEAST * abs(middle), SMALLEST)  # the spread of equal rewards would be 0
    reach = FAR * max(narrowest / (2.0 * UPPER_QUARTILE), least)
    first = rewards_below(s, a, n, max(middle - reach, -LARGEST))
    near = rewards_below(s, a, n, middle + reach) - first
    eighth = near // 8
    high = nth_reward(s, a, first + near - 1 - eighth)
    low = nth_reward(s, a, first + eighth)
    s.learnt[0] = min(
        max((high - low) / (2.0 * UPPER_EIGHTH) * (1.0 + 1.0 / math.sqrt(near)), least), GREATEST
    )
    return n - near


@cold
def look(s, a):
    """Learn sigma and the leader's epsilon from the rewards of the leader a.

    All evidence must then be computed anew.
    """
    n = s.rewards[a]
    s.next_look[0] = 2 * n
    if s.in_order[a] == 0:
        sort_rewards(s, a)
        s.in_order[a] = 1
    far = spread_of(s, a, n)
    s.learnt[1] = min(MOST, upper_bound(far, n, math.log(n)) + MARGIN)
    # beta by bisection: Phi(beta) = 1 / (2 (1 - epsilon))
    low = 0.0
    high = 2.0
    for _ in range(50):
        beta = 0.5 * (low + high)
        if cdf(beta) < 0.5 / (1.0 - s.learnt[1]):
            low = beta
        else:
            high = beta
    s.learnt[2] = s.learnt[0] * high
    for k in range(s.arms):
        s.stage[k] = 0


@dataclass(frozen=True)
class AdaptiveCountIMED(CountPolicy):
    """Count-IMED without parameters: it learns epsilon and sigma from the rewards.

    It is `CountIMED`, and looks at the rewards of the leader, the arm with the highest
    lower median, when it has 32 rewards and whenever a leader has twice as many as at
    the last look. The shortest half of the rewards shows which of them are far from the
    others. sigma comes from the spread of the near ones. The leader's epsilon is an
    upper bound on the share of the far ones plus 0.05, at most 0.4. Each other arm is
    judged by the leader's epsilon, or by a bound on the corrupt share of its own
    rewards if that is larger. So an arm with few rewards is judged as if four in ten
    were corrupt.

    docs/adaptive.md has the formulas, the measurements, and what else was tried.

    **Where it fails.** No policy can learn a bound on rho from the rewards alone
    (Agrawal et al. 2024). This one assumes that corrupt rewards do not all look like
    clean ones of their own arm. Nothing is proved. If rho is known, use `CountIMED`.

    **Not for 0/1 rewards** or heavy ties, arms of different skew or scale (one sigma
    serves all), gaps below sigma Dmin(epsilon), or rho near 0.4 and above. A round
    costs four to six times one of `MedEUCB`.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.OppositeUniform(rho=0.3, scale=1800)
    >>> result = ia.simulate(
    ...     ia.AdaptiveCountIMED(),
    ...     bandit,
    ...     attack,
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> round(float(result.regret[0, :, -1].mean()))
    1104

    References
    ----------
    Agrawal, Mathieu, Basu, Maillard, CRIMED: Lower and upper bounds on regret for
    bandits with unbounded stochastic corruption, ALT 2024 (a bound on rho must be
    known). Rousseeuw and Leroy, A robust scale estimator based on the shortest half,
    Statistica Neerlandica 42, 1988.
    """

    told = {}

    fields = {**CountPolicy.fields, "learnt": "float[3]", "next_look": "int[1]"}

    @staticmethod
    @hot
    def choose(s, t, g):
        lead = s.leader[0]
        x = s.estimate[lead] + s.learnt[2]
        step = MOVED * s.learnt[0]
        if (
            s.n[lead] < s.until[0]
            and s.rewards[lead] < s.next_look[0]
            and s.estimate[lead] > s.rival[0]
            and x - s.lowest_at[0] <= step
            and s.highest_at[0] - x <= step
        ):
            return lead
        if s.unrewarded[0] > 0:
            return first_unrewarded(s.n, s.rewards, s.fresh)
        lead = highest_estimate(s.estimate)
        if s.rewards[lead] >= max(s.next_look[0], FIRST_LOOK):
            look(s, lead)
        if s.learnt[0] == 0.0:
            return lead
        return least_evidence(s, s.learnt[2], s.learnt[0], s.learnt[1], MOST)
