"""The medium as a stream: bursts go in, receivers take block after block out.

The count of samples is the clock.

`Medium` renders one window for one round. Radios know no rounds: they send at any time,
and hear without end. `StreamingMedium` puts both together. A burst begins with the next
block that is rendered. What a device sends before its last samples are over continues
its burst: a busy computer may hand over a burst in parts. Each of the transmitter's
bursts gets a path of its own, as packets do in `Medium`; others arrive unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import InvalidInput
from ..signal.medium import (
    CENTRES_HZ,
    DELAY_SYMBOLS,
    Emission,
    Medium,
    Samples,
    channel_at,
)
from ..signal.waveform import SYMBOL_RATE

SPS = 3
RATE_HZ = SPS * SYMBOL_RATE
"""1.25 MS/s."""

BLOCK = 1020
"""Samples that are rendered at a time: 0.8 ms."""

LONGEST_BURST = 1 << 18
"""Samples of the transmitter with one path, 0.2 s; what follows gets another."""

FULL_SCALE = 2.0
"""What a device's largest sample, 1, is on the air.

A packet of unit power has peaks of 1.04, and a device should not be driven beyond 0.5
to 0.7.
"""


@dataclass(frozen=True)
class Arrival:
    """What arrives of a device's burst: its channel, first sample and samples."""

    channel: int
    start: int
    samples: np.ndarray


@dataclass
class Sent:
    """A device's last burst: its number, channel, first sample and samples."""

    number: int = 0
    channel: int | None = None
    start: int = 0
    samples: np.ndarray = field(default_factory=lambda: np.empty(0))
    arrival: Arrival | None = None

    @property
    def end(self) -> int:
        """The first sample after it."""
        return self.start + len(self.samples)


class StreamingMedium:
    """What is between radios; not safe for several threads.

    Parameters
    ----------
    medium : noise, gains and wander.
    devices : the devices' names, which are also those of the medium's emitters.

    Examples
    --------
    >>> from ironarm.radio.signal.receiver import Receiver
    >>> from ironarm.radio.signal.waveform import modulate
    >>> stream = StreamingMedium(
    ...     Medium(noise=[1e-3] * 5), devices=["transmitter", "receiver"]
    ... )
    >>> stream.send(
    ...     "transmitter",
    ...     1200e6,
    ...     modulate(stream.medium.format.symbols(7), SPS) / FULL_SCALE,
    ... )
    >>> heard = []
    >>> for _ in range(3):
    ...     heard.append(stream.hear("receiver", 1200e6))
    ...     stream.advance()
    >>> report = Receiver(sps=SPS).receive(np.concatenate(heard))
    >>> report.round, round(report.sinr_db)
    (7, 30)
    """

    def __init__(self, medium: Medium, devices: Sequence[str]) -> None:
        if len(set(devices)) != len(devices) or not all(devices):
            raise InvalidInput(
                f"each device must have a name of its own, got {', '.join(map(repr, devices))}."
            )
        self.medium, self.devices = medium, tuple(devices)
        self.clock = 0
        """Samples rendered so far."""
        self.arrivals: list[Arrival] = []
        self._silent = replace(medium, noise=(0.0,) * len(CENTRES_HZ), floor=0.0)
        self._floor_only = replace(medium, noise=(0.0,) * len(CENTRES_HZ))
        self._sent = {device: Sent() for device in devices}

    def send(self, device: str, frequency_hz: float, samples: np.ndarray) -> None:
        """Put a device's burst on the air, from the next block on, or the rest of one.

        Away from the channels' centres nobody hears it.
        """
        channel, moving, last = (
            channel_at(frequency_hz),
            device == "transmitter",
            self._sent[device],
        )
        number, start = last.number + 1, max(self.clock, last.end)
        if (
            moving
            and channel == last.channel
            and last.end > self.clock
            and len(last.samples) + len(samples) <= LONGEST_BURST
        ):
            # rendered anew as one burst: a seam in a packet would spoil it
            self.arrivals = [one for one in self.arrivals if one is not last.arrival]
            number, start = last.number, last.start
            samples = np.concatenate([last.samples, samples])
        arrival = None
        if channel is not None:
            emission = Emission(
                Samples(FULL_SCALE * samples, SPS), channel, emitter=device, moving=moving
            )
            # keyed by the device and the number of its burst, so that the same run
            # gives the same paths
            arriving = self._silent.narrowband(
                channel,
                [emission],
                sps=SPS,
                symbols=len(samples) // SPS + DELAY_SYMBOLS + 2,
                trial=self.devices.index(device),
                round_number=number,
            )
            arrival = Arrival(channel, start, arriving)
            self.arrivals.append(arrival)
        self._sent[device] = Sent(number, channel, start, samples, arrival)

    def hear(self, device: str, frequency_hz: float) -> np.ndarray:
        """Return the block that a device hears now.

        Away from the channels' centres that is only the receiver's own noise.
        """
        channel = channel_at(frequency_hz)
        medium = self._floor_only if channel is None else self.medium
        heard = medium.narrowband(
            channel or 0,
            [],
            sps=SPS,
            symbols=BLOCK // SPS,
            trial=self.devices.index(device),
            round_number=self.clock // BLOCK,
        )
        for arrival in self.arrivals:
            begin, end = (
                max(arrival.start, self.clock),
                min(arrival.start + len(arrival.samples), self.clock + BLOCK),
            )
            if arrival.channel == channel and begin < end:
                heard[begin - self.clock : end - self.clock] += arrival.samples[
                    begin - arrival.start : end - arrival.start
                ]
        return (heard / FULL_SCALE).astype(np.complex64)

    def advance(self) -> None:
        """Go on to the next block."""
        self.clock += BLOCK
        self.arrivals = [
            arrival
            for arrival in self.arrivals
            if arrival.start + len(arrival.samples) > self.clock
        ]

    def waiting(self, device: str) -> int:
        """Return how many samples of a device are still to be sent."""
        return max(0, self._sent[device].end - self.clock)
