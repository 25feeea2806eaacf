"""The nodes that transmit: the transmitter, the jammer and the noise source.

A node knows nothing of the others, and is the same on the simulated medium and on
hardware; only its radio differs. On hardware its radio is a `GuardedRadio`. The
receiving node is in `rx_agent.py`.

A packet's way through these nodes is in `network/hub.py`. In one process
(`testbed/closed_loop.py`) only `JammerNode.decide` is used: compiled code renders the
packet and the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.fft import next_fast_len

from ..backends.protocol import Radio
from ..signal.medium import CENTRES_HZ, in_channel, window_symbols
from ..signal.randomness import (
    complex_normals,
    key,
    normal,
    uniform,
)
from ..signal.waveform import STANDARD, PacketFormat, modulate
from .jamming import Strategy

JAMMER_STREAM = 2**40
"""Stands where a key has its trial number: the jammer has its own random numbers.

A jammer that is restarted makes the same choices again.
"""

NOISE_SYMBOLS = 50_000
"""Noise longer than this, 0.12 s, repeats itself."""

NOISE_STREAM, WANDER_STREAM = JAMMER_STREAM + 1, JAMMER_STREAM + 3
"""Likewise for the noise source, and for a transmitter whose level wanders."""


class TxNode:
    """The transmitter: sends the packet of a round in the channel that the ACK names.

    A repeated ACK gives no second packet.

    Parameters
    ----------
    radio : tuned and set by this node.
    format : the packets' layout.
    sps : samples to a symbol of the radio.
    centres_hz : of the channels, as the radio knows them.
    wander_db : standard deviation of the packets' level, in dB; 0 where the path adds
        the wander.
    headroom_db : all packets are sent this much weaker, and wander at most this far, so
        that none is stronger than the gain allows.
    seed : of the wander.
    """

    def __init__(
        self,
        radio: Radio,
        format: PacketFormat = STANDARD,
        sps: int = 2,
        centres_hz: Sequence[float] = CENTRES_HZ,
        *,
        wander_db: float = 0.0,
        headroom_db: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.radio, self.format, self.sps, self.centres_hz = radio, format, sps, centres_hz
        self.wander_db, self.headroom_db, self.seed = wander_db, headroom_db, seed
        self._last: tuple[int, int] | None = None

    def is_sent(self, round_number: int, attempt: int) -> bool:
        """Return whether that was the last packet sent."""
        return self._last == (round_number, attempt)

    def send(self, round_number: int, attempt: int, channel: int) -> None:
        """Send the packet of an attempt at a round, unless it was the last one sent."""
        if self.is_sent(round_number, attempt):
            return
        self.radio.tune(self.centres_hz[channel])
        self.radio.transmit(self.packet(round_number))
        self._last = (round_number, attempt)

    def packet(self, round_number: int) -> np.ndarray:
        """Return the samples of a round's packet."""
        wander = (
            self.wander_db * normal(key(self.seed, WANDER_STREAM, round_number))
            if self.wander_db
            else 0.0
        )
        level_db = min(max(wander, -self.headroom_db), self.headroom_db) - self.headroom_db
        return modulate(self.format.symbols(round_number), self.sps) * 10 ** (level_db / 20)


class JammerNode:
    """The jammer: covers a packet with noise or not, as its strategy says.

    It hears that a packet is on its way in a channel, and has its own random numbers.

    Parameters
    ----------
    strategy : which packets it hits; see `jamming`.
    seed : of its own random numbers. What it does in a round depends only on the seed,
        the round and the channel.
    power_db : the power at which it transmits in each channel, in dB.
    radio : None if compiled code renders the noise; it asks `decide`.
    sps : samples to a symbol of the radio.
    symbols : how long it jams; a packet's window by default.
    centres_hz : of the channels, as the radio knows them.

    Attributes
    ----------
    truth : for each round, whether it was jammed. For records; no receiver sees it.
    """

    def __init__(
        self,
        strategy: Strategy,
        seed: int,
        power_db: Sequence[float] = (0.0,) * len(CENTRES_HZ),
        radio: Radio | None = None,
        sps: int = 2,
        symbols: int | None = None,
        centres_hz: Sequence[float] = CENTRES_HZ,
    ) -> None:
        self.strategy, self.seed, self.power_db, self.radio, self.centres_hz = (
            strategy,
            seed,
            power_db,
            radio,
            centres_hz,
        )
        self.sps, self.symbols = sps, window_symbols(STANDARD) if symbols is None else symbols
        self.truth: dict[int, bool] = {}

    def decide(self, round_number: int, channel: int) -> bool:
        """Return whether it jams this packet, and remember it."""
        hit = self.strategy.hits(
            round_number, channel, uniform(key(self.seed, JAMMER_STREAM, round_number))
        )
        self.truth[round_number] = hit
        return hit

    def act(self, round_number: int, channel: int) -> bool:
        """Decide, and jam."""
        hit = self.decide(round_number, channel)
        if hit and self.radio is not None:
            self.radio.tune(self.centres_hz[channel])
            self.radio.set_gain(self.power_db[channel])
            self.radio.transmit(
                channel_noise(
                    key(self.seed, JAMMER_STREAM, round_number, 1), self.symbols, self.sps
                )
            )
        return hit


class NoiseNode:
    """The noise source: white noise over each packet, at the channel's level.

    The levels come from calibration. The simulated medium adds the noise by itself, and
    needs only the levels.

    Parameters
    ----------
    levels : linear power in each channel; 1 is full: as much in a packet's band as a
        packet has.
    seed : of its noise.
    radio : None on the simulated medium.
    sps : samples to a symbol of the radio.
    symbols : how long it covers a packet.
    centres_hz : of the channels, as the radio knows them.
    """

    def __init__(
        self,
        levels: Sequence[float],
        seed: int,
        radio: Radio | None = None,
        sps: int = 2,
        symbols: int = window_symbols(STANDARD),
        centres_hz: Sequence[float] = CENTRES_HZ,
    ) -> None:
        self.levels, self.seed, self.radio = tuple(float(level) for level in levels), seed, radio
        self.sps, self.symbols, self.centres_hz = sps, symbols, centres_hz

    def act(self, round_number: int, channel: int) -> None:
        """Cover the packet of a round, if its channel is to have noise."""
        if self.radio is not None and self.levels[channel]:
            self.radio.tune(self.centres_hz[channel])
            self.radio.transmit(
                math.sqrt(self.levels[channel])
                * channel_noise(key(self.seed, NOISE_STREAM, round_number), self.symbols, self.sps)
            )


def channel_noise(noise: np.uint64, symbols: int, sps: int) -> np.ndarray:
    """Return noise of unit variance in each sample of the channel, none outside it.

    A list of allowed bands may end at the channel's edge. Long noise repeats itself,
    without a seam, because on a busy computer it must not take longer to make than it
    lasts.
    """
    period = next_fast_len(min(symbols, NOISE_SYMBOLS))
    spectrum = np.fft.fft(complex_normals(noise, period * sps))
    once = np.fft.ifft(np.where(in_channel(period, sps), spectrum, 0))
    return np.resize(once, symbols * sps)
