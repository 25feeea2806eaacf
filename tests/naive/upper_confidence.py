"""Naive policies that pull the arm with the highest upper confidence bound."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

import ironarm as ia

from .base import (
    INF,
    PHI,
    Naive,
    first_of_the_highest,
    lower_median,
    mean,
    upper_median,
)
from .evidence import gap


def trimmed_mean(values, alpha):
    """The mean of a sorted list without its floor(alpha n) smallest and largest."""
    cut = math.floor(alpha * len(values))
    kept = values[cut : len(values) - cut]
    return mean(kept) if kept else lower_median(values)


def amply_trimmed_mean(values, alpha):
    """Return the mean of a sorted list without its ceil(alpha n) smallest and largest.

    At least the middle one or two are left.
    """
    n = len(values)
    cut = min(math.ceil(alpha * n), (n - 1) // 2)
    return mean(values[cut : n - cut])


def shorth_mean(values, alpha):
    """Return the mean of the shortest interval of a sorted list.

    It holds floor((1 - alpha) n) values, at least one; the lowest one among equals.
    """
    m = max(1, math.floor((1 - alpha) * len(values)))
    widths = [gap(high, low) for low, high in zip(values, values[m - 1 :], strict=False)]
    start = widths.index(min(widths))
    return mean(values[start : start + m])


def psi(y):
    """Catoni's influence function, for an array."""
    return np.sign(y) * np.log1p(np.abs(y) + y * y / 2)


def catoni_root(values, alpha, guess=0.0):
    """The root m of sum psi(alpha (x - m)) = 0, values clipped to +-1e12."""
    clipped = np.clip(values, -1e12, 1e12)

    def total(m):
        return psi(alpha * (clipped - m)).sum()

    step = 1e-3
    while total(guess - step) < 0:
        step *= 8
    low, step = guess - step, 1e-3
    while total(guess + step) > 0:
        step *= 8
    return brentq(total, low, guess + step, xtol=1e-14, rtol=1e-15)


def catoni_alpha(n, t, variance):
    """The scale of Catoni's estimator with L = log(t^2)."""
    level = 2 * math.log(t)
    return math.sqrt(2 * level / (n * (variance + 2 * variance * level / (n - 2 * level))))


class UCB(Naive):
    """The highest mean + sigma sqrt(2 alpha log t / n)."""

    example = ia.UCB(alpha=0.5, sigma=0.5)

    def __init__(self, arms, horizon, g, alpha, sigma):
        super().__init__(arms, horizon, g)
        self.alpha, self.sigma = alpha, sigma
        self.location = mean

    def select(self, t):
        return self.highest_index(
            t, lambda t, n: self.sigma * math.sqrt(2 * self.alpha * math.log(t) / n)
        )


class RUCB(Naive):
    """The highest median + sqrt(omega log t / n)."""

    example = ia.RUCB(omega=4)

    def __init__(self, arms, horizon, g, omega, median):
        super().__init__(arms, horizon, g)
        self.omega = omega
        self.location = {"lower": lower_median, "upper": upper_median}[median]

    def select(self, t):
        return self.highest_index(t, lambda t, n: math.sqrt(self.omega * math.log(t) / n))


class TrimmedUCB(Naive):
    """The highest trimmed mean + sqrt(omega log t / n)."""

    example = ia.TrimmedUCB(alpha=0.125, omega=1)

    def __init__(self, arms, horizon, g, alpha, omega):
        super().__init__(arms, horizon, g)
        self.omega = omega
        self.location = lambda values: trimmed_mean(values, alpha)

    def select(self, t):
        return self.highest_index(t, lambda t, n: math.sqrt(self.omega * math.log(t) / n))


