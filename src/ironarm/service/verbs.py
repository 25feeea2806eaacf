"""The verbs: all that the service can be asked to do, one row each.

A row has the method and path, the scope that the key needs, what is sent and answered,
how it is counted, and the function that does it. The function's docstring becomes the
verb's summary and text in the OpenAPI document. A new verb is a row here, what it calls
of an agent, and a test.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from ..agent.log import Entry, Log, entry_fields
from ..agent.store import Store
from ..errors import InvalidInput, UnknownArm
from ..files import json_ready
from . import answers, messages
from .answers import LogEntry, ObservationAnswer, RewardAnswer
from .batch import Asked
from .hosted import Hosted, planned, policy_named
from .messages import encode
from .problems import Problem, problem_of, refusal, unknown_decision
from .row import JSON, LINES, Body, Done, InLines, Raw, Stream, Verb
from .writer import Operation, Work

if TYPE_CHECKING:
    from .incoming import Incoming
    from .node import Node

VERBS: list[Verb] = []
"""In the order in which paths are tried, so the most used come first."""
LOG_PAGE = 10_000
KEEP_ALIVE = 15.0
PARQUET = "application/vnd.apache.parquet"
ANY_OBJECT = {JSON: {"schema": {"type": "object"}}}
BYTES = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}
COUNT = {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}
DECISION = "1.q3JrXN0Jq7mJd0XcVw5m2A"
REWARD = {"value": 3.2, "source": "user 17"}
FOR_DECISION = {
    name: {"operationId": name, "parameters": {"id": "$response.body#/id"}, "description": text}
    for name, text in (("reward", "Its reward."), ("cancel", "It will have no reward."))
}


def verb(method: str, path: str, scope: str | None, **row: Any) -> Callable[[Any], Verb]:
    """Make a function a verb; see `Verb` for what a row says."""

    def add(do: Any) -> Verb:
        VERBS.append(Verb(method, path, scope, do, **row))
        return VERBS[-1]

    return add


def _stored(new: object) -> str:
    return "now" if new else "before"


# decisions and rewards


@verb(
    "POST",
    "/v1/agents/{agent}/decisions",
    "decide",
    body=Body(messages.NewDecision, {"among": None}, needed=False),
    once=True,
    answers={201: answers.Decided, 200: answers.Decided},
    problems=(410,),
    counts=("decisions", "repeated"),
    links=FOR_DECISION,
)
async def decide(asked: Incoming) -> Done:
    """Decide which arm to use now.

    201 for a new decision; 200 for the earlier one with the same Idempotency-Key.
    Without a body, the choice is among all arms.
    """
    among = None if asked.body is None else asked.body.among
    if among is not None:  # checked here: a repeated decision asks no agent
        if not among:
            raise InvalidInput("among is empty; name at least one arm that can be used.")
        among = [asked.arm_named(arm) for arm in among]
    work = partial(Hosted.decide_once, key=asked.key_id, request=asked.once, among=among)
    decision, new = await asked.change(work)
    return Done({"id": decision.id, "arm": decision.arm}, new)


@verb(
    "PUT",
    "/v1/decisions/{id}/reward",
    "reward",
    body=Body(messages.Reward, REWARD),
    answers={200: answers.Stored},
    problems=(409, 410),
    client="learn",
)
async def reward(asked: Incoming) -> Done:
    """Learn the reward of a decision.

    A finite value, or `failed`: the worst possible reward. Repeating it changes
    nothing; a different one is refused with 409.
    """
    work = _rewarding(asked, asked.agent, asked.id, asked.body)
    [operation] = await asked.node.writer.submit_many(asked.agent, (work,))
    _count_reward(asked.node, asked.agent, operation)
    if operation.error is not None:
        raise operation.error
    return Done({"id": asked.id, "stored": _stored(operation.answer)})


def _rewarding(asked: Incoming, agent: int, id: str, given: messages.Reward) -> Work:
    """Check a reward, and return what to do with it."""
    if (given.value is None) == (not given.failed):
        raise Problem(422, "a reward needs either a value or failed: true.")
    if given.value is not None:
        _check_finite(given.value)
    source = asked.source(agent, given.source)
    return partial(Hosted.reward_once, id=id, x=given.value, source=source, key=asked.key_id)


def _check_finite(value: float) -> None:
    if not math.isfinite(value):
        raise Problem(422, "a reward must be a finite number.")


def _count_reward(node: Node, agent: int, operation: Operation) -> None:
    if isinstance(operation.error, InvalidInput):
        status = problem_of(operation.error).status
        node.count(agent, {410: "late", 409: "contradicting"}.get(status, "refused"))
    elif operation.error is None:
        node.count(agent, "rewards" if operation.answer else "repeated")


@verb(
    "DELETE",
    "/v1/decisions/{id}",
    "decide",
    answers={200: answers.Stored},
    problems=(409, 410),
    counts=("cancelled", ""),
)
async def cancel(asked: Incoming) -> Done:
    """Close a decision that will never get a reward."""
    new = await asked.change(partial(Hosted.cancel, id=asked.id, key=asked.key_id))
    return Done({"id": asked.id, "stored": _stored(new)}, new)


@verb(
    "POST",
    "/v1/rewards",
    "reward",
    body=Body(messages.RewardLine, {"id": DECISION, **REWARD}, lines=True, needed=False),
    answers={200: InLines("A RewardAnswer or ProblemDetails for each line.", RewardAnswer)},
    client="learn_batch",
)
async def rewards(asked: Incoming) -> Raw:
    """Learn many rewards.

    Each line is a reward and has its own answer, in the same order. If a line is
    refused, the others are still stored.
    """
    node, looked = asked.node, False

    async def read(place: int, line: bytes) -> Asked:
        nonlocal looked
        given = asked.read(line)
        if not (looked or node.knows_agent_of(given.id)):
            looked = True  # once for all lines: each look asks the store
            await node.look()
        number, name = await node.owner(given.id, look=False)
        if not asked.may("reward", name):
            raise unknown_decision(given.id)

        def answer(operation: Operation) -> dict[str, Any]:
            _count_reward(node, number, operation)
            if operation.error is not None:
                return refusal(operation.error)
            return {"id": given.id, "status": 200, "stored": _stored(operation.answer)}

        def looks_up(hosted: Hosted) -> str | None:
            return None if hosted.core.is_open(given.id) else given.id

        return Asked(number, _rewarding(asked, number, given.id, given), looks_up, answer)

    return await asked.lines(read)


@verb(
    "POST",
    "/v1/agents/{agent}/observations",
    "reward",
    body=Body(messages.ObservationLine, {"arm": "red", "value": 1.5}, lines=True, needed=False),
    once=True,
    answers={200: InLines("An ObservationAnswer or ProblemDetails each.", ObservationAnswer)},
    route="observations",
    client="update",
)
async def observe(asked: Incoming) -> Raw:
    """Learn rewards without a decision."""
    node, number = asked.node, asked.agent

    async def read(place: int, line: bytes) -> Asked:
        given = asked.read(line)
        _check_finite(given.value)
        sent: dict[str, Any] = {"key": asked.key_id, "request": asked.once, "line": place}
        source = asked.source(number, given.source)
        arm = messages.whole(given.arm)
        work = partial(Hosted.observe_once, arm=arm, x=given.value, source=source, **sent)
        return Asked(number, work, partial(Hosted.observation_id, **sent), answer)

    def answer(operation: Operation) -> dict[str, Any]:
        if operation.error is not None:
            return refusal(operation.error)
        node.count(number, "observations" if operation.answer else "repeated")
        return {"status": 200, "stored": _stored(operation.answer)}

    return await asked.lines(read)


# agents


@verb("GET", "/v1/agents", "read", answers={200: answers.Agents})
async def agents(asked: Incoming) -> Done:
    """List the agents that the key may read."""
    await asked.node.look()  # another node, or another request, may just have made one
    return Done({"agents": [name for name in asked.node.names() if asked.may("read", name)]})


@verb(
    "PUT",
    "/v1/agents/{agent}",
    "admin",
    makes=True,
    body=Body(messages.NewAgent, {"arms": ["red", "green"], "reward_within": 3600}, long=True),
    answers={201: answers.AgentSummary, 200: answers.AgentSummary},
    problems=(409,),
)
async def create(asked: Incoming) -> Done:
    """Create an agent.

    200 if the same agent already exists, 409 if a different one does.
    """
    node, name, given = asked.node, asked.name, asked.body
    if len(given.arms) > node.limits.arms:
        raise InvalidInput(
            f"an agent has at most {node.limits.arms:,} arms here, got {len(given.arms):,}; see "
            "--max-arms."
        )
    arms = [asked.arm_named(arm) for arm in given.arms]
    if arms:  # before the agent is made, which would compile here
        policy, memory = policy_named(given.policy), given.memory or "exact"
        await node.compiler.prepare(policy, len(arms), memory, given.minimize)
    seed = messages.whole(given.seed)
    _, described = planned(**{**msgspec.structs.asdict(given), "arms": arms, "seed": seed})
    made = await node.create(name, described, given.seed is not None, asked.key_id)
    asked.agent = await node.number_of(name)
    return Done(await _summary(asked), made)


@verb("GET", "/v1/agents/{agent}", "read", answers={200: answers.AgentSummary})
async def summary(asked: Incoming) -> Done:
    """Return what is known about an agent."""
    return Done(await _summary(asked))


async def _summary(asked: Incoming) -> dict[str, Any]:
    """Return what the agent knows, and what the end of its log shows."""
    found = await asked.ask(Hosted.summary)
    seen = await asked.node.insights.add_to(found["arms"], asked.agent, asked.name)
    return {"agent": asked.name, **found, **seen}


@verb("DELETE", "/v1/agents/{agent}", "admin", answers={200: answers.Archived})
async def archive(asked: Incoming) -> Done:
    """End an agent; its log stays."""
    new = await asked.change(partial(Hosted.archive_once, key=asked.key_id), live=False)
    return Done({"agent": asked.name, "stored": _stored(new)}, new)


@verb(
    "POST",
    "/v1/agents/{agent}/arms",
    "admin",
    body=Body(messages.NewArm, {"arm": "blue"}),
    answers={201: answers.StoredArm, 200: answers.StoredArm},
    problems=(410,),
)
async def add_arm(asked: Incoming) -> Done:
    """Add an arm; an existing one stays as it is."""
    arm, most = asked.arm_named(asked.body.arm), asked.node.limits.arms
    new = await asked.change(partial(Hosted.add_arm_once, arm=arm, key=asked.key_id, most=most))
    return Done({"arm": arm, "stored": _stored(new)}, new)


@verb(
    "DELETE",
    "/v1/agents/{agent}/arms/{arm}",
    "admin",
    answers={200: answers.RemovedArm},
    problems=(410, 422),
    proves_done=UnknownArm,
)
async def remove_arm(asked: Incoming) -> Done:
    """Remove an arm, and close its open decisions."""

    def work(hosted: Hosted) -> Any:
        arm = asked.arm_in_path(hosted)
        hosted.remove_arm(arm, asked.key_id)
        return arm

    return Done({"arm": await asked.change(work)})


@verb("GET", "/v1/agents/{agent}/sources", "read", answers={200: answers.KnownSources})
async def sources(asked: Incoming) -> Done:
    """Return who sends rewards, and whose differ from the others'."""
    # with many sources it takes a second, for which no decision should wait
    later = await asked.ask(lambda hosted: hosted.core.sources_later())
    found = await asked.node.in_thread(later)
    return Done({"sources": [json_ready(each._asdict(), lambda x: None) for each in found]})


