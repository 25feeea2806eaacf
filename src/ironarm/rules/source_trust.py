"""How far each source is trusted: all of them are judged anew at every look.

Honest sources send rewards of the same laws. Some sources, less than half of them, send
anything. The evidence on a source is pooled over the arms, because of one arm alone it
has too few rewards. With n rewards of an arm from a source, their sum x, and the mean m
and the variance v of the arm, its distance from the others is

    d = sum over its arms of (x - n m)^2 / (v (n + CAUTION)),

about chi-squared with as many degrees of freedom as it has arms, if it is honest. One
click proves nothing, however rare clicks are: where most sources send nothing but 0 and
some c, CAUTION v is at least ONE_REWARD c^2. A look has four steps.

1. **Cap.** No source counts for more than one of median activity: a source starts with
   the weight min(1, median number of rewards / its own number). Nor may it vary much
   more than a usual one: the weight is also at most MOST_SPREAD times the median
   variance over its own. Otherwise wild rewards of a few sources would hide any lie.
2. **Centre.** m and v are computed with the weights, which are then multiplied by
   Huber's min(1, sqrt(usual / d)), several times. It is nearly a convex problem, so it
   needs no lucky start, and no source has much influence.
3. **Drop.** Sources with d above `most_distance` get the weight 0; m and v are computed
   from the others, several times. Where honest sources differ among themselves and most
   distances are above it, all are divided by what lets half of the sources stay.
4. **Split.** Sources that tell the same small lie are each within luck, but not all of
   them together. Two groups are fitted to the sources that are left, by EM, from three
   starts: one group with means m, one with means m' that differ by at most SMALL
   standard deviations. If that explains the rewards better than one group does, by more
   than chance allows, the larger group is the honest one, and a source is trusted as
   far as it seems to belong to it. Likelihoods are normal, or Bernoulli's for 0 and c.
   Sources with less than half of the full weight have a prior share of their own in the
   second group: hostile ones are often busy.

A look costs O(rows * arms). It comes when the rewards have grown by an eighth, and by
as many as there are sources, so that it costs O(arms) for each reward.

More than 500 lines stand in one file here, because the four steps share their fields
and are read in this order.
"""

from __future__ import annotations

import math

from ..marks import cold, hot
from .source_rows import nth_smallest

FIELDS = {
    "row_weight": "float[slots]",
    "row_cap": "cache float[slots]",
    "row_distance": "cache float[slots]",
    "row_arms": "cache float[slots]",
    "row_scratch": "cache float[slots]",
    "only": "cache float[1]",  # c if most sources send nothing but 0 and c, else 0
    "weighted": "float[arms]",  # rewards, each with the weight of its source
    "weighted_sum": "float[arms]",
    "variance": "float[arms]",
    "centre": "cache float[arms]",
    "honest": "cache float[arms]",
    "other": "cache float[arms]",
    "slope": "cache float[arms]",
    "drop": "cache float[arms]",
    "other_rewards": "cache float[arms]",
    "other_sum": "cache float[arms]",
    "kept_rewards": "cache float[arms]",
    "kept_sum": "cache float[arms]",
    "kept": "cache float[2]",  # rows that were not dropped, usual and busy ones
    "tallied": "cache float[2]",  # as far as they are of the other group
    "share": "cache float[2]",  # of the other group, among usual and busy sources
    "best_honest": "float[arms]",
    "best_other": "float[arms]",
    "best_share": "float[2]",
}
CAUTION = 8.0  # rewards: few and skewed ones do not condemn a source
ONE_REWARD = 0.3  # as 8 clicks at a rate of 4 %: one is then 3.3, two are 13
MOST_SPREAD = 9.0  # three times the standard deviation
ROUNDING = 1e-13  # of the squares, in a variance that is computed from sums
OUT = 4.0  # standard deviations of chi-squared
PRIOR = 30.0  # rewards, with which an arm's variance begins at that of all arms
HUBER_STEPS = 6
DROP_STEPS = 4
SPLIT_STEPS = 6
SMALL = 0.25  # standard deviations; larger common lies are found one by one
BUSY = 0.5  # a source whose cap is below this is busy
LEAST_SHARE = 1e-3
LEAST_RATE = 1e-9
MOST_USUAL = 0.49
MOST_BUSY = 0.95
SURELY = 2.0  # nats, beyond log(sources) / 2 for each number that is fitted
FARTHEST = 50.0  # nats
LEAST = 1e-18  # of the mean square: the variance of equal rewards is not 0
SMALLEST = 1e-200


@hot
def usual_distance(arms):
    """Return the distance up to which a source has its full weight in the centre."""
    return arms + math.sqrt(2.0 * arms)


