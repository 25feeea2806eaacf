"""The lower median of an arm's rewards among the last rewards of all arms."""

from __future__ import annotations

import math

from ..marks import cold, hot
from .base import Estimator
from .structures import order_tree, ring
from .structures.order_tree import grow_trees, tree_insert, tree_remove, tree_value
from .structures.ring import arm_at, oldest_place, write_newest


@cold
def median_now(s, a):
    """Return the lower median of the rewards of arm a in the window, -inf if none."""
    n = s.nodes[s.root[a]]
    return tree_value(s, a, (n - 1) >> 1) if n > 0 else -math.inf


@cold
def slide(s, a, x):
    """Take the reward x of arm a into the window, for the oldest one of all."""
    if s.trees_grown[0] == 0:
        grow_trees(s)
    place = oldest_place(s)
    out = arm_at(s, place)
    if out >= 0:
        tree_remove(s, out, place)
        s.held[out] -= 1
        if out != a:
            s.estimate[out] = median_now(s, out)
    s.left[0] = out + 1
    write_newest(s, a, x, place)
    tree_insert(s, a, place)
    return median_now(s, a)


class SlidingMedian(Estimator):
    """The lower median of the arm's rewards among the last `s.window` of all arms.

    It is exact for every order of values, equal and infinite ones included. A reward of
    another arm that leaves the window changes that arm's estimate, too: `s.left[0]` is
    then one more than the arm's number. The estimate of an arm without a reward in the
    window is -inf. O(log n) per update in the worst case, 56 bytes for each place.
    """

    fields = {**ring.FIELDS, **order_tree.FIELDS}

    @staticmethod
    @hot
    def add(s, a, x):
        return slide(s, a, x)