@verb("GET", "/v1/agents/{agent}/state", "read", answers={200: ANY_OBJECT}, client="save")
async def state(asked: Incoming) -> Raw:
    """Return the agent as a file for Agent.load."""
    from ..agent.file import pieces

    saved = await asked.ask(lambda hosted: hosted.replay.copied())
    return Raw(await asked.node.in_thread(lambda: "".join(pieces(saved()))), JSON)


@verb(
    "GET",
    "/v1/agents/{agent}/log",
    "read",
    query={
        "after": ("Entries with a higher number.", COUNT),
        "limit": ("How many; at most 10,000 are returned.", COUNT),
        "format": ("Lines of JSON, or Parquet.", {"enum": ["ndjson", "parquet"]}),
    },
    answers={200: InLines("A LogEntry each.", LogEntry, or_else={PARQUET: BYTES})},
    problems=(410, 422, 501),
    client=None,
)
async def log(asked: Incoming) -> Raw:
    """Return entries of the log."""
    after = asked.whole_asked_for("after", 0)
    limit = min(asked.whole_asked_for("limit", LOG_PAGE), LOG_PAGE)
    form = asked.asked_for("format", "ndjson")
    if form not in ("ndjson", "parquet"):
        raise Problem(422, "format is ndjson or parquet.")

    def read(store: Store) -> list[Entry]:
        entries = Log(store, asked.agent)
        found: list[Entry] = []
        for entry in entries.unread() if limit and entries.seek(after) else ():
            found.append(entry)
            if len(found) == limit:
                break
        return found

    found = [_without_salt(entry) for entry in await asked.node.read(read)]
    if form == "parquet":
        from .parquet import table_of

        data = await asked.node.in_thread(lambda: table_of(found))
        return Raw(data, PARQUET)
    return Raw(b"".join(encode(json_ready(entry_fields(each))) + b"\n" for each in found), LINES)


