"""Decaying epsilon-greedy: a start, then less and less uniform exploration."""

from __future__ import annotations

import math

from ..marks import hot
from ..policy import Policy
from ..random import integer, uniform
from ..validation import number
from .highest_index import FIELDS, first_unrewarded, highest_line, index_moved


@hot
def greedy_after_start(s, t, g):
    """Return the scheduled arm, a uniform arm, or the arm with the highest estimate.

    The start pulls each arm `s.first_pulls` times. After it, a uniform arm has the
    probability min(1, c K / t).
    """
    if t <= s.arms * s.first_pulls:
        return int((t - 1) // s.first_pulls)
    if uniform(g) < s.c * s.arms / t:
        return integer(g, s.arms)
    # A live agent tries an arm that has shown no reward yet. A simulation follows Auer
    # et al., where such an arm counts as -inf
    if s.live and s.unrewarded[0] > 0:
        return first_unrewarded(s.n, s.rewards, s.fresh)
    return highest_line(s, t, 0.0)


class DecayingGreedy(Policy):
    """Explore with probability min(1, c K / t), else pull the highest estimate.

    Each arm is first pulled `first_pulls` times. A subclass names its parameters, `c`
    among them, and its `estimator`; see `MedEpsilonGreedy`.
    """

    c: float

    fields = FIELDS

    def __post_init__(self) -> None:
        self._set(c=number("c", self.c, above=0))

    @property
    def first_pulls(self) -> int:
        """Pulls of each arm at the start: ceil(c)."""
        return math.ceil(self.c)

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {**super().constants(arms, horizon), "first_pulls": float(self.first_pulls)}

    @staticmethod
    @hot
    def choose(s, t, g):
        return greedy_after_start(s, t, g)

    @staticmethod
    @hot
    def update(s, a, x):
        index_moved(s, a)

    @staticmethod
    @hot
    def owed(s, t):
        return int(s.first_pulls)
