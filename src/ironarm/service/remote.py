"""An agent that the service keeps, with the names of `Agent`."""

from __future__ import annotations

import math
import threading
from collections import defaultdict, deque
from collections.abc import Iterable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Self

import msgspec

from ..agent.durable import id_of
from ..agent.input import Name, name_of, reward_of, rows_of
from ..agent.logged import DurableDecision, rows_by_id
from ..agent.source_book import Source, optional_source
from ..errors import InvalidInput, NotAllowed, OtherReward, StoreError, UnknownDecision
from ..files import write_whole
from ..validation import number
from . import verbs
from .calls import (
    AGAIN,
    Awaited,
    Backoff,
    Direct,
    Reply,
    Request,
    Steps,
    answer_to,
    call,
    content,
    error_of,
    known,
)
from .messages import encode
from .row import Verb
from .verbs import VERBS

BATCH = 1_000
"""Rewards in one request; the service shares commits among them."""
REMEMBERED = 10_000
"""Decisions of `select` without an `update` that are remembered for each arm."""


class Connection:
    """The way to the service: its address, and how long to try."""

    def __init__(self, address: str, patience: float) -> None:
        self.address, self.patience = address, patience

    def answer(self, request: Request) -> Steps[Reply]:
        """Send a request, if need be again."""
        return answer_to(request, self.address, self.patience)

    def ask(self, verb: Verb, body: Any = None, /, **names: object) -> Steps[Any]:
        """Ask for a verb, and return the data of the answer."""
        answer = yield from self.answer(verb.request(body, **names))
        return content(answer, self.address)

    def ask_each(
        self, verb: Verb, lines: list[dict[str, Any]], **names: object
    ) -> Steps[list[Any]]:
        """Ask for a verb with many lines; return an answer or an error for each.

        Those that the service cannot take now are sent again, by themselves.
        """
        results: list[Any] = [None] * len(lines)
        waiting, backoff = list(range(len(lines))), Backoff(self.patience)
        request = verb.request(**names)
        while waiting:
            body = b"\n".join(encode(lines[place]) for place in waiting)
            answer = yield from self.answer(request._replace(body=body))
            answers = answer.body.splitlines()
            if len(answers) != len(waiting):
                raise StoreError(
                    f"{self.address} answered {len(answers)} of {len(waiting)} lines; is it the "
                    "address of an ironarm service?"
                )
            for place, line in zip(waiting, answers, strict=True):
                results[place] = content(Reply(200, line), self.address)
            waiting = [place for place in waiting if results[place]["status"] in AGAIN]
            if waiting:
                yield backoff.pause(None, error_of(results[waiting[0]]))
        return [each if each["status"] == 200 else error_of(each) for each in results]


