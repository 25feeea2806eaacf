"""A connection that can be cut: bytes to a port on this machine go through it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Proxy:
    """Passes bytes to a port. After `cut` nothing passes, and nobody is told."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open = threading.Event()
        self._open.set()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Let nothing pass, as if a cable were pulled."""
        self._open.clear()

    def mend(self) -> None:
        """Let bytes pass again, those that waited first."""
        self._open.set()

    def close(self) -> None:
        """End."""
        self._open.set()
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                self._open.wait()
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
