"""Evidence against "the mean of arm a is at least x", sigma and rho unknown.

`CoherentIMED` compares arms by it; docs/coherent-imed.md has the formulas. It counts
rewards as `count_evidence` does, and differs in three things. Counts are weighed by the
exact binomial tail. Equal rewards count once, unless rewards look rounded, or an arm
has more of them than corruption explains. And if the rewards of an arm do not lie
together, there is that much less evidence against it.

Tail bound. Take n rewards of an arm with mean >= x, a known sigma, and a share of
corrupt rewards that is at most eps and does not depend on the rewards. At least
Bin(n, 1 - eps) of them are clean. So for any fixed set S the number of rewards in S is
at least binomial, with n and (1 - eps) P(clean reward in S). Above the threshold x - d
that chance is at least Phi(d / sigma), and within d of the mean it is
2 Phi(d / sigma) - 1; the fullest window holds no less. Clean rewards differ from each
other, so counting equal ones once loses none of them. A lower binomial tail at what was
seen is a p-value. With seven tests, P(strongest >= z) <= 7 exp(-z). What is subtracted
only helps, and a bonus b costs exp(b): P(evidence >= z) <= 7 exp(b - z).
"""

from __future__ import annotations

import math

from ..estimators.sampled_median import held_rewards
from ..estimators.structures.ordered import nth_reward, rewards_below, sort_rewards
from ..marks import cold, hot
from .bernoulli_kl import kl_plus
from .corrupted_kl import cdf
from .count_evidence import LARGEST, upper_bound

THRESHOLDS = 4  # x - d for d = 0.25, 0.5, 1, 1.5 sigma
TESTS = 7  # and windows of half-width 1.25, 2, 3 sigma
EXACT = 4000  # rewards; beyond it n kl(k/n, q), which is a little less, is used
NEGLIGIBLE = 1e-17  # a term of the binomial tail, as a share of its sum
WITHIN_3 = 0.9973002039367398  # 2 Phi(3) - 1
MOST = 0.4  # the largest corrupt share that is allowed for
REPEATS_NATS = 12.0  # how sure it is that equal rewards are an arm's own: 14 of 14
OWN_NATS = 1.0  # how sure the bound on an arm's gathered outliers is
SMALLEST = 1e-200  # stands for a spread or unit of 0, which nothing may be divided by
FEW = 64  # rewards; an arm with more is judged anew when a 64th of them is new

FIELDS = {
    "evidence": "float[arms]",
    "together": "int[arms]",  # rewards within 3 sigma of one place
    "size": "int[arms]",  # rewards held when the arm was last judged
    "judged_at": "float[arms]",  # the x of that judgement
    "judged_by": "float[arms]",  # its corrupt share
    "trusted": "float[arms]",  # its bonus
    "stage": "int[arms]",  # 0: to be counted; 1: to be judged; 2: judged
    "in_order": "cache int[arms]",
    "ties": "cache int[arms]",
    "low": "cache float[arms]",  # between these two the evidence is the same at every x
    "high": "cache float[arms]",
    "rank": f"cache int[{TESTS}]",
}


@hot
def offset(k):
    """Return how far below x test k begins, in sigma."""
    if k < 2:
        return 0.25 * (k + 1)
    if k < THRESHOLDS:
        return 0.5 * k
    if k == THRESHOLDS:
        return 1.25
    return k - 3.0


@cold
def binomial_evidence(k, n, q):
    """Return -log P(Bin(n, q) <= k) if k < n q, else 0."""
    if k >= n * q:
        return 0.0
    if n > EXACT:
        return n * kl_plus(k / n, q)
    if k == 0:
        return -n * math.log(1.0 - q)
    highest = (
        math.lgamma(n + 1.0)
        - math.lgamma(k + 1.0)
        - math.lgamma(n - k + 1.0)
        + k * math.log(q)
        + (n - k) * math.log(1.0 - q)
    )
    ratio = (1.0 - q) / q
    total = 1.0
    term = 1.0
    for j in range(k, 0, -1):
        term *= ratio * j / (n - j + 1.0)
        total += term
        if term < NEGLIGIBLE * total:
            break
    return max(0.0, -(highest + math.log(total)))


@cold
def fullest(s, a, first, finite, width, once):
    """Return the largest number of rewards within `width`; equal ones once, if asked.

    The lowest of them has a rank of at least `first`, the highest one below `finite`.
    """
    most = 0
    end = first
    equal = 0  # of the ranks above i and below `end`, those equal to the one before
    for i in range(first, finite):
        here = nth_reward(s, a, i)
        if i > first and once == 1 and here == nth_reward(s, a, i - 1):
            equal -= 1
        if finite - i <= most:
            break
        reach = here + width
        while end < finite:
            value = nth_reward(s, a, end)
            if value > reach:
                break
            if end > i and once == 1 and value == nth_reward(s, a, end - 1):
                equal += 1
            end += 1
        most = max(most, end - i - equal)
    return most


@cold
def rounded_to(s, a, n):
    """Return the unit that the rewards of arm a seem rounded to, 0 if they do not.

    Rounded rewards tie at many values, or have few. An attacker's constant is one value
    with many ties. Only the middle half is asked, where he has least to say. The unit
    is the smallest distance between two of its values.
    """
    first = n // 4
    last = n - n // 4 - 1
    different = 0
    tied = 0
    run = 1
    unit = math.inf
    for i in range(first + 1, last + 2):
        if i <= last and nth_reward(s, a, i) == nth_reward(s, a, i - 1):
            run += 1
        else:
            different += 1
            tied += run > 1
            run = 1
            if i <= last:
                unit = min(unit, nth_reward(s, a, i) - nth_reward(s, a, i - 1))
    if tied <= 1 + 0.02 * different and 4 * different >= last - first + 1:
        return 0.0
    return unit if unit <= LARGEST else SMALLEST


