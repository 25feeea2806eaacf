"""Naive policies for arms that change."""

from __future__ import annotations

import math

import ironarm as ia

from .base import INF, Naive, first_of_the_highest, lower_median


class SlidingMedUCB(Naive):
    """med-E-UCB on the last `window` rewards of all arms."""

    example = ia.policies.SlidingMedUCB(window=60, b=0.5, omega=1)

    def __init__(self, arms, horizon, g, window, b, omega):
        super().__init__(arms, horizon, g)
        self.window, self.b, self.omega = window, b, omega
        self.rest = max(1, window // math.ceil(b * math.log(window)))
        self.seen, self.last = [], [0] * arms

    def update(self, arm, x):
        self.seen.append((arm, x))
        for k in range(self.arms):
            values = sorted(x for arm, x in self.seen[-self.window :] if arm == k)
            self.estimates[k] = lower_median(values) if values else -INF

    def select(self, t):
        w = min(t, self.window)
        recent = [arm for arm, _ in self.seen[-self.window :]]
        counts = [recent.count(arm) for arm in range(self.arms)]
        need = max(1, math.ceil(self.b * math.log(w)))
        due = [
            arm for arm in range(self.arms) if counts[arm] < need or t - self.last[arm] >= self.rest
        ]
        if due:
            arm = min(due, key=lambda arm: (self.last[arm], arm))
        else:
            arm = first_of_the_highest(
                [
                    self.estimates[arm] + math.sqrt(self.omega * math.log(w) / counts[arm])
                    for arm in range(self.arms)
                ]
            )
        self.last[arm] = t
        return arm


def clipped(x, reward_range):
    """A reward within its range."""
    return min(max(x, reward_range[0]), reward_range[1])


def share(x, reward_range):
    """A reward as a number in [0, 1]."""
    low, high = reward_range
    return (clipped(x, reward_range) - low) / (high - low)


class SlidingWindowUCB(Naive):
    """Garivier and Moulines 2011, SW-UCB."""

    example = ia.policies.SlidingWindowUCB(window=60, xi=0.5, reward_range=(0, 4))

    def __init__(self, arms, horizon, g, window, xi, reward_range):
        super().__init__(arms, horizon, g)
        self.window, self.xi, self.range = window, xi, reward_range
        self.seen = []

    def recent(self, arm):
        return [x for k, x in self.seen[-self.window :] if k == arm]

    def update(self, arm, x):
        self.seen.append((arm, clipped(x, self.range)))
        for k in range(self.arms):
            values = self.recent(k)
            self.estimates[k] = math.fsum(values) / len(values) if values else -INF

    def select(self, t):
        counts = [len(self.recent(arm)) for arm in range(self.arms)]
        if 0 in counts:
            return counts.index(0)
        width = self.range[1] - self.range[0]
        level = self.xi * math.log(min(len(self.seen), self.window))
        return first_of_the_highest(
            [self.estimates[arm] + width * math.sqrt(level / n) for arm, n in enumerate(counts)]
        )


class DiscountedUCB(Naive):
    """Garivier and Moulines 2011, D-UCB."""

    example = ia.policies.DiscountedUCB(discount=0.97, xi=0.5, reward_range=(0, 4))

    def __init__(self, arms, horizon, g, discount, xi, reward_range):
        super().__init__(arms, horizon, g)
        self.discount, self.xi, self.range = discount, xi, reward_range
        self.seen = []

    def weighed(self, arm):
        """The arm's sum of weights, and its weighted mean."""
        last = len(self.seen) - 1
        own = [(self.discount ** (last - i), x) for i, (k, x) in enumerate(self.seen) if k == arm]
        weight = math.fsum(w for w, _ in own)
        return weight, math.fsum(w * x for w, x in own) / weight

    def update(self, arm, x):
        self.seen.append((arm, clipped(x, self.range)))
        self.estimates[arm] = self.weighed(arm)[1]

    def select(self, t):
        pulled = {arm for arm, _ in self.seen}
        for arm in range(self.arms):
            if arm not in pulled:
                return arm
        weighed = [self.weighed(arm) for arm in range(self.arms)]
        width = self.range[1] - self.range[0]
        level = self.xi * math.log(max(1, math.fsum(weight for weight, _ in weighed)))
        return first_of_the_highest(
            [mean + 2 * width * math.sqrt(level / weight) for weight, mean in weighed]
        )


class MUCB(Naive):
    """Cao et al. 2019."""

    example = ia.policies.MUCB(window=8, threshold=1.5, exploration=0.1, reward_range=(0, 4))

    def __init__(self, arms, horizon, g, window, changes, threshold, exploration, reward_range):
        super().__init__(arms, horizon, g)
        w, T = window, horizon
        self.w, self.range = w, reward_range
        self.b = threshold or math.sqrt(w / 2 * math.log(2 * arms * T**2))
        gamma = (
            math.sqrt(changes * arms * (2 * self.b + 3 * math.sqrt(w)) / (2 * T))
            if exploration is None
            else exploration
        )
        self.cycle = math.floor(arms / min(gamma, 1)) if gamma else INF
        self.tau = self.now = 0

    def update(self, arm, x):
        own = self.rewards[arm]
        own.append(share(x, self.range))
        low, high = self.range
        self.estimates[arm] = low + (high - low) * math.fsum(own) / len(own)
        half = self.w // 2
        if len(own) >= self.w and abs(sum(own[-half:]) - sum(own[-self.w : -half])) > self.b:
            self.tau = self.now
            self.rewards = [[] for _ in range(self.arms)]
            self.estimates = [-INF] * self.arms

    def select(self, t):
        self.now = t
        place = (t - self.tau) % self.cycle
        if 1 <= place <= self.arms:
            return int(place) - 1
        return first_of_the_highest(
            [
                math.fsum(own) / len(own) + math.sqrt(2 * math.log(t - self.tau) / len(own))
                if own
                else INF
                for own in self.rewards
            ]
        )


def kl(p, q):
    """The relative entropy of two Bernoulli laws."""
    return sum(x * math.log(x / y) if x > 0 else 0.0 for x, y in ((p, q), (1 - p, 1 - q)) if x != y)


class GLRKLUCB(Naive):
    """Besson et al. 2022."""

    example = ia.policies.GLRKLUCB(step=3, delta=0.9, exploration=0.1, reward_range=(0, 4))

    def __init__(self, arms, horizon, g, changes, restart, step, delta, exploration, reward_range):
        super().__init__(arms, horizon, g)
        self.restart, self.step, self.range = restart, step, reward_range
        events = changes * (arms if restart == "local" else 1)
        self.delta = delta or 1 / math.sqrt(max(events * horizon, 1))
        alpha = (
            0.1 * math.sqrt(events * math.log(horizon) / horizon)
            if exploration is None
            else exploration
        )
        self.cycle = math.floor(arms / min(alpha, 1)) if alpha else INF
        self.tau, self.now = [0] * arms, 0

    def update(self, arm, x):
        own = self.rewards[arm]
        own.append(share(x, self.range))
        low, high = self.range
        n, total = len(own), math.fsum(own)
        self.estimates[arm] = low + (high - low) * total / n
        if n % self.step:
            return
        for m in range(self.step, n, self.step):
            first = math.fsum(own[:m])
            later = min(max((total - first) / (n - m), 0.0), 1.0)
            likelihood = m * kl(first / m, total / n) + (n - m) * kl(later, total / n)
            if likelihood >= math.log(3 * n**1.5 / self.delta):
                for k in [arm] if self.restart == "local" else range(self.arms):
                    self.rewards[k], self.estimates[k], self.tau[k] = [], -INF, self.now
                return

    def index(self, arm, t):
        own, age = self.rewards[arm], math.log(t - self.tau[arm])
        if not own:
            return INF
        level = max(0.0, age + 3 * math.log(max(age, 1)))
        mean, n = math.fsum(own) / len(own), len(own)
        low, high = mean, 1.0  # forty halvings: above 1 - 1e-12 arms tie or not by them
        for _ in range(40):
            q = (low + high) / 2
            low, high = (q, high) if q < 1 and n * kl(mean, q) < level else (low, q)
        return high

    def select(self, t):
        self.now = t
        place = t % self.cycle if self.cycle < INF else 0
        if 1 <= place <= self.arms:
            return place - 1
        return first_of_the_highest([self.index(arm, t) for arm in range(self.arms)])