def _without_salt(entry: Entry) -> Entry:
    """Return an entry without the salt of the ids, by which they could be guessed."""
    if entry.kind != "created" or entry.extra is None:
        return entry
    data = msgspec.json.decode(entry.extra)
    data.pop("salt", None)
    return entry._replace(extra=encode(data).decode())


@verb(
    "GET",
    "/v1/agents/{agent}/events",
    "read",
    answers={
        200: {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": "id: 6\nevent: change\ndata: {}\n\n",
            }
        }
    },
    client=None,
)
async def events(asked: Incoming) -> Stream:
    """Send the summary whenever something changes, at most once a second.

    The data of an event is a Summary; its id is the number of entries.
    """
    node = asked.node
    if node.streams >= node.limits.streams:
        raise Problem(503, "too many event streams are open here.", 5.0)
    # counted before anything is awaited, or many pass the check at once
    node.streams += 1

    def ended() -> None:
        node.streams -= 1

    try:
        return Stream(_events(asked, await _summary(asked)), ended)
    except BaseException:
        ended()
        raise


async def _events(asked: Incoming, found: dict[str, Any]) -> AsyncIterator[bytes]:
    node, sent, quiet = asked.node, -1, monotonic()
    while (node.ready or sent < 0) and node.may_still(asked.key_id, "read", asked.name):
        if found["entries"] != sent:
            sent, quiet = found["entries"], monotonic()
            yield b"id: %d\nevent: change\ndata: %b\n\n" % (sent, encode(found))
        elif monotonic() - quiet > KEEP_ALIVE:
            quiet = monotonic()
            yield b": still here\n\n"
        await asyncio.sleep(1.0)
        found = await _summary(asked)


