"""One device of the virtual radio: its connections, and what they are set to."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field

import numpy as np

from .streaming_medium import RATE_HZ

RATES_HZ = (20e3, 50e3, 100e3, 250e3, 500e3, 1250e3)
"""Of the driver, by their codes."""

RX_CONTROL, RX_SAMPLES, TX_CONTROL, TX_SAMPLES = range(4)
UNIT_BYTES = 8 * 1024
"""What SoapySDR reads at once by default."""

SEGMENT_BYTES = 1400
"""Segments on the loopback have up to 64 kB, and kernels open windows by segments."""


@dataclass
class Direction:
    """One direction of a device: what it is set to, and its two connections."""

    control: socket.socket | None = None
    samples: socket.socket | None = None
    frequency_hz: float | None = None
    rate_hz: float | None = None
    words: bytes = b""
    unsent: bytes = b""
    half_sample: bytes = b""
    heard: float = 0.0
    """When samples last came from the device."""

    def take_words(self, data: bytes) -> None:
        """Read control words: a frequency in Hz, or 2^28 + the code of a rate."""
        data = self.words + data
        whole = len(data) // 4 * 4
        self.words = data[whole:]
        for (word,) in struct.iter_unpack("<I", data[:whole]):
            if word >> 28 == 0:
                self.frequency_hz = float(word)
            elif word >> 28 == 1 and word & 0xFFFFFFF < len(RATES_HZ):
                self.rate_hz = RATES_HZ[word & 0xFFFFFFF]

    def whole_samples(self, data: bytes) -> np.ndarray:
        """Return the samples in some bytes, and keep half a sample for the next call.

        A long burst may come in pieces of any length.
        """
        data = self.half_sample + data
        whole = len(data) // 8 * 8
        self.half_sample = data[whole:]
        return np.frombuffer(data[:whole], np.complex64)

    @property
    def ready(self) -> bool:
        """Whether samples can flow."""
        return (
            self.samples is not None and self.frequency_hz is not None and self.rate_hz == RATE_HZ
        )


@dataclass
class Device:
    """One virtual device."""

    name: str
    listener: socket.socket
    receive: Direction = field(default_factory=Direction)
    transmit: Direction = field(default_factory=Direction)
    overflows: int = 0

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.listener.getsockname()[1])

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """Receive and transmit."""
        return self.receive, self.transmit


def prepare(listener: socket.socket) -> None:
    """Set what all connections of a listener inherit.

    Segments are small, and every second the kernel asks whether the window has opened.
    """
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_MAXSEG", SEGMENT_BYTES), ("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1)):
        if hasattr(socket, option):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def window(connection: socket.socket) -> int:
    """Return how many bytes the receiver has room for, less those under way.

    Where the kernel doesn't say, there is always room.
    """
    if not hasattr(socket, "TCP_INFO"):
        return UNIT_BYTES
    import fcntl  # not on Windows
    import termios

    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    if len(info) < 232:  # before Linux 5.4
        return UNIT_BYTES
    room: int = struct.unpack_from("<I", info, 228)[0]
    under_way: int = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0" * 4))[0]
    return room - under_way
