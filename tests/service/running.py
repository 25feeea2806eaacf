"""Real nodes for tests and benchmarks: `ironarm serve` in processes of their own."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ironarm.service.location import StoreLocation

PATIENCE = 180.0
"""Seconds that a node may take to start: it may have to compile, on a busy machine."""


_ports = itertools.count(20_000 + 20 * os.getpid() % 10_000)


def free_port() -> int:
    """Return a port that nobody uses now, nor takes by chance before it is used.

    Systems give ports from 32,768 on to whoever wants any; other tests begin elsewhere.
    """
    for port in _ports:
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError


class Talk:
    """A connection to a node, made anew after an error."""

    def __init__(self, port: int, key: str | None = None, timeout: float = 30.0) -> None:
        self.port, self._key, self._timeout = port, key, timeout
        self._connection: http.client.HTTPConnection | None = None

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a request; return the status and the body, read as JSON if it is."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        if self._key is not None:
            sent["Authorization"] = f"Bearer {self._key}"
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        if self._connection is None:
            self._connection = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=self._timeout
            )
        try:
            self._connection.request(method, path, data, sent)
            answer = self._connection.getresponse()
            text = answer.read()
        except http.client.HTTPException as cut:
            # a node that is killed may leave half an answer: to its caller that is a
            # broken connection like any other
            self.close()
            raise ConnectionError(f"half an answer: {cut!r}") from cut
        except Exception:
            self.close()
            raise
        kind = answer.headers.get("content-type", "")
        return answer.status, json.loads(text) if "json" in kind and "nd" not in kind else text

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def ask(port: int, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
    """Send one request; return the status and the body."""
    talk = Talk(port, key)
    try:
        return talk.ask(method, path, body)
    finally:
        talk.close()


class Running:
    """A node in a process of its own."""

    def __init__(self, place: StoreLocation, port: int | None = None, *options: str) -> None:
        self.place, self.port = place, port or free_port()
        where = (
            ["--data", str(place.folder)]
            if place.database is None
            else ["--database", place.database]
        )
        command = [sys.executable, "-m", "ironarm", "serve", *where, "--port", str(self.port)]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)

    def wait(self) -> Running:
        """Wait until it is ready."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if ask(self.port, "GET", "/readyz")[0] == 200:
                    return self
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the node did not start ({self.process.poll()})")
            time.sleep(0.02)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it without warning."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it in order, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def running(place: StoreLocation, port: int | None = None, *options: str) -> Iterator[Running]:
    """Run a node for the length of a block."""
    node = Running(place, port, *options)
    try:
        yield node.wait()
    finally:
        if node.process.poll() is None:
            node.signal(signal.SIGCONT)
        node.stop()
