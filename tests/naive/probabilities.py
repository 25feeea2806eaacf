"""Naive policies that draw an arm at random."""

from __future__ import annotations

import itertools
import math

import numpy as np

import ironarm as ia
from ironarm import random as draws

from .base import (
    INF,
    Naive,
    first_of_the_highest,
    mean,
)


class EXP3(Naive):
    """A6; the estimates are the log-weights.

    One uniform number decides: below gamma it is spread evenly over the arms, above in
    proportion to the weights.
    """

    example = ia.EXP3(gamma=0.3)

    def __init__(self, arms, horizon, g, gamma, reward_range):
        super().__init__(arms, horizon, g)
        self.low, self.high = reward_range
        self.gamma = gamma or min(1, math.sqrt(arms * math.log(arms) / ((math.e - 1) * horizon)))
        self.estimates = [0.0] * arms

    def shares(self):
        """w_a / sum w."""
        top = max(self.estimates)
        weights = [math.exp(log_weight - top) for log_weight in self.estimates]
        total = sum(weights)
        return [weight / total for weight in weights]

    def chances(self):
        """p_a."""
        return [(1 - self.gamma) * share + self.gamma / self.arms for share in self.shares()]

    def select(self, t):
        u = self.uniform()
        if u < self.gamma:
            return int(u / self.gamma * self.arms)
        u = (u - self.gamma) / (1 - self.gamma)
        return sum(u >= reached for reached in itertools.accumulate(self.shares()[:-1]))

    def update(self, arm, x):
        y = min(max((x - self.low) / (self.high - self.low), 0), 1)
        self.estimates[arm] += self.gamma * y / self.chances()[arm] / self.arms


class ThompsonGaussian(Naive):
    """C2's baseline with a flat prior: each arm once, then a normal number each."""

    example = ia.policies.ThompsonGaussian(sigma=1)

    def __init__(self, arms, horizon, g, sigma):
        super().__init__(arms, horizon, g)
        self.sigma = sigma
        self.location = mean

    def normal(self):
        with np.errstate(over="ignore"):
            return float(draws.normal(self.g))

    def select(self, t):
        if [] in self.rewards:
            return self.rewards.index([])
        return first_of_the_highest(
            [
                self.estimates[arm] + self.sigma / math.sqrt(len(self.rewards[arm])) * self.normal()
                for arm in range(self.arms)
            ]
        )


class ByChance(Naive):
    """Policies that draw an arm from probabilities, with one uniform number.

    They weigh a reward in [0, 1] by its probability.
    """

    def __init__(self, arms, horizon, g, reward_range):
        super().__init__(arms, horizon, g)
        self.low, self.high = reward_range
        self.estimates = [0.0] * arms
        self.losses = [[] for _ in range(arms)]
        self.weighted = [0.0] * arms

    def select(self, t):
        self.p = self.chances(t)
        u = self.uniform()
        return sum(u >= reached for reached in itertools.accumulate(self.p[:-1]))

    def update(self, arm, x):
        loss = 1 - min(max((x - self.low) * (1 / (self.high - self.low)), 0), 1)
        self.losses[arm].append(loss)
        self.weighted[arm] += loss / self.p[arm]
        self.estimates[arm] = -self.weighted[arm]


class TsallisINF(ByChance):
    """C2.

    The losses are chaotic: they grow by 1/w, which grows with them, and within some
    hundred rounds the last bit decides a choice.

    So the root y = min L - x of sum t / (L - min L + y)^2 = 1 is found in the same
    steps as the policy's: Newton's, from the last y or sqrt(t) if that is larger, never
    below sqrt(t), up to a step of at most 1e-8 y.
    """

    example = ia.TsallisINF()

    y = 0.0

    def __init__(self, arms, horizon, g, reward_range, variance):
        super().__init__(arms, horizon, g, reward_range)
        self.reduced = variance == "reduced"

    def update(self, arm, x):
        if not self.reduced:
            super().update(arm, x)
            return
        loss = 1 - min(max((x - self.low) * (1 / (self.high - self.low)), 0), 1)
        for a in range(self.arms):
            B = 0.5 if self.p[a] >= 16 / self.t else 0.0
            self.weighted[a] += B
            if a == arm:
                self.weighted[a] += (loss - B) / self.p[a]
            self.estimates[a] = -self.weighted[a]

    def chances(self, t):
        self.t = t
        t = t / 4 if self.reduced else t  # eta_t = 2 / sqrt(t)
        y, step = max(self.y, math.sqrt(t)), INF
        while abs(step) > 1e-8 * y:
            total = slope = 0.0  # not sum(), which rounds better than plain additions
            for L in self.weighted:
                r = 1 / (L - min(self.weighted) + y)
                total += r * r
                slope += r * r * r
            step = max((t * total - 1) / (2 * t * slope), math.sqrt(t) - y)
            y += step
        self.y = y
        return [
            t * ((1 / (L - min(self.weighted) + y)) * (1 / (L - min(self.weighted) + y)))
            for L in self.weighted
        ]


class EXP3PlusPlus(ByChance):
    """C2; an arm without rewards has no bounds."""

    example = ia.policies.EXP3PlusPlus()

    def __init__(self, arms, horizon, g, reward_range, beta, rate):
        super().__init__(arms, horizon, g, reward_range)
        self.beta, self.rate = beta, rate

    def chances(self, t):
        K = self.arms
        c = math.sqrt(math.log(K) / (t * K))
        bounds = []
        for losses in self.losses:
            n = len(losses)
            radius = math.sqrt(3 * math.log(t * K ** (1 / 3)) / (2 * n)) if n else INF
            bounds.append(
                (sum(losses) / n - radius, sum(losses) / n + radius) if n else (-INF, INF)
            )
        gaps = [max(0, lower - min(upper for _, upper in bounds)) for lower, _ in bounds]
        eps = [
            min(1 / (2 * K), c / 2, self.beta * math.log(t) / (t * gap**2) if gap else INF)
            for gap in gaps
        ]
        weights = [math.exp(-self.rate * c * (L - min(self.weighted))) for L in self.weighted]
        return [
            (1 - sum(eps)) * weight / sum(weights) + e
            for weight, e in zip(weights, eps, strict=True)
        ]


class BARBAR(ByChance):
    """C2; an epoch of N rounds takes ceil(N)."""

    example = ia.policies.BARBAR(horizon=300, scale=0.2, delta=0.5)

    def __init__(self, arms, horizon, g, delta, reward_range, scale):
        super().__init__(arms, horizon, g, reward_range)
        self.factor = scale * math.log(8 * arms * math.log2(horizon) / delta)
        self.gaps = [1.0] * arms
        self.m, self.ends = 0, 0
        self.seen = [[] for _ in range(arms)]

    def chances(self, t):
        if t > self.ends:
            if self.m:
                r = [sum(seen) / n for seen, n in zip(self.seen, self.n, strict=True)]
                best = max(r[i] - self.gaps[i] / 16 for i in range(self.arms))
                self.gaps = [max(2**-self.m, best - r[i]) for i in range(self.arms)]
            self.m += 1
            self.n = [self.factor / gap**2 for gap in self.gaps]
            self.ends = t - 1 + math.ceil(sum(self.n))
            self.seen = [[] for _ in range(self.arms)]
        return [n / sum(self.n) for n in self.n]

    def update(self, arm, x):
        super().update(arm, x)
        self.seen[arm].append(1 - self.losses[arm][-1])
        self.estimates[arm] = self.low + (self.high - self.low) * (
            1 - sum(self.losses[arm]) / len(self.losses[arm])
        )
