"""A radio on the simulated medium, all in one process.

Radios share an `Air`. It holds what was transmitted in the present round; a radio that
receives hears it as the medium renders it. Time is virtual: nothing moves on until the
round is over, so a busy computer loses no packets. A round's number keys its randomness
(delay, carrier, wander, noise).
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import numpy as np

from ...errors import InvalidInput
from ..signal.medium import (
    CENTRES_HZ,
    MIDDLE_HZ,
    WIDE_SPS,
    Emission,
    Medium,
    Samples,
)
from ..signal.waveform import SYMBOL_RATE
from .protocol import RadioInfo

NARROW_RATE = 2 * SYMBOL_RATE
"""Two samples to a symbol, 833 kS/s."""


@dataclass
class Air:
    """What simulated radios share: the medium, and what has been transmitted in the
    present round.

    Parameters
    ----------
    medium : noise, path gains, wander and seed.
    round_number : the present round.
    """

    medium: Medium
    round_number: int = 0
    emissions: list[Emission] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self, round_number: int) -> None:
        """Begin a round: what was on the air is over."""
        with self._lock:
            self.round_number = round_number
            self.emissions.clear()

    def set_noise(self, levels: tuple[float, ...]) -> None:
        """Set the noise source's level in each channel."""
        with self._lock:
            self.medium = replace(self.medium, noise=levels)

    def emit(self, emission: Emission) -> None:
        """Put something on the air.

        The transmitter's packet comes first, because the first emission has the round's
        own path.
        """
        with self._lock:
            self.emissions.insert(
                0, emission
            ) if emission.emitter == "transmitter" else self.emissions.append(emission)

    def silence(self, emitter: str) -> None:
        """Take what an emitter sent off the air."""
        with self._lock:
            self.emissions[:] = [
                emission for emission in self.emissions if emission.emitter != emitter
            ]

    def hear(self, frequency_hz: float, rate_hz: float, count: int) -> np.ndarray:
        """Return `count` samples as a receiver hears them that is tuned there: one
        channel at 2 or 3 samples a symbol, or all of them at 5 MS/s.
        """
        sps = samples_per_symbol(rate_hz)
        with self._lock:
            medium, emissions, number = self.medium, list(self.emissions), self.round_number
        if sps == WIDE_SPS:
            if frequency_hz != MIDDLE_HZ:
                raise InvalidInput(
                    "at 5 MS/s a simulated radio hears all channels and must be tuned to "
                    f"{MIDDLE_HZ / 1e6:g} MHz, got {frequency_hz / 1e6:g} MHz."
                )
            return medium.wideband(
                emissions, symbols=math.ceil(count / 120) * 10, round_number=number
            )[:count]
        return medium.narrowband(
            channel_at(frequency_hz),
            emissions,
            sps=sps,
            symbols=math.ceil(count / sps),
            round_number=number,
        )[:count]


class SimulatedRadio:
    """One radio on the air.

    Parameters
    ----------
    air : what it shares with the others.
    emitter : whose path gains apply to what it transmits: "transmitter", "jammer" or
        another.
    rate_hz : samples a second: 2 or 3 a symbol, or 5 MS/s (receiving only).

    Examples
    --------
    >>> from ironarm.radio.signal.receiver import Receiver
    >>> from ironarm.radio.signal.waveform import STANDARD, modulate
    >>> air = Air(Medium(noise=[1e-3] * 5, seed=2))
    >>> sender, receiver = SimulatedRadio(air), SimulatedRadio(air, "receiver")
    >>> for radio in (sender, receiver):
    ...     radio.tune(1200.5e6)
    >>> sender.transmit(modulate(STANDARD.symbols(3), sps=2))
    >>> report = Receiver().receive(receiver.receive(900))
    >>> report.round, round(report.sinr_db)
    (3, 30)
    """

    def __init__(
        self, air: Air, emitter: str = "transmitter", rate_hz: float = NARROW_RATE
    ) -> None:
        self.air, self.emitter, self.rate_hz = air, emitter, rate_hz
        self.sps = samples_per_symbol(rate_hz)
        self.frequency_hz, self.gain_db = (MIDDLE_HZ, 0.0)
        self._closed = False

    def tune(self, frequency_hz: float) -> None:
        """Go to a channel's centre; at 5 MS/s to the middle of all."""
        if self.sps != WIDE_SPS:
            channel_at(frequency_hz)
        self.frequency_hz = float(frequency_hz)

    def set_gain(self, gain_db: float) -> None:
        """Set the transmitted power, relative to unit power, in dB."""
        self.gain_db = float(gain_db)

    def transmit(self, samples: np.ndarray, at: int | None = None) -> None:
        """Send a burst in the tuned channel.

        The transmitter's bursts travel over a path with its own delay, carrier offset,
        phase and wander; others arrive as they are.
        """
        if self._closed:
            raise InvalidInput("this radio is closed and does not transmit; open a new one.")
        if self.sps == WIDE_SPS:
            raise InvalidInput(
                "a simulated radio transmits in one channel, at 2 or 3 samples a symbol; at 5 "
                "MS/s it only receives."
            )
        moving = self.emitter == "transmitter"
        start = 0.0 if at is None else at / self.sps
        self.air.emit(
            Emission(
                Samples(np.asarray(samples), self.sps),
                channel_at(self.frequency_hz),
                self.emitter,
                self.gain_db,
                start,
                moving,
            )
        )

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return what is heard in the present round, from its beginning (or from
        sample `at`) on.
        """
        first = 0 if at is None else at
        return self.air.hear(self.frequency_hz, self.rate_hz, first + count)[first:]

    def info(self) -> RadioInfo:
        """Return what is set."""
        return RadioInfo("simulated", self.emitter, self.frequency_hz, self.rate_hz, self.gain_db)

    def close(self) -> None:
        """Take back what is on the air, and transmit nothing any more."""
        if not self._closed:
            self._closed = True
            self.air.silence(self.emitter)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def channel_at(frequency_hz: float) -> int:
    """Return the channel with that centre, or say which there are."""
    for channel, centre in enumerate(CENTRES_HZ):
        if abs(frequency_hz - centre) < 1.0:
            return channel
    centres = ", ".join(f"{centre / 1e6:g}" for centre in CENTRES_HZ)
    raise InvalidInput(
        f"there is no channel at {frequency_hz / 1e6:g} MHz; the simulated medium has channels at "
        f"{centres} MHz."
    )


def samples_per_symbol(rate_hz: float) -> int:
    """Return the samples to a symbol at a rate, or say which rates there are."""
    for sps in (2, 3, WIDE_SPS):
        if abs(rate_hz - sps * SYMBOL_RATE) < 1.0:
            return sps
    raise InvalidInput(
        "the simulated medium has 833,333 or 1,250,000 samples a second for one channel and "
        f"5,000,000 for all, got {rate_hz:,.0f}."
    )
