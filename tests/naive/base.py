"""What naive policies have in common."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from ironarm import random as draws

INF = math.inf


PHI = NormalDist()


LARGEST = 1.7976931348623157e308


def lower_median(values):
    """The order statistic ceil(n/2) of a sorted list."""
    return values[math.ceil(len(values) / 2) - 1]


def upper_median(values):
    """The order statistic floor(n/2) + 1 of a sorted list."""
    return values[len(values) // 2]


def mean(values):
    """Return the mean of a sorted list; -inf and +inf together count as -inf."""
    if values[0] == -INF and values[-1] == INF:
        return -INF
    return math.fsum(values) / len(values)


def first_of_the_highest(scores):
    """The lowest number among the arms with the highest score."""
    return scores.index(max(scores))


class Naive:
    """A sorted list of rewards and an estimate for each arm.

    The estimate is -inf without rewards. `example` is the policy, with the parameters
    that it has in tests of all policies (tests/every_policy.py): such that a hundred
    rounds with rewards between 0 and 3 lead it beyond its start.
    """

    example = None

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
        return first_of_the_highest(
            [self.estimates[arm] + bonus(t, len(self.rewards[arm])) for arm in range(self.arms)]
        )

    def epsilon_greedy(self, t, c, first_pulls):
        """Each arm first_pulls times, then a uniform arm or the highest estimate.

        The uniform arm has probability min(1, c K / t).
        """
        if t <= self.arms * first_pulls:
            return (t - 1) // first_pulls
        if self.uniform() < min(1, c * self.arms / t):
            return self.integer(self.arms)
        return first_of_the_highest(self.estimates)
