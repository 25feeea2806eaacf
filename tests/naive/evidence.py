"""Naive policies that pull the arm with the least evidence against it."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq

import ironarm as ia

from .base import (
    PHI,
    Naive,
    first_of_the_highest,
    lower_median,
    mean,
)

POINTS = np.arange(1600)


def kl_plus(p, q):
    """The binary relative entropy of p and q if p < q, else 0."""
    if p >= q:
        return 0.0
    return (p * math.log(p / q) if p > 0 else 0.0) + (1 - p) * math.log((1 - p) / (1 - q))


def gap(best, estimate):
    """best - estimate, 0 for equal infinities."""
    return 0.0 if best == estimate else best - estimate


def imed(estimates, counts, evidence, tie=0.0):
    """Return the arm with the smallest evidence + log n.

    There is no evidence against the arm with the highest estimate. A later arm must be
    smaller by more than `tie`, relatively.
    """
    lead = first_of_the_highest(estimates)
    indices = [
        (0.0 if arm == lead else evidence(arm, lead)) + math.log(n) for arm, n in enumerate(counts)
    ]
    best = 0
    for arm, index in enumerate(indices):
        if index < indices[best] - (tie * (1 + indices[best]) if tie else 0):
            best = arm
    return best


class IMED(Naive):
    """Honda and Takemura's index for normal rewards."""

    example = ia.IMED(sigma=2)

    def __init__(self, arms, horizon, g, sigma):
        super().__init__(arms, horizon, g)
        self.sigma = sigma
        self.location = mean

    def select(self, t):
        counts = [len(rewards) for rewards in self.rewards]
        if 0 in counts:
            return counts.index(0)
        return imed(
            self.estimates,
            counts,
            lambda arm, lead: (
                counts[arm]
                * ((gap(self.estimates[lead], self.estimates[arm]) / self.sigma) ** 2 / 2)
            ),
        )


def corrupted_kl(D, eps):
    """C1: the divergence of Huber's least favourable pair."""

    def excess(lc):
        return math.exp(-lc) * PHI.cdf(D / 2 - lc / D) + PHI.cdf(D / 2 + lc / D) - 1 / (1 - eps)

    if excess(0) <= 0:
        return 0.0
    lc = brentq(excess, 0, 2 * math.log((1 - eps) / eps), xtol=1e-15, rtol=1e-15)
    minus, plus = D / 2 - lc / D, D / 2 + lc / D
    within = PHI.cdf(plus) - PHI.cdf(minus)
    return (1 - eps) * (
        (1 - math.exp(-lc)) * PHI.cdf(minus) * lc
        + D * D / 2 * within
        - D * (PHI.pdf(minus) - PHI.pdf(plus))
    )


@cache
def corrupted_kl_table(eps):
    """1600 points from Dmin, 0.01 apart."""
    least = 2 * PHI.inv_cdf(1 / (2 * (1 - eps)))
    return np.array([0.0] + [corrupted_kl(least + 0.01 * k, eps) for k in range(1, 1600)])


class CRIMEDStar(Naive):
    """C1 with Nmin = 1."""

    example = ia.policies.CRIMEDStar(epsilon=0.02, sigma=1)

    first_pulls = 1

    def __init__(self, arms, horizon, g, epsilon, sigma):
        super().__init__(arms, horizon, g)
        self.sigma = sigma
        self.location = lower_median
        self.table = corrupted_kl_table(epsilon)

    def against(self, arm, lead):
        return len(self.rewards[arm]) * np.interp(
            gap(self.estimates[lead], self.estimates[arm]) / self.sigma / 0.01, POINTS, self.table
        )

    def select(self, t):
        counts = [len(rewards) for rewards in self.rewards]
        for enough in (1, self.first_pulls):
            if min(counts) < enough:
                return [n < enough for n in counts].index(True)
        return imed(self.estimates, counts, self.against, tie=1e-9)


class CRIMED(CRIMEDStar):
    """C1; each arm once, then up to Nmin pulls of each."""

    example = ia.policies.CRIMED(epsilon=0.02, sigma=2, horizon=300)

    def __init__(self, arms, horizon, g, epsilon, sigma):
        super().__init__(arms, horizon, g, epsilon, sigma)
        L, eps = math.log(horizon), epsilon
        s = math.sqrt((eps / 2) / math.log(1 / (1 - 2 * eps))) + math.sqrt(
            (1 - 2 * eps) / (4 * math.log((1 - eps) / eps))
        )
        s /= (1 - eps) * PHI.pdf(PHI.inv_cdf(1 / (2 * (1 - eps))) + 1)
        self.first_pulls = math.ceil(
            2 * L * math.log(1 + math.log(1 + L)) ** 2 * s**2 / math.log(1 + L**0.99)
        )


def share_bound(far, n, nats):
    """The share u with n kl(far/n, u) = nats."""
    return 1.0 if far == n else brentq(lambda u: n * kl_plus(far / n, u) - nats, far / n, 1 - 1e-15)


class CountIMED(Naive):
    """C4."""

    example = ia.CountIMED(epsilon=0.175, sigma=0.5)

    def __init__(self, arms, horizon, g, epsilon, sigma, shift):
        super().__init__(arms, horizon, g)
        self.epsilon, self.sigma = epsilon, sigma
        self.beta = sigma * PHI.inv_cdf(1 / (2 * (1 - epsilon))) if shift else 0.0
        self.location = lower_median
        self.evidence, self.at = [None] * arms, [None] * arms

    def against(self, arm, x):
        """E_a(x)."""
        values = np.array(self.rewards[arm])
        n, found, clean = len(values), [], 1 - self.epsilon
        for d in (0.5, 1, 1.5, 2, 2.5, 3):
            found.append(
                n * kl_plus(np.count_nonzero(values >= x - d * self.sigma) / n, clean * PHI.cdf(d))
            )
        finite = values[np.isfinite(values)]
        for d in (2, 3):
            inside = np.searchsorted(finite, finite + 2 * d * self.sigma, side="right") - np.arange(
                len(finite)
            )
            most = max(inside[finite >= x - d * self.sigma], default=0)
            found.append(n * kl_plus(most / n, clean * (2 * PHI.cdf(d) - 1)))
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
