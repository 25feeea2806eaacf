"""`check_agent`: does a live agent do what `Agent` does?

These stories use live agents in every way that all kinds share. What each call returns,
or refuses, must be what `Agent` returns or refuses. `agent/contract.py` says where the
kinds differ.
"""

from __future__ import annotations

import inspect
import json
import math
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ..agent.agent import Agent
from ..agent.reward_check import RewardWarning
from ..errors import ContractFault, InvalidInput
from ..policies import KLUCB, RUCB

POLICIES = ((RUCB(), False), (RUCB(), True), (KLUCB(reward_range=(-10, 10)), True))
"""None of them draws random numbers."""
Seen = Iterator[tuple[str, Any]]
"""What a story sees: the call, and what it gave."""
SUMMARY = ("policy", "decisions", "minimize", "best")
OF_ARMS = ("arm", "rewards", "open", "estimate")
"""What every summary tells; a service tells more."""


def check_agent(
    make: Callable[..., Any], run: Callable[[Any], Any] | None = None, *, seed: int = 5
) -> None:
    """Use an agent in all ways that live agents share, and compare it with `Agent`.

    Parameters
    ----------
    make : makes a new agent from a policy, with the keywords `arms`, `seed` and
        `minimize`. It is called several times.
    run : for agents whose calls must be awaited: waits for one, as
        `loop.run_until_complete` does.
    seed : of the agents.

    Examples
    --------
    >>> import ironarm as ia
    >>> from ironarm.testing import check_agent
    >>> check_agent(ia.Agent)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RewardWarning)  # these rewards suit no policy
        for (policy, minimize), story in product(POLICIES, STORIES):
            settings: Any = {"arms": ["a", "b", 3], "seed": seed, "minimize": minimize}
            ours = story(_Asked(Agent(policy, **settings), None))
            theirs = story(_Asked(make(policy, **settings), run))
            where = f"{story.__name__} with {policy.label}, minimize={minimize}"
            _compare(where, ours, theirs)


def _compare(where: str, ours: Seen, theirs: Seen) -> None:
    call = "the first call"
    try:
        for (call, expected), (_, got) in zip(ours, theirs, strict=True):
            # as text: NaN is equal to itself there, and 1 is not 1.0
            if repr(expected) != repr(got):
                raise ContractFault(
                    f"{where}: {call} gives {expected!r} in Agent, and {got!r} here."
                )
    except InvalidInput as error:
        raise ContractFault(
            f"{where}: after {call}, refused where Agent is not: {error}"
        ) from error


class _Asked:
    """An agent whose calls are awaited if need be."""

    def __init__(self, agent: Any, run: Callable[[Any], Any] | None) -> None:
        self._agent, self._run = agent, run

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._agent, name)
        if callable(value):
            return lambda *args, **named: self._awaited(value(*args, **named))
        return self._awaited(value)

    def _awaited(self, value: Any) -> Any:
        if not inspect.isawaitable(value):
            return value
        if self._run is None:
            raise ContractFault("a call must be awaited; give `run`, such as run_until_complete.")
        return self._run(value)


def it_tells_nothing_before_it_knows(agent: Any) -> Seen:
    """Arms without a reward have an estimate of NaN, and the first one is the best."""
    yield "prepare() is the agent", agent.prepare() is agent._agent
    yield from _known(agent)
    decision = agent.decide()
    yield "the first decision", decision.arm
    yield from _known(agent)
    agent.learn(decision.id, 2.5)
    yield from _known(agent)


def it_learns_in_any_order(agent: Any) -> Seen:
    """By id or by decision, one by one or in a batch, with a source or without."""
    for i in range(12):
        arm = agent.select()
        yield f"select() number {i + 1}", arm
        agent.update(arm, _reward(arm) + i % 3, source=f"user {i % 2}")
    decisions = [agent.decide() for _ in range(5)]
    yield "five decisions", [decision.arm for decision in decisions]
    first, second, third, fourth, fifth = decisions
    agent.learn(third.id, 5.0)
    agent.learn(first, -1.5, source="user 1")
    agent.learn_batch([(second, 4.0, "user 1"), (fifth.id, 0.0)])
    agent.cancel(fourth.id)
    agent.update("a", 1.5)  # nothing is open: an observation
    agent.update(3, 2, source=7)
    yield from _known(agent)
    yield "sources()", agent.sources()


def it_refuses_and_stays_as_it_was(agent: Any) -> Seen:
    """What cannot be done is refused with the same error, and changes nothing."""
    for _ in range(6):
        arm = agent.select()
        agent.update(arm, _reward(arm))
    decision, waiting, closed, cancelled = (agent.decide() for _ in range(4))
    agent.learn(closed, 1.0)
    agent.cancel(cancelled)
    before = repr(list(_known(agent)))
    for call, *arguments in (
        ("learn", decision, math.nan),
        ("learn", decision, "5"),
        ("learn", decision, None),
        ("learn", "nobody", 1.0),
        ("learn_batch", [(decision, 1.0), (waiting, math.nan)]),
        ("learn_batch", [(decision, 1.0), (decision, 2.0)]),
        ("update", "nobody", 1.0),
        ("update", "a", math.nan),
        ("cancel", "nobody"),
        ("remove_arm", "nobody"),
        ("decide", []),
        ("decide", ["nobody"]),
        ("decide", "a"),
    ):
        yield f"{call}{tuple(arguments)} is refused", _refused(agent, call, *arguments)
        yield "and nothing has changed", repr(list(_known(agent))) == before
    for call, *arguments in (
        ("learn", closed, 2.0),
        ("learn", cancelled, 1.0),
        ("cancel", closed),
    ):
        refused = _refused(agent, call, *arguments) != "nothing"
        yield f"{call}{tuple(arguments)} of a closed decision is refused", refused
        yield "and nothing has changed", repr(list(_known(agent))) == before
    agent.learn(decision, 1.0)
    yield from _known(agent)


def it_takes_arms_that_come_and_go(agent: Any) -> Seen:
    """A new arm is tried at once; with one that leaves, its open decisions close."""
    for _ in range(6):
        arm = agent.select()
        agent.update(arm, _reward(arm))
    agent.add_arm("new")
    yield "arms", agent.arms
    decision = agent.decide()
    yield "the decision after a new arm", decision.arm
    yield from _known(agent)
    agent.remove_arm("new")
    yield "its decision is closed", _refused(agent, "learn", decision, 1.0) != "nothing"
    yield from _known(agent)
    agent.add_arm("new")  # afresh
    yield from _known(agent)
    agent.remove_arm("a")
    agent.remove_arm("b")
    agent.remove_arm("new")
    yield "the last arm stays", _refused(agent, "remove_arm", 3)
    yield from _known(agent)


def it_decides_among_some(agent: Any) -> Seen:
    """Only these are chosen, and the others' turn comes later."""
    for i in range(10):
        among = [["a", "b"], [3], ["b", 3]][i % 3]
        decision = agent.decide(among)
        yield f"decide({among}) number {i + 1}", decision.arm
        agent.learn(decision.id, _reward(decision.arm))
    yield from _known(agent)


