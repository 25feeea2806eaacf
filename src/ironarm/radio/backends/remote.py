"""A radio on the simulated medium of another process.

What it transmits and receives travels as messages through a `HubClient`.
"""

from __future__ import annotations

import numpy as np

from ...errors import InvalidInput
from ..network.hub_client import HubClient
from ..network.messages import samples_of
from ..signal.medium import MIDDLE_HZ
from ..signal.waveform import SYMBOL_RATE
from .protocol import Closing, RadioInfo


class NothingSent(Exception):
    """The medium has no packet of this attempt.

    The transmitter or the medium was restarted in between.
    """


class RemoteRadio(Closing):
    """One radio.

    The node sets `round_number` and `attempt` before it transmits or receives, so that
    a burst of an earlier attempt is never taken for this one's.
    """

    def __init__(self, client: HubClient, rate_hz: float = 2 * SYMBOL_RATE) -> None:
        self.client, self.rate_hz = client, rate_hz
        self.frequency_hz, self.gain_db = MIDDLE_HZ, 0.0
        self.round_number = self.attempt = 0
        self._closed = False

    def tune(self, frequency_hz: float) -> None:
        """Remember the frequency, which each message names."""
        self.frequency_hz = float(frequency_hz)

    def set_gain(self, gain_db: float) -> None:
        """Set the transmitted power, relative to unit power, in dB."""
        self.gain_db = float(gain_db)

    def transmit(self, samples: np.ndarray, at: int | None = None) -> None:
        """Send a burst, and wait until the medium has it."""
        if self._closed:
            raise InvalidInput("this radio is closed and does not transmit; open a new one.")
        self.client.request({"op": "transmit", **self._fields()}, samples)

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return what is heard in the present round, from its beginning on.

        NothingSent if there is no packet of this attempt.
        """
        answer = self.client.request({"op": "receive", "count": count, **self._fields()})
        if answer is None or answer.op != "samples":
            raise NothingSent
        return samples_of(answer)

    def _fields(self) -> dict[str, float]:
        return {
            "round": self.round_number,
            "attempt": self.attempt,
            "frequency_hz": self.frequency_hz,
            "rate_hz": self.rate_hz,
            "gain_db": self.gain_db,
        }

    def info(self) -> RadioInfo:
        """Return what is set."""
        return RadioInfo("remote", self.client.role, self.frequency_hz, self.rate_hz, self.gain_db)

    def close(self) -> None:
        """Stop transmitting; the medium removes a silent node's signal."""
        self._closed = True
