"""The lower median of an even sample of the rewards, in bounded memory."""

from __future__ import annotations

import math

from ..marks import cold, hot
from .median import LowerMedian
from .structures.ordered import sort_rewards
from .structures.rank import put
from .structures.window import W

LIMIT = 16_384  # rewards of an arm that are held; then every second of them goes


@hot
def held_rewards(s, a):
    """Return how many rewards of arm a are held."""
    return s.slot_size[2 * a] + s.inside[a] + s.slot_size[2 * a + 1]


@cold
def thin(s, a):
    """Drop every second reward of arm a, in order, and of later ones half as many.

    Ranks 1, 3, 5, ... from 0 stay. The lower median of an even number is one of them.
    """
    sort_rewards(s, a)
    below = s.slot_size[2 * a]
    inside = s.inside[a]
    start = s.slot_start[2 * a]
    kept = 0
    for i in range(below):  # falling: place i has the rank below - 1 - i
        if (below - 1 - i) & 1:
            s.pool[start + kept] = s.pool[start + i]
            kept += 1
    s.slot_size[2 * a] = kept
    kept = 0
    for i in range(inside):
        if (below + i) & 1:
            s.window[a * W + kept] = s.window[a * W + i]
            kept += 1
    s.inside[a] = kept
    start = s.slot_start[2 * a + 1]
    kept = 0
    for i in range(s.slot_size[2 * a + 1]):
        if (below + inside + i) & 1:
            s.pool[start + kept] = s.pool[start + i]
            kept += 1
    s.slot_size[2 * a + 1] = kept
    s.skipped[a] += LIMIT // 2
    s.mask[a] = 2 * s.mask[a] + 1


@cold
def forget_rewards(s, a):
    """Forget all rewards of arm a; from now on every new one is held again."""
    s.slot_size[2 * a] = 0
    s.slot_size[2 * a + 1] = 0
    s.inside[a] = 0
    s.skipped[a] = s.rewards[a]
    s.mask[a] = 0
    s.estimate[a] = -math.inf


class SampledMedian(LowerMedian):
    """The lower median of at most 16,384 rewards of an arm, which can be read in order.

    Up to then it holds all of them and is exact. Then every second one, in order of
    size, is dropped, and from there on every second new one, then every fourth, and so
    on. The sample is at least as even as a random one of 8,192 rewards. An attacker
    cannot choose which rewards are held: that depends on their number alone.
    `ironarm.estimators.structures.ordered` reads them in order.
    """

    fields = {**LowerMedian.fields, "skipped": "int[arms]", "mask": "int[arms]"}
    saved = ("skipped", "mask")
    forgets = ("skipped",)

    @staticmethod
    @hot
    def add(s, a, x):
        if s.rewards[a] & s.mask[a] != 0:
            s.skipped[a] += 1
            return s.estimate[a]
        n = held_rewards(s, a) + 1
        median = put(s.pool, s.window, s.inside, s.slot_start, s.slot_size, a, x, (n - 1) >> 1, n)
        if n == LIMIT:
            thin(s, a)
        return median
