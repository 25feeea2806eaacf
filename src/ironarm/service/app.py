"""The HTTP interface of a node."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match, Route, Router

from ..agent.input import plain_name
from ..agent.log import Entry, Log, entry_fields
from ..agent.store import Store
from ..errors import InvalidInput, StoreError, UnknownAgent, UnknownArm
from ..files import json_ready
from . import messages
from .batch import Asked, Read, answers_to
from .hosted import Hosted, planned, policy_named
from .keys import Key, agent_name
from .messages import Name, encode
from .node import Node, unknown_decision
from .problems import STORE_DAMAGED, STORE_FAILED, Problem, details, problem_of
from .writer import Operation, Work

log = logging.getLogger("ironarm")
SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
JSON = ("application/json", "application/x-ndjson")
COMMON_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
"""Of every answer; files of the page say themselves how long they may be kept."""
WHOLE = re.compile(r"(-?[0-9]{1,19})(\.0+)?")
"""A whole number in a path, as JSON may write it."""
LOG_PAGE = 10_000
KEEP_ALIVE = 15.0
PAUSE = 0.2
"""Seconds before a client hears that it asks too often. Until then it asks no more."""


def reply(data: Any, status: int = 200) -> Response:
    """Return data as a JSON answer."""
    return Response(encode(data), status, media_type="application/json")


class Endpoint:
    """A handler of requests as an ASGI application.

    Starlette's own way also catches errors at this place. `App` does that for all, and
    a request costs a tenth less.
    """

    def __init__(self, handle: Callable[[Request], Awaitable[Response]]) -> None:
        self._handle, self.__name__ = handle, handle.__name__

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        response = await self._handle(Request(scope, receive))
        await response(scope, receive, send)


class _Stream(StreamingResponse):
    """An answer that goes on; at its end, however it comes, somebody is told."""

    def __init__(self, content: AsyncIterator[bytes], ended: Callable[[], None]) -> None:
        super().__init__(content, media_type="text/event-stream")
        self._ended = ended

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the answer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


class App:
    """The interface, as an ASGI application."""

    def __init__(self, node: Node, more_routes: list[Any] | None = None) -> None:
        self.node = node
        self._streams = 0
        agent = "/v1/agents/{agent}"

        def route(method: str, path: str, handle: Any) -> Route:
            return Route(path, Endpoint(handle), methods=[method])

        self._router = Router(
            routes=[
                # the most used first: they are tried in this order
                route("POST", f"{agent}/decisions", self.decide),
                route("PUT", "/v1/decisions/{id}/reward", self.reward),
                route("DELETE", "/v1/decisions/{id}", self.cancel),
                route("POST", "/v1/rewards", self.rewards),
                route("POST", f"{agent}/observations", self.observations),
                route("GET", "/v1/agents", self.agents),
                route("PUT", agent, self.create),
                route("GET", agent, self.summary),
                route("DELETE", agent, self.archive),
                route("POST", f"{agent}/arms", self.add_arm),
                # a name may have slashes in it
                route("DELETE", f"{agent}/arms/{{arm:path}}", self.remove_arm),
                route("GET", f"{agent}/sources", self.sources),
                route("GET", f"{agent}/state", self.state),
                route("GET", f"{agent}/log", self.log),
                route("GET", f"{agent}/events", self.events),
                route("GET", "/healthz", self.health),
                route("GET", "/readyz", self.is_ready),
                route("GET", "/metrics", self.metrics),
                route("GET", "/openapi.json", self.openapi),
                *(more_routes or []),
            ],
            redirect_slashes=False,
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        await self.node.start()
        try:
            yield
        finally:
            await self.node.stop()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request; errors become problem details."""
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        scope["app"] = self  # then Starlette raises its errors instead of sending them
        scope["head"] = dict(scope["headers"])  # Starlette's own look through all each time
        started, status = monotonic(), 0

        async def send_noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"]
                kept = any(name == b"cache-control" for name, _ in headers)
                headers.extend(COMMON_HEADERS[kept:])
            await send(message)

        try:
            try:
                self._check_origin(scope)
                await self._router(scope, receive, send_noted)
            except ClientDisconnect:
                status = 499
            except Exception as error:
                if status:
                    raise  # the answer has begun; the connection is cut
                if isinstance(error, HTTPException) and error.status_code == 405:
                    error.headers = {"allow": self._allowed(scope)}
                response = _problem_response(error)
                if response.status_code == 429:
                    await asyncio.sleep(PAUSE)
                await response(scope, receive, send_noted)
        finally:
            endpoint = scope.get("endpoint")
            name = getattr(endpoint, "__name__", "none")
            self.node.counts.requests[name, status] += 1
            self.node.counts.seconds[name] += monotonic() - started

    def _allowed(self, scope: Any) -> str:
        """Return the methods of a path, of which each may have a route of its own."""
        routes = (r for r in self._router.routes if r.matches(scope)[0] is not Match.NONE)
        return ", ".join(sorted({m for r in routes for m in getattr(r, "methods", None) or ()}))

    def _check_origin(self, scope: Any) -> None:
        """Refuse what a foreign page makes a browser send.

        Without keys, also refuse names that somebody else lets point to this machine.
        """
        head = scope["head"]
        host, origin = head.get(b"host", b""), head.get(b"origin")
        if self.node.keys.empty and _host_name(host) not in LOOPBACK:
            raise Problem(403, "without keys the service answers to localhost only.")
        if scope["method"] in SAFE:
            return
        # an origin is a scheme and a host, so nothing is parsed that could be malformed
        foreign = origin is not None and origin.partition(b"://")[2] != host
        if foreign or head.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
            raise Problem(403, "requests from pages of other sites are refused.")

    # keys and bodies

    async def _allow(self, request: Request, scope: str, agent: str | None) -> Key | None:
        given = _head(request, b"authorization")
        text = None
        if given is not None:
            kind, _, text = given.partition(" ")
            if kind.lower() != "bearer":
                raise Problem(401, "send a key: 'Authorization: Bearer ia_...'.")
        return await self.node.allow(text, scope, agent)

    async def _agent(self, request: Request, scope: str) -> tuple[int, str, str | None]:
        """Return the number and name of the agent in the path, and the key's id."""
        name = request.path_params["agent"]
        key = await self._allow(request, scope, name)
        return await self.node.number_of(name), name, None if key is None else key.id

    async def _decision(self, request: Request, scope: str) -> tuple[int, str, str | None]:
        """Return the agent's number, the decision's id and the key's id."""
        id = request.path_params["id"]
        key = await self._allow(request, scope, None)
        number, name = await self.node.owner(id)
        if key is not None and not key.may(scope, name):
            # as for an id that does not exist: a key learns nothing of other agents
            raise unknown_decision(id)
        return number, id, None if key is None else key.id

    async def _body(self, request: Request, most: int) -> bytes:
        kind = _head(request, b"content-type") or "application/json"
        if kind.partition(";")[0].strip().lower() not in JSON:
            raise Problem(415, "the body must be JSON: 'Content-Type: application/json'.")
        length = _head(request, b"content-length")
        if length is not None and int(length) > most:
            raise Problem(413, f"the body may have at most {most:,} bytes, got {int(length):,}.")
        chunks: list[bytes] = []
        length_so_far, more = 0, True
        while more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk, more = message.get("body", b""), message.get("more_body", False)
            chunks.append(chunk)
            length_so_far += len(chunk)
            if length_so_far > most:
                raise Problem(413, f"the body may have at most {most:,} bytes.")
        return b"".join(chunks)

    def _read(self, decode: Callable[[bytes], Any], body: bytes, agent: int | None = None) -> Any:
        try:
            return decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if agent is not None:
                self.node.count(agent, "refused")
            raise Problem(422, messages.reading_problem(error)) from None

    def _request_key(self, request: Request) -> str | None:
        given = _head(request, b"idempotency-key")
        if given is None:
            return None
        if not (0 < len(given) <= 200 and given.isascii() and given.isprintable()):
            raise Problem(422, "an Idempotency-Key has 1 to 200 printable ASCII characters.")
        return given

    def _source(self, number: int, source: Name | float | None) -> Name | None:
        if source is None:
            return None
        name = self._name("a source", source)
        self.node.check_source(number, name)
        return name

    def _name(self, what: str, given: Name | float) -> Name:
        name = messages.whole(given)
        # many clients drop "." and ".." from a path, and would remove another thing
        if isinstance(name, float) or (
            isinstance(name, str)
            and not (
                0 < len(name) <= self.node.limits.name and name.isprintable() and name.strip(".")
            )
        ):
            raise InvalidInput(
                f"{what} is a whole number, or text of 1 to {self.node.limits.name} printable "
                "characters, not all of them dots."
            )
        return plain_name(what, name)

    # decisions and rewards

    async def decide(self, request: Request) -> Response:
        """Make a decision."""
        number, _, key = await self._agent(request, "decide")
        again = self._request_key(request)
        among: list[Name] | None = None
        if _has_body(request) and (body := await self._body(request, self.node.limits.body)):
            among = self._among(self._read(messages.read_decision, body).among)
        work = partial(Hosted.decide_once, key=key, request=again, among=among)
        decision, new = await self.node.writer.submit(number, work)
        self.node.count(number, "decisions" if new else "repeated")
        return reply({"id": decision.id, "arm": decision.arm}, 201 if new else 200)

    def _among(self, given: list[Name | float] | None) -> list[Name] | None:
        """Check the arms of a decision here: a repeated one asks no agent."""
        if given == []:
            raise InvalidInput("among is empty; name at least one arm that can be used.")
        return None if given is None else [self._name("an arm's name", arm) for arm in given]

    async def reward(self, request: Request) -> Response:
        """Learn the reward of a decision."""
        number, id, key = await self._decision(request, "reward")
        body = await self._body(request, self.node.limits.body)
        given = self._read(messages.read_reward, body, number)
        work = self._reward(number, id, given, key)
        [operation] = await self.node.writer.submit_many(number, (work,))
        self._count_reward(number, operation)
        if operation.error is not None:
            raise operation.error
        return reply({"id": id, "stored": _stored(operation)})

    def _reward(self, number: int, id: str, given: messages.Reward, key: str | None) -> Work:
        """Check a reward, and return what to do with it."""
        if (given.value is None) == (not given.failed):
            raise Problem(422, "a reward needs either a value or failed: true.")
        if given.value is not None and not math.isfinite(given.value):
            raise Problem(422, "a reward must be a finite number.")
        source = self._source(number, given.source)
        return partial(Hosted.reward_once, id=id, x=given.value, source=source, key=key)

    def _count_reward(self, number: int, operation: Operation) -> None:
        if isinstance(operation.error, InvalidInput):
            status = problem_of(operation.error).status
            self.node.count(number, {410: "late", 409: "contradicting"}.get(status, "refused"))
        elif operation.error is None:
            self.node.count(number, "rewards" if operation.answer else "repeated")

    async def cancel(self, request: Request) -> Response:
        """Close a decision that will never be rewarded."""
        number, id, key = await self._decision(request, "decide")
        new = await self.node.writer.submit(number, partial(Hosted.cancel_once, id=id, key=key))
        if new:
            self.node.count(number, "cancelled")
        return reply({"id": id, "stored": "now" if new else "before"})

    async def rewards(self, request: Request) -> Response:
        """Learn many rewards; each line has its own answer."""
        key = await self._allow(request, "reward", None)
        looked = False

        async def read(place: int, line: bytes) -> Asked:
            nonlocal looked
            given = self._read(messages.read_reward_line, line)
            if not (looked or self.node.knows_agent_of(given.id)):
                looked = True  # once for all lines: each look asks the store
                await self.node.look()
            number, name = await self.node.owner(given.id, look=False)
            if key is not None and not key.may("reward", name):
                raise unknown_decision(given.id)
            work = self._reward(number, given.id, given, None if key is None else key.id)

            def answer(operation: Operation) -> dict[str, Any]:
                self._count_reward(number, operation)
                if operation.error is not None:
                    return _refusal(operation.error)
                return {"id": given.id, "status": 200, "stored": _stored(operation)}

            def looks_up(hosted: Hosted) -> str | None:
                return None if hosted.core.is_open(given.id) else given.id

            return Asked(number, work, looks_up, answer)

        return await self._lines(request, key, read)

    async def observations(self, request: Request) -> Response:
        """Learn rewards that no decision led to."""
        key = await self._allow(request, "reward", request.path_params["agent"])
        number = await self.node.number_of(request.path_params["agent"])
        again = self._request_key(request)

        async def read(place: int, line: bytes) -> Asked:
            given = self._read(messages.read_observation, line, number)
            if not math.isfinite(given.value):
                raise Problem(422, "a reward must be a finite number.")
            sent: dict[str, Any] = {
                "key": None if key is None else key.id,
                "request": again,
                "line": place,
            }
            source = self._source(number, given.source)
            arm = messages.whole(given.arm)
            work = partial(Hosted.observe_once, arm=arm, x=given.value, source=source, **sent)
            return Asked(number, work, partial(Hosted.observation_id, **sent), answer)

        def answer(operation: Operation) -> dict[str, Any]:
            if operation.error is not None:
                return _refusal(operation.error)
            self.node.count(number, "observations" if operation.answer else "repeated")
            return {"status": 200, "stored": _stored(operation)}

        return await self._lines(request, key, read)

    async def _lines(self, request: Request, key: Key | None, read: Read) -> Response:
        """Answer each line of a body; they share commits."""
        body = await self._body(request, self.node.limits.batch_body)
        most = self.node.limits.batch
        # counted first: millions of empty lines would take long to split
        lines = [] if body.count(b"\n") > most else body.split(b"\n")
        lines = [line for line in lines if line.strip()]
        if body.count(b"\n") > most or len(lines) > most:
            raise Problem(413, f"a batch has at most {most:,} lines.")
        self.node.charge(key, max(0, len(lines) - 1))  # the request itself has been charged

        async def read_bounded(place: int, line: bytes) -> Asked:
            if len(line) > self.node.limits.body:
                longest = self.node.limits.body
                raise Problem(413, f"a line may have at most {longest:,} bytes, got {len(line):,}.")
            return await read(place, line)

        text = await answers_to(lines, read_bounded, _refusal, self.node.writer)
        return Response(text, media_type="application/x-ndjson")

    # agents

    async def create(self, request: Request) -> Response:
        """Create an agent; the same again is fine."""
        key = await self._allow(request, "admin", request.path_params["agent"])
        name = agent_name(request.path_params["agent"])
        body = await self._body(request, self.node.limits.batch_body)
        given: messages.NewAgent = self._read(messages.read_agent, body)
        if len(given.arms) > self.node.limits.arms:
            raise InvalidInput(
                f"an agent has at most {self.node.limits.arms:,} arms here, got "
                f"{len(given.arms):,}; see --max-arms."
            )
        arms = [self._name("an arm's name", arm) for arm in given.arms]
        if arms:  # before the agent is made, which would compile here
            policy, memory = policy_named(given.policy), given.memory or "exact"
            await self.node.compiler.prepare(policy, len(arms), memory, given.minimize)
        seed = messages.whole(given.seed)
        _, described = planned(**{**msgspec.structs.asdict(given), "arms": arms, "seed": seed})
        made = await self.node.create(
            name, described, given.seed is not None, None if key is None else key.id
        )
        found = await self._summary(await self.node.number_of(name), name)
        return reply(found, 201 if made else 200)

    async def agents(self, request: Request) -> Response:
        """List the agents that the key may read."""
        key = await self._allow(request, "read", None)
        await self.node.look()  # another node, or another request, may just have made one
        names = [name for name in self.node.names() if key is None or key.may("read", name)]
        return reply({"agents": names})

    async def summary(self, request: Request) -> Response:
        """Tell what is known of an agent."""
        number, name, _ = await self._agent(request, "read")
        return reply(await self._summary(number, name))

    async def _summary(self, number: int, name: str) -> dict[str, Any]:
        found = await self.node.ask(number, _known(Hosted.summary, name))
        return {"agent": name, **found, **await self._seen(number, name, found["arms"])}

    async def _seen(self, number: int, name: str, arms: list[dict[str, Any]]) -> dict[str, Any]:
        """Give each arm its share of recent decisions; return what corruption there is.

        Both come from the end of the log, as it was within some seconds.
        """
        try:
            seen = await self.node.insights.of(number, name)
        except StoreError:  # what the agent itself knows is told all the same
            shares, corrupt, budget, warning = {}, None, None, ""
        else:
            shares = {arm.arm: arm.share for arm in seen.arms}
            corrupt, budget, warning = seen.corruption.share, seen.budget, seen.warning
        for arm in arms:
            arm["share"] = shares.get(arm["arm"])
        return {
            "corrupt_share": corrupt,
            "can_take": None if budget is None else budget.low,
            "can_take_about": None if budget is None else budget.about,
            "can_take_at_most": None if budget is None else budget.high,
            "warning": warning or None,
        }

    async def archive(self, request: Request) -> Response:
        """End an agent; its log stays."""
        number, name, key = await self._agent(request, "admin")
        work = _known(partial(Hosted.archive_once, key=key), name)
        new = await self.node.writer.submit(number, work)
        return reply({"agent": name, "stored": "now" if new else "before"})

    async def add_arm(self, request: Request) -> Response:
        """Add an arm; one that is there stays."""
        number, name, key = await self._agent(request, "admin")
        given = self._read(messages.read_arm, await self._body(request, self.node.limits.body))
        arm, most = self._name("an arm's name", given.arm), self.node.limits.arms

        def work(hosted: Hosted) -> bool:
            arms = () if hosted.replay.loaded is None else hosted.core.arms
            if len(arms) >= most and arm not in arms:
                raise InvalidInput(f"an agent has at most {most:,} arms here; see --max-arms.")
            return hosted.add_arm_once(arm, key)

        new = await self.node.writer.submit(number, _known(work, name))
        return reply({"arm": arm, "stored": "now" if new else "before"}, 201 if new else 200)

    async def remove_arm(self, request: Request) -> Response:
        """Remove an arm."""
        number, name, key = await self._agent(request, "admin")
        text = request.path_params["arm"]

        def work(hosted: Hosted) -> Name:
            arms = () if hosted.replay.loaded is None else hosted.core.arms
            arm: Name = text
            if text not in arms and (found := WHOLE.fullmatch(text)):
                arm = int(found[1])
            hosted.remove_arm_once(arm, key)
            return arm

        try:
            return reply({"arm": await self.node.writer.submit(number, _known(work, name))})
        except UnknownArm as error:
            raise Problem(404, str(error), error=UnknownArm) from None

    async def sources(self, request: Request) -> Response:
        """Tell who sends rewards, and whose differ from the others'."""
        number, name, _ = await self._agent(request, "read")

        def work(hosted: Hosted) -> Any:
            return hosted.core.sources_later()

        # with many sources it takes a second, for which no decision should wait
        found = await self.node.in_thread(await self.node.ask(number, _known(work, name)))
        return reply({"sources": [json_ready(each._asdict(), lambda x: None) for each in found]})

    async def state(self, request: Request) -> Response:
        """Give the agent as a file that `Agent.load` reads."""
        from ..agent.file import pieces

        number, name, _ = await self._agent(request, "read")
        saved = await self.node.ask(number, _known(lambda hosted: hosted.replay.copied(), name))
        text = await self.node.in_thread(lambda: "".join(pieces(saved())))
        return Response(text, media_type="application/json")

    async def log(self, request: Request) -> Response:
        """Give entries of the log as lines of JSON, or as Parquet."""
        number, _, _ = await self._agent(request, "read")
        after = _whole(request, "after", 0)
        limit = min(_whole(request, "limit", LOG_PAGE), LOG_PAGE)
        form = request.query_params.get("format", "ndjson")
        if form not in ("ndjson", "parquet"):
            raise Problem(422, "format is ndjson or parquet.")

        def read(store: Store) -> list[Entry]:
            entries = Log(store, number)
            found: list[Entry] = []
            for entry in entries.unread() if limit and entries.seek(after) else ():
                found.append(entry)
                if len(found) == limit:
                    break
            return found

        found = [_public(entry) for entry in await self.node.read(read)]
        if form == "parquet":
            from .parquet import table_of

            data = await self.node.in_thread(lambda: table_of(found))
            return Response(data, media_type="application/vnd.apache.parquet")
        text = b"".join(encode(json_ready(entry_fields(entry))) + b"\n" for entry in found)
        return Response(text, media_type="application/x-ndjson")

    async def events(self, request: Request) -> Response:
        """Send the summary whenever something changes, at most once a second."""
        number, name, key = await self._agent(request, "read")
        if self._streams >= self.node.limits.streams:
            raise Problem(503, "too many event streams are open here.", 5.0)
        # counted before anything is awaited, or many pass the check at once
        self._streams += 1
        try:
            events = self._events(number, name, key, await self._summary(number, name))
        except BaseException:
            self._end_stream()
            raise
        return _Stream(events, self._end_stream)

    def _end_stream(self) -> None:
        self._streams -= 1

    async def _events(
        self, number: int, name: str, key: str | None, found: dict[str, Any]
    ) -> AsyncIterator[bytes]:
        sent, quiet = -1, monotonic()
        while (self.node.ready or sent < 0) and self.node.may_still(key, "read", name):
            if found["entries"] != sent:
                sent, quiet = found["entries"], monotonic()
                yield b"id: %d\nevent: change\ndata: %b\n\n" % (sent, encode(found))
            elif monotonic() - quiet > KEEP_ALIVE:
                quiet = monotonic()
                yield b": still here\n\n"
            await asyncio.sleep(1.0)
            found = await self._summary(number, name)

    # the node itself

    async def health(self, request: Request) -> Response:
        """Say that the process answers."""
        return reply({"status": "ok", "node": self.node.id})

    async def is_ready(self, request: Request) -> Response:
        """Say whether the node can serve: agents are read, and the store works."""
        if not self.node.ready:
            raise Problem(503, "still starting: reading agents, compiling policies.", 1.0)
        if self.node.writer.failing:  # nobody may write here before we say it works again
            await self.node.read(Store.try_write)
            self.node.writer.failing = False
        await self.node.read(lambda store: store.setting("format", "1"))
        return reply({"status": "ready", "node": self.node.id})

    async def metrics(self, request: Request) -> Response:
        """Give the counts to Prometheus."""
        from .metrics import CONTENT_TYPE, exposition

        key = await self._allow(request, "read", None)
        if key is not None and key.agents is not None:
            raise Problem(403, "this key is for some agents only, and the counts cover all.")
        return Response(exposition(self.node), media_type=CONTENT_TYPE)

    async def openapi(self, request: Request) -> Response:
        """Describe the interface."""
        from .openapi import document

        return reply(document(not self.node.keys.empty))