def it_saves_what_agent_loads(agent: Any) -> Seen:
    """The file goes on where the agent was, with the same choices."""
    for _ in range(8):
        arm = agent.select()
        agent.update(arm, _reward(arm))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.json"
        agent.save(path)
        loaded = Agent.load(path)
    yield from _known(_Asked(loaded, None))
    yield "its next choice", loaded.select()


STORIES = (
    it_tells_nothing_before_it_knows,
    it_learns_in_any_order,
    it_refuses_and_stays_as_it_was,
    it_takes_arms_that_come_and_go,
    it_decides_among_some,
    it_saves_what_agent_loads,
)


def _known(agent: Any) -> Seen:
    """Yield all that an agent tells."""
    for name in ("arms", "decisions", "estimates", "rewards"):
        yield name, getattr(agent, name)
    yield "best()", agent.best()
    summary = agent.summary()
    json.dumps(summary, allow_nan=False)
    yield "summary()", {name: summary[name] for name in SUMMARY}
    yield "its arms", [{name: arm[name] for name in OF_ARMS} for arm in summary["arms"]]


def _refused(agent: Any, call: str, *arguments: Any) -> str:
    """Return the kind of error that a call raises."""
    try:
        getattr(agent, call)(*arguments)
    except InvalidInput as error:
        return type(error).__name__
    return "nothing"


def _reward(arm: object) -> float:
    return {"a": 1.0, "b": 5.0}.get(str(arm), 2.0)
