"""What a node asks of a radio: tune, set, send, receive, switch off.

A radio reads back what it set. What the device ignored, or rounded too much, is an
error. Times are in samples of the receiver's own clock; None means now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np


@dataclass(frozen=True)
class RadioInfo:
    """What a radio reports after it was set."""

    driver: str
    serial: str
    frequency_hz: float
    rate_hz: float
    gain_db: float | None
    """None if the device has no gain that can be set."""
    overflows: int = 0
    underruns: int = 0


class Radio(Protocol):
    """One device, tuned to one frequency; it may send and receive."""

    def tune(self, frequency_hz: float) -> None:
        """Go to a carrier frequency, and wait until it is reached."""

    def set_gain(self, gain_db: float) -> None:
        """Set the gain of whatever is used, sending or receiving."""

    def transmit(self, samples: np.ndarray, at: int | None = None) -> None:
        """Send a burst of complex samples; returns when all of it is under way."""

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return `count` complex samples."""

    def info(self) -> RadioInfo:
        """Return what is set, as read back from the device."""

    def close(self) -> None:
        """Stop sending at once, and release the device; may be called twice."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Closing:
    """A context manager that calls its own `close` at the end of the block."""

    def close(self) -> None:
        """Close it; each subclass says what that means."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
