"""The policies and a trial of a simulation, written as plainly as their formulas read: slow, and easy to check by eye.

Nothing here uses ironarm's estimators, rules or engine loop. Rewards are kept in one sorted list per arm, an arm's estimate is computed from that list when it changes, and
every index is computed in every round. Random numbers come from the same stream in the same order as the real policy's, through the plain functions of `ironarm.draws`.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
from scipy.optimize import brentq

from ironarm import draws
from ironarm.engine.streams import streams
from ironarm.engine.tape import Tape

INF = math.inf
PHI = NormalDist()
LARGEST = 1.7976931348623157e308
POINTS = np.arange(1600)


def lower_median(values):
    """The order statistic ceil(n/2) of a sorted list."""
    return values[math.ceil(len(values) / 2) - 1]


def upper_median(values):
    """The order statistic floor(n/2) + 1 of a sorted list."""
    return values[len(values) // 2]


def mean(values):
    """The mean of a sorted list; -inf and +inf together have none, which counts as -inf."""
    if values[0] == -INF and values[-1] == INF:
        return -INF
    return math.fsum(values) / len(values)


def trimmed_mean(values, alpha):
    """The mean of a sorted list without its floor(alpha n) smallest and largest."""
    cut = math.floor(alpha * len(values))
    kept = values[cut : len(values) - cut]
    return mean(kept) if kept else lower_median(values)


def amply_trimmed_mean(values, alpha):
    """The mean of a sorted list without its ceil(alpha n) smallest and largest, with the middle one or two left at least."""
    n = len(values)
    cut = min(math.ceil(alpha * n), (n - 1) // 2)
    return mean(values[cut : n - cut])


def shorth_mean(values, alpha):
    """The mean of the shortest interval that holds floor((1 - alpha) n) values of a sorted list, at least one; the lowest one among equals."""
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


def first_of_the_highest(scores):
    """The lowest number among the arms with the highest score."""
    return scores.index(max(scores))


class Naive:
    """What they have in common: a sorted list of rewards and an estimate for each arm, -inf without rewards."""

    def __init__(self, arms, horizon, g):
        self.arms, self.g = arms, g
        self.rewards = [[] for _ in range(arms)]
        self.estimates = [-INF] * arms

    def update(self, arm, x):
        self.rewards[arm] = sorted([*self.rewards[arm], x])
        self.estimates[arm] = self.location(self.rewards[arm])

    def uniform(self):
        with np.errstate(over="ignore"):
            return float(draws.uniform(self.g))

    def integer(self, below):
        with np.errstate(over="ignore"):
            return int(draws.integer(self.g, below))

    def highest_index(self, t, bonus):
        """Each arm once, then the highest estimate + bonus(t, n)."""
        for arm in range(self.arms):
            if not self.rewards[arm]:
                return arm
        return first_of_the_highest([self.estimates[arm] + bonus(t, len(self.rewards[arm])) for arm in range(self.arms)])

    def epsilon_greedy(self, t, c, first_pulls):
        """Each arm first_pulls times, then a uniform arm with probability min(1, c K / t), else the highest estimate."""
        if t <= self.arms * first_pulls:
            return (t - 1) // first_pulls
        if self.uniform() < min(1, c * self.arms / t):
            return self.integer(self.arms)
        return first_of_the_highest(self.estimates)


class UCB(Naive):
    """A3."""

    def __init__(self, arms, horizon, g, alpha, sigma):
        super().__init__(arms, horizon, g)
        self.alpha, self.sigma = alpha, sigma
        self.location = mean

    def select(self, t):
        return self.highest_index(t, lambda t, n: self.sigma * math.sqrt(2 * self.alpha * math.log(t) / n))


class RUCB(Naive):
    """A5."""

    def __init__(self, arms, horizon, g, omega, median):
        super().__init__(arms, horizon, g)
        self.omega = omega
        self.location = {"lower": lower_median, "upper": upper_median}[median]

    def select(self, t):
        return self.highest_index(t, lambda t, n: math.sqrt(self.omega * math.log(t) / n))


class TrimmedUCB(Naive):
    """A8."""

    def __init__(self, arms, horizon, g, alpha, omega):
        super().__init__(arms, horizon, g)
        self.omega = omega
        self.location = lambda values: trimmed_mean(values, alpha)

    def select(self, t):
        return self.highest_index(t, lambda t, n: math.sqrt(self.omega * math.log(t) / n))


class CRUCB(Naive):
    """A8; the shorth mean only when the rewards of an arm have grown by a sixteenth since it was last computed."""

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
        return self.highest_index(t, lambda t, n: self.sigma / (1 - 2 * self.alpha) * math.sqrt(4 * math.log(t) / n))


def huber_root(values, beta):
    """The smallest root m of sum psi(x - m) = 0, psi(x) = min(max(x, -beta), beta), for a sorted list."""
    n, half, values = len(values), len(values) // 2, np.array(values)
    if n % 2 == 0 and values[half] - values[half - 1] >= 2 * beta:
        return values[half - 1] + beta
    m = brentq(lambda m: np.clip(values - m, -beta, beta).sum(), values[0] - beta, values[-1] + beta, xtol=1e-14, rtol=1e-15)
    near = (values >= m - beta) & (values <= m + beta)
    return (values[near].sum() + beta * (np.count_nonzero(values > m + beta) - np.count_nonzero(values < m - beta))) / np.count_nonzero(near)


class HuberUCB(Naive):
    """C2; the root when the rewards of an arm have grown by a sixteenth, else a Newton step from it with the rewards since. Rewards are clipped to +-1e12."""

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
            self.roots[arm], self.last[arm], self.newer[arm] = huber_root(self.rewards[arm], self.beta), n, []
        m = self.roots[arm]
        near = sum(m - self.beta <= x <= m + self.beta for x in self.rewards[arm])
        self.estimates[arm] = m + sum(min(max(x - m, -self.beta), self.beta) for x in self.newer[arm]) / near if near else m

    def index(self, arm, t):
        n, p, eps, L = len(self.rewards[arm]), self.p, self.epsilon, 2 * math.log(t)
        if n == 0 or n < math.log(t) * 98 / 128 * (1 + 2 * math.sqrt(2) * max(self.e, 9 / (14 * math.sqrt(2)))) ** 2 / (p - 5 * eps) ** 2:
            return INF
        top = self.sigma * math.sqrt(2 * L / n) + self.beta * L / (3 * n) + 2 * self.beta * self.e * math.sqrt(L / n) + 2 * self.beta * eps
        return self.estimates[arm] + top / (p - math.sqrt(L / (2 * n)) - eps)

    def select(self, t):
        return first_of_the_highest([self.index(arm, max(t, 2)) for arm in range(self.arms)])


class MedEUCB(Naive):
    """A1; without a block it is 1000, or the smallest one that holds the start."""

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
        return self.highest_index(t, lambda t, n: math.sqrt(self.omega * math.log(t) / n)) if arm is None else arm


class MedEpsilonGreedy(Naive):
    """A2."""

    def __init__(self, arms, horizon, g, c):
        super().__init__(arms, horizon, g)
        self.c = c
        self.location = lower_median

    def select(self, t):
        return self.epsilon_greedy(t, self.c, math.ceil(self.c))


class EpsilonGreedy(Naive):
    """A4; an arm without rewards counts as -inf."""

    def __init__(self, arms, horizon, g, c):
        super().__init__(arms, horizon, g)
        self.c = c
        self.location = mean

    def select(self, t):
        return self.epsilon_greedy(t, self.c, 0)


class TrimmedEpsilonGreedy(Naive):
    """A8, starting and exploring as A2."""

    def __init__(self, arms, horizon, g, alpha, c):
        super().__init__(arms, horizon, g)
        self.c = c
        self.location = lambda values: trimmed_mean(values, alpha)

    def select(self, t):
        return self.epsilon_greedy(t, self.c, math.ceil(self.c))


class EXP3(Naive):
    """A6; the estimates are the log-weights. One uniform number decides: below gamma it is spread evenly over the arms, above in proportion to the weights."""

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


class CatoniUCB(Naive):
    """A7; a later arm must beat an earlier one by more than 1e-9, relative to 1 + its index."""

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
        self.roots[arm] = catoni_root(self.rewards[arm], catoni_alpha(n, t, self.variance), guess=self.roots[arm])
        return self.roots[arm] + math.sqrt(8 * self.variance * math.log(t) / n)

    def select(self, t):
        best, highest = 0, self.index(0, t)
        for arm in range(1, self.arms):
            index = self.index(arm, t)
            if index > highest + 1e-9 * (1 + abs(highest)):
                best, highest = arm, index
        return best


class FrozenDelta(Naive):
    """A7 with delta = tau^-2, tau the smallest power of two that is at least t and at least 2; `location` takes the rewards in the order of arrival and log(1/delta)."""

    def __init__(self, arms, horizon, g, epsilon):
        super().__init__(arms, horizon, g)
        self.epsilon, self.exponent = epsilon, epsilon / (1 + epsilon)
        self.level = 0.0

    def update(self, arm, x):
        self.rewards[arm].append(x)
        self.estimates[arm] = self.location(self.rewards[arm], self.level)

    def select(self, t):
        level = 2 * math.log(next(tau for tau in (2**j for j in range(1, 63)) if tau >= t))
        if level != self.level:
            self.level = level
            self.estimates = [self.location(rewards, level) if rewards else -INF for rewards in self.rewards]
        return self.highest_index(t, lambda t, n: self.radius(n, level))


class TruncatedMeanUCB(FrozenDelta):
    """A7."""

    def __init__(self, arms, horizon, g, u, epsilon):
        super().__init__(arms, horizon, g, epsilon)
        self.u = u

    def location(self, values, level):
        return math.fsum(x for i, x in enumerate(values, start=1) if abs(x) <= (self.u * i / level) ** (1 / (1 + self.epsilon))) / len(values)

    def radius(self, n, level):
        return 4 * self.u ** (1 / (1 + self.epsilon)) * (level / n) ** self.exponent


class MedianOfMeansUCB(FrozenDelta):
    """A7 with blocks of N rewards, N the largest power of two up to max(2, n/k); a single reward is a block."""

    def __init__(self, arms, horizon, g, v, epsilon):
        super().__init__(arms, horizon, g, epsilon)
        self.v = v

    def location(self, values, level):
        n, k = len(values), math.floor(8 * (level + 1 / 8))
        length = max(2**j for j in range(1, 40) if 2**j <= max(2, n / k)) if n > 1 else 1
        return lower_median(sorted(mean(sorted(values[i : i + length])) for i in range(0, n - length + 1, length)))

    def radius(self, n, level):
        return (12 * self.v) ** (1 / (1 + self.epsilon)) * (16 * (level + 1 / 8) / n) ** self.exponent


def kl_plus(p, q):
    """The binary relative entropy of p and q if p < q, else 0."""
    if p >= q:
        return 0.0
    return (p * math.log(p / q) if p > 0 else 0.0) + (1 - p) * math.log((1 - p) / (1 - q))


def gap(best, estimate):
    """best - estimate, 0 for equal infinities."""
    return 0.0 if best == estimate else best - estimate


def imed(estimates, counts, evidence, tie=0.0):
    """The arm with the smallest evidence + log n, where there is none against the arm with the highest estimate; a later arm must be smaller by more than `tie`, relatively."""
    lead = first_of_the_highest(estimates)
    indices = [(0.0 if arm == lead else evidence(arm, lead)) + math.log(n) for arm, n in enumerate(counts)]
    best = 0
    for arm, index in enumerate(indices):
        if index < indices[best] - (tie * (1 + indices[best]) if tie else 0):
            best = arm
    return best


class IMED(Naive):
    """Honda and Takemura's index for normal rewards."""

    def __init__(self, arms, horizon, g, sigma):
        super().__init__(arms, horizon, g)
        self.sigma = sigma
        self.location = mean

    def select(self, t):
        counts = [len(rewards) for rewards in self.rewards]
        if 0 in counts:
            return counts.index(0)
        return imed(self.estimates, counts, lambda arm, lead: counts[arm] * ((gap(self.estimates[lead], self.estimates[arm]) / self.sigma) ** 2 / 2))


