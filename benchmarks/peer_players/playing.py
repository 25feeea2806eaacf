"""What every peer's program does: answers requests, a line of JSON each, in the peer's
own virtual environment.

A contender is a policy of the peer. Its `make(value, seed)` returns two functions:
`select()`, which returns an arm from 0 to 9, and `update(arm, reward)`. The rewards of
a trial are a table, a row for each round and a column for each arm, that ironarm made:
whatever a policy pulls in a round, it gets what any other would have got there.
"""

import json
import sys
import time

import numpy as np

MARK = "answer: "
MEANS = [2.0 * arm + 2.0 for arm in range(10)]
GAPS = [MEANS[-1] - mean for mean in MEANS]
RANGE = (-1800.0, 1820.0)
"""The rewards, attacked ones too, lie in it but for the noise. Only policies for
rewards in a known range get it."""


class Contender:
    """A policy, the parameter that matters most, its default, and what is tried for it.

    A default of None says that the peer has none: the caller must give a value. Without
    values to try it is not tuned.
    """

    def __init__(self, make, parameter=None, default=None, grid=()):
        self.make, self.parameter, self.default, self.grid = make, parameter, default, grid


def play(contender, value, table, seed):
    """Play one trial; return its regret and the best arm's share of the last tenth."""
    select, update = contender.make(value, seed)
    late = len(table) - len(table) // 10
    regret, best_pulls = 0.0, 0
    for t, rewards in enumerate(table.tolist()):
        arm = int(select())
        update(arm, rewards[arm])
        regret += GAPS[arm]
        best_pulls += t >= late and GAPS[arm] == 0.0
    return regret, best_pulls / (len(table) - late)


def in_range(reward):
    """Return the reward as a number from 0 to 1."""
    low, high = RANGE
    return min(1.0, max(0.0, (reward - low) / (high - low)))


def cost(run, rounds, enough):
    """Return the nanoseconds of CPU time for a round of run(rounds).

    The rounds are doubled until they take half of `enough` seconds; the shortest of
    three such runs counts.
    """
    best = clock(run, rounds)
    while best < enough / 2:
        rounds *= 2
        best = clock(run, rounds)
    return min(best, clock(run, rounds), clock(run, rounds)) / rounds * 1e9


def clock(run, rounds):
    """Return the CPU seconds of run(rounds)."""
    start = time.process_time()
    run(rounds)
    return time.process_time() - start


def answer(request, contenders, speeds):
    """Return what a request asks for."""
    if request["what"] == "contenders":
        return [
            {"policy": name, "parameter": c.parameter, "default": c.default, "grid": list(c.grid)}
            for name, c in contenders.items()
        ]
    if request["what"] == "speeds":
        return list(speeds)
    if request["what"] == "cost":
        run, rounds = speeds[request["plays"]]
        return cost(run, rounds, request["seconds"])
    table = np.load(request["table"])[request["trial"]]
    return play(contenders[request["policy"]], request["value"], table, request["trial"] + 1)


def serve(contenders, speeds):
    """Answer the requests on standard input.

    Answers begin with a mark, because some peers print lines of their own.
    """
    for line in sys.stdin:
        try:
            reply = {"answer": answer(json.loads(line), contenders, speeds)}
        except Exception as error:  # the peer's own, of any kind: reported, not hidden
            reply = {"failed": f"{type(error).__name__}: {error}"}
        print(f"\n{MARK}{json.dumps(reply)}", flush=True)
