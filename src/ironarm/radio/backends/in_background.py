"""A radio that sends long bursts in the background.

A device takes samples about as fast as it sends them. A jammer that waited for the end
of its burst would announce the burst when it is over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np

from .protocol import Closing, Radio, RadioInfo


class TellingRadio(Radio, Protocol):
    """A radio that tells when a burst has begun."""

    def transmit(
        self, samples: np.ndarray, at: int | None = None, began: Callable[[], None] = lambda: None
    ) -> None:
        """Send a burst; call `began` when the device has taken its first samples."""


class InBackground(Closing):
    """A `Radio` whose `transmit` doesn't wait for the end of a long burst.

    `transmit` returns when the whole burst is handed over, or `lead_seconds` after its
    first samples were: however busy the computer is, what is sent after that is not
    sooner on the air. The next call waits for the burst's end.

    Parameters
    ----------
    radio : the radio behind it.
    lead_seconds : how long `transmit` waits at most, once the burst has begun.
    """

    def __init__(self, radio: TellingRadio, lead_seconds: float) -> None:
        self.radio, self.lead_seconds = radio, lead_seconds
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def tune(self, frequency_hz: float) -> None:
        """Tune, after the burst that is going out."""
        self.finish()
        self.radio.tune(frequency_hz)

    def set_gain(self, gain_db: float) -> None:
        """Set the gain, after the burst that is going out."""
        self.finish()
        self.radio.set_gain(gain_db)

    def transmit(self, samples: np.ndarray, at: int | None = None) -> None:
        """Send a burst; an error that comes later is raised by the next call."""
        self.finish()
        began = threading.Event()

        def send() -> None:
            try:
                self.radio.transmit(samples, at, began.set)
            except Exception as error:
                self._error = error
            finally:
                began.set()

        self._thread = threading.Thread(target=send, name="burst", daemon=True)
        self._thread.start()
        began.wait()
        self._thread.join(self.lead_seconds)
        if not self._thread.is_alive():
            self.finish()

    def finish(self) -> None:
        """Wait until the last burst is handed over, and raise its error, if any."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Receive."""
        return self.radio.receive(count, at)

    def info(self) -> RadioInfo:
        """Return what the device reports."""
        return self.radio.info()

    def close(self) -> None:
        """Switch off at once, in the middle of a burst too."""
        self.radio.close()
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._thread.join(1.0)