def corrupted_kl(D, eps):
    """C1: the divergence of Huber's least favourable pair."""

    def excess(lc):
        return math.exp(-lc) * PHI.cdf(D / 2 - lc / D) + PHI.cdf(D / 2 + lc / D) - 1 / (1 - eps)

    if excess(0) <= 0:
        return 0.0
    lc = brentq(excess, 0, 2 * math.log((1 - eps) / eps), xtol=1e-15, rtol=1e-15)
    minus, plus = D / 2 - lc / D, D / 2 + lc / D
    within = PHI.cdf(plus) - PHI.cdf(minus)
    return (1 - eps) * ((1 - math.exp(-lc)) * PHI.cdf(minus) * lc + D * D / 2 * within - D * (PHI.pdf(minus) - PHI.pdf(plus)))


@cache
def corrupted_kl_table(eps):
    """1600 points from Dmin, 0.01 apart."""
    least = 2 * PHI.inv_cdf(1 / (2 * (1 - eps)))
    return np.array([0.0] + [corrupted_kl(least + 0.01 * k, eps) for k in range(1, 1600)])


class CRIMEDStar(Naive):
    """C1 with Nmin = 1."""

    first_pulls = 1

    def __init__(self, arms, horizon, g, epsilon, sigma):
        super().__init__(arms, horizon, g)
        self.sigma = sigma
        self.location = lower_median
        self.table = corrupted_kl_table(epsilon)

    def against(self, arm, lead):
        return len(self.rewards[arm]) * np.interp(gap(self.estimates[lead], self.estimates[arm]) / self.sigma / 0.01, POINTS, self.table)

    def select(self, t):
        counts = [len(rewards) for rewards in self.rewards]
        for enough in (1, self.first_pulls):
            if min(counts) < enough:
                return [n < enough for n in counts].index(True)
        return imed(self.estimates, counts, self.against, tie=1e-9)