class CRUCB(Naive):
    """A8, with a lazy shorth mean.

    It is computed when the rewards of an arm have grown by a sixteenth.
    """

    example = ia.policies.CRUCB(alpha=0.125, sigma=1)

    def __init__(self, arms, horizon, g, alpha, sigma, mean):
        super().__init__(arms, horizon, g)
        self.alpha, self.sigma, self.kind = alpha, sigma, mean
        self.last = [0] * arms

    def update(self, arm, x):
        self.rewards[arm] = sorted([*self.rewards[arm], x])
        n = len(self.rewards[arm])
        if self.kind == "trimmed":
            self.estimates[arm] = amply_trimmed_mean(self.rewards[arm], self.alpha)
        elif n - self.last[arm] >= max(1, self.last[arm] // 16):
            self.estimates[arm], self.last[arm] = shorth_mean(self.rewards[arm], self.alpha), n

    def select(self, t):
        return self.highest_index(
            t, lambda t, n: self.sigma / (1 - 2 * self.alpha) * math.sqrt(4 * math.log(t) / n)
        )


def huber_root(values, beta):
    """Return the smallest root m of sum psi(x - m) = 0, for a sorted list.

    psi(x) = min(max(x, -beta), beta).
    """
    n, half, values = len(values), len(values) // 2, np.array(values)
    if n % 2 == 0 and values[half] - values[half - 1] >= 2 * beta:
        return values[half - 1] + beta
    m = brentq(
        lambda m: np.clip(values - m, -beta, beta).sum(),
        values[0] - beta,
        values[-1] + beta,
        xtol=1e-14,
        rtol=1e-15,
    )
    near = (values >= m - beta) & (values <= m + beta)
    return (
        values[near].sum()
        + beta * (np.count_nonzero(values > m + beta) - np.count_nonzero(values < m - beta))
    ) / np.count_nonzero(near)


class HuberUCB(Naive):
    """C2 with a lazy root.

    The root when the rewards of an arm have grown by a sixteenth, else a Newton step
    from it with the rewards since. Rewards are clipped to +-1e12.
    """

    example = ia.policies.HuberUCB(epsilon=0.01, sigma=0.3)

    def __init__(self, arms, horizon, g, epsilon, sigma, beta, p):
        super().__init__(arms, horizon, g)
        self.epsilon, self.sigma = epsilon, sigma
        self.beta = 4 * sigma if beta is None else beta
        self.p = 2 * PHI.cdf(self.beta / sigma / 2) - 1 if p is None else p
        self.e = math.sqrt((1 - 2 * epsilon) / math.log((1 - epsilon) / epsilon)) if epsilon else 0
        self.roots, self.last, self.newer = [0.0] * arms, [0] * arms, [[] for _ in range(arms)]

    def update(self, arm, x):
        x = min(max(x, -1e12), 1e12)
        self.rewards[arm] = sorted([*self.rewards[arm], x])
        self.newer[arm].append(x)
        n = len(self.rewards[arm])
        if n - self.last[arm] >= max(1, self.last[arm] // 16):
            self.roots[arm], self.last[arm], self.newer[arm] = (
                huber_root(self.rewards[arm], self.beta),
                n,
                [],
            )
        m = self.roots[arm]
        near = sum(m - self.beta <= x <= m + self.beta for x in self.rewards[arm])
        self.estimates[arm] = (
            m + sum(min(max(x - m, -self.beta), self.beta) for x in self.newer[arm]) / near
            if near
            else m
        )

    def index(self, arm, t):
        n, p, eps, L = len(self.rewards[arm]), self.p, self.epsilon, 2 * math.log(t)
        if (
            n == 0
            or n
            < math.log(t)
            * 98
            / 128
            * (1 + 2 * math.sqrt(2) * max(self.e, 9 / (14 * math.sqrt(2)))) ** 2
            / (p - 5 * eps) ** 2
        ):
            return INF
        top = (
            self.sigma * math.sqrt(2 * L / n)
            + self.beta * L / (3 * n)
            + 2 * self.beta * self.e * math.sqrt(L / n)
            + 2 * self.beta * eps
        )
        return self.estimates[arm] + top / (p - math.sqrt(L / (2 * n)) - eps)

    def select(self, t):
        return first_of_the_highest([self.index(arm, max(t, 2)) for arm in range(self.arms)])


class MedEUCB(Naive):
    """A1; without a block it is 1000, or the smallest one that holds the start."""

    example = ia.MedEUCB(b=1, omega=1, block=40)

    def __init__(self, arms, horizon, g, b, omega, block):
        super().__init__(arms, horizon, g)
        self.b, self.omega = b, omega
        self.location = lower_median
        self.block = block or 1000
        while block is None and self.block < arms * math.ceil(b * math.log(self.block)):
            self.block += 1

    def forced(self, t):
        """The arm that the schedule forces at round t, or None."""
        K, G, b = self.arms, self.block, self.b
        first = math.ceil(b * math.log(G))
        if t <= K * first:
            return (t - 1) // first
        k = t // G
        if k >= 1:
            m = math.ceil(b * math.log((k + 1) * G)) - math.ceil(b * math.log(k * G))
            if m >= 1 and k * G + 1 <= t <= k * G + K * m:
                return math.ceil((t - k * G) / m) - 1
        return None

    def select(self, t):
        arm = self.forced(t)
        return (
            self.highest_index(t, lambda t, n: math.sqrt(self.omega * math.log(t) / n))
            if arm is None
            else arm
        )


class CatoniUCB(Naive):
    """A7; a later arm must beat an earlier one by more than a tie.

    A tie is 1e-9, relative to 1 + the index.
    """

    example = ia.CatoniUCB(variance=0.1)

    def __init__(self, arms, horizon, g, variance):
        super().__init__(arms, horizon, g)
        self.variance = variance
        self.roots = [0.0] * arms

    def location(self, values):
        return math.nan  # depends on the round, see `index`

    def index(self, arm, t):
        n = len(self.rewards[arm])
        if n == 0 or n < 8 * math.log(t):
            return INF
        self.roots[arm] = catoni_root(
            self.rewards[arm], catoni_alpha(n, t, self.variance), guess=self.roots[arm]
        )
        return self.roots[arm] + math.sqrt(8 * self.variance * math.log(t) / n)

    def select(self, t):
        best, highest = 0, self.index(0, t)
        for arm in range(1, self.arms):
            index = self.index(arm, t)
            if index > highest + 1e-9 * (1 + abs(highest)):
                best, highest = arm, index
        return best


class FrozenDelta(Naive):
    """A7 with delta = tau^-2.

    tau is the smallest power of two that is at least t and at least 2. `location` takes
    the rewards in the order of arrival and log(1/delta).
    """

    def __init__(self, arms, horizon, g, epsilon):
        super().__init__(arms, horizon, g)
        self.epsilon, self.exponent = epsilon, epsilon / (1 + epsilon)
        self.level = 0.0

    def fewest(self, level):
        """Below how many rewards an arm is pulled at once."""
        return 1

    def update(self, arm, x):
        self.rewards[arm].append(x)
        self.estimates[arm] = self.location(self.rewards[arm], self.level)

    def select(self, t):
        level = 2 * math.log(next(tau for tau in (2**j for j in range(1, 63)) if tau >= t))
        if level != self.level:
            self.level = level
            self.estimates = [
                self.location(rewards, level) if rewards else -INF for rewards in self.rewards
            ]
        for arm in range(self.arms):
            if len(self.rewards[arm]) < self.fewest(level):
                return arm
        return self.highest_index(t, lambda t, n: self.radius(n, level))


class TruncatedMeanUCB(FrozenDelta):
    """The highest truncated mean + radius, at a level that changes as t doubles."""

    example = ia.policies.TruncatedMeanUCB(u=0.1)

    def __init__(self, arms, horizon, g, u, epsilon):
        super().__init__(arms, horizon, g, epsilon)
        self.u = u

    def location(self, values, level):
        return math.fsum(
            x
            for i, x in enumerate(values, start=1)
            if abs(x) <= (self.u * i / level) ** (1 / (1 + self.epsilon))
        ) / len(values)

    def radius(self, n, level):
        return 4 * self.u ** (1 / (1 + self.epsilon)) * (level / n) ** self.exponent


class MedianOfMeansUCB(FrozenDelta):
    """A7 with blocks of N rewards, N the largest power of two up to n/k.

    Every arm is pulled until it has 2k rewards. Until then N is 2, and a single reward
    is a block.
    """

    example = ia.policies.MedianOfMeansUCB(v=0.01)

    def __init__(self, arms, horizon, g, v, epsilon):
        super().__init__(arms, horizon, g, epsilon)
        self.v = v

    def fewest(self, level):
        return 2 * math.floor(8 * (level + 1 / 8))

    def location(self, values, level):
        n, k = len(values), math.floor(8 * (level + 1 / 8))
        length = max(2**j for j in range(1, 40) if 2**j <= max(2, n / k)) if n > 1 else 1
        return lower_median(
            sorted(mean(sorted(values[i : i + length])) for i in range(0, n - length + 1, length))
        )

    def radius(self, n, level):
        return (12 * self.v) ** (1 / (1 + self.epsilon)) * (
            16 * (level + 1 / 8) / n
        ) ** self.exponent
