"""The entry points of a policy: what the simulator and an agent call.

They are written once, and compiled for each policy with its own steps in the place of
the names below. Every argument is a number: records are handed over by address.

`run` plays rounds of a simulation. It comes back early whenever it needs something that
only Python can give: a larger pool, a column of rewards, an attack's answer. Called
again, it resumes. It remembers the arm that was chosen; the rest of the round is
computed again from the tape. `run_observed` is the same loop for an attack that sees
every round, and `run_late` for rewards that have senders and come late or never
(`late.py`). Each is compiled apart, so that `run` does not pay for the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import cold, hot
from .late import deliver, held_up, post
from .learning import cancel, take
from .record import Field, Layout
from .waiting import close_oldest, open_one

# filled in by `machine.py`: steps of the policy and its estimator, and the layouts
choose: Any = None
recount: Any = None
owed: Any = None
welcome: Any = None
settle: Any = None
room: Any = None
estimate_reward: Any = None
repack_slots: Any = None
state_at: Any = None
stretch_at: Any = None
post_at: Any = None
waiting_at: Any = None
call_attack: Any = None

# why `run` came back
DONE = 0
GROW = 1
FILL = 2
ASK = 3
BAD_ARM = 4
TELL = 5

# what `chosen` is when no arm waits for its reward
NOTHING = -1
DELIVERING = -2  # its reward is posted, and those due are being delivered

# who answers for the attack
COMPILED = 0
PYTHON = 1
ANSWERED = 2  # Python has put its answer into `reply`

# what `select` returns in the place of an arm, and `observe`
NO_SUCH_ARM = -1
NOT_NOW = -2  # the agent is shut, or Python must look after its open decisions
MUST_GROW = 0  # the pool must, before `observe` can do anything
LEARNT = 1

# what `select` is told instead of an arm
ANY = -1
ANY_LOCKED = -2  # whoever asks holds the agent's lock

# what is open when a reward comes to `observe`
NOTHING_OPEN = 0  # it is an extra observation
ONE_OPEN = 1
OLDEST_OPEN = 2  # the arm's oldest decision without an id, which is then closed
OLDEST_LOCKED = 3  # the same; whoever asks holds the agent's lock

# what `adjust` does
CANCELLED = 0
JOINED = 1
SETTLE = 2
RECOUNT = 3
OWE = 4

STRETCH = Layout(
    "Stretch",
    [
        Field("noise", "float", "elsewhere"),
        Field("coin", "byte", "elsewhere"),
        Field("draws", "float", "elsewhere"),  # three a round: the coin's, u and v
        Field("location", "float", "elsewhere"),  # rewards are location + scale * noise
        Field("scale", "float", "elsewhere"),
        Field("column", "float", "elsewhere"),  # or they are listed, column by column
        Field("filled", "byte", "elsewhere"),
        Field("shows", "int", "elsewhere"),  # the law that an arm shows when attacked
        Field("gaps", "float", "elsewhere"),  # those of the present means,
        Field("since", "int", "elsewhere"),  # and pulls of each arm when these means began
        Field("earlier", "float", "here", width=2),  # regret and optimal pulls by then
        Field("checkpoints", "int", "elsewhere"),
        Field("regret", "float", "elsewhere"),
        Field("optimal", "float", "elsewhere"),
        Field("pulls", "int", "elsewhere"),
        Field("before", "int", "here"),  # rounds played before this stretch
        Field("played", "int", "here"),  # rounds played on this stretch
        Field("checkpoint", "int", "here"),  # the number of the next one
        Field("chosen", "int", "here"),  # the arm chosen but not yet rewarded, or -1
        # FILL: the law; BAD_ARM: what was chosen; TELL: the arm
        Field("wanted", "int", "here"),
        Field("attacker", "int", "here"),
        # ASK: the clean reward, then the answer; TELL: the clean reward, the one shown
        Field("reply", "float", "here", width=2),
    ],
)


@cold
def write_checkpoint(n, gaps, since, earlier, pulls, t, k, regret, optimal):
    """Write checkpoint k.

    The regret is computed from the counts, so it does not depend on the order of pulls
    while the means stay the same.
    """
    total = earlier[0]
    best = earlier[1]
    for a in range(len(gaps)):
        pulls[a] = n[a]
        total += gaps[a] * (n[a] - since[a])
        if gaps[a] == 0.0:
            best += n[a] - since[a]
    regret[k] = total
    optimal[k] = best / t


def make_loop(is_observed, is_late):  # noqa: C901 - see its docstring
    """Return the loop; what it does not need is left out when it is compiled.

    It is one long function, because it must be able to return in the middle of a round
    and resume there, and parts of it in functions of their own made it slower.

    Late rewards follow the rules of a live agent: rounds count decisions, estimates
    count rewards, and a decision that is not rewarded in time is cancelled. A reward is
    posted in the round of its decision and delivered at the end of the round in which
    it is due, so one that is not late is there before the next choice.
    """

    @hot
    def play(state, stretch, attack, scene, mail, observer, hold):  # noqa: C901
        """Play the rounds of a stretch; return why it came back."""
        s = state_at(state)
        r = stretch_at(stretch)
        if is_late:
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
        due = r.checkpoints[k]
        while i < rounds:
            t = before + i + 1
            a = chosen
            chosen = NOTHING
            if is_late and a == DELIVERING:  # the pool has grown meanwhile
                a = r.wanted[0]
                clean = r.reply[0]
                x = r.reply[1]
            else:
                if a < 0:
                    a = choose(s, t, s.stream)
                    if a < 0 or a >= s.arms:
                        r.played[0] = i
                        r.wanted[0] = a
                        return BAD_ARM
                    s.n[a] += 1
                    if is_late:
                        s.rounds[0] = t
                        p.decisions[a] += 1
                        recount(s, a)
                attacked = r.coin[i] != 0
                law = a
                if attacked:
                    law = r.shows[a]
                    if law < 0:
                        return DONE  # unreachable, as above
                if not is_late and not room(s, a):
                    r.played[0] = i
                    r.chosen[0] = a
                    return GROW
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
                if is_late:
                    wait = p.late[i] if len(p.late) > 0 else 0
                if attacked:
                    if r.attacker[0] == COMPILED:
                        x = call_attack(
                            attack, scene, a, x, t, r.draws[3 * i + 1], r.draws[3 * i + 2]
                        )
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
                    if is_late and hold != 0:
                        held = call_attack(
                            hold, scene, a, clean, t, r.draws[3 * i + 1], r.draws[3 * i + 2]
                        )
                        wait = held_up(p, wait, held)
                if is_late:
                    sender = p.senders[i] if len(p.senders) > 0 else -1
                    post(p, t, a, x, wait, sender, s.chance[0])
            if not is_late:
                take(s, a, x)
            elif not deliver(s, p, t):
                r.played[0] = i
                r.chosen[0] = DELIVERING
                r.wanted[0] = a
                r.reply[0] = clean
                r.reply[1] = x
                return GROW
            if t == due:
                n = p.decisions if is_late else s.n
                write_checkpoint(n, r.gaps, r.since, r.earlier, r.pulls, t, k, r.regret, r.optimal)
                k += 1
                r.checkpoint[0] = k
                due = r.checkpoints[k]
            i += 1
            if is_observed or (is_late and observer != 0):
                if r.attacker[0] == COMPILED:
                    # one kind of call for both: x is the shown reward in the place of u
                    call_attack(observer, scene, a, clean, t, x, 0.0)
                else:
                    r.played[0] = i
                    r.wanted[0] = a
                    r.reply[0] = clean
                    r.reply[1] = x
                    return TELL
        r.played[0] = i
        s.rounds[0] = before + rounds
        return DONE

    return play


play = make_loop(is_observed=False, is_late=False)
play_observed = make_loop(is_observed=True, is_late=False)
run_late = make_loop(is_observed=False, is_late=True)


# Two loops are compiled into another function, with what `run` needs in front: as entry
# points themselves, with several ends, they would be 1 or 2 % slower. `run_late` would
# not, and takes longer to compile that way.
@hot
def run(state, stretch, attack, scene, mail, observer, hold):
    """Play the rounds of a stretch; return why it came back."""
    return play(state, stretch, attack, scene, mail, observer, hold)


@hot
def run_observed(state, stretch, attack, scene, mail, observer, hold):
    """As `run`, for an attack that is told of every round."""
    return play_observed(state, stretch, attack, scene, mail, observer, hold)


@hot
def select(state, told, waiting, made):
    """Decide live; return the arm, or NO_SUCH_ARM if the policy chose one that is not.

    Arms that joined late and are owed forced pulls come first, lowest number first. If
    `told` is an arm, that is taken: the decision was made before. A policy's own steps
    are made all the same, since they may change what it keeps.

    `waiting` is where a decision without an id is opened, with the time `made`; 0 for
    nowhere.
    """
    if waiting != 0:
        w = waiting_at(waiting)
        if w.free[0] == 0 or (w.shut[0] != 0 and told != ANY_LOCKED):
            return NOT_NOW
    s = state_at(state)
    t = s.rounds[0] + 1
    a = -1
    if s.owing_arms[0] > 0:
        a = 0
        while s.owing[a] == 0:
            a += 1
    if a < 0:
        a = choose(s, t, s.stream)
    if told >= 0:
        a = told
    if a < 0 or a >= s.arms:
        return NO_SUCH_ARM
    s.rounds[0] = t
    s.n[a] += 1
    if s.owing[a] > 0:
        s.owing[a] -= 1
        if s.owing[a] == 0:
            s.owing_arms[0] -= 1
    recount(s, a)
    if waiting != 0:
        open_one(w, a, made)
    return a


@hot
def observe(state, a, x, chance, source, opened, waiting):
    """Learn a reward live: the chance of its decision, and who sent it, or -1.

    Returns LEARNT, or why nothing has changed. `waiting` is where an oldest decision is
    closed.
    """
    s = state_at(state)
    if opened >= OLDEST_OPEN:
        w = waiting_at(waiting)
        if w.first[a] == 0 or (w.shut[0] != 0 and opened != OLDEST_LOCKED):
            return NOT_NOW
    if not room(s, a):
        return MUST_GROW
    if opened >= OLDEST_OPEN:
        close_oldest(w, a)
    elif opened == NOTHING_OPEN:
        s.n[a] += 1
    s.chance[0] = chance
    s.source[0] = source
    take(s, a, x)
    return LEARNT


@hot
def adjust(state, what, a):
    """The rare live operations.

    CANCELLED: an open decision of arm a was cancelled. JOINED: arm a has joined.
    SETTLE: bring the estimates up to date. RECOUNT: all counts may be new. OWE: arms
    have joined or left, so every arm is owed the forced pulls that it lacks. (Once they
    are made, the schedule's present window is over too: they take at least as many
    rounds.)
    """
    s = state_at(state)
    if what == CANCELLED:
        cancel(s, a)
    elif what == JOINED:
        welcome(s, a)
    elif what == SETTLE:
        settle(s, max(s.rounds[0], 1))
    elif what == RECOUNT:
        s.fresh[0] = 0
        for k in range(s.arms):
            recount(s, k)
    else:
        s.owing_arms[0] = 0
        for k in range(s.arms):
            s.owing[k] = max(0, owed(s, s.rounds[0] + 1) - s.n[k])
            s.owing_arms[0] += s.owing[k] > 0


@hot
def rebuild(state, a, x, count):
    """Give the estimator alone a saved reward, as the one that makes `count`.

    False: the pool must grow first.
    """
    s = state_at(state)
    if not room(s, a):
        return False
    s.rewards[a] = count
    estimate_reward(s, a, x)
    return True


@hot
def repack(state):
    """Move what the pool holds into the larger one."""
    s = state_at(state)
    repack_slots(s, s.pool, s.larger_pool)
