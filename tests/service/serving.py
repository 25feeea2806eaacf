"""A service for tests: the real one in a process of its own, and a bad line to it."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ironarm.agent.log import Log
from ironarm.service.keys import make_key
from ironarm.service.location import StoreLocation
from tests.service.running import Running, free_port

PROGRAM = """
import sys
from pathlib import Path
from ironarm.service.node import Limits
from ironarm.service.location import StoreLocation
from ironarm.service.server import serve
serve(StoreLocation(Path(sys.argv[1])), "127.0.0.1", int(sys.argv[2]), eval(sys.argv[3]))
"""


class Service(Running):
    """A node with limits of its own. What it writes to stderr is kept in a file."""

    def __init__(self, folder: Path, limits: str, admin: str | None) -> None:
        self.place, self.folder, self.port = StoreLocation(folder), folder, free_port()
        self.url, self.admin = f"http://127.0.0.1:{self.port}", admin
        folder.mkdir(parents=True, exist_ok=True)
        self.errors = folder / "stderr.txt"
        with open(self.errors, "ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(folder), str(self.port), limits],
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def key(self, *scopes: str, agents: list[str] | None = None, rate: float | None = None) -> str:
        """Make a key."""
        with closing(self.place.open(create=True)) as store:
            return make_key(store, "test", scopes, agents, rate)


def rows(store: Any, number: int) -> Iterator[Any]:
    """Return the entries of an agent."""
    return Log(store, number).unread()


@contextmanager
def serving(folder: Path, limits: str = "Limits()", keys: bool = False) -> Iterator[Service]:
    """Start a service, with a key for everything or without keys."""
    admin = None
    if keys:
        with closing(StoreLocation(folder).open(create=True)) as store:
            admin = make_key(store, "admin", ["admin"])
    service = Service(folder, limits, admin)
    try:
        yield service.wait()
    finally:
        service.stop()


class BadLine:
    """A line to a service that does to each request what `fate` says.

    `fate` gets the number of the request, from 0: "pass", "drop" (it never arrives),
    "lose" (it is carried out, and the answer is lost), or the answer itself.
    """

    def __init__(self, port: int, fate: Callable[[int], str | bytes]) -> None:
        self._target, self._fate = port, fate
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[bytes] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while request := read_message(connection):
                with self._lock:
                    fate = self._fate(len(self.requests))
                    self.requests.append(request)
                if isinstance(fate, bytes):
                    connection.sendall(fate)
                    continue
                if fate == "drop":
                    return
                with socket.create_connection(("127.0.0.1", self._target)) as service:
                    service.sendall(request)
                    answer = read_message(service)
                if fate == "lose":
                    return
                connection.sendall(answer)

    def close(self) -> None:
        """Let nobody in any more."""
        self._listener.close()


def read_message(connection: socket.socket) -> bytes:
    """Read a request or an answer with a content-length; b"" at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body
