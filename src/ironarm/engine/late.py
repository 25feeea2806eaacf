"""The loop for rewards that are signed, late or lost.

It is `loop.play` by the rules of a live agent: rounds count decisions, estimates count
rewards, and a decision that is not rewarded in time is cancelled. A reward is posted in
the round of its decision and delivered at the end of the round in which it is due, so
one that is not late is there before the next choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import hot
from .learning import cancel, take
from .loop import (
    ANSWERED,
    ASK,
    BAD_ARM,
    COMPILED,
    DELIVERING,
    DONE,
    FILL,
    GROW,
    NOTHING,
    PYTHON,
    TELL,
    write_checkpoint,
)
from .record import Field, Layout

# filled in by `machine.py`, as in `loop.py`
choose: Any = None
recount: Any = None
room: Any = None
state_at: Any = None
stretch_at: Any = None
post_at: Any = None
call_attack: Any = None

POST = Layout(
    "Post",
    [
        # for each round on the tape; empty if rewards are never late, or not signed
        Field("late", "int", "elsewhere"),  # by how many rounds; below 0: for ever
        Field("senders", "int", "elsewhere"),
        Field("expire", "int"),  # a decision is cancelled after so many rounds; 0: never
        Field("observed", "int"),  # whether the attack is told of every round
        Field("holds", "int"),  # whether the attack can hold rewards up
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
    p.after[slot] = 0
    # never so far ahead that the ring comes round to this slot again
    due = (t + min(wait, ring - 1)) % ring
    if p.first[due] == 0:
        p.first[due] = slot + 1
    else:
        p.after[p.last[due] - 1] = slot + 1
    p.last[due] = slot + 1


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


@hot
def run_late(state, stretch, mail, attack, observer, hold, scene):
    """As `run`, for rewards that have senders and come late or never.

    Rounds count decisions and estimates count rewards, as behind a live agent.
    """
    s = state_at(state)
    r = stretch_at(stretch)
    p = post_at(mail)
    listed = len(r.filled) > 0
    rounds = len(r.noise)
    before = r.before[0]
    i = r.played[0]
    k = r.checkpoint[0]
    chosen = r.chosen[0]
    r.chosen[0] = NOTHING
    if i < 0 or k < 0:
        return DONE  # unreachable; lets Numba assume non-negative indices
    while i < rounds:
        t = before + i + 1
        a = chosen
        chosen = NOTHING
        if a == NOTHING:
            a = choose(s, t, s.stream)
            if a < 0 or a >= s.arms:
                r.played[0] = i
                r.wanted[0] = a
                return BAD_ARM
            s.rounds[0] = t
            s.n[a] += 1
            p.decisions[a] += 1
            recount(s, a)
        if a != DELIVERING:
            attacked = r.coin[i] != 0
            law = r.shows[a] if attacked else a
            if not listed:
                x = r.location[law] + r.scale[law] * r.noise[i]
            else:
                if r.filled[law] == 0:
                    r.played[0] = i
                    r.chosen[0] = a
                    r.wanted[0] = law
                    return FILL
                x = r.column[law * rounds + i]
            clean = x
            wait = p.late[i] if len(p.late) > 0 else 0
            if attacked:
                u = r.draws[3 * i + 1]
                v = r.draws[3 * i + 2]
                if r.attacker[0] == COMPILED:
                    x = call_attack(attack, scene, a, x, t, u, v)
                elif r.attacker[0] == ANSWERED:
                    x = r.reply[0]
                    r.attacker[0] = PYTHON
                else:
                    r.played[0] = i
                    r.chosen[0] = a
                    r.reply[0] = x
                    return ASK
                if x != x:
                    x = -np.inf  # the attacker could have sent -inf anyway
                if p.holds != 0:
                    held = call_attack(hold, scene, a, clean, t, u, v)
                    if not 0.0 <= held < np.inf:
                        wait = -1
                    elif wait >= 0:
                        wait += int(min(held, len(p.first)))
            sender = p.senders[i] if len(p.senders) > 0 else -1
            post(p, t, a, x, wait, sender, s.chance[0])
            r.wanted[0] = a
            r.reply[0] = clean
            r.reply[1] = x
        if not deliver(s, p, t):
            r.played[0] = i
            r.chosen[0] = DELIVERING
            return GROW
        if t == r.checkpoints[k]:
            write_checkpoint(
                p.decisions, r.gaps, r.since, r.earlier, r.pulls, t, k, r.regret, r.optimal
            )
            k += 1
            r.checkpoint[0] = k
        i += 1
        if p.observed != 0:
            if r.attacker[0] == COMPILED:
                call_attack(observer, scene, r.wanted[0], r.reply[0], t, r.reply[1], 0.0)
            else:
                r.played[0] = i
                return TELL
    r.played[0] = i
    return DONE
