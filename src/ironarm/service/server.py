"""Running a node: uvicorn, and an end to senders that are too slow."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..errors import InvalidInput, StoreError
from .app import App
from .keys import KeyRing
from .location import StoreLocation
from .node import Limits, Node

log = logging.getLogger("ironarm")
HEAD = 64 * 1024
"""Bytes that the head of a request may have; up to a piece more may pass."""
PIECE = 16 * 1024


class BoundedProtocol(HttpToolsProtocol):
    """HTTP with bounds: a head of so many bytes, and a time for each request.

    It notes since when a request is being received; `Server` cuts slow ones off.
    """

    since: float | None = None
    _head: int | None = 0  # bytes of the head so far; None when it is complete
    _piece = 0  # bytes that are being read

    def connection_made(self, transport: Any) -> None:
        """Begin: the first request must come in time too."""
        super().connection_made(transport)
        self.since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Take bytes, but no endless head.

        They come in pieces to the parser, because one segment can hold a whole head, or
        thousands of requests. Nobody knows where in a piece a head began: that one does
        not count.
        """
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            self._piece = len(piece)
            super().data_received(piece)
            if self._head is not None:
                self._head += len(piece)
                if self._head > HEAD:
                    self.transport.close()
            if self.transport.is_closing():
                return

    def on_message_begin(self) -> None:
        """Begin to receive a request."""
        super().on_message_begin()
        self.since, self._head = self.loop.time(), -self._piece

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what comes after the body is none, and says nothing."""
        if self._head is not None:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        super().on_headers_complete()
        self._head = None

    def on_message_complete(self) -> None:
        """The request is whole."""
        super().on_message_complete()
        self.since = None


class Server(uvicorn.Server):
    """A uvicorn server that cuts off who takes too long to send a request."""

    def __init__(self, config: uvicorn.Config, read_seconds: float) -> None:
        super().__init__(config)
        self._read_seconds = read_seconds

    async def on_tick(self, counter: int) -> bool:
        """Look at connections once a second; uvicorn calls this ten times as often."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if not isinstance(connection, BoundedProtocol) or connection.since is None:
                    continue
                if connection.flow.read_paused:  # we do not listen: earlier requests wait
                    connection.since = now
                elif connection.since < now - self._read_seconds:
                    connection.transport.close()
        return await super().on_tick(counter)


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    try:
        kind = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=kind, backlog=2048)
    except OSError as error:
        raise InvalidInput(
            f"port {port} on {host} cannot be used: {error.strerror or error}. Choose another "
            "with --port."
        ) from None


def serve(place: StoreLocation, host: str, port: int, limits: Limits, say: Any = print) -> None:
    """Serve until a signal comes."""
    store = place.open(create=True)
    try:
        keys = KeyRing()
        keys.take(store.api_keys())
    finally:
        store.close()
    if keys.empty and not is_loopback(host):
        raise InvalidInput(
            f"there is no key yet, so the service listens on this machine only, not on {host}. "
            "Add one with `ironarm keys add`, then start it again."
        )
    from .page import routes

    node = Node(place, limits, say)
    app = App(node, routes(node))
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=BoundedProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        limit_concurrency=4096,
        timeout_graceful_shutdown=10,
    )
    listening = _listening(host, port)
    shown = f"[{host}]" if ":" in host else host
    say(f"serving {place} on http://{shown}:{listening.getsockname()[1]}")
    if keys.empty:
        say("there is no key: anyone on this machine may do anything (`ironarm keys add`)")
    server = Server(config, limits.read_seconds)
    sys.setswitchinterval(0.001)  # the writer's thread and the event loop wait for each other
    gc.freeze()  # what is here stays: looking through it again would take a fifth of a second
    try:
        server.run(sockets=[listening])
    except (KeyboardInterrupt, SystemExit):  # uvicorn sends itself the signal once more
        if not server.started:
            raise StoreError(f"{place} cannot be served; the lines above say why.") from None
    finally:
        listening.close()