class CRIMED(CRIMEDStar):
    """C1; each arm once, then up to Nmin pulls of each."""

    def __init__(self, arms, horizon, g, epsilon, sigma):
        super().__init__(arms, horizon, g, epsilon, sigma)
        L, eps = math.log(horizon), epsilon
        s = math.sqrt((eps / 2) / math.log(1 / (1 - 2 * eps))) + math.sqrt((1 - 2 * eps) / (4 * math.log((1 - eps) / eps)))
        s /= (1 - eps) * PHI.pdf(PHI.inv_cdf(1 / (2 * (1 - eps))) + 1)
        self.first_pulls = math.ceil(2 * L * math.log(1 + math.log(1 + L)) ** 2 * s**2 / math.log(1 + L**0.99))


class CountIMED(Naive):
    """C4."""

    def __init__(self, arms, horizon, g, epsilon, sigma, shift):
        super().__init__(arms, horizon, g)
        self.epsilon, self.sigma = epsilon, sigma
        self.beta = sigma * PHI.inv_cdf(1 / (2 * (1 - epsilon))) if shift else 0.0
        self.location = lower_median
        self.evidence, self.at = [None] * arms, [None] * arms

    def against(self, arm, x):
        """E_a(x)."""
        values = np.array(self.rewards[arm])
        n, found = len(values), []
        for d in (0.5, 1, 1.5, 2, 2.5, 3):
            found.append(n * kl_plus(np.count_nonzero(values >= x - d * self.sigma) / n, (1 - self.epsilon) * PHI.cdf(d)))
        finite = values[np.isfinite(values)]
        for d in (2, 3):
            inside = np.searchsorted(finite, finite + 2 * d * self.sigma, side="right") - np.arange(len(finite))
            most = max(inside[finite >= x - d * self.sigma], default=0)
            found.append(n * kl_plus(most / n, (1 - self.epsilon) * (2 * PHI.cdf(d) - 1)))
        return max(found)

    def update(self, arm, x):
        super().update(arm, x)
        self.at[arm] = None

    def kept(self, arm, lead):
        """E_a(x), anew if the rule asks for it."""
        x = self.estimates[lead] + self.beta
        if self.at[arm] is None or abs(gap(x, self.at[arm])) > 0.01 * self.sigma:
            self.evidence[arm], self.at[arm] = self.against(arm, x), x
        return self.evidence[arm]

    def select(self, t):
        if [] in self.rewards:
            return self.rewards.index([])
        return imed(self.estimates, [len(rewards) for rewards in self.rewards], self.kept)