class AgentCalls:
    """What can be asked of an agent, as steps."""

    def __init__(self, line: Connection, name: str, minimize: bool | None = None) -> None:
        self._line, self._name, self._minimize = line, name, minimize
        # decisions of `select`, for `update` to close
        self._own: defaultdict[Name, deque[str]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The agent's name at the service."""
        return self._name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r} at {self._line.address})"

    def _ask(self, verb: Verb, body: Any = None, /, **names: object) -> Steps[Any]:
        return self._line.ask(verb, body, agent=self._name, **names)

    # decisions

    @call
    def decide(self, among: Iterable[Name] | None = None) -> Steps[DurableDecision]:
        """Decide which arm to use now, and return it with an id for its reward.

        `among` lists the arms you can use this time, if not all.
        """
        if isinstance(among, str):
            raise InvalidInput(f"among must be a list of arms, got {among!r}; use [{among!r}].")
        return (yield from self._decide(among))

    @call
    def select(self) -> Steps[Name]:
        """Decide which arm to use now, and return its name."""
        decision = yield from self._decide()
        with self._lock:
            self._own[decision.arm].append(decision.id)
        return decision.arm

    def _decide(self, among: Iterable[Name] | None = None) -> Steps[DurableDecision]:
        body = None if among is None else {"among": [name_of(arm) for arm in among]}
        made = yield from self._ask(verbs.decide, body)
        return DurableDecision(made["id"], made["arm"])

    @call
    def best(self) -> Steps[Name]:
        """Return the arm with the best estimate; before any reward, the first arm."""
        return (yield from self._summary())["best"]

    @call
    def prepare(self) -> Steps[Self]:
        """Return the agent; the service prepared it when it was created."""
        return self
        yield  # so that it is a generator, like all calls

    # rewards

    @call
    def learn(
        self, id: str | DurableDecision, reward: float, source: Name | None = None
    ) -> Steps[None]:
        """Learn the reward of a decision, however late and in any order.

        Repeating the same reward changes nothing; a different one is refused. The worst
        possible reward, -inf (inf when minimizing), is a failure; see `fail`.
        """
        given = yield from self._reward(reward, source)
        yield from self._learn(id_of(id), given)

    @call
    def fail(self, id: str | DurableDecision, source: Name | None = None) -> Steps[None]:
        """Learn that a decision failed: the worst possible reward."""
        yield from self._learn(id_of(id), _with_source({"failed": True}, source))

    @call
    def learn_batch(
        self, rewards: Iterable[tuple[str | DurableDecision, float] | tuple[Any, float, Name]]
    ) -> Steps[None]:
        """Learn many rewards: (decision or id, reward), optionally with a source.

        Nothing is sent if one of them is not a valid reward. If the service refuses
        some of them, it still learns the others; the call then raises the first
        refusal.
        """
        wanted = rows_by_id(
            (id_of(given), reward_of(reward), optional_source(source))
            for given, reward, source in rows_of(rewards, "a decision or its id, and a reward")
        )
        lines = []
        for id, (x, source) in wanted.items():
            lines.append({"id": id, **(yield from self._reward(x, source))})
        refused: list[Exception] = []
        for first in range(0, len(lines), BATCH):
            batch = lines[first : first + BATCH]
            results = yield from self._line.ask_each(verbs.rewards, batch)
            refused += [each for each in results if isinstance(each, Exception)]
        if refused:
            if len(lines) > 1:
                refused[0].add_note(
                    f"{len(refused)} of {len(lines)} rewards were refused; the others are learnt."
                )
            raise refused[0]

    @call
    def update(self, arm: Name, reward: float, source: Name | None = None) -> Steps[None]:
        """Learn a reward of an arm.

        The reward closes the arm's oldest open decision made by this object's `select`.
        If there is none, it counts as an extra observation.
        """
        name = name_of(arm)
        given = yield from self._reward(reward, source)
        with self._lock:
            id = self._own[name].popleft() if self._own.get(name) else None
        if id is None:
            yield from self._observe(name, given)
            return
        try:
            yield from self._learn(id, given)
        except (UnknownDecision, OtherReward):
            raise  # it is closed
        except Exception:
            with self._lock:
                self._own[name].appendleft(id)  # the same call again means the same decision
            raise

    def _learn(self, id: str, given: dict[str, Any]) -> Steps[None]:
        yield from self._ask(verbs.reward, given, id=id)

    def _observe(self, arm: Name, given: dict[str, Any]) -> Steps[None]:
        if "failed" in given:
            raise InvalidInput(
                f"a failure belongs to a decision, and no decision for {arm!r} made by select() is "
                "open here. Use decide() and fail(id)."
            )
        line = {"arm": arm, **given}
        (result,) = yield from self._line.ask_each(verbs.observe, [line], agent=self._name)
        if isinstance(result, Exception):
            raise result

    def _reward(self, reward: object, source: object) -> Steps[dict[str, Any]]:
        """Return what is sent for a reward: finite, or the worst there is."""
        x = reward_of(reward)
        if math.isfinite(x):
            return _with_source({"value": x}, source)
        if self._minimize is None:
            try:
                yield from self._summary()
            except NotAllowed:
                raise InvalidInput(
                    f"this key may not read whether {self._name!r} minimizes, so {x} may or may "
                    "not be a failure; use fail(id)."
                ) from None
        if (x > 0) != self._minimize:
            raise InvalidInput(
                f"the service takes finite rewards, and the worst possible one for a failure; {x} "
                "is the best possible one, which no measurement gives."
            )
        return _with_source({"failed": True}, source)

    @call
    def cancel(self, id: str | DurableDecision) -> Steps[None]:
        """Close a decision that will never get a reward; repeating it does nothing."""
        yield from self._ask(verbs.cancel, id=id_of(id))

    @call
    def expire(self, older_than: float) -> Steps[int]:
        """Check that the service expires decisions of this age, and return 0.

        The service does that by itself if the agent has `reward_within`. If the agent
        lets decisions wait longer, the call is refused.
        """
        age = number("older_than", older_than, at_least=0)
        within = (yield from self._summary()).get("reward_within")
        if within is None or within > age:
            rule = "never" if within is None else f"after {within:g} seconds"
            raise InvalidInput(
                f"the service expires decisions by the agent's own rule: {rule}. Create the agent "
                "with reward_within, or cancel decisions one by one."
            )
        return 0

    # arms

    @call
    def add_arm(self, arm: Name) -> Steps[None]:
        """Add an arm at the end; an existing one stays as it is."""
        yield from self._ask(verbs.add_arm, {"arm": name_of(arm)})

    @call
    def remove_arm(self, arm: Name) -> Steps[None]:
        """Remove an arm and close its open decisions; the others keep their state."""
        name = name_of(arm)
        yield from self._ask(verbs.remove_arm, arm=name)
        with self._lock:
            self._own.pop(name, None)

    @call
    def archive(self) -> Steps[None]:
        """End the agent; its log can still be read."""
        yield from self._ask(verbs.archive)

    # what is known

    @call
    def summary(self) -> Steps[dict[str, Any]]:
        """Return what the agent knows of each arm; see `Agent.summary`."""
        return (yield from self._summary())

    def _summary(self) -> Steps[dict[str, Any]]:
        found: dict[str, Any] = yield from self._ask(verbs.summary)
        self._minimize = found["minimize"]
        return found

    def _of_arms(self, what: str) -> Steps[dict[Name, Any]]:
        return {each["arm"]: each[what] for each in (yield from self._summary())["arms"]}

    @known
    def arms(self) -> Steps[tuple[Name, ...]]:
        """The arms' names, in order."""
        return tuple((yield from self._of_arms("arm")))

    @known
    def decisions(self) -> Steps[int]:
        """How many decisions have been made; each is a round."""
        return (yield from self._summary())["decisions"]

    @known
    def estimates(self) -> Steps[dict[Name, float]]:
        """The arms' current estimates; NaN before the first reward."""
        found = yield from self._summary()
        # JSON has no infinities; those that the service learns are failures
        worst = math.inf if found["minimize"] else -math.inf
        return {
            arm["arm"]: (worst if arm["rewards"] else math.nan)
            if arm["estimate"] is None
            else arm["estimate"]
            for arm in found["arms"]
        }

    @known
    def rewards(self) -> Steps[dict[Name, int]]:
        """How many rewards each arm has."""
        return (yield from self._of_arms("rewards"))

    @call
    def sources(self) -> Steps[list[Source]]:
        """Return what the agent knows of each source; see `Agent.sources`."""
        found = yield from self._ask(verbs.sources)
        return [Source(**each) for each in found["sources"]]

    @call
    def save(self, path: str | Path) -> Steps[None]:
        """Write the agent as it is now to a file for `Agent.load`."""
        answer = yield from self._line.answer(verbs.state.request(agent=self._name))
        write_whole(Path(path), answer.body)


