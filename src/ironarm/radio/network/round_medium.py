"""The simulated medium of one round, as the hub keeps it.

It collects what the nodes transmit in a round, and renders what the receiver hears.
Time is virtual: the round lasts until the next one begins, so a busy computer loses no
packets. The round's number keys its randomness (delay, carrier, wander, noise).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import InvalidInput
from ..signal.medium import CENTRES_HZ, Emission, Medium, channel_at
from ..signal.waveform import SYMBOL_RATE


@dataclass
class RoundMedium:
    """A medium, and what has been transmitted on it in the present round.

    Parameters
    ----------
    medium : noise, path gains, wander and seed.
    round_number : the present round.

    Examples
    --------
    >>> from ironarm.radio.signal.medium import Packet
    >>> from ironarm.radio.signal.receiver import Receiver
    >>> here = RoundMedium(Medium(noise=[1e-3] * 5, seed=2))
    >>> here.begin(3)
    >>> here.emit(Emission(Packet(here.medium.format.symbols(3)), channel=1))
    >>> report = Receiver().receive(here.hear(1200.5e6, 2 * SYMBOL_RATE, 900))
    >>> report.round, round(report.sinr_db)
    (3, 30)
    """

    medium: Medium
    round_number: int = 0
    emissions: list[Emission] = field(default_factory=list)

    def begin(self, round_number: int) -> None:
        """Begin a round, and forget what was transmitted in the last one."""
        self.round_number = round_number
        self.emissions.clear()

    def set_noise(self, levels: tuple[float, ...]) -> None:
        """Set the noise source's level in each channel."""
        self.medium = replace(self.medium, noise=levels)

    def emit(self, emission: Emission) -> None:
        """Transmit something.

        The transmitter's packet goes to the front of the list, because the medium gives
        the first emission the round's own path.
        """
        at = 0 if emission.emitter == "transmitter" else len(self.emissions)
        self.emissions.insert(at, emission)

    def silence(self, emitter: str) -> None:
        """Remove what an emitter has transmitted."""
        self.emissions[:] = [one for one in self.emissions if one.emitter != emitter]

    def hear(self, frequency_hz: float, rate_hz: float, count: int) -> np.ndarray:
        """Return `count` samples that a receiver hears in the channel there.

        The rate is 2 or 3 samples a symbol.
        """
        sps = samples_per_symbol(rate_hz)
        return self.medium.narrowband(
            channel_centred_at(frequency_hz),
            self.emissions,
            sps=sps,
            symbols=math.ceil(count / sps),
            round_number=self.round_number,
        )[:count]


def channel_centred_at(frequency_hz: float) -> int:
    """Return the channel whose centre is that frequency, or raise InvalidInput."""
    channel = channel_at(frequency_hz, within_hz=1.0)
    if channel is None:
        centres = ", ".join(f"{centre / 1e6:g}" for centre in CENTRES_HZ)
        raise InvalidInput(
            f"there is no channel at {frequency_hz / 1e6:g} MHz; the simulated medium has "
            f"channels at {centres} MHz."
        )
    return channel


def samples_per_symbol(rate_hz: float) -> int:
    """Return the samples per symbol at a sample rate, or raise InvalidInput."""
    for sps in (2, 3):
        if abs(rate_hz - sps * SYMBOL_RATE) < 1.0:
            return sps
    raise InvalidInput(
        f"the simulated medium takes 833,333 or 1,250,000 samples a second, got {rate_hz:,.0f}."
    )
