"""The naive twins of `CoherentIMED` and `RestartingIMED`."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from scipy.special import bdtr, logsumexp
from scipy.stats import binom

import ironarm as ia

from .base import INF, LARGEST, PHI, Naive, first_of_the_highest, lower_median
from .evidence import gap, kl_plus, share_bound


def too_few(k, n, q):
    """-log P(Bin(n, q) <= k) if k < n q, else 0; n kl(k/n, q) for many."""
    if k >= n * q:
        return 0.0
    if n > 4000:
        return n * kl_plus(k / n, q)
    chance = bdtr(k, n, q)
    if chance > 1e-290:
        return -math.log(chance)
    return -float(logsumexp(binom.logpmf(np.arange(k + 1), n, q)))


def most_within(values, width, lowest):
    """The most of the sorted values within `width`, none of them below `lowest`."""
    inside = np.searchsorted(values, values + width, side="right") - np.arange(len(values))
    return max(inside[values >= lowest], default=0)


def shortest(values, size):
    """The shortest interval with so many of the sorted values, as a pair."""
    widths = [
        high - low if high - low == high - low else INF
        for low, high in zip(values, values[size - 1 :], strict=False)
    ]
    i = widths.index(min(widths))
    return values[i], values[i + size - 1]


def repeated(values):
    """How often the commonest value is there, if a share of 0.4 cannot explain it."""
    most = int(max(np.unique(values, return_counts=True)[1]))
    return most if len(values) * kl_plus(1 - most / len(values), 0.6) > 12 else 0


class CoherentIMED(Naive):
    """It learns sigma and a share from the leader, and judges the others by counts."""

    example = ia.CoherentIMED()

    def __init__(self, arms, horizon, g):
        super().__init__(arms, horizon, g)
        self.location = lower_median
        self.sigma = self.beta = self.seen = self.share = self.at = 0.0
        self.next_look = 0
        self.once = False
        self.judged = [None] * arms
        self.counted = [None] * arms

    def values(self, arm):
        """An arm's finite rewards, equal ones once where that is the rule."""
        finite = np.array([x for x in self.rewards[arm] if math.isfinite(x)])
        return np.unique(finite) if self.once and not repeated(self.rewards[arm]) else finite

    def look(self, lead, t):
        values = self.rewards[lead]
        n = len(values)
        middle_half = values[n // 4 : n - n // 4]
        different, counts = np.unique(middle_half, return_counts=True)
        rounded = int(sum(counts > 1)) > 1 + 0.02 * len(different) or 4 * len(different) < len(
            middle_half
        )
        unit = 0.0
        if rounded:
            unit = min((y - x for x, y in pairwise(different.tolist())), default=INF)
            unit = unit if unit <= LARGEST else 1e-200
        low, high = shortest(values, n // 2 + 1)
        different = sorted(set(values))
        start, end = shortest(different, n // 4 + 1) if len(different) > n // 4 else (0.0, INF)
        if n < 128 and not rounded and not high - low <= 6 * (end - start):
            return
        middle = 0.5 * low + 0.5 * high
        if math.isfinite(high - low) and math.isfinite(middle):
            least = max(1e-12 * abs(middle), 1e-200)
            reach = 4 * max((high - low) / (2 * PHI.inv_cdf(0.75)), least)
            near = [x for x in values if max(middle - reach, -LARGEST) <= x < middle + reach]
            m = len(near)
            spread = (near[m - 1 - m // 8] - near[m // 8]) / (2 * PHI.inv_cdf(0.875))
            self.sigma = min(max(spread * (1 + 1 / math.sqrt(m)), least), 1e300)
        else:
            m = 0
        if self.sigma == 0:
            return
        self.next_look = t + t // 2 if t < 4096 else 2 * t
        self.once = not rounded
        far = n - m
        self.seen = far / n
        self.share = min(0.4, max(0.15, 0.25 - far / n, share_bound(far, n, min(3.0, math.log(n)))))
        self.beta = self.sigma * PHI.inv_cdf(1 / (2 * (1 - self.share))) - unit
        self.judged = [None] * self.arms
        self.counted = [None] * self.arms

    def grown(self, arm):
        """Whether more than a 64th of an arm's rewards came since it was counted."""
        counted = self.counted[arm]
        return counted is None or len(self.rewards[arm]) - counted[0] > counted[0] // 64

    def count(self, arm):
        n = len(self.rewards[arm])
        within = most_within(self.values(arm), 6 * self.sigma, -INF)
        self.counted[arm] = (n, max(repeated(self.rewards[arm]), within))
        self.judged[arm] = None

    def others_show(self, lead):
        """The share to allow for, and the bonus."""
        others = [arm for arm in range(self.arms) if arm != lead]
        for arm in others:
            if self.grown(arm):
                self.count(arm)
        total = sum(self.counted[arm][0] for arm in others)
        far = total - sum(self.counted[arm][1] for arm in others)
        more = total * kl_plus(self.seen, far / total) if total else 0.0
        allowed = self.share
        if more > 2:
            pooled = min(0.4, share_bound(far, total, 1.0))
            allowed = max(allowed, math.ceil(pooled * 200 - 1e-9) / 200)
        return allowed, 1.0 if more <= 0.5 and self.seen >= 0.04 else 0.0

    def evidence(self, arm, x, share, bonus):
        """The evidence against a mean of at least x."""
        values, distinct = np.array(self.rewards[arm]), self.values(arm)
        counted, together = self.counted[arm]
        n, sigma = len(values), self.sigma
        gathered = most_within(distinct, 6 * sigma, x - 3 * sigma)
        apart = min(max(0, counted - together), gathered)
        if apart >= 2:
            share = max(share, min(0.4, share_bound(apart, n, 1.0)))
        clean = 1 - share
        found = [too_few(gathered, n, clean * (2 * PHI.cdf(3) - 1))]
        for d in (0.25, 0.5, 1, 1.5):
            found.append(too_few(np.count_nonzero(values >= x - d * sigma), n, clean * PHI.cdf(d)))
        for d in (1.25, 2):
            most = most_within(distinct, 2 * d * sigma, x - d * sigma)
            found.append(too_few(most, n, clean * (2 * PHI.cdf(d) - 1)))
        left = max(found)
        if counted > 1:
            left -= (counted - 1) * kl_plus(
                (together - 1) / (counted - 1), clean * (2 * PHI.cdf(3) - 1)
            )
        return left + bonus if left > 0 else 0.0

    def select(self, t):
        if [] in self.rewards:
            return self.rewards.index([])
        lead = first_of_the_highest(self.estimates)
        if t >= self.next_look:
            first = self.sigma == 0
            told = [
                a
                for a, rewards in enumerate(self.rewards)
                if not repeated(rewards)
                and len(rewards) >= (0 if first else 16)
                and self.estimates[a] > -INF
            ]
            model = max(told, key=lambda a: self.estimates[a], default=lead if first else None)
            if not repeated(self.rewards[lead]):
                model = lead
            if model is None:
                self.next_look = t + t // 2 if t < 4096 else 2 * t
            elif len(self.rewards[model]) >= (24 if first else 16):
                self.look(model, t)
            if self.sigma == 0:
                return model if len(self.rewards[model]) < 128 else lead
        x = self.estimates[lead] + self.beta
        if abs(gap(x, self.at)) > 0.01 * self.sigma:
            self.at = x
        now = (self.at, *self.others_show(lead))

        def against(arm, lead):
            if self.judged[arm] is None or self.judged[arm][0] != now:
                if self.counted[arm][0] != len(self.rewards[arm]):
                    self.count(arm)
                self.judged[arm] = (now, self.evidence(arm, *now))
            return self.judged[arm][1]

        counts = [len(rewards) for rewards in self.rewards]
        return self.choose(counts, lead, against)

    def choose(self, counts, lead, against):
        """The smallest index; an arm with more pulls than that is not judged."""
        best, smallest = lead, math.log(counts[lead])
        for arm, n in enumerate(counts):
            if arm != lead and math.log(n) <= smallest:
                index = against(arm, lead) + math.log(n)
                if index < smallest or (index == smallest and arm < best):
                    best, smallest = arm, index
        return best


class RestartingIMED(CoherentIMED):
    """A new CoherentIMED when the Shiryaev-Roberts sums of an arm are large."""

    example = ia.RestartingIMED(probes=0.05, alarm_rate=0.05)

    def __init__(self, arms, horizon, g, probes, alarm_rate, restart):
        super().__init__(arms, horizon, g)
        self.probes = probes
        self.limit, self.all = 12 / alarm_rate, restart == "all"
        self.began = self.now = 0
        self.sums = [{} for _ in range(arms)]

    def select(self, t):
        self.now = t
        if int(t * self.probes) > int((t - 1) * self.probes):
            return int(t * self.probes) % self.arms
        return super().select(t - self.began)

    def suspect(self, arm, x):
        """Take in a reward; whether the mean of the twelve sums reaches the limit."""
        n = len(self.rewards[arm])
        if n < 16 or self.sigma == 0:
            return False
        own = self.estimates[arm]
        others = max([-INF, *(self.estimates[k] for k in range(self.arms) if k != arm)])
        slack = max(self.beta, 0) + 4 * self.sigma / math.sqrt(n)
        sums = self.sums[arm]
        for d in (0.5, 1, 2):
            p0 = 1 - (1 - self.share) * (PHI.cdf(d) + PHI.cdf(3) - 1)
            near, far = d * self.sigma + slack, 3 * self.sigma + slack
            if own >= others:
                beyond = {
                    "fall": not own - near <= x <= own + far,
                    "rise": not own - far <= x <= own + near,
                }
            else:
                beyond = {"rise": x > max(own + near, others - self.sigma)}
            for side, hit in beyond.items():
                for lift in (0.3, 0.7):
                    p1 = p0 + lift * (1 - p0)
                    ratio = p1 / p0 if hit else (1 - p1) / (1 - p0)
                    sums[side, d, lift] = (1 + sums.get((side, d, lift), 0.0)) * ratio
        return sum(sums.values()) >= self.limit

    def update(self, arm, x):
        if not self.suspect(arm, x):
            super().update(arm, x)
            return
        arms = range(self.arms) if self.all else [arm]
        for k in arms:
            self.rewards[k], self.estimates[k], self.sums[k] = [], -INF, {}
            self.judged[k] = self.counted[k] = None
        if self.all:
            super().__init__(self.arms, None, self.g)
            self.began = self.now
