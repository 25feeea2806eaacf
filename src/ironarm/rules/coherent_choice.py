"""What `CoherentIMED` and its relatives learn and choose; docs/coherent-imed.md has it.

The counts by which arms are weighed are an argument, `n`: a policy that restarts counts
from its restart.
"""

from __future__ import annotations

import math

from ..estimators.sampled_median import held_rewards
from ..estimators.structures.ordered import nth_reward, rewards_below
from ..marks import cold, hot
from . import coherent_evidence
from .bernoulli_kl import kl_plus
from .coherent_evidence import (
    MOST,
    SMALLEST,
    bring_in_order,
    count_together,
    judge,
    judgement_holds,
    repeated,
    rounded_to,
)
from .corrupted_kl import cdf
from .count_evidence import LARGEST, upper_bound
from .lazy_imed import highest_estimate, rewards_until

FIRST_LOOK = 24  # rewards of the leader at the first look
LATER_LOOK = 16  # and at each later one
SURE = 128  # rewards; with fewer, a look may find that they do not lie together
APART = 6.0  # shortest half to shortest quarter; 2.1 for normal rewards
OFTEN = 4096  # rounds, up to which the next look comes after half as many again
LEAST_SHARE = 0.15  # the corrupt share that is always allowed for
HIDDEN = 0.25  # the same plus what is seen on the leader
LOOK_NATS = 3.0  # how sure the bound on the leader's far share is
POOLED_NATS = 1.0  # and the bound on the others' far share
CLEARLY = 2.0  # nats, from which on the others show more corruption than the leader
ALIKE = 0.5  # nats, up to which they show no more
SEEN = 0.04  # far share of the leader from which on that means something
BONUS = 1.0  # nats of evidence, if all arms show the same corruption
MOVED = 0.01  # sigma that the leader's median may move before x follows
GRID = 200.0  # the others' share is rounded up to a 200th
FAR = 4.0  # standard deviations
LEAST = 1e-12  # the smallest sigma, relative to the size of the rewards
GREATEST = 1e300
UPPER_QUARTILE = 0.6744897501960817  # Phi^-1(3/4)
UPPER_EIGHTH = 1.1503493803760079  # Phi^-1(7/8)


FIELDS = {
    **coherent_evidence.FIELDS,
    "sigma": "float[1]",
    "beta": "float[1]",
    "seen": "float[1]",  # far share of the leader
    "share": "float[1]",  # the corrupt share to allow for, by the leader
    "once": "int[1]",  # 1: equal rewards count once
    "next_look": "int[1]",
    "at": "float[1]",  # x
    "allowed": "cache float[1]",
    "bonus": "cache float[1]",
    "leader": "cache int[1]",
    "until": "cache int[1]",
    "rival": "cache float[1]",
}


@cold
def shortest(s, a, n, size):
    """Return the lowest rank of the shortest interval with `size` of the n rewards."""
    narrowest = math.inf
    start = 0
    for i in range(n - size + 1):
        width = nth_reward(s, a, i + size - 1) - nth_reward(s, a, i)
        if width < narrowest:
            narrowest = width
            start = i
    return start


@cold
def lie_apart(s, a, n):
    """Say whether half of the rewards of arm a spread far more than a quarter of them.

    So it is while most of them are outliers: a wrong arm that leads by luck.
    """
    half = n // 2 + 1
    start = shortest(s, a, n, half)
    wide = nth_reward(s, a, start + half - 1) - nth_reward(s, a, start)
    # equal rewards count once here: a constant reward of the attacker has no spread
    quarter = n // 4 + 1
    narrow = math.inf
    end = 0
    different = 0
    for i in range(n):
        here = nth_reward(s, a, i)
        while end < n and different < quarter:
            different += end == 0 or nth_reward(s, a, end) != nth_reward(s, a, end - 1)
            end += 1
        if different < quarter:
            break
        narrow = min(narrow, nth_reward(s, a, end - 1) - here)
        different -= i + 1 == n or nth_reward(s, a, i + 1) != here
    return not wide <= APART * narrow


@cold
def learn_sigma(s, a, n):
    """Learn sigma from the n rewards of arm a, which are in order.

    Return how many of them are far from most others.
    """
    half = n // 2 + 1
    start = shortest(s, a, n, half)
    low = nth_reward(s, a, start)
    high = nth_reward(s, a, start + half - 1)
    middle = 0.5 * low + 0.5 * high
    if not high - low <= LARGEST or abs(middle) > LARGEST:
        return n  # half of the rewards are infinite, or nearly so
    least = max(LEAST * abs(middle), SMALLEST)  # the spread of equal rewards would be 0
    reach = FAR * max((high - low) / (2.0 * UPPER_QUARTILE), least)
    first = rewards_below(s, a, n, max(middle - reach, -LARGEST))
    near = rewards_below(s, a, n, middle + reach) - first
    eighth = near // 8
    high = nth_reward(s, a, first + near - 1 - eighth)
    low = nth_reward(s, a, first + eighth)
    s.sigma[0] = min(
        max((high - low) / (2.0 * UPPER_EIGHTH) * (1.0 + 1.0 / math.sqrt(near)), least), GREATEST
    )
    return n - near


