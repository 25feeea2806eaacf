"""Count-IMED that is told neither the share of corrupt rewards nor the scale of the
clean ones: it learns both from the rewards.
"""

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
    arm_with_least_evidence,
    upper_bound,
)
from ..rules.highest_index import first_unrewarded
from ..rules.lazy_imed import highest_estimate

FIRST_LOOK = 32  # rewards of the leader at the first look; then at every doubling
MOST = 0.4  # the largest epsilon, and the first
MARGIN = 0.05  # of epsilon over the certified share of far rewards
FAR = 4.0  # standard deviations
LEAST = 1e-12  # the smallest sigma, relative to the size of the rewards
SMALLEST = 1e-200
GREATEST = 1e300
UPPER_QUARTILE = 0.6744897501960817  # Phi^-1(3/4)
UPPER_EIGHTH = 1.1503493803760079  # Phi^-1(7/8)


@cold
def spread_of(pool, window, inside, slot_start, slot_size, a, n, learnt):
    """Write the standard deviation of the clean ones among the n rewards of arm a,
    which are in order, to learnt[0], and return how many are far away from the
    others.
    """
    half = n // 2 + 1
    narrowest = math.inf
    start = 0
    for i in range(n - half + 1):
        width = nth_reward(
            pool, window, inside, slot_start, slot_size, a, i + half - 1
        ) - nth_reward(pool, window, inside, slot_start, slot_size, a, i)
        if width < narrowest:
            narrowest = width
            start = i
    middle = 0.5 * nth_reward(
        pool, window, inside, slot_start, slot_size, a, start
    ) + 0.5 * nth_reward(pool, window, inside, slot_start, slot_size, a, start + half - 1)
    if not narrowest <= LARGEST or abs(middle) > LARGEST:
        return n  # half of the rewards are infinite, or as good as
    least = max(LEAST * abs(middle), SMALLEST)  # of equal rewards, whose spread is 0
    reach = FAR * max(narrowest / (2.0 * UPPER_QUARTILE), least)
    first = rewards_below(
        pool, window, inside, slot_start, slot_size, a, n, max(middle - reach, -LARGEST)
    )
    near = rewards_below(pool, window, inside, slot_start, slot_size, a, n, middle + reach) - first
    eighth = near // 8
    high = nth_reward(pool, window, inside, slot_start, slot_size, a, first + near - 1 - eighth)
    low = nth_reward(pool, window, inside, slot_start, slot_size, a, first + eighth)
    learnt[0] = min(
        max((high - low) / (2.0 * UPPER_EIGHTH) * (1.0 + 1.0 / math.sqrt(near)), least), GREATEST
    )
    return n - near


@cold
def look(pool, window, inside, slot_start, slot_size, in_order, stage, learnt, next_look, a, n):
    """Learn sigma and the leader's epsilon from the n rewards of the leader a; all
    evidence is to be computed anew.
    """
    next_look[0] = 2 * n
    if in_order[a] == 0:
        sort_rewards(pool, slot_start, slot_size, a)
        in_order[a] = 1
    far = spread_of(pool, window, inside, slot_start, slot_size, a, n, learnt)
    learnt[1] = min(MOST, upper_bound(far, n, math.log(n)) + MARGIN)
    # beta by bisection: Phi(beta) = 1 / (2 (1 - epsilon))
    low = 0.0
    high = 2.0
    for _ in range(50):
        beta = 0.5 * (low + high)
        if cdf(beta) < 0.5 / (1.0 - learnt[1]):
            low = beta
        else:
            high = beta
    learnt[2] = learnt[0] * high
    for k in range(len(stage)):
        stage[k] = 0


@dataclass(frozen=True)
class AdaptiveCountIMED(CountPolicy):
    """Count-IMED that is told nothing: neither the share of corrupt rewards nor the
    scale of the clean ones.

    It is `CountIMED`, and learns sigma from the rewards of the leader, the arm with the
    highest lower median, and epsilon from the leader's and from each arm's own. The
    leader's cost nothing while it is the best arm, and there are soon many of them.
    Every arm is pulled once, then the leader of the moment until it has 32 rewards. At
    that count, and whenever a leader has twice as many as at the last look, with n its
    rewards in order:

    1. The shortest interval with n // 2 + 1 rewards, of width v around the middle c.
       Corruption below one half cannot move it far. v / (2 Phi^-1(3/4)) would be sigma
       without it, and is too large with it.
    2. Rewards within 4 v / (2 Phi^-1(3/4)) of c are near, the others far. With m near
       ones, sigma is their spread between the eighths, (Q(7/8) - Q(1/8)) / (2
       Phi^-1(7/8)), times 1 + 1/sqrt(m), because too small a sigma is worse than too
       large a one.
    3. The leader's epsilon = min(0.4, u + 0.05), with u the upper confidence bound of
       the far share: n kl(far/n, u) = log n.

    Then the rule of `CountIMED` with this sigma; a look makes all evidence be computed
    anew. beta comes from the leader's epsilon. The evidence against another arm is
    computed with the leader's epsilon or, if that is larger, with the arm's own: the
    upper bound u_a on the share of its n_a rewards outside the window of half-width 3
    sigma that holds most of them, n_a kl(far_a/n_a, u_a) = 1, but at most 0.4. So an
    arm with few rewards is judged as if four in ten were corrupt, whatever the leader
    looks like, and more sharply as its own rewards are seen to lie together.

    **What it rests on, and where that fails.** No policy can learn a bound on rho from
    the rewards alone (Agrawal et al. 2024). This one assumes that corrupt rewards do
    not all look like clean ones of their own arm: a best arm whose first five or six
    rewards are all attacked, and alike, looks clean and bad, and stays away for 100,000
    rounds. At rho = 0.3 that has a chance of 1 or 2 in 1,000 if a wrong arm leads
    meanwhile. Corrupt rewards close to the clean ones are not far and make sigma larger
    instead, which errs on the safe side. Nothing is proved. If rho is known, tell
    `CountIMED`.

    **Not for 0/1 rewards** or heavy ties, arms of different skew or scale (one sigma
    serves all), gaps below sigma Dmin(epsilon), or rho near 0.4 and above.

    A look sorts the leader's rewards: O(n log n) at every doubling, O(log n) for each
    reward in the long run. A round costs four to six times one of `MedEUCB`.

    docs/adaptive.md has the measurements, and what else was tried.

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
            look(
                s.pool,
                s.window,
                s.inside,
                s.slot_start,
                s.slot_size,
                s.in_order,
                s.stage,
                s.learnt,
                s.next_look,
                lead,
                s.rewards[lead],
            )
        if s.learnt[0] == 0.0:
            return lead
        return arm_with_least_evidence(s, s.learnt[2], s.learnt[0], s.learnt[1], MOST)
