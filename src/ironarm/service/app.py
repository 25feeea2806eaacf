"""The HTTP interface of a node: verbs as routes, and what they return as answers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match, Route, Router

from ..errors import UnknownArm
from .incoming import Incoming
from .messages import encode
from .node import Node
from .problems import Problem, details, noted
from .row import JSON, Done, Raw, Stream, Verb
from .verbs import VERBS

SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
COMMON_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
"""Of every answer; files of the page say themselves how long they may be kept."""
PAUSE = 0.2
"""Seconds before a client hears that it asks too often. Until then it asks no more."""


class Endpoint:
    """A verb as an ASGI application.

    Starlette's own way also catches errors at this place. `App` does that for all, and
    a request costs a tenth less.
    """

    def __init__(self, node: Node, verb: Verb) -> None:
        self._node, self._verb, self.__name__ = node, verb, verb.route or verb.id

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        asked = Incoming(self._node, self._verb, scope, receive)
        await asked.let_in()
        try:
            found = await self._verb.do(asked)
        except UnknownArm as error:
            if "arm" not in self._verb.names:
                raise
            # what the path names is not there
            raise Problem(404, str(error), error=UnknownArm) from None
        response = self._response(asked, found)
        await response(scope, receive, send)

    def _response(self, asked: Incoming, found: Done | Raw | Stream) -> Response:
        if isinstance(found, Done):
            if kind := self._verb.counts[not found.new]:
                self._node.count(asked.agent, kind)
            status = 201 if found.new and 201 in self._verb.answers else 200
            return Response(encode(found.data), status, media_type=JSON)
        if isinstance(found, Raw):
            return Response(found.data, media_type=found.media)
        return _Streaming(found)


class _Streaming(StreamingResponse):
    """An answer that goes on; at its end, however it comes, somebody is told."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream.chunks, media_type="text/event-stream")
        self._ended = stream.ended

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
        routes = [
            # an arm's name may have slashes in it
            Route(
                verb.path.replace("{arm}", "{arm:path}"),
                Endpoint(node, verb),
                methods=[verb.method],
            )
            for verb in VERBS
        ]
        self._router = Router(
            routes=[*routes, *(more_routes or [])],
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


def _host_name(host: bytes) -> str:
    try:
        return urlsplit("//" + host.decode("latin-1")).hostname or ""
    except ValueError:
        return ""


def _problem_response(error: Exception) -> Response:
    if isinstance(error, HTTPException):
        problem = Problem(error.status_code, f"{error.detail}.")
        headers = dict(error.headers or {})
    else:
        problem, headers = noted(error), {}
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
