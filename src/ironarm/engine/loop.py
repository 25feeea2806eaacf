# ruff: noqa: F821
# mypy: ignore-errors
"""The compiled entry points of a policy.

This text is completed by the policy's own functions and `bind`; see `machine.py`.

`run` plays rounds of a simulation from a tape of random numbers, and comes back early
whenever it needs something that only Python can give: a larger pool, a column of
rewards, an attack's answer. Called again, it goes on where it was; the arm chosen is
remembered, the rest of the round is computed again from the tape.

    loop[0]  rounds played on this tape             loop[3]  1 + the arm chosen but not yet rewarded, or 0
    loop[1]  the next checkpoint's number           loop[4]  the arm whose column of rewards is wanted
    loop[2]  rounds played before this tape         loop[5]  1: the attack is a Python function; 2: its answer is in reply[0]
"""

DONE = 0  # the numbers of loop_status.py
GROW = 1
FILL = 2
ASK = 3
BAD_ARM = 4


@hot
def take(s, a, x):
    """Give the reward x to arm a."""
    if s.rewards[a] == 0:
        s.unrewarded[0] -= 1
    s.rewards[a] += 1
    estimate_reward(s, a, x)
    update(s, a, x)


@cold
def record(loop, gaps, n, pulls, t, regret, optimal):
    """Write a checkpoint: the regret is computed from the counts, so that it does
    not depend on the order of the pulls.
    """
    stay_out_of_line()
    total = 0.0
    best = 0
    for a in range(len(gaps)):
        pulls[a] = n[a]
        total += gaps[a] * pulls[a]
        if gaps[a] == 0.0:
            best += pulls[a]
    regret[loop[1]] = total
    optimal[loop[1]] = best / t
    loop[1] += 1


@entry
def run(
    ints,
    floats,
    pool,
    g,
    loop,
    noise,
    coin,
    draws,
    column,
    filled,
    location,
    scale,
    shows,
    attack,
    scene,
    reply,
    gaps,
    pulls,
    checkpoints,
    regret,
    optimal,
):
    """Play the rounds on the tape."""
    s = bind(ints, floats, pool)
    columns = len(filled)  # 0: rewards are location + scale * noise
    rounds = len(noise)
    before = loop[2]
    i = loop[0]
    chosen = loop[3] - 1
    loop[3] = 0
    if i < 0 or loop[1] < 0:
        # never so; said here, it spares Numba the handling of negative indices in the
        # loop
        return DONE
    due = checkpoints[loop[1]]
    while i < rounds:
        t = before + i + 1
        a = chosen
        chosen = -1
        if a < 0:
            a = choose(s, t, g)
            if a < 0 or a >= s.arms:
                loop[4] = a
                return BAD_ARM
            s.n[a] += 1
        attacked = coin[i] != 0
        shown = a
        if attacked:
            shown = shows[a]
            if shown < 0:
                return BAD_ARM
        if not room(s, a):
            loop[0] = i
            loop[3] = a + 1
            return GROW
        if columns == 0:
            x = location[shown] + scale[shown] * noise[i]
        else:
            if filled[shown] == 0:
                loop[0] = i
                loop[3] = a + 1
                loop[4] = shown
                return FILL
            x = column[shown * rounds + i]
        if attacked:
            if loop[5] == 0:
                x = call_attack(attack, scene, a, x, t, draws[3 * i + 1], draws[3 * i + 2])
            elif loop[5] == 2:
                x = reply[0]
                loop[5] = 1
            else:
                loop[0] = i
                loop[3] = a + 1
                reply[0] = x
                return ASK
            if x != x:
                x = -np.inf  # the attacker could have sent -inf anyway
        take(s, a, x)
        if t == due:
            record(loop, gaps, s.n, pulls, t, regret, optimal)
            due = checkpoints[loop[1]]
        i += 1
    loop[0] = i
    ints[1] = before + rounds
    return DONE


@hot
def count_decision(s, a):
    """Take note that arm a was decided on, live."""
    s.n[a] += 1
    if s.owing[a] > 0:
        s.owing[a] -= 1
        if s.owing[a] == 0:
            s.owing_arms[0] -= 1
    recount(s, a)


@entry
def select(ints, floats, pool, g):
    """Decide live: arms that joined late and are owed forced pulls first, lowest
    number first.
    """
    s = bind(ints, floats, pool)
    t = ints[1] + 1
    a = -1
    if s.owing_arms[0] > 0:
        a = 0
        while s.owing[a] == 0:
            a += 1
    if a < 0:
        a = choose(s, t, g)
        if a < 0 or a >= s.arms:
            return -1
    ints[1] = t
    count_decision(s, a)
    return a


@entry
def observe(ints, floats, pool, a, x, chance, opened):
    """Learn live a reward of a decision made with that chance (opened = 1) or an
    extra observation (opened = 0). False: the pool must grow first, nothing has
    changed.
    """
    s = bind(ints, floats, pool)
    if not room(s, a):
        return False
    if opened == 0:
        s.n[a] += 1
    s.chance[0] = chance
    take(s, a, x)
    return True


@entry
def reward(ints, floats, pool, a, x):
    """`observe` for the plain case, a decision that is closed and whose chance does
    not matter: two arguments less to hand over.
    """
    s = bind(ints, floats, pool)
    if not room(s, a):
        return False
    take(s, a, x)
    return True


@entry
def adjust(ints, floats, pool, what, a):
    """The rare live operations, by number.

    0: an open decision of arm a was cancelled. 1: arm a has joined. 2: bring the
    estimates up to date. 3: all counts may be new. 4: arms have joined or left, so
    every arm is owed the forced pulls that it lacks (once they are made, the schedule's
    present window is over too, because they take at least as many rounds).
    """
    s = bind(ints, floats, pool)
    if what == 0:
        s.n[a] -= 1
        s.fresh[0] = 0
        recount(s, a)
    elif what == 1:
        welcome(s, a)
    elif what == 2:
        settle(s, max(ints[1], 1))
    elif what == 3:
        s.fresh[0] = 0
        for k in range(s.arms):
            recount(s, k)
    else:
        s.owing_arms[0] = 0
        for k in range(s.arms):
            s.owing[k] = max(0, owed(s, ints[1] + 1) - s.n[k])
            s.owing_arms[0] += s.owing[k] > 0


@entry
def rebuild(ints, floats, pool, a, x, count):
    """Give the estimator alone a reward that was saved, as the one that makes `count`.

    False: the pool must grow first.
    """
    s = bind(ints, floats, pool)
    if not room(s, a):
        return False
    s.rewards[a] = count
    estimate_reward(s, a, x)
    return True


@entry
def repack(ints, floats, pool, larger):
    """Move what the pool holds into a larger one."""
    s = bind(ints, floats, pool)
    repack_slots(s, pool, larger)
