"""The naive policy that judges sources, with arrays of (arm, source)."""

from __future__ import annotations

import math

import numpy as np

import ironarm as ia
from ironarm import random as draws

from .base import Naive, first_of_the_highest


def upper_median(values):
    return np.sort(values)[len(values) // 2]


def centre(n, x, xx, w):
    """Return means, variances, counts of the arms and the variance of all, weighted."""
    count, total, squares = (np.array([(w * row).sum() for row in of]) for of in (n, x, xx))
    some = count > 0
    m = np.divide(total, count, out=np.zeros(len(n)), where=some)
    within = np.where(some, np.maximum(0, squares - m * total), 0)
    pooled = 1e-200
    if some.any():
        pooled = max(
            within.sum() / max(count.sum() - some.sum(), 1),
            1e-18 * squares[some].sum() / count.sum(),
            1e-200,
        )
    return m, (within + 30 * pooled) / (count + 30), count, pooled


def spread_cap(n, x, xx, c):
    """Return by what the weight of each source is multiplied because it varies much."""
    several = n > 1
    own = xx - x / np.maximum(n, 1) * x
    own = (own * (several & (own > 1e-13 * xx))).sum(0)
    free = ((n - 1) * several).sum(0)
    some = own > 0
    usual = upper_median(own[some] / free[some]) if some.mean() >= 2 / 3 else c * c / 4
    most = 9 * usual * (free + 8)
    return np.divide(most, own, out=np.ones(len(own)), where=(0 < most) & (most < own))


def only_reward(x, xx):
    """Return c if most sources with a reward send nothing but 0 and c, else 0."""
    x, xx = (of.sum(0)[xx.sum(0) > 0] for of in (x, xx))
    if not len(x):
        return 0.0
    ratios = np.divide(xx, x, out=np.full(len(x), np.inf), where=x != 0)
    c = upper_median(ratios)
    alike = c < np.inf and np.isclose(ratios, c, rtol=1e-9, atol=0).mean() > 0.5
    return c if alike else 0.0


def distances(n, x, m, v, c):
    """Return chi-squared of each source, and of how many arms it has rewards."""
    e = x - n * m[:, None]
    noise = v[:, None] * n + np.maximum(8 * v, 0.3 * c * c)[:, None]
    return (e * e / noise * (n > 0)).sum(0), (n > 0).sum(0)


def log_ratio(n, x, m, other, v, c):
    """Return how much better the other means explain each source, in nats.

    v is the variance of normal rewards; rewards of 0 and c are Bernoulli's.
    """
    if c == 0:
        ratio = ((other - m) / v)[:, None] * (x - n * ((m + other) / 2)[:, None])
    else:
        p, q = (np.clip(mean / c, 1e-9, 1 - 1e-9)[:, None] for mean in (m, other))
        ratio = x / c * np.log(q / p) + (n - x / c) * np.log((1 - q) / (1 - p))
    return ratio.sum(0)


def split(n, x, m, variance, spread, busy, far, last, c):
    """Fit two groups by EM; return the gain, means, means, shares of the best fit."""

    def belongs(m, other, shares):
        share = np.where(busy, shares[1], shares[0])
        ratio = log_ratio(n, x, m, other, variance, c) / spread
        odds = share * np.exp(np.clip(ratio, -50, 50))
        return odds / (odds + 1 - share), np.log(odds + 1 - share).sum()

    reach = np.sqrt(variance) / 4
    own = np.divide(x.sum(1), n.sum(1), out=np.zeros(len(n)), where=n.sum(1) > 0)
    starts = [far.astype(float), busy.astype(float)]
    if last is not None:
        starts.insert(0, belongs(*last)[0])
    best = 0, None
    for r in starts:
        if not r.any():
            continue
        for _ in range(6):
            shares = [
                min(max((r[among].sum() + 0.5) / (among.sum() + 5), 1e-3), most)
                for among, most in ((~busy, 0.49), (busy, 0.95))
            ]
            honest = (((1 - r) * x).sum(1) + m) / (((1 - r) * n).sum(1) + 1)
            other = ((r * x).sum(1) + m) / ((r * n).sum(1) + 1)
            other = np.clip(other, honest - reach, honest + reach)
            r, gain = belongs(honest, other, shares)
        total = n.sum(1)[:, None], x.sum(1)[:, None]
        gain -= log_ratio(*total, honest, own, variance, c)[0] / spread
        if gain > best[0] and (1 - 2 * r).sum() > 0:
            best = gain, (honest, other, shares)
    gain, groups = best
    return gain, groups, None if groups is None else belongs(*groups)[0]


class TrustThompson(Naive):
    """Thompson sampling on what trusted sources sent."""

    example = ia.TrustThompson(slots=32)

    def __init__(self, arms, horizon, g, slots):
        super().__init__(arms, horizon, g)
        self.slots, self.rows, self.groups = slots, [], None
        self.n, self.x, self.xx = (np.zeros((arms, 0)) for _ in range(3))
        self.weights = np.zeros(0)
        self.weighted, self.sums, self.variance = (np.zeros(arms) for _ in range(3))
        self.learnt = self.next_look = 0
        self.overall = 0.0

    def normal(self):
        with np.errstate(over="ignore"):
            return float(draws.normal(self.g))

    def select(self, t):
        pulls = self.n.sum(1)
        if pulls.min() < 4:
            return int(np.argmax(pulls < 4))
        spread = np.sqrt(1.5 * self.variance / np.maximum(self.weighted, 0.1))
        return first_of_the_highest(
            [self.estimates[a] + spread[a] * self.normal() for a in range(self.arms)]
        )

    def row(self, source):
        if source not in self.rows:
            if len(self.rows) == self.slots:
                return source % self.slots
            self.rows.append(source)
            wider = (np.pad(of, ((0, 0), (0, 1))) for of in (self.n, self.x, self.xx))
            self.n, self.x, self.xx = wider
            self.weights = np.append(self.weights, 1.0)
        return self.rows.index(source)

    def update(self, arm, x, source=-1):
        x = min(max(x, -1e100), 1e100)
        row = self.row(source)
        self.n[arm, row] += 1
        self.x[arm, row] += x
        self.xx[arm, row] += x * x
        self.weighted[arm] += self.weights[row]
        self.sums[arm] += self.weights[row] * x
        self.learnt += 1
        if self.learnt >= self.next_look:
            self.look()
            self.next_look = self.learnt + max(1, self.learnt // 8, len(self.rows))
        for a in range(self.arms):
            if self.weighted[a] > 0:
                self.estimates[a] = self.sums[a] / self.weighted[a]
            elif self.n[a].sum() > 0:
                self.estimates[a] = self.overall

    def look(self):
        n, x, xx = self.n, self.x, self.xx
        activity = n.sum(0)
        c = only_reward(x, xx)
        cap = np.minimum(1, upper_median(activity) / activity) * spread_cap(n, x, xx, c)
        w = cap
        for _ in range(6):
            m, v, _, _ = centre(n, x, xx, w)
            d, arms = distances(n, x, m, v, c)
            usual = arms + np.sqrt(2 * arms)
            w = cap * np.sqrt(np.minimum(1, usual / np.maximum(d, 1e-300)))
        for _ in range(4):
            m, v, _, _ = centre(n, x, xx, w)
            d, arms = distances(n, x, m, v, c)
            most = arms + 4 * np.sqrt(2 * arms) + 2
            spread = max(1, upper_median(d / most))
            w = np.where(d / most > spread, 0, cap)
        m, v, count, _ = centre(n, x, xx, w)
        kept = w > 0
        if len(w) > 1:
            gain, groups, other = split(
                n[:, kept],
                x[:, kept],
                m,
                v,
                spread,
                (cap < 0.5)[kept],
                (d > arms + np.sqrt(2 * arms))[kept],
                self.groups,
                c,
            )
            self.groups = groups
            if gain > 2 + ((count > 0).sum() + 2) / 2 * math.log(max(kept.sum(), 2)):
                w[kept] *= 1 - other
        m, v, self.weighted, pooled = centre(n, x, xx, w)
        self.sums = np.array([(w * row).sum() for row in x])
        self.weights, self.variance = w, np.maximum(v, pooled)
        self.overall = self.sums.sum() / self.weighted.sum() if self.weighted.sum() > 0 else 0.0
