"""Naive policies for rewards of 0 and 1, or in a known range."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import rel_entr

import ironarm as ia
from ironarm import random as draws

from .base import INF, Naive, first_of_the_highest, mean
from .evidence import imed, kl_plus


class InRange(Naive):
    """Rewards are clipped to the range; the estimate is their mean."""

    def __init__(self, arms, horizon, g, reward_range):
        super().__init__(arms, horizon, g)
        self.low, self.high = reward_range
        self.location = mean

    def update(self, arm, x):
        super().update(arm, min(max(x, self.low), self.high))

    def rate(self, arm):
        """The mean of an arm mapped to [0, 1]."""
        return min(max((self.estimates[arm] - self.low) / (self.high - self.low), 0), 1)


class KLUCB(InRange):
    """Garivier and Cappe's Algorithm 1."""

    example = ia.KLUCB(reward_range=(0, 3))

    def __init__(self, arms, horizon, g, c, reward_range):
        super().__init__(arms, horizon, g, reward_range)
        self.c = c

    def select(self, t):
        if [] in self.rewards:
            return self.rewards.index([])
        p = np.array([self.rate(arm) for arm in range(self.arms)])
        n = np.array([len(rewards) for rewards in self.rewards])
        nats = math.log(t) + (self.c * math.log(math.log(t)) if t > 2 else 0)
        # the largest q with n kl(p, q) <= nats, by bisection to the last bit
        low, high = p, np.ones(self.arms)
        for _ in range(54):
            q = (low + high) / 2
            kl = rel_entr(p, q) + rel_entr(1 - p, 1 - q)
            low, high = np.where(n * kl <= nats, [q, high], [low, q])
        return first_of_the_highest(low.tolist())


class BernoulliIMED(InRange):
    """Honda and Takemura's index with Bernoulli's relative entropy."""

    example = ia.policies.BernoulliIMED(reward_range=(0, 3))

    def select(self, t):
        if [] in self.rewards:
            return self.rewards.index([])
        counts = [len(rewards) for rewards in self.rewards]

        def evidence(arm, lead):
            p, q = self.rate(arm), self.rate(lead)
            return INF if p < q == 1 else counts[arm] * kl_plus(p, q)

        return imed(self.estimates, counts, evidence)


class ThompsonBeta(InRange):
    """Agrawal and Goyal's Algorithm 2; no coin is needed for a reward at an end."""

    example = ia.policies.ThompsonBeta(reward_range=(0, 3))

    def __init__(self, arms, horizon, g, reward_range):
        super().__init__(arms, horizon, g, reward_range)
        self.wins, self.losses = [0] * arms, [0] * arms

    def select(self, t):
        with np.errstate(over="ignore"):
            thetas = [
                draws.beta(self.g, 1.0 + wins, 1.0 + losses)
                for wins, losses in zip(self.wins, self.losses, strict=True)
            ]
        return first_of_the_highest(thetas)

    def update(self, arm, x):
        super().update(arm, x)
        y = (min(max(x, self.low), self.high) - self.low) * (1 / (self.high - self.low))
        if y >= 1 or (y > 0 and self.uniform() < y):
            self.wins[arm] += 1
        else:
            self.losses[arm] += 1


class MultiLayerRace(InRange):
    """Lykouris, Mirrokni and Paes Leme's race, with a set of active arms per layer.

    One uniform number u draws the layer: l if 2^-l <= u < 2^-(l - 1), else 1.
    """

    example = ia.policies.MultiLayerRace(horizon=300, scale=0.02, reward_range=(0, 3))

    def __init__(self, arms, horizon, g, delta, reward_range, scale):
        super().__init__(arms, horizon, g, reward_range)
        self.L = scale * math.log(4 * arms * horizon * math.log2(horizon) / delta)
        layers = math.ceil(math.log2(horizon))
        self.active = {layer: set(range(arms)) for layer in range(1, layers + 1)}
        self.seen = {layer: [[] for _ in range(arms)] for layer in self.active}

    def select(self, t):
        u = self.uniform()
        drawn = [layer for layer in self.active if 2.0**-layer <= u]
        self.layer = drawn[0] if drawn else 1
        active, seen = self.active[self.layer], self.seen[self.layer]
        if active:
            return min(active, key=lambda arm: (len(seen[arm]), arm))
        self.layer = None
        return min(next(active for active in self.active.values() if active))

    def update(self, arm, x):
        super().update(arm, x)
        if self.layer is None:
            return
        y = min(max((x - self.low) * (1 / (self.high - self.low)), 0), 1)
        seen = self.seen[self.layer]
        seen[arm].append(y)
        n = [len(each) or math.nan for each in seen]
        mean = [sum(each) / n[a] for a, each in enumerate(seen)]
        width = [math.sqrt(self.L / n[a]) + self.L / n[a] for a in range(self.arms)]
        active = self.active[self.layer]
        for worse in [
            b for b in active if any(mean[a] - mean[b] > width[a] + width[b] for a in active)
        ]:
            for layer in range(1, self.layer + 1):
                self.active[layer].discard(worse)