@cold
def repeated(s, a, n):
    """Return how often arm a pays one value, if corruption cannot explain it, else 0.

    An attacker repeats a value in at most the share `MOST` of the rewards. An arm that
    repeats one clearly more often pays it by itself, as a server does that is down.
    Where more than two fifths of the rewards are equal, one of two ranks is among them.
    """
    for k in range(2, 5, 2):
        rank = k * n // 5
        value = nth_reward(s, a, rank)
        first = rank
        while first > 0 and nth_reward(s, a, first - 1) == value:
            first -= 1
        end = rank + 1
        while end < n and nth_reward(s, a, end) == value:
            end += 1
        if n * kl_plus(1.0 - (end - first) / n, 1.0 - MOST) > REPEATS_NATS:
            return end - first
    return 0


@cold
def bring_in_order(s, a):
    """Sort the rewards of arm a if they are not in order."""
    if s.in_order[a] == 0:
        sort_rewards(s, a)
        s.in_order[a] = 1


@cold
def count_together(s, a, sigma, once):
    """Write how many rewards of arm a lie within 3 sigma of one place."""
    bring_in_order(s, a)
    n = held_rewards(s, a)
    first = rewards_below(s, a, n, -LARGEST)
    finite = rewards_below(s, a, n, math.inf)
    own = repeated(s, a, n)
    if own > 0:
        once = 0
    # the value that the arm repeats may be infinite, and then no window holds it
    s.together[a] = max(own, fullest(s, a, first, finite, 6.0 * sigma, once))
    s.size[a] = n
    s.stage[a] = 1


@cold
def count_ties(s, a, n):
    """Write how many rewards of arm a equal the one before, plus one.

    Zero stays "not known".
    """
    ties = 1
    for i in range(1, n):
        ties += nth_reward(s, a, i) == nth_reward(s, a, i - 1)
    s.ties[a] = ties


@cold
def judge(s, a, x, sigma, once, share, bonus):
    """Write the evidence against a mean of arm a of at least x.

    `share` is the corrupt share to allow for. More is allowed if rewards that lie apart
    from the arm's own gather where they would make it the best. `bonus` is added to
    evidence that is not zero.
    """
    bring_in_order(s, a)
    n = held_rewards(s, a)
    if once == 1 and repeated(s, a, n) > 0:
        once = 0
    if once == 1 and s.ties[a] == 0:
        count_ties(s, a, n)
    ties = s.ties[a] - 1 if once == 1 else 0
    finite = rewards_below(s, a, n, math.inf)
    lowest = rewards_below(s, a, n, -LARGEST)
    tiny = 1e-9 * sigma + 1e-12 * abs(x)  # more than rounding can move a rank
    low = -math.inf
    high = math.inf
    for k in range(TESTS):
        d = offset(k) * sigma
        rank = rewards_below(s, a, n, x - d)
        s.rank[k] = rank
        if rank > 0:
            low = max(low, nth_reward(s, a, rank - 1) + d + tiny)
        if rank < n:
            high = min(high, nth_reward(s, a, rank) + d - tiny)
    s.low[a] = low
    s.high[a] = high
    first = max(s.rank[TESTS - 1], lowest)
    # the window around x holds at least so many; often that settles what is asked
    gathered = min(finite, rewards_below(s, a, n, x + 3.0 * sigma)) - first - ties
    far = max(0, s.size[a] - s.together[a])
    wanted = WITHIN_3 * n
    if (far >= 2 and gathered < far) or gathered < wanted:
        gathered = fullest(s, a, first, finite, 6.0 * sigma, once)
    eps = share
    apart = min(far, gathered)
    if apart >= 2:
        eps = max(eps, min(MOST, upper_bound(min(apart, n), n, OWN_NATS)))
    clean = 1.0 - eps
    strongest = binomial_evidence(gathered, n, clean * WITHIN_3)
    for k in range(THRESHOLDS):
        strongest = max(strongest, binomial_evidence(n - s.rank[k], n, clean * cdf(offset(k))))
    for k in range(THRESHOLDS, TESTS - 1):
        d = offset(k) * sigma
        first = max(s.rank[k], lowest)
        q = clean * (2.0 * cdf(offset(k)) - 1.0)
        near = max(0, min(finite, rewards_below(s, a, n, x + d)) - first - ties)
        if binomial_evidence(near, n, q) > strongest:
            most = fullest(s, a, first, finite, 2.0 * d, once)
            strongest = max(strongest, binomial_evidence(most, n, q))
    if s.size[a] > 1:
        # how little they lie together; one of them pays for the choice of the place
        others = s.size[a] - 1.0
        strongest -= others * kl_plus((s.together[a] - 1.0) / others, clean * WITHIN_3)
    s.evidence[a] = strongest + bonus if strongest > 0.0 else 0.0
    s.judged_at[a] = x
    s.judged_by[a] = share
    s.trusted[a] = bonus
    s.stage[a] = 2


@hot
def judgement_holds(s, a, x, share, bonus):
    """Say whether the evidence against arm a is that for x, this share and bonus.

    With few rewards it holds as long as no reward changes sides. With many it is
    computed for every x.
    """
    return (
        s.stage[a] == 2
        and s.judged_by[a] == share
        and s.trusted[a] == bonus
        and (s.judged_at[a] == x or (s.size[a] < FEW and s.low[a] <= x <= s.high[a]))
    )


@hot
def new_reward(s, a):
    """Mark the evidence of arm a as out of date if enough of its rewards are new."""
    s.in_order[a] = 0
    s.ties[a] = 0
    n = held_rewards(s, a)
    if n < s.size[a] or n - s.size[a] > s.size[a] // FEW:
        s.stage[a] = 0