class AdaptiveCountIMED(CountIMED):
    """C4 with sigma and epsilon from the leader's rewards, at 32 of them and at every doubling; until then the leader is pulled."""

    def __init__(self, arms, horizon, g):
        super().__init__(arms, horizon, g, epsilon=0.4, sigma=0.0, shift=True)
        self.next_look = 32

    def look(self, values):
        self.next_look = 2 * len(values)
        n, half = len(values), len(values) // 2 + 1
        widths = [high - low if math.isfinite(high - low) else INF for low, high in zip(values, values[half - 1 :], strict=False)]
        narrowest = min(widths)
        start = widths.index(narrowest)
        middle = 0.5 * values[start] + 0.5 * values[start + half - 1]
        near = []
        if math.isfinite(narrowest) and math.isfinite(middle):
            least = max(1e-12 * abs(middle), 1e-200)
            reach = 4 * max(narrowest / (2 * PHI.inv_cdf(0.75)), least)
            near = [x for x in values if max(middle - reach, -LARGEST) <= x < middle + reach]
        m = len(near)
        if m:
            self.sigma = min(max((near[m - 1 - m // 8] - near[m // 8]) / (2 * PHI.inv_cdf(0.875)) * (1 + 1 / math.sqrt(m)), least), 1e300)
        p = (n - m) / n
        bound = 1.0 if p == 1 else brentq(lambda u: n * kl_plus(p, u) - math.log(n), p, 1 - 1e-15)
        self.epsilon = min(0.4, bound + 0.05)
        self.beta = self.sigma * PHI.inv_cdf(1 / (2 * (1 - self.epsilon)))
        self.at = [None] * self.arms

    def select(self, t):
        if [] not in self.rewards:
            lead = first_of_the_highest(self.estimates)
            if len(self.rewards[lead]) >= self.next_look:
                self.look(self.rewards[lead])
            if self.sigma == 0:
                return lead
        return super().select(t)


class ThompsonGaussian(Naive):
    """C2's baseline with a flat prior: each arm once, then a normal number for every arm in turn."""

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
        return first_of_the_highest([self.estimates[arm] + self.sigma / math.sqrt(len(self.rewards[arm])) * self.normal() for arm in range(self.arms)])


class ByChance(Naive):
    """Policies that draw an arm from probabilities, with one uniform number, and weigh a reward in [0, 1] by its probability."""

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
    """C2. The losses are chaotic: they grow by 1/w, which grows with them, and within some hundred rounds the last bit decides a choice.

    So the root y = min L - x of sum t / (L - min L + y)^2 = 1 is found in the same steps as the policy's: Newton's, from the last y or sqrt(t) if that is larger, never below
    sqrt(t), up to a step of at most 1e-8 y.
    """

    y = 0.0

    def chances(self, t):
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
        return [t * ((1 / (L - min(self.weighted) + y)) * (1 / (L - min(self.weighted) + y))) for L in self.weighted]


class EXP3PlusPlus(ByChance):
    """C2; an arm without rewards has no bounds."""

    def __init__(self, arms, horizon, g, reward_range, beta):
        super().__init__(arms, horizon, g, reward_range)
        self.beta = beta

    def chances(self, t):
        K = self.arms
        eta = math.sqrt(math.log(K) / (t * K)) / 2
        bounds = []
        for losses in self.losses:
            n = len(losses)
            radius = math.sqrt(3 * math.log(t * K ** (1 / 3)) / (2 * n)) if n else INF
            bounds.append((sum(losses) / n - radius, sum(losses) / n + radius) if n else (-INF, INF))
        gaps = [max(0, lower - min(upper for _, upper in bounds)) for lower, _ in bounds]
        eps = [min(1 / (2 * K), eta, self.beta * math.log(t) / (t * gap**2) if gap else INF) for gap in gaps]
        weights = [math.exp(-eta * (L - min(self.weighted))) for L in self.weighted]
        return [(1 - sum(eps)) * weight / sum(weights) + e for weight, e in zip(weights, eps, strict=True)]


class BARBAR(ByChance):
    """C2; an epoch of N rounds takes ceil(N)."""

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
        self.estimates[arm] = self.low + (self.high - self.low) * (1 - sum(self.losses[arm]) / len(self.losses[arm]))


TWINS = {
    twin.__name__: twin
    for twin in (
        *(
            UCB,
            RUCB,
            TrimmedUCB,
            CRUCB,
            HuberUCB,
            MedEUCB,
            MedEpsilonGreedy,
            EpsilonGreedy,
            TrimmedEpsilonGreedy,
            EXP3,
            CatoniUCB,
            IMED,
            CRIMEDStar,
            CRIMED,
            CountIMED,
            AdaptiveCountIMED,
        ),
        *(TruncatedMeanUCB, MedianOfMeansUCB, ThompsonGaussian, TsallisINF, EXP3PlusPlus, BARBAR),
    )
}


def twin_of(policy, arms, horizon, g):
    """The naive version of one of ironarm's policies, drawing from its own copy of the stream."""
    parameters = policy.parameters
    return TWINS[type(policy).__name__](arms, parameters.pop("horizon", None) or horizon, g.copy(), **parameters)


def play(policy, bandit, attack, horizon, seed, trial):
    """Play the policy's twin in one trial of a simulation; return its choices and what it saw, round by round."""
    noise_stream, attack_stream, policy_stream = streams(seed, trial)
    with np.errstate(over="ignore"):
        tape = Tape(horizon, attack.rho, bandit.location_scale is not None, attack.burst)
        tape.rewind(noise_stream, attack_stream)
        noise, coin, numbers = tape.next(horizon)
    clean = [bandit.rewards(arm, noise).tolist() for arm in range(bandit.arms)]
    shows = attack.shows(bandit).tolist()
    twin = twin_of(policy, bandit.arms, horizon, policy_stream)
    pulls = [0] * bandit.arms
    scene = SimpleNamespace(
        arms=bandit.arms, best=bandit.best, runner_up=bandit.runner_up, means=bandit.means.tolist(), pulls=pulls, memory=attack.start(bandit), **attack.constants()
    )
    choices, seen = [], []
    for t in range(1, horizon + 1):
        arm = twin.select(t)
        pulls[arm] += 1
        x = clean[arm][t - 1]
        if coin[t - 1]:
            scene.t, scene.estimate = t, twin.estimates
            x = attack.corrupt(scene, arm, clean[shows[arm]][t - 1], *numbers[3 * t - 2 : 3 * t].tolist())
        twin.update(arm, x)
        choices.append(arm)
        seen.append(x)
    return choices, seen