class SAO(InRange):
    """Bubeck and Slivkins' Algorithm 1, then Exp3.P.

    One uniform number draws the arm. Sums are plain additions in the order of the
    rounds, as the policy's: the gains of Exp3.P are chaotic, as those of Tsallis-INF.
    """

    example = ia.policies.SAO(horizon=300, beta=1.1, reward_range=(0, 3))

    def __init__(self, arms, horizon, g, beta, reward_range):
        super().__init__(arms, horizon, g, reward_range)
        self.n, self.log_beta = horizon, math.log(beta or horizon**4)
        self.A = set(range(arms))
        self.tau, self.q = [horizon] * arms, [math.nan] * arms
        self.p = [1 / arms] * arms
        self.weighted, self.plain, self.T = [0.0] * arms, [0.0] * arms, [0] * arms
        self.exp3p = None

    def select(self, t):
        self.t = t
        u = self.uniform()
        reached = list(itertools.accumulate(self.p[:-1]))
        return sum(u >= edge for edge in reached)

    def update(self, arm, x):
        super().update(arm, x)
        y = min(max((x - self.low) * (1 / (self.high - self.low)), 0), 1)
        if self.exp3p:
            self.update_exp3p(arm, y)
            return
        self.weighted[arm] += y / self.p[arm]
        self.plain[arm] += y
        self.T[arm] += 1
        t, K, log_beta = self.t, self.arms, self.log_beta
        H = [total / t for total in self.weighted]

        def w(x):
            return math.sqrt(4 * K * log_beta / x + 5 * (K * log_beta / x) ** 2)

        for i in range(K):
            behind = max(H[j] for j in self.A) - H[i]
            if i in self.A and behind > 6 * w(t):  # (17)
                self.A.remove(i)
                self.tau[i], self.q[i] = t, self.p[i]
            until = min(self.tau[i], t)
            later = 0 if i in self.A else (t - until) / (self.q[i] * self.tau[i] * t)
            behind = max(H[j] for j in self.A) - H[i]
            if (
                (
                    self.T[i] > 0
                    and abs(H[i] - self.plain[i] / self.T[i])
                    > math.sqrt(2 * log_beta / self.T[i])
                    + math.sqrt(
                        4 * (K * until / t**2 + later) * log_beta + 5 * (K * log_beta / until) ** 2
                    )
                )  # (18)
                or (
                    i not in self.A and self.tau[i] > 1 and behind > 10 * w(self.tau[i] - 1)
                )  # (19)
                or (i not in self.A and behind <= 2 * w(self.tau[i]))  # (20)
            ):
                self.start_exp3p()
                return
        kept = {j: self.q[j] * self.tau[j] / (t + 1) for j in range(K) if j not in self.A}
        rest = 1.0
        for share in kept.values():
            rest -= share
        self.p = [kept.get(i, rest / len(self.A)) for i in range(K)]  # (21)

    def start_exp3p(self):
        m, K = max(self.n - self.t, 1), self.arms
        self.exp3p = (
            0.95 * math.sqrt(math.log(K) / (m * K)),
            min(1.05 * math.sqrt(K * math.log(K) / m), 1),
            min(math.sqrt(self.log_beta / (m * K)), 1),
        )
        self.gains = [0.0] * K
        self.p = [1 / K] * K

    def update_exp3p(self, arm, y):
        eta, gamma, bonus = self.exp3p
        for i in range(self.arms):
            self.gains[i] += ((y if i == arm else 0) + bonus) / self.p[i]
        weights = [math.exp(eta * (gain - max(self.gains))) for gain in self.gains]
        total = 0.0
        for weight in weights:
            total += weight
        self.p = [(1 - gamma) * weight / total + gamma / self.arms for weight in weights]
