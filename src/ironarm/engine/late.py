"""Rewards that are signed, late or lost: the post in which they wait.

In `loop.py` a reward is posted in the round of its decision, and delivered at the end
of the round in which it is due.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import hot
from .learning import cancel, take
from .queues import append
from .record import Field, Layout

room: Any = None  # filled in by `machine.py`

POST = Layout(
    "Post",
    [
        # for each round on the tape; empty if rewards are never late, or not signed
        Field("late", "int", "elsewhere"),  # by how many rounds; below 0: for ever
        Field("senders", "int", "elsewhere"),
        Field("expire", "int"),  # a decision is cancelled after so many rounds; 0: never
        Field("decisions", "int", "elsewhere"),  # for each arm
        # a queue for each round to come, in a ring: first and last slot plus 1, or 0
        Field("first", "int", "elsewhere"),
        Field("last", "int", "elsewhere"),
        # the slot of a decision is its round modulo their number
        Field("after", "int", "elsewhere"),  # the slot behind it in its queue, plus 1
        Field("arm", "int", "elsewhere"),
        Field("reward", "float", "elsewhere"),  # NaN: the decision expires unrewarded
        Field("sender", "int", "elsewhere"),
        Field("chance", "float", "elsewhere"),
    ],
)


@hot
def held_up(p, wait, held):
    """Return how late a reward is that an attack holds up; below 0: for ever."""
    if not 0.0 <= held < np.inf:
        return -1
    if wait < 0:
        return wait
    return wait + int(min(held, len(p.first)))


@hot
def post(p, t, a, x, wait, sender, chance):
    """Send the reward of round t on its way.

    It comes `wait` rounds later, or never. A decision that expires before is cancelled
    then, and its reward is refused, as a live agent would.
    """
    if p.expire > 0 and (wait < 0 or wait > p.expire):
        wait = p.expire
        x = np.nan
    if wait < 0:
        return
    ring = len(p.first)
    slot = t % ring
    p.arm[slot] = a
    p.reward[slot] = x
    p.sender[slot] = sender
    p.chance[slot] = chance
    # never so far ahead that the ring comes round to this slot again
    due = (t + min(wait, ring - 1)) % ring
    append(p, due, slot)


@hot
def deliver(s, p, t):
    """Give the policy what is due in round t, oldest decision first.

    False: the pool must grow first; called again, it goes on.
    """
    due = t % len(p.first)
    while p.first[due] > 0:
        slot = p.first[due] - 1
        a = p.arm[slot]
        x = p.reward[slot]
        if x == x:
            if not room(s, a):
                return False
            s.source[0] = p.sender[slot]
            s.chance[0] = p.chance[slot]
            take(s, a, x)
        else:
            cancel(s, a)
        p.first[due] = p.after[slot]
    return True