@hot
def most_distance(arms):
    """Return the distance beyond which a source is dropped."""
    return arms + OUT * math.sqrt(2.0 * arms) + 2.0


@cold
def cap_activity(s):
    """Give each row its cap by the number of its rewards; 0 without any."""
    slots = len(s.row_source)
    rows = s.rows[0]
    active = 0
    for i in range(rows):
        total = 0.0
        for a in range(s.arms):
            total += s.row_rewards[a * slots + i]
        s.row_cap[i] = total
        if total > 0.0:
            s.row_scratch[active] = total
            active += 1
    if active == 0:
        return
    median = nth_smallest(s.row_scratch, active, active // 2)
    for i in range(rows):
        if s.row_cap[i] > 0.0:
            s.row_cap[i] = min(1.0, median / s.row_cap[i])


@cold
def cap_spread(s):
    """Lower the cap of rows whose rewards vary far more than those of a usual row.

    Only the variance around a row's own means counts here. The usual one is the median
    of rows that show any, if they are at least two thirds; else the largest that
    rewards of 0 and c can have, or unknown, so that nothing is capped.
    """
    slots = len(s.row_source)
    active = 0
    some = 0
    for i in range(s.rows[0]):
        spread = 0.0
        free = 0.0
        for a in range(s.arms):
            at = a * slots + i
            n = s.row_rewards[at]
            if n > 1.0:
                own = s.row_squares[at] - s.row_sum[at] / n * s.row_sum[at]
                spread += own if own > ROUNDING * s.row_squares[at] else 0.0
                free += n - 1.0
        s.row_distance[i] = spread
        s.row_arms[i] = free
        active += s.row_cap[i] > 0.0
        if spread > 0.0:
            s.row_scratch[some] = spread / free
            some += 1
    usual = 0.25 * s.only[0] * s.only[0]
    if some > 0 and 3 * some >= 2 * active:
        usual = nth_smallest(s.row_scratch, some, some // 2)
    for i in range(s.rows[0]):
        allowed = MOST_SPREAD * usual * (s.row_arms[i] + CAUTION)
        if 0.0 < allowed < s.row_distance[i]:
            s.row_cap[i] *= allowed / s.row_distance[i]
        s.row_weight[i] = s.row_cap[i]


@cold
def only_reward(s):
    """Return c if more than half of the rows send nothing but 0 and c; 0 if they do
    not.

    Rows that send nothing but 0 have no say.
    """
    slots = len(s.row_source)
    active = 0
    for i in range(s.rows[0]):
        x = 0.0
        xx = 0.0
        for a in range(s.arms):
            x += s.row_sum[a * slots + i]
            xx += s.row_squares[a * slots + i]
        if xx > 0.0:
            s.row_scratch[active] = xx / x if x != 0.0 else math.inf
            active += 1
    if active == 0:
        return 0.0
    c = nth_smallest(s.row_scratch, active, active // 2)
    if c == math.inf:
        return 0.0
    alike = 0
    for i in range(active):
        alike += abs(s.row_scratch[i] - c) <= 1e-9 * abs(c)
    return c if 2 * alike > active else 0.0


@cold
def find_centre(s):
    """Compute mean and variance of each arm from the weights.

    Return the variance of all arms together.
    """
    slots = len(s.row_source)
    count = 0.0
    within = 0.0
    squares = 0.0
    seen = 0
    for a in range(s.arms):
        n = 0.0
        x = 0.0
        xx = 0.0
        for i in range(s.rows[0]):
            w = s.row_weight[i]
            at = a * slots + i
            n += w * s.row_rewards[at]
            x += w * s.row_sum[at]
            xx += w * s.row_squares[at]
        s.weighted[a] = n
        s.weighted_sum[a] = x
        s.centre[a] = 0.0
        s.variance[a] = 0.0
        if n > 0.0:
            s.centre[a] = x / n
            s.variance[a] = max(0.0, xx - s.centre[a] * x)
            within += s.variance[a]
            squares += xx
            count += n
            seen += 1
    if count <= 0.0:
        return SMALLEST
    pooled = max(within / max(count - seen, 1.0), LEAST * squares / count, SMALLEST)
    for a in range(s.arms):
        s.variance[a] = (s.variance[a] + PRIOR * pooled) / (s.weighted[a] + PRIOR)
    return pooled


@cold
def find_distances(s):
    """Compute the distance of each row from the centre."""
    slots = len(s.row_source)
    for i in range(s.rows[0]):
        distance = 0.0
        arms = 0
        for a in range(s.arms):
            n = s.row_rewards[a * slots + i]
            if n > 0.0:
                e = s.row_sum[a * slots + i] - n * s.centre[a]
                caution = max(s.variance[a] * CAUTION, ONE_REWARD * s.only[0] * s.only[0])
                distance += e * e / (s.variance[a] * n + caution)
                arms += 1
        s.row_distance[i] = distance
        s.row_arms[i] = arms


@cold
def excess(s):
    """Return by what `most_distance` is to be multiplied so that half of the rows stay.

    It is at least 1.
    """
    active = 0
    for i in range(s.rows[0]):
        if s.row_arms[i] > 0.0:
            s.row_scratch[active] = s.row_distance[i] / most_distance(s.row_arms[i])
            active += 1
    return max(1.0, nth_smallest(s.row_scratch, active, active // 2)) if active > 0 else 1.0


@hot
def odds(s, i):
    """Return the prior share of the other group for a row, and its share of belief.

    The latter is to be compared with 1 - share, that of the honest group.
    """
    slots = len(s.row_source)
    total = 0.0
    for a in range(s.arms):
        at = a * slots + i
        total += s.slope[a] * s.row_sum[at] - s.drop[a] * s.row_rewards[at]
    share = s.share[1 if s.row_cap[i] < BUSY else 0]
    return share, share * math.exp(min(max(total, -FARTHEST), FARTHEST))


@cold
def tally(s):
    """Count the rows for the other group, as far as each of them belongs to it."""
    slots = len(s.row_source)
    rows = s.rows[0]
    s.tallied[0] = 0.0
    s.tallied[1] = 0.0
    for i in range(rows):
        s.tallied[1 if s.row_cap[i] < BUSY else 0] += s.row_scratch[i]
    for a in range(s.arms):
        n = 0.0
        x = 0.0
        for i in range(rows):
            n += s.row_scratch[i] * s.row_rewards[a * slots + i]
            x += s.row_scratch[i] * s.row_sum[a * slots + i]
        s.other_rewards[a] = n
        s.other_sum[a] = x


@hot
def rate_of(s, mean):
    """Return the share of rewards c, where all are 0 or c, that has this mean."""
    return min(max(mean / s.only[0], LEAST_RATE), 1.0 - LEAST_RATE)


@hot
def set_slopes(s, spread):
    """Compute what a reward, and a unit of reward, says for the other group.

    Likelihoods are normal; Bernoulli's where rewards are 0 or c, because with the
    normal one a rare click would say far too much.
    """
    for a in range(s.arms):
        if s.only[0] != 0.0:
            p = rate_of(s, s.honest[a])
            q = rate_of(s, s.other[a])
            s.drop[a] = math.log((1.0 - p) / (1.0 - q)) / spread
            s.slope[a] = (math.log(q / p) / spread + s.drop[a]) / s.only[0]
        else:
            s.slope[a] = (s.other[a] - s.honest[a]) / (spread * s.variance[a])
            s.drop[a] = s.slope[a] * 0.5 * (s.honest[a] + s.other[a])


@cold
def assign(s, spread):
    """Count each row for the other group, as far as it seems to belong to it."""
    set_slopes(s, spread)
    for i in range(s.rows[0]):
        s.row_scratch[i] = 0.0
        if s.row_weight[i] > 0.0:
            share, other = odds(s, i)
            s.row_scratch[i] = other / (other + 1.0 - share)
    tally(s)


@cold
def fit_groups(s):
    """Compute shares and means of both groups from what was counted."""
    usual = (s.tallied[0] + 0.5) / (s.kept[0] + 5.0)
    busy = (s.tallied[1] + 0.5) / (s.kept[1] + 5.0)
    s.share[0] = min(max(usual, LEAST_SHARE), MOST_USUAL)
    s.share[1] = min(max(busy, LEAST_SHARE), MOST_BUSY)
    for a in range(s.arms):
        m = s.centre[a]
        s.honest[a] = (s.kept_sum[a] - s.other_sum[a] + m) / (
            max(0.0, s.kept_rewards[a] - s.other_rewards[a]) + 1.0
        )
        reach = SMALL * math.sqrt(s.variance[a])
        mean = (s.other_sum[a] + m) / (s.other_rewards[a] + 1.0)
        s.other[a] = min(max(mean, s.honest[a] - reach), s.honest[a] + reach)


@hot
def evidence_between(s, a, mean):
    """Return how much better a mean explains rewards of this mean than the honest one
    does, in nats a reward.
    """
    if s.only[0] != 0.0:
        p = rate_of(s, mean)
        q = rate_of(s, s.honest[a])
        share = mean / s.only[0]  # others may send what is not 0 or c
        return share * math.log(p / q) + (1.0 - share) * math.log((1.0 - p) / (1.0 - q))
    return (s.honest[a] - mean) ** 2 / (2.0 * s.variance[a])


@cold
def gain_of_groups(s, spread):
    """Return how much better two groups explain the kept rows than one does, in nats.

    It is -inf if the honest group is not the larger one.
    """
    set_slopes(s, spread)
    total = 0.0
    larger = 0.0
    for i in range(s.rows[0]):
        if s.row_weight[i] > 0.0:
            share, other = odds(s, i)
            total += math.log(other + 1.0 - share)
            larger += 1.0 - 2.0 * other / (other + 1.0 - share)
    for a in range(s.arms):
        n = s.kept_rewards[a]
        if n > 0.0:
            total -= n * evidence_between(s, a, s.kept_sum[a] / n) / spread
    return total if larger > 0.0 else -math.inf


@cold
def start_split(s, start):
    """Count the rows with which the other group begins; return whether there are any.

    0: those that are far away. 1: the busy ones.
    """
    for i in range(s.rows[0]):
        s.row_scratch[i] = 0.0
        if s.row_weight[i] > 0.0:
            far = start == 0 and s.row_distance[i] > usual_distance(s.row_arms[i])
            if far or (start == 1 and s.row_cap[i] < BUSY):
                s.row_scratch[i] = 1.0
    tally(s)
    return s.tallied[0] + s.tallied[1] > 0.0


@cold
def keep_groups(s):
    """Keep the two groups."""
    for a in range(s.arms):
        s.best_honest[a] = s.honest[a]
        s.best_other[a] = s.other[a]
    s.best_share[0] = s.share[0]
    s.best_share[1] = s.share[1]


@cold
def recall_groups(s):
    """Take the two groups that were kept."""
    for a in range(s.arms):
        s.honest[a] = s.best_honest[a]
        s.other[a] = s.best_other[a]
    s.share[0] = s.best_share[0]
    s.share[1] = s.best_share[1]


@cold
def count_kept(s):
    """Count the rows that were not dropped, and their rewards."""
    slots = len(s.row_source)
    s.kept[0] = 0.0
    s.kept[1] = 0.0
    for a in range(s.arms):
        s.kept_rewards[a] = 0.0
        s.kept_sum[a] = 0.0
    for i in range(s.rows[0]):
        if s.row_weight[i] > 0.0:
            s.kept[1 if s.row_cap[i] < BUSY else 0] += 1.0
            for a in range(s.arms):
                s.kept_rewards[a] += s.row_rewards[a * slots + i]
                s.kept_sum[a] += s.row_sum[a * slots + i]


@cold
def split(s, spread):
    """Fit two groups; multiply the weights by the trust if they explain enough."""
    count_kept(s)
    gain = 0.0
    # the last look's groups first, because better ones take their place
    for start in range(-1, 2):
        if start < 0:
            if s.best_share[0] == 0.0:
                continue
            recall_groups(s)
            s.best_share[0] = 0.0
            assign(s, spread)
        elif not start_split(s, start):
            continue
        fit_groups(s)
        for _ in range(SPLIT_STEPS - 1):
            assign(s, spread)
            fit_groups(s)
        found = gain_of_groups(s, spread)
        if found > gain:
            gain = found
            keep_groups(s)
    seen = 0
    for a in range(s.arms):
        seen += s.weighted[a] > 0.0
    kept = max(s.kept[0] + s.kept[1], 2.0)
    if gain <= SURELY + 0.5 * (seen + 2) * math.log(kept):
        return
    recall_groups(s)
    set_slopes(s, spread)
    for i in range(s.rows[0]):
        if s.row_weight[i] > 0.0:
            share, other = odds(s, i)
            s.row_weight[i] *= (1.0 - share) / (other + 1.0 - share)


@cold
def judge(s):
    """Judge all sources, and compute from the trusted ones what the arms pay.

    Return the variance of all arms together.
    """
    cap_activity(s)
    s.only[0] = only_reward(s)
    cap_spread(s)
    for _ in range(HUBER_STEPS):
        find_centre(s)
        find_distances(s)
        for i in range(s.rows[0]):
            usual = usual_distance(s.row_arms[i])
            if s.row_distance[i] > usual:
                s.row_weight[i] = s.row_cap[i] * math.sqrt(usual / s.row_distance[i])
            else:
                s.row_weight[i] = s.row_cap[i]
    spread = 1.0
    for _ in range(DROP_STEPS):
        find_centre(s)
        find_distances(s)
        spread = excess(s)
        for i in range(s.rows[0]):
            far = s.row_distance[i] / most_distance(s.row_arms[i]) > spread
            s.row_weight[i] = 0.0 if far else s.row_cap[i]
    find_centre(s)
    if s.rows[0] > 1:
        split(s, spread)
    return find_centre(s)
