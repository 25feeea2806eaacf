"""Messages between processes: JSON, with samples as bytes; never code.

A message is a JSON object whose "op" says what it is for, and possibly a payload:
complex samples, 32-bit parts, little-endian. Messages that cannot be read are ignored.

A sender is named by its run and its role, such as "bench/tx", so that two runs on the
same ports don't mix. The name is no protection against somebody who wants to take part.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidInput, missing_extra

LARGEST = 64 * 2**20
"""Bytes of a message part; longer ones close the connection."""

BY_HAND = "bench"
"""The run of nodes that are started by hand, if no other is named."""


class Message(NamedTuple):
    """What was received."""

    fields: dict[str, Any]
    payload: bytes

    @property
    def op(self) -> str:
        """What it is for."""
        return str(self.fields.get("op", ""))


def encoded(fields: dict[str, Any], samples: np.ndarray | None = None) -> list[bytes]:
    """Return a message's parts.

    >>> decoded(encoded({"op": "sent", "round": 3})).fields
    {'op': 'sent', 'round': 3}
    """
    payload = b"" if samples is None else np.ascontiguousarray(samples, "<c8").tobytes()
    return [json.dumps(fields).encode(), payload]


def decoded(parts: list[bytes]) -> Message | None:
    """Return the message, or None if it is none."""
    if len(parts) != 2:
        return None
    try:
        fields = json.loads(parts[0])
    except (ValueError, RecursionError):
        return None
    return Message(fields, parts[1]) if isinstance(fields, dict) else None


def samples_of(message: Message) -> np.ndarray:
    """Return a message's samples.

    >>> samples_of(decoded(encoded({}, np.array([1 + 2j, 3]))))
    array([1.+2.j, 3.+0.j])
    """
    whole = len(message.payload) // 8 * 8
    return np.frombuffer(message.payload[:whole], "<c8").astype(complex)


def run_name(name: str) -> str:
    """Return the name of a run, or say why it cannot be one."""
    if not name or len(name) > 40 or not name.isprintable() or "/" in name:
        raise InvalidInput(
            f"the name of a run must have 1 to 40 printable characters without '/', got {name!r}; "
            "choose another one for --run."
        )
    return name


def another_run(whom: str, theirs: object, ours: str) -> InvalidInput:
    """Return the error of a node that has met a run which is not its own."""
    return InvalidInput(
        f"{whom} belongs to the run {theirs!r}, and this node to the run {ours!r}; set another "
        "port in [processes], or start all nodes of a run with one --run."
    )


def dealer(identity: str | None = None) -> Any:
    """Return a socket that asks, under a name."""
    socket = _socket("DEALER")
    if identity:
        socket.identity = identity.encode()
    return socket


def router(address: str) -> Any:
    """Return a socket that answers, listening at an address.

    A process that comes back under the same name takes over from its dead self.
    """
    import zmq

    socket = _socket("ROUTER")
    socket.router_handover = True
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        socket.close(0)
        raise InvalidInput(
            f"cannot listen at {address}: {error.strerror}. Stop what listens there, or set "
            "another port in [processes]."
        ) from None
    return socket


def _socket(kind: str) -> Any:
    try:
        import zmq
    except ImportError:
        raise missing_extra("the testbed in several processes", "radio") from None
    socket: Any = zmq.Context.instance().socket(getattr(zmq, kind))
    socket.maxmsgsize = LARGEST
    socket.linger = 500
    return socket
