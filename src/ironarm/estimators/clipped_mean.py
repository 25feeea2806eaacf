"""The mean of rewards that are clipped to a known range."""

from __future__ import annotations

from ..marks import hot
from .base import Estimator


class ClippedMean(Estimator):
    """The mean of all rewards, each replaced by the nearest in [low, high].

    O(1) per update, 8 bytes per arm. It reads the constants `low` and `high`. Whatever
    is sent, one reward moves the mean of n rewards by at most (high - low)/n.
    """

    fields = {"total": "float[arms]"}

    @staticmethod
    @hot
    def add(s, a, x):
        s.total[a] += min(max(x, s.low), s.high)
        return s.total[a] / s.rewards[a]