# the node itself


@verb("GET", "/healthz", None, answers={200: answers.Health}, client=None)
async def health(asked: Incoming) -> Done:
    """Say that the process answers."""
    return Done({"status": "ok", "node": asked.node.id})


@verb("GET", "/readyz", None, answers={200: answers.Health}, problems=(503,), client=None)
async def is_ready(asked: Incoming) -> Done:
    """Say whether the node can serve."""
    node = asked.node
    if not node.ready:
        raise Problem(503, "still starting: reading agents, compiling policies.", 1.0)
    if node.writer.failing:  # nobody may write here before we say it works again
        await node.read(Store.try_write)
        node.writer.failing = False
    await node.read(lambda store: store.setting("format", "1"))
    return Done({"status": "ready", "node": node.id})


@verb(
    "GET",
    "/metrics",
    "read",
    answers={200: {"text/plain": {"schema": {"type": "string"}}}},
    client=None,
)
async def metrics(asked: Incoming) -> Raw:
    """Return counts for Prometheus.

    Not for keys that are for some agents only: the counts cover all.
    """
    from .metrics import CONTENT_TYPE, exposition

    if asked.key is not None and asked.key.agents is not None:
        raise Problem(403, "this key is for some agents only, and the counts cover all.")
    return Raw(exposition(asked.node), CONTENT_TYPE)


@verb("GET", "/openapi.json", None, answers={200: ANY_OBJECT}, client=None)
async def openapi(asked: Incoming) -> Done:
    """Describe the interface."""
    from .openapi import document

    return Done(document(not asked.node.keys.empty))