def _known(work: Callable[[Hosted], Any], name: str) -> Callable[[Hosted], Any]:
    """Refuse work on an agent that was named, but never made."""

    def checked(hosted: Hosted) -> Any:
        if hosted.replay.loaded is None:
            raise UnknownAgent(f"there is no agent {name!r}.")
        return work(hosted)

    return checked


def _public(entry: Entry) -> Entry:
    """Return an entry without the salt of the ids."""
    if entry.kind != "created" or entry.extra is None:
        return entry
    data = msgspec.json.decode(entry.extra)
    data.pop("salt", None)
    return entry._replace(extra=encode(data).decode())


def _head(request: Request, name: bytes) -> str | None:
    """Return a header of a request."""
    found = request.scope["head"].get(name)
    return None if found is None else found.decode("latin-1")


def _has_body(request: Request) -> bool:
    head = request.scope["head"]
    return head.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in head


def _whole(request: Request, name: str, usual: int) -> int:
    text = request.query_params.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Problem(422, f"{name} must be a whole number of at least 0, got {text[:50]!r}.")
    return int(text)


def _host_name(host: bytes) -> str:
    try:
        return urlsplit("//" + host.decode("latin-1")).hostname or ""
    except ValueError:
        return ""


def _stored(operation: Operation) -> str:
    return "now" if operation.answer else "before"


def _refusal(error: Exception) -> dict[str, Any]:
    """Return the answer to a line that is refused."""
    return details(_noted(problem_of(error), error))


def _noted(problem: Problem, error: Exception) -> Problem:
    if problem.detail in (STORE_DAMAGED, STORE_FAILED, STORE_DAMAGED):
        _store_failures.report(error)
    elif problem.status == 500:
        log.error("a request failed", exc_info=error)
    return problem


class _Failures:
    """What the store said, in the log: at most one line a second."""

    def __init__(self) -> None:
        self._last = -math.inf

    def report(self, error: Exception) -> None:
        if monotonic() - self._last >= 1.0:
            self._last = monotonic()
            log.warning("%s", error)


_store_failures = _Failures()


def _problem_response(error: Exception) -> Response:
    if isinstance(error, HTTPException):
        problem = Problem(error.status_code, f"{error.detail}.")
        headers = dict(error.headers or {})
    else:
        problem, headers = _noted(problem_of(error), error), {}
    if problem.retry_after is not None:
        headers["retry-after"] = str(math.ceil(problem.retry_after))
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(
        encode(details(problem)),
        problem.status,
        headers=headers,
        media_type="application/problem+json",
    )
