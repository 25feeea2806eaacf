"""Naive policies that explore with a decaying probability."""

from __future__ import annotations

import math

import ironarm as ia

from .base import Naive, lower_median, mean
from .upper_confidence import trimmed_mean


class MedEpsilonGreedy(Naive):
    """Greedy on lower medians, after ceil(c) pulls of each arm."""

    example = ia.MedEpsilonGreedy(c=1)

    def __init__(self, arms, horizon, g, c):
        super().__init__(arms, horizon, g)
        self.c = c
        self.location = lower_median

    def select(self, t):
        return self.epsilon_greedy(t, self.c, math.ceil(self.c))


class EpsilonGreedy(Naive):
    """Greedy on means, without a start; an arm without rewards counts as -inf."""

    example = ia.EpsilonGreedy(c=1)

    def __init__(self, arms, horizon, g, c):
        super().__init__(arms, horizon, g)
        self.c = c
        self.location = mean

    def select(self, t):
        return self.epsilon_greedy(t, self.c, 0)


class TrimmedEpsilonGreedy(Naive):
    """Greedy on trimmed means, after ceil(c) pulls of each arm."""

    example = ia.TrimmedEpsilonGreedy(alpha=0.125, c=1)

    def __init__(self, arms, horizon, g, alpha, c):
        super().__init__(arms, horizon, g)
        self.c = c
        self.location = lambda values: trimmed_mean(values, alpha)

    def select(self, t):
        return self.epsilon_greedy(t, self.c, math.ceil(self.c))
