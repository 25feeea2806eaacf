"""An agent that the service keeps, with the names of `Agent`."""

from __future__ import annotations

import math
import secrets
import threading
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from ..agent.durable import id_of
from ..agent.input import Name, name_of, reward_of, rows_of
from ..agent.logged import DurableDecision, rows_by_id
from ..agent.source_book import Source, optional_source
from ..errors import InvalidInput, NotAllowed, OtherReward, StoreError, UnknownArm, UnknownDecision
from ..files import write_whole
from ..validation import number
from .calls import (
    AGAIN,
    Answer,
    Awaited,
    Backoff,
    Direct,
    Request,
    Steps,
    answer_to,
    call,
    content,
    error_of,
    known,
)
from .messages import encode

BATCH = 1_000
"""Rewards in one request; the service shares commits among them."""
REMEMBERED = 10_000
"""Decisions of `select` without an `update` that are remembered for each arm."""


class Line:
    """The way to the service: its address, and how long to try."""

    def __init__(self, address: str, patience: float) -> None:
        self.address, self.patience = address, patience

    def answer(self, request: Request) -> Steps[Answer]:
        """Send a request, if need be again."""
        return answer_to(request, self.address, self.patience)

    def data(self, request: Request) -> Steps[Any]:
        """Send a request, and return the data of its answer."""
        return content((yield from self.answer(request)), self.address)

    def each(self, path: str, lines: list[dict[str, Any]], once: str | None) -> Steps[list[Any]]:
        """Send lines; return an answer or an error for each.

        Those that the service cannot take now are sent again, by themselves.
        """
        results: list[Any] = [None] * len(lines)
        waiting, backoff = list(range(len(lines))), Backoff(self.patience)
        while waiting:
            body = b"\n".join(encode(lines[place]) for place in waiting)
            answer = yield from self.answer(Request("POST", path, body, once))
            answers = answer.body.splitlines()
            if len(answers) != len(waiting):
                raise StoreError(
                    f"{self.address} answered {len(answers)} of {len(waiting)} lines; is it the "
                    "address of an ironarm service?"
                )
            for place, line in zip(waiting, answers, strict=True):
                results[place] = content(Answer(200, line), self.address)
            waiting = [place for place in waiting if results[place]["status"] in AGAIN]
            if waiting:
                yield backoff.pause(None, error_of(results[waiting[0]]))
        return [each if each["status"] == 200 else error_of(each) for each in results]


class AgentCalls:
    """What can be asked of an agent, as steps."""

    def __init__(self, line: Line, name: str, minimize: bool | None = None) -> None:
        self._line, self._name, self._minimize = line, name, minimize
        self._path = f"/v1/agents/{name}"
        # decisions of `select`, for `update` to close
        self._own: defaultdict[Name, deque[str]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The agent's name at the service."""
        return self._name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r} at {self._line.address})"

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
        body = None if among is None else encode({"among": [name_of(arm) for arm in among]})
        request = Request("POST", f"{self._path}/decisions", body, once=secrets.token_hex(16))
        made = yield from self._line.data(request)
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
            results = yield from self._line.each("/v1/rewards", batch, None)
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
        path = f"/v1/decisions/{_in_path(id)}/reward"
        yield from self._line.data(Request("PUT", path, encode(given)))

    def _observe(self, arm: Name, given: dict[str, Any]) -> Steps[None]:
        if "failed" in given:
            raise InvalidInput(
                f"a failure belongs to a decision, and no decision for {arm!r} made by select() is "
                "open here. Use decide() and fail(id)."
            )
        path, once = f"{self._path}/observations", secrets.token_hex(16)
        (result,) = yield from self._line.each(path, [{"arm": arm, **given}], once)
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
        path = f"/v1/decisions/{_in_path(id_of(id))}"
        yield from self._line.data(Request("DELETE", path))

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
        body = encode({"arm": name_of(arm)})
        yield from self._line.data(Request("POST", f"{self._path}/arms", body))

    @call
    def remove_arm(self, arm: Name) -> Steps[None]:
        """Remove an arm and close its open decisions; the others keep their state."""
        name = name_of(arm)
        path = f"{self._path}/arms/{_in_path(str(name))}"
        yield from self._line.answer(Request("DELETE", path, done=UnknownArm))
        with self._lock:
            self._own.pop(name, None)

    @call
    def archive(self) -> Steps[None]:
        """End the agent; its log can still be read."""
        yield from self._line.data(Request("DELETE", self._path))

    # what is known

    @call
    def summary(self) -> Steps[dict[str, Any]]:
        """Return what the agent knows of each arm; see `Agent.summary`."""
        return (yield from self._summary())

    def _summary(self) -> Steps[dict[str, Any]]:
        found: dict[str, Any] = yield from self._line.data(Request("GET", self._path))
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
        found = yield from self._line.data(Request("GET", f"{self._path}/sources"))
        return [Source(**each) for each in found["sources"]]

    @call
    def save(self, path: str | Path) -> Steps[None]:
        """Write the agent as it is now to a file for `Agent.load`."""
        answer = yield from self._line.answer(Request("GET", f"{self._path}/state"))
        write_whole(Path(path), answer.body)


class RemoteAgent(AgentCalls, Direct):
    """An agent that the service keeps. `Client.agent` and `Client.create` return it.

    It has the methods of `Agent` and the rules of `DurableAgent`: ids are text,
    repeating a reward changes nothing, and a different one is refused. You can call all
    methods from several threads.
    """

    def __init__(self, client: Direct, line: Line, name: str, minimize: bool | None = None) -> None:
        super().__init__(line, name, minimize)
        self._run = client._run  # type: ignore[method-assign]


class AsyncRemoteAgent(AgentCalls, Awaited):
    """An agent that the service keeps, for asyncio: `await agent.decide()`.

    Await its properties too: `await agent.estimates`.
    """

    def __init__(
        self, client: Awaited, line: Line, name: str, minimize: bool | None = None
    ) -> None:
        super().__init__(line, name, minimize)
        self._run = client._run  # type: ignore[method-assign]


def _with_source(given: dict[str, Any], source: object) -> dict[str, Any]:
    name = optional_source(source)
    return given if name is None else {**given, "source": name}


def _in_path(text: str) -> str:
    """Return text as one part of a path, also "..", which would lead upwards."""
    return quote(text, safe="").replace(".", "%2E") if set(text) <= {"."} else quote(text, safe="")
