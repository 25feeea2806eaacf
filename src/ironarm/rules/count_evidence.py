"""Evidence against "the mean of arm a is at least x" that counts rewards.

`CountIMED` compares arms by it; docs/count-imed.md has the formulas. The size of a
reward does not matter. Once an arm's n rewards are in order
(`ironarm.estimators.structures.ordered`), a threshold test costs O(log n). A window
test costs O(log n) if the window around x decides, else O(n).
"""

from __future__ import annotations

import math

from ..estimators.structures.ordered import nth_reward, rewards_below, sort_rewards
from ..marks import cold, hot
from .bernoulli_kl import kl_plus
from .corrupted_kl import cdf
from .highest_index import first_unrewarded
from .lazy_imed import highest_estimate, others_moved, rewards_until

THRESHOLDS = 6  # x - d for d = 0.5, 1, ..., 3 sigma
WINDOWS = 2  # of half-width 2 and 3 sigma
# in sigma: how far x may move before evidence is computed anew for an arm without a new
# reward
MOVED = 0.01
LARGEST = 1.7976931348623157e308  # the largest finite number

FIELDS = {
    "evidence": "float[arms]",
    "at": "float[arms]",  # the x of that evidence
    # 0: there is a new reward; 1: `at` is set; 2: the evidence is computed, too
    "stage": "int[arms]",
    "in_order": "cache int[arms]",
    "levels": "cache float[8]",
    "leader": "cache int[1]",
    "until": "cache int[1]",
    "rival": "cache float[1]",
    "lowest_at": "cache float[1]",
    "highest_at": "cache float[1]",
}


@cold
def set_levels(s):
    """Write the chances of a clean reward at the mean to pass each test.

    First those to lie above each threshold, then those to lie within each window.
    """
    for k in range(THRESHOLDS):
        s.levels[k] = cdf(0.5 * (k + 1))
    for k in range(WINDOWS):
        s.levels[THRESHOLDS + k] = 2.0 * cdf(2.0 + k) - 1.0


@cold
def fullest_window(s, a, first, finite, width):
    """Return the largest number of rewards within `width`.

    The lowest of them has a rank of at least `first`, the highest one below `finite`.
    """
    most = 0
    end = first
    for i in range(first, finite):
        if finite - i <= most:
            break
        reach = nth_reward(s, a, i) + width
        while end < finite and nth_reward(s, a, end) <= reach:
            end += 1
        most = max(most, end - i)
    return most


@cold
def evidence_against(s, a, n, x, sigma, clean):
    """Return the evidence of the n rewards of arm a against a mean of at least x.

    The rewards are in order. At least a share `clean` of all rewards is clean.
    """
    strongest = 0.0
    for k in range(THRESHOLDS):
        above = n - rewards_below(s, a, n, x - 0.5 * (k + 1) * sigma)
        strongest = max(strongest, n * kl_plus(above / n, clean * s.levels[k]))
    finite = n  # an infinite reward is in no window
    if n > 0 and nth_reward(s, a, n - 1) > LARGEST:
        finite = rewards_below(s, a, n, math.inf)
    for k in range(WINDOWS):
        d = (2.0 + k) * sigma
        first = rewards_below(s, a, n, max(x - d, -LARGEST))
        # often the window around x alone is so full that another test decides
        near = min(finite, rewards_below(s, a, n, x + d)) - first
        if n * kl_plus(max(near, 0) / n, clean * s.levels[THRESHOLDS + k]) > strongest:
            most = fullest_window(s, a, first, finite, 2.0 * d)
            strongest = max(strongest, n * kl_plus(most / n, clean * s.levels[THRESHOLDS + k]))
    return strongest


@cold
def upper_bound(far, n, nats):
    """Return a share under which `far` or fewer among n have the chance exp(-nats).

    It solves n kl(far/n, share) = nats.
    """
    low = far / n
    high = 1.0
    for _ in range(40):
        share = 0.5 * (low + high)
        if n * kl_plus(far / n, share) < nats:
            low = share
        else:
            high = share
    return high


@cold
def least_evidence(s, shift, sigma, epsilon):
    """Return the arm with the smallest index, evidence + log n.

    Evidence is computed as the rule needs it. Also write down how long the leader is
    certain to keep the smallest index.
    """
    if s.levels[0] == 0.0:
        set_levels(s)
    if s.unrewarded[0] > 0:
        return first_unrewarded(s.n, s.rewards, s.fresh)
    lead = highest_estimate(s.estimate)
    x = s.estimate[lead] + shift
    best = lead
    smallest = math.log(s.n[lead])
    others = math.inf
    second = -math.inf
    low = math.inf
    high = -math.inf
    for a in range(s.arms):
        if a == lead:
            continue
        if s.stage[a] == 0 or (x != s.at[a] and not abs(x - s.at[a]) <= MOVED * sigma):
            s.stage[a] = 1
            s.at[a] = x
        index = math.log(s.n[a])
        # evidence is never negative, so it is computed only if the arm could be the
        # choice: not for an arm with more pulls than the leader
        if index <= smallest:
            if s.stage[a] == 1:
                if s.in_order[a] == 0:
                    sort_rewards(s, a)
                    s.in_order[a] = 1
                s.evidence[a] = evidence_against(s, a, s.rewards[a], s.at[a], sigma, 1.0 - epsilon)
                s.stage[a] = 2
            index = s.evidence[a] + index
            if index < smallest or (index == smallest and a < best):
                smallest = index
                best = a
        others = min(others, index)
        second = max(second, s.estimate[a])
        low = min(low, s.at[a])
        high = max(high, s.at[a])
    s.leader[0] = lead
    s.until[0] = rewards_until(others)
    s.rival[0] = second
    s.lowest_at[0] = low
    s.highest_at[0] = high
    return best


@hot
def reward_came(s, a):
    """Mark the evidence and the order of arm a as out of date: it has a new reward."""
    s.stage[a] = 0
    s.in_order[a] = 0
    others_moved(s, a)