@cold
def pays_one_value(s, a):
    """Say whether arm a repeats one value more often than corruption explains."""
    bring_in_order(s, a)
    return repeated(s, a, held_rewards(s, a)) > 0


@cold
def arm_with_spread(s, lead, enough):
    """Return the arm to learn sigma from: the leader, if its rewards differ.

    An arm that pays one value has no spread, and by that measure the rewards of all
    others would lie apart. Of the arms with enough rewards that differ, it is then the
    one with the highest median; -1 if there is none.
    """
    if not pays_one_value(s, lead):
        return lead
    best = -1
    highest = -math.inf
    for a in range(s.arms):
        if s.estimate[a] > highest and held_rewards(s, a) >= enough and not pays_one_value(s, a):
            best = a
            highest = s.estimate[a]
    return best


@cold
def next_time(t):
    """Return the round of the next look."""
    return t + t // 2 if t < OFTEN else 2 * t


@cold
def look(s, a, t):
    """Learn sigma and the share to allow for from the rewards of the leader a.

    If few rewards do not lie together, nothing is learnt, and the next round looks
    again.
    """
    bring_in_order(s, a)
    n = held_rewards(s, a)
    unit = rounded_to(s, a, n)
    if n < SURE and unit == 0.0 and lie_apart(s, a, n):
        return
    far = learn_sigma(s, a, n)
    if s.sigma[0] == 0.0:
        return  # half of all rewards are infinite
    s.next_look[0] = next_time(t)
    s.once[0] = 1 if unit == 0.0 else 0
    s.seen[0] = far / n
    s.share[0] = min(
        MOST,
        max(LEAST_SHARE, HIDDEN - far / n, upper_bound(far, n, min(LOOK_NATS, math.log(n)))),
    )
    # by bisection: Phi(beta) = 1 / (2 (1 - share))
    low = 0.0
    high = 2.0
    for _ in range(50):
        beta = 0.5 * (low + high)
        if cdf(beta) < 0.5 / (1.0 - s.share[0]):
            low = beta
        else:
            high = beta
    # the median and each reward may be off by half a unit
    s.beta[0] = s.sigma[0] * high - unit
    for k in range(s.arms):
        s.stage[k] = 0


@cold
def others_show(s, lead):
    """Compare the far rewards of all other arms with those of the leader.

    Write the share to allow for and the bonus.
    """
    far = 0
    total = 0
    for a in range(s.arms):
        if a != lead:
            if s.stage[a] == 0:
                count_together(s, a, s.sigma[0], s.once[0])
            far += s.size[a] - s.together[a]
            total += s.size[a]
    s.allowed[0] = s.share[0]
    more = 0.0
    if total > 0:
        more = total * kl_plus(s.seen[0], far / total)
        if more > CLEARLY:
            pooled = min(MOST, upper_bound(far, total, POOLED_NATS))
            s.allowed[0] = max(s.share[0], math.ceil(pooled * GRID - 1e-9) / GRID)
    s.bonus[0] = BONUS if more <= ALIKE and s.seen[0] >= SEEN else 0.0


@cold
def least_index(s, n, t):
    """Return the arm with the smallest index at round t; every arm has a reward.

    Also write down how long the leader is certain to keep it. `n` counts an arm's
    rewards and open decisions.
    """
    lead = highest_estimate(s.estimate)
    if t >= s.next_look[0]:
        first = s.sigma[0] == 0.0
        model = arm_with_spread(s, lead, 0 if first else LATER_LOOK)
        if model < 0 and first:
            model = lead  # all arms pay one value
        if model < 0:
            s.next_look[0] = next_time(t)
        elif held_rewards(s, model) >= (FIRST_LOOK if first else LATER_LOOK):
            look(s, model, t)
        if s.sigma[0] == 0.0:
            # rewards of an arm may never come, and then others must do
            return model if n[model] < SURE else lead
    x = s.estimate[lead] + s.beta[0]
    if x != s.at[0] and not abs(x - s.at[0]) <= MOVED * s.sigma[0]:
        s.at[0] = x
    x = s.at[0]
    others_show(s, lead)
    best = lead
    smallest = math.log(n[lead])
    others = math.inf
    second = -math.inf
    for a in range(s.arms):
        if a == lead:
            continue
        index = math.log(n[a])
        # evidence is never negative, so it is computed only if the arm could be the
        # choice
        if index <= smallest:
            if not judgement_holds(s, a, x, s.allowed[0], s.bonus[0]):
                if s.size[a] != held_rewards(s, a):
                    count_together(s, a, s.sigma[0], s.once[0])
                judge(s, a, x, s.sigma[0], s.once[0], s.allowed[0], s.bonus[0])
            index = s.evidence[a] + index
            if index < smallest or (index == smallest and a < best):
                smallest = index
                best = a
        others = min(others, index)
        second = max(second, s.estimate[a])
    s.leader[0] = lead
    s.until[0] = rewards_until(others)
    s.rival[0] = second
    return best


@hot
def leader_stays(s, n, t):
    """Say whether the leader is certain to have the smallest index at round t."""
    lead = s.leader[0]
    return (
        n[lead] < s.until[0]
        and t < s.next_look[0]
        and s.estimate[lead] > s.rival[0]
        and abs(s.estimate[lead] + s.beta[0] - s.at[0]) <= MOVED * s.sigma[0]
    )
