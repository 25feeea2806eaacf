"""A node's connection to the medium's process.

It has heartbeats in both directions, requests with answers, and the end of the run.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import numpy as np

from ...errors import InvalidInput, NodeLost
from ..testbed.config import ProcessConfig
from .messages import (
    BY_HAND,
    Message,
    another_run,
    dealer,
    decoded,
    encoded,
    run_name,
)


class RunEnded(Exception):
    """The medium says that the run is over."""

    def __init__(self, reason: str, unread: Sequence[Message] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        """Empty if all rounds were played."""
        self.unread = unread
        """What the medium had said before."""


class HubClient:
    """Talks to the hub.

    It reports when the hub falls silent, and continues when the hub returns. After
    `return_seconds` it raises NodeLost. It raises InvalidInput if the hub belongs to
    another run, or finds a request invalid.

    Parameters
    ----------
    config : the hub's address, and the times.
    role : "tx", "jammer", "rx", "noise" or "observer". There may be several observers,
        with different words after a dot.
    on_heard : called with every sign of life of the hub, to feed a watchdog.
    say : called with a line of text when the hub is lost or back; None prints it on
        standard error.
    run : the name of the run that the node belongs to.
    """

    def __init__(
        self,
        config: ProcessConfig,
        role: str,
        on_heard: Callable[[], None] = lambda: None,
        say: Callable[[str], None] | None = None,
        run: str = BY_HAND,
    ) -> None:
        self.config, self.role, self.on_heard, self.run = config, role, on_heard, run_name(run)
        self.say = self._print if say is None else say
        self.hub = ""
        """The hub's own name, which changes when the hub is restarted."""
        self._socket = dealer(f"{run}/{role}")
        self._socket.connect(f"tcp://{config.host}:{config.port}")
        self._inbox: deque[Message] = deque()
        self._beaten = -math.inf
        self._heard, self._lost, self._number = monotonic(), False, 0

    def beat(self) -> None:
        """Send a heartbeat if due, read messages, and check that the hub lives."""
        now = monotonic()
        if now - self._beaten >= self.config.heartbeat_seconds:
            self._beaten = now
            self.tell({"op": "alive"})
        while self._socket.poll(0):
            self._take()
        silent = monotonic() - self._heard
        if not self.hub:
            if silent > self.config.start_seconds:
                raise NodeLost(
                    f"the medium did not start within {self.config.start_seconds:g} s at "
                    f"{self.config.host}:{self.config.port}; start it with `ironarm radio "
                    "node medium`."
                )
        elif silent > self.config.lost_seconds:
            if not self._lost:
                self._lost = True
                self.say(
                    f"the medium is silent; waiting {self.config.return_seconds:g} s for its return"
                )
            if silent > self.config.lost_seconds + self.config.return_seconds:
                raise NodeLost(
                    f"the medium did not return within {self.config.return_seconds:g} s; the "
                    "run is over."
                )
        elif self._lost:
            self._lost = False
            self.say("the medium is back")

    def tell(self, fields: dict[str, Any], samples: np.ndarray | None = None) -> None:
        """Send a message that needs no answer."""
        self._socket.send_multipart(encoded(fields, samples))

    def next(self, milliseconds: int) -> Message | None:
        """Return the next message that is no answer, or None if none comes in time."""
        self.beat()
        if not self._inbox and self._socket.poll(milliseconds):
            self._take()
        return self._inbox.popleft() if self._inbox else None

    def request(
        self, fields: dict[str, Any], samples: np.ndarray | None = None, seconds: float = math.inf
    ) -> Message | None:
        """Send a message and return its answer, or None if none came in time.

        The message is sent again every `lost_seconds`, because either side may have
        been restarted.
        """
        self._number += 1
        number = self._number
        until = monotonic() + seconds
        while monotonic() < until:
            self.tell({**fields, "id": number}, samples)
            again = min(until, monotonic() + self.config.lost_seconds)
            while (left := again - monotonic()) > 0:
                self.beat()
                for message in self._inbox:
                    if message.fields.get("id") == number:
                        self._inbox.remove(message)
                        if message.op == "senseless":
                            raise InvalidInput(
                                "the medium does not understand what this node sent: "
                                f"{message.fields.get('reason')}"
                            )
                        return message
                self._socket.poll(min(math.ceil(1000 * left), 50))
        return None

    def _print(self, text: str) -> None:
        print(f"{self.role}: {text}", file=sys.stderr, flush=True)

    def _take(self) -> None:
        message = decoded(self._socket.recv_multipart())
        if message is None:
            return
        if message.op == "refused":
            raise another_run(
                f"the medium at {self.config.host}:{self.config.port}",
                message.fields.get("run"),
                self.run,
            )
        self._heard = monotonic()
        self.on_heard()
        if message.op == "alive":
            self.hub = str(message.fields.get("hub"))
        elif message.op == "end":
            raise RunEnded(str(message.fields.get("reason", "")), list(self._inbox))
        else:
            self._inbox.append(message)
            while len(self._inbox) > 100_000:  # drop the oldest: there is no reader
                self._inbox.popleft()

    def close(self) -> None:
        """Close the socket; the last messages are still sent."""
        self._socket.close()
