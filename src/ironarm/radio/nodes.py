"""The testbed's nodes that transmit: a transmitter that obeys, a jammer, a noise source. Each knows nothing of the others; the receiver that decides is in `rx_agent`.

A node is the same on the simulated medium, in one process or in several, and on hardware; only its radio differs. What a node transmits on hardware goes through a `GuardedRadio`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .jamming import Strategy
from .medium import CENTRES_HZ, WIDE_SPS, channel_bin, in_channel, window_symbols
from .radio import Radio
from .randomness import complex_normals, key, uniform
from .waveform import STANDARD, PacketFormat, modulate

JAMMER_STREAM = 2**40
"""In a packet's place of a trial's number: the jammer's random numbers are its own, and a jammer that comes back makes the same choices."""


class TxNode:
    """The transmitter: sends the packet of a round in the channel that the ACK names. The same ACK twice is one packet.

    Parameters
    ----------
    radio : tuned and set by this node.
    format : the packets' layout.
    sps : samples to a symbol of the radio.
    """

    def __init__(self, radio: Radio, format: PacketFormat = STANDARD, sps: int = 2) -> None:
        self.radio, self.format, self.sps = radio, format, sps
        self.packets = 0
        self._last: tuple[int, int] | None = None

    def is_sent(self, round_number: int, attempt: int) -> bool:
        """Return whether the last packet was that one."""
        return self._last == (round_number, attempt)

    def send(self, round_number: int, attempt: int, channel: int) -> None:
        """Send the packet of an attempt at a round, unless that is what was sent last."""
        if self.is_sent(round_number, attempt):
            return
        self.radio.tune(CENTRES_HZ[channel])
        self.radio.transmit(modulate(self.format.symbols(round_number), self.sps))
        self._last = (round_number, attempt)
        self.packets += 1


class JammerNode:
    """The jammer: hears that a packet is on its way in a channel, and covers it with noise or not, by its strategy and its own random numbers.

    Parameters
    ----------
    strategy : which packets it hits; see `jamming`.
    seed : of its own stream. What it does in a round depends on the seed, the round and the channel only.
    power_db : the power at which it transmits in each channel, in dB.
    radio : None if somebody else renders the noise, who asks `decide`.
    sps : samples to a symbol of the radio.
    symbols : how long it jams; a packet's window by default.

    Attributes
    ----------
    truth : for each round, whether it was jammed. It is for records; no receiver sees it.
    """

    def __init__(
        self, strategy: Strategy, seed: int, power_db: Sequence[float] = (0.0,) * len(CENTRES_HZ), radio: Radio | None = None, sps: int = 2, symbols: int | None = None
    ) -> None:
        self.strategy, self.seed, self.power_db, self.radio = strategy, seed, power_db, radio
        self.samples = (window_symbols(STANDARD) if symbols is None else symbols) * sps
        self.truth: dict[int, bool] = {}

    def decide(self, round_number: int, channel: int) -> bool:
        """Return whether it jams this packet, and remember it."""
        hit = self.strategy.hits(round_number, channel, uniform(key(self.seed, JAMMER_STREAM, round_number)))
        self.truth[round_number] = hit
        return hit

    def act(self, round_number: int, channel: int) -> bool:
        """Decide, and jam."""
        hit = self.decide(round_number, channel)
        if hit and self.radio is not None:
            self.radio.tune(CENTRES_HZ[channel])
            self.radio.set_gain(self.power_db[channel])
            self.radio.transmit(complex_normals(key(self.seed, JAMMER_STREAM, round_number, 1), self.samples))
        return hit


class NoiseNode:
    """The noise source: white noise in each channel, at a level of its own, as calibration found them.

    Parameters
    ----------
    levels : linear power in each channel, relative to the source's full level.
    seed : of its noise.
    """

    def __init__(self, levels: Sequence[float], seed: int) -> None:
        self.levels, self.seed = tuple(float(level) for level in levels), seed
        self._bursts = 0

    def samples(self, symbols: int = 4500) -> np.ndarray:
        """Return the next burst for a radio at 5 MS/s in the middle of all channels; `symbols` must be a multiple of 10."""
        spectrum = np.zeros(symbols * WIDE_SPS)
        inside = np.flatnonzero(in_channel(symbols, WIDE_SPS))
        for channel, level in enumerate(self.levels):
            spectrum[(inside + channel_bin(channel, symbols)) % len(spectrum)] = math.sqrt(level)
        self._bursts += 1
        return np.fft.ifft(spectrum * complex_normals(key(self.seed, JAMMER_STREAM + 1, self._bursts), len(spectrum)), norm="ortho")

    def transmit(self, radio: Radio) -> None:
        """Send the next burst."""
        radio.transmit(self.samples())
