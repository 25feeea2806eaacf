"""The ACK link: the receiver asks the transmitter for a packet in a channel.

A request has the round's number and the number of the attempt. The answer says that the
packet is on its way. A request is repeated when no answer comes in time; the
transmitter answers a repeated request but sends one packet. When all tries fail, the
ACK is lost: the receiver repeats the round as the next attempt, and learns no reward.

`InProcessAck` calls the transmitter directly. `AckClient` and `AckServer` use ZeroMQ.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from ...validation import number, whole
from ..network.messages import (
    BY_HAND,
    another_run,
    dealer,
    decoded,
    encoded,
    router,
)
from ..signal.randomness import key, uniform

ACK_STREAM = 2**40 + 2
"""Stands where a key has its trial number: which ACKs are lost."""


class Ack(NamedTuple):
    """What became of a request."""

    arrived: bool
    """False if the ACK was lost; the transmitter may have heard the request."""
    seconds: float
    """From the first try to the answer, or to giving up."""
    tries: int


class InProcessAck:
    """An ACK link within one process, which may lose messages.

    Parameters
    ----------
    send : called with round, attempt and channel; a repeated call must be harmless.
    loss : probability that a try fails, its request or its answer with the same chance.
    retries : how often a request is sent again.
    seed : of the losses.

    Examples
    --------
    >>> heard = []
    >>> link = InProcessAck(
    ...     lambda *request: heard.append(request), loss=0.5, retries=1, seed=2
    ... )
    >>> acks = [link.request(round, 0, 3) for round in range(1000)]
    >>> sum(ack.arrived for ack in acks)
    761
    """

    def __init__(
        self,
        send: Callable[[int, int, int], None],
        *,
        loss: float = 0.0,
        retries: int = 3,
        seed: int = 0,
    ) -> None:
        self._send, self._retries, self._seed = send, whole("retries", retries), seed
        self._loss = number("loss", loss, at_least=0, below=1)

    def request(self, round_number: int, attempt: int, channel: int) -> Ack:
        """Call the transmitter."""
        began = monotonic()
        for retry in range(self._retries + 1):
            u = (
                uniform(key(self._seed, ACK_STREAM, round_number, attempt, retry))
                if self._loss
                else 1.0
            )
            if u < self._loss / 2:
                continue  # the request is lost
            self._send(round_number, attempt, channel)
            if u >= self._loss:
                return Ack(True, monotonic() - began, retry + 1)
        return Ack(False, monotonic() - began, self._retries + 1)


class AckClient:
    """The receiver's end over ZeroMQ.

    Parameters
    ----------
    address : of the transmitter's `AckServer`.
    timeout_seconds : until a request is sent again.
    retries : how often a request is sent again.
    meanwhile : called at least every 50 ms while waiting, for heartbeats; what it
        raises ends the wait.
    run : the name of the run; a transmitter of another one is an InvalidInput.
    """

    def __init__(
        self,
        address: str,
        *,
        timeout_seconds: float = 0.5,
        retries: int = 3,
        meanwhile: Callable[[], None] = lambda: None,
        run: str = BY_HAND,
    ) -> None:
        self._address, self._run = address, run
        self._timeout, self._retries, self._meanwhile = (
            number("timeout_seconds", timeout_seconds, above=0),
            whole("retries", retries),
            meanwhile,
        )
        self._socket = dealer()
        self._socket.connect(address)

    def request(self, round_number: int, attempt: int, channel: int) -> Ack:
        """Ask until an answer comes; answers to older requests are ignored."""
        began = monotonic()
        for retry in range(self._retries + 1):
            self._socket.send_multipart(
                encoded(
                    {
                        "run": self._run,
                        "round": round_number,
                        "attempt": attempt,
                        "channel": channel,
                    }
                )
            )
            until = monotonic() + self._timeout
            while (left := until - monotonic()) > 0:
                self._meanwhile()
                if not self._socket.poll(min(50, math.ceil(1000 * left))):
                    continue
                answer = decoded(self._socket.recv_multipart())
                if answer is not None and answer.op == "refused":
                    raise another_run(
                        f"the transmitter at {self._address}", answer.fields.get("run"), self._run
                    )
                if answer is not None and (
                    answer.fields.get("round"),
                    answer.fields.get("attempt"),
                ) == (round_number, attempt):
                    return Ack(True, monotonic() - began, retry + 1)
        return Ack(False, monotonic() - began, self._retries + 1)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close(0)


class AckServer:
    """The transmitter's end over ZeroMQ.

    Parameters
    ----------
    address : where to listen.
    send : called with round, attempt and channel; returns whether the packet was sent.
        If not, nothing is answered. A repeated call must be harmless.
    run : the name of the run; requests of another one are refused.
    """

    def __init__(
        self, address: str, send: Callable[[int, int, int], bool], run: str = BY_HAND
    ) -> None:
        self._send, self._run = send, run
        self._socket = router(address)

    def serve(self, milliseconds: int) -> bool:
        """Wait for a request, and serve it; return whether there was one.

        Messages that are no requests are ignored.
        """
        if not self._socket.poll(milliseconds):
            return False
        sender, *parts = self._socket.recv_multipart()
        message = decoded(parts)
        if message is None:
            return True
        request = [message.fields.get(name) for name in ("round", "attempt", "channel")]
        if not all(type(part) is int and part >= 0 for part in request):
            return True
        if (run := message.fields.get("run")) != self._run:
            print(
                f"tx: refused a request of another run, {run!r}; this is the run {self._run!r}",
                file=sys.stderr,
                flush=True,
            )
            self._socket.send_multipart([sender, *encoded({"op": "refused", "run": self._run})])
        elif self._send(*request):  # type: ignore[arg-type]
            self._socket.send_multipart(
                [sender, *encoded({"round": request[0], "attempt": request[1]})]
            )
        return True

    def close(self) -> None:
        """Stop listening."""
        self._socket.close(0)
