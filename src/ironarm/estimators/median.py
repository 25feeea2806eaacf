"""The exact running median: the lower one (the paper's) and the upper one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import hot
from .base import HoldsRewards
from .structures.rank import fields, held, put
from .structures.window import W, heaps_have_room


class LowerMedian(HoldsRewards):
    """The lower median: the order statistic of rank ceil(n/2), inf{x : F(x) >= 1/2}.

    It is exact for every order of values, +-inf included. O(1) per update on average
    for independent rewards, O(log n) amortised for any; about 11 bytes per reward.
    """

    fields = fields()
    any_order = True

    @staticmethod
    @hot
    def add(s, a, x):
        n = s.rewards[a]
        return put(s.pool, s.window, s.inside, s.slot_start, s.slot_size, a, x, (n - 1) >> 1, n)

    @staticmethod
    @hot
    def room(s, a):
        return heaps_have_room(s, a, 2, W)

    @staticmethod
    def samples(s: Any, a: int) -> np.ndarray:
        return held(s, a)


class UpperMedian(LowerMedian):
    """The upper median of all rewards: the order statistic of rank floor(n/2) + 1.

    Otherwise it is like `LowerMedian`.
    """

    @staticmethod
    @hot
    def add(s, a, x):
        n = s.rewards[a]
        return put(s.pool, s.window, s.inside, s.slot_start, s.slot_size, a, x, n >> 1, n)


class OrderedMedian(LowerMedian):
    """The lower median for policies that also read all rewards in order.

    See `ironarm.estimators.structures.ordered`. Its memory cannot be bounded.
    """