def asking(verb: Verb) -> call[..., Any]:
    """Return the method that asks for a verb, as its row describes it.

    Its arguments are what its path names beside the agent, the fields of its body, and
    what it can be asked for in a query. It returns the data of the answer.
    """
    fields = () if verb.body is None else msgspec.structs.fields(verb.body.kind)
    kind = Parameter.POSITIONAL_OR_KEYWORD
    needed = ["self", *(name for name in verb.names if name != "agent")]
    parameters = [Parameter(name, kind) for name in needed]
    parameters += [
        Parameter(each.name, kind, default=Parameter.empty if each.required else each.default)
        for each in fields
    ]
    parameters += [Parameter(name, kind, default=None) for name in verb.query]
    signature = Signature(parameters)

    def steps(*args: Any, **named: Any) -> Steps[Any]:
        given = signature.bind(*args, **named).arguments
        agent = given.pop("self")
        body = {each.name: given.pop(each.name) for each in fields if each.name in given}
        return (yield from agent._ask(verb, body if fields else None, **given))

    steps.__name__, steps.__doc__ = verb.id, verb.do.__doc__
    steps.__signature__ = signature  # type: ignore[attr-defined]
    return call(steps)


def add_methods(agents: type[AgentCalls], of: Iterable[Verb]) -> None:
    """Give clients a method for each verb of an agent for which none is written.

    So a new verb can be asked for at once. A written one has types, and can do more.
    """
    for verb in of:
        of_agent = verb.names and not verb.makes and verb.client == ""
        if of_agent and not hasattr(agents, verb.id):
            setattr(agents, verb.id, asking(verb))


add_methods(AgentCalls, VERBS)


class RemoteAgent(AgentCalls, Direct):
    """An agent that the service keeps. `Client.agent` and `Client.create` return it.

    It has the methods of `Agent` and the rules of `DurableAgent`: ids are text,
    repeating a reward changes nothing, and a different one is refused. You can call all
    methods from several threads.
    """

    def __init__(
        self, client: Direct, line: Connection, name: str, minimize: bool | None = None
    ) -> None:
        super().__init__(line, name, minimize)
        self._run = client._run  # type: ignore[method-assign]


class AsyncRemoteAgent(AgentCalls, Awaited):
    """An agent that the service keeps, for asyncio: `await agent.decide()`.

    Await its properties too: `await agent.estimates`.
    """

    def __init__(
        self, client: Awaited, line: Connection, name: str, minimize: bool | None = None
    ) -> None:
        super().__init__(line, name, minimize)
        self._run = client._run  # type: ignore[method-assign]


def _with_source(given: dict[str, Any], source: object) -> dict[str, Any]:
    name = optional_source(source)
    return given if name is None else {**given, "source": name}
