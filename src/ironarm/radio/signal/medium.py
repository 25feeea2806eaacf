"""What is on the air: emitters in five channels, paths to the receiver, and noise.

This is the reference in NumPy. Nodes that are processes, virtual radios, recordings and
figures use it. `ironarm radio run` and `RadioBandit` render the same packets in
compiled code, `kernels.py`; see `testbed/closed_loop.py` for a packet's way there.

Five contiguous channels of 500 kHz are centred at 1200.0, 1200.5, ... 1202.0 MHz. There
are two views of them:

* *narrowband*: one channel at 2 or 3 samples a symbol, as a receiver tuned to it sees
  it through an ideal channel filter. What other channels carry is not in it.
* *wideband*: all five at 5 MS/s, 12 samples a symbol, centred at 1201 MHz; `channelise`
  takes one channel out of it, at 3 samples a symbol.

An `Emission` is something that an emitter sends in a channel: a packet, noise, or any
samples. The medium gives it the emitter's path gain; a packet also gets its own delay,
carrier offset, phase and *level wander*, a normal number of decibels, new for each
packet. Wander is why the rewards spread by 1 dB: 320 known symbols measure the SINR to
0.25 dB.

Powers are relative to a packet's: with all gains at 0 dB, a channel with noise N0 has
the SINR 1/N0. Noise comes from the receiver's own floor, everywhere, and from a noise
source with a level for each channel.

All randomness is keyed by (seed, trial, round, purpose): a round doesn't depend on what
else is rendered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import InvalidInput
from ...validation import number
from .randomness import (
    CARRIER,
    DELAY,
    EMITTER,
    JAM,
    NOISE,
    PHASE,
    WANDER,
    complex_normals,
    fold,
    key,
    normal,
    uniform,
)
from .waveform import (
    HALF_SPAN,
    STANDARD,
    SYMBOL_RATE,
    PacketFormat,
    modulate,
)

CENTRES_HZ = (1200.0e6, 1200.5e6, 1201.0e6, 1201.5e6, 1202.0e6)
MIDDLE_HZ = 1201.0e6
WIDTH_HZ = 500e3
WIDE_SPS = 12
WIDE_RATE = WIDE_SPS * SYMBOL_RATE
"""5 MS/s."""

DELAY_SYMBOLS = 16
"""The largest delay of a packet; delays are uniform."""

CARRIER_HZ = 4800.0
"""The largest carrier offset: 2 ppm at each end, at 1.2 GHz. Offsets are uniform."""


ON_CENTRE_HZ = 1000.0
"""A device is in a channel if it is tuned to its centre within this."""


def channel_at(frequency_hz: float, within_hz: float = ON_CENTRE_HZ) -> int | None:
    """Return the channel whose centre that is, None between the channels."""
    for channel, centre in enumerate(CENTRES_HZ):
        if abs(frequency_hz - centre) <= within_hz:
            return channel
    return None


def window_symbols(format: PacketFormat) -> int:
    """Return how many symbols the receiver listens for one packet.

    It is a multiple of 10, so that channels lie on whole FFT bins.
    """
    return -(-(format.length + 2 * HALF_SPAN + DELAY_SYMBOLS) // 10) * 10


@dataclass(frozen=True)
class Packet:
    """A packet as symbols; it is shaped at whatever delay the path has."""

    symbols: np.ndarray

    def render(self, sps: int, delay: float, key: np.uint64) -> np.ndarray:
        """Return the samples, `delay` samples late."""
        return modulate(self.symbols, sps, delay)


@dataclass(frozen=True)
class Noise:
    """A burst of white Gaussian noise, as a jammer or a noise source sends it.

    It is `symbols` long, with unit variance for each sample of the channel.
    """

    symbols: int

    def render(self, sps: int, delay: float, key: np.uint64) -> np.ndarray:
        """Return the samples; `delay` is rounded to whole samples."""
        return np.concatenate([np.zeros(round(delay)), complex_normals(key, self.symbols * sps)])


@dataclass(frozen=True)
class Samples:
    """Any baseband samples at `sps` a symbol, for example those a radio transmits."""

    samples: np.ndarray
    sps: int

    def __post_init__(self) -> None:
        # one bad sample would spoil all samples, through the spectrum
        if not np.isfinite(self.samples).all():
            raise InvalidInput(
                "a burst must have finite samples, got "
                f"{np.count_nonzero(~np.isfinite(self.samples))} of {len(self.samples)} that are "
                "not; nothing was sent."
            )

    def render(self, sps: int, delay: float, key: np.uint64) -> np.ndarray:
        """Return the samples at another rate and delay, through their spectrum."""
        if sps == self.sps and not delay:
            return self.samples
        count = -(-(len(self.samples) + 2) // self.sps) + math.ceil(delay / sps)
        padded = np.zeros(count * self.sps, dtype=complex)
        padded[: len(self.samples)] = self.samples
        late = np.exp(-2j * np.pi * np.fft.fftfreq(len(padded)) * delay * self.sps / sps)
        # a pulse of unit energy has samples that shrink as the square root of the rate
        return resampled(np.fft.fft(padded) * late, count * sps) * math.sqrt(self.sps / sps)


@dataclass(frozen=True)
class Emission:
    """Something that an emitter sends.

    Parameters
    ----------
    signal : a `Packet`, `Noise` or `Samples`.
    channel : 0 to 4.
    emitter : whose path gains apply, for example "transmitter" or "jammer".
    power_db : how much is sent, relative to a packet of unit power, in dB.
    start : symbols after the beginning of what the receiver listens to.
    moving : whether the path adds a delay, a carrier offset, a phase and wander of its
        own, as for packets.
    """

    signal: Packet | Noise | Samples
    channel: int
    emitter: str = "transmitter"
    power_db: float = 0.0
    start: float = 0.0
    moving: bool = True


@dataclass(frozen=True)
class Path:
    """How one packet arrives.

    Delay in symbols, carrier offset in Hz, phase in turns, level wander in dB.
    """

    delay: float = 0.0
    cfo_hz: float = 0.0
    phase: float = 0.0
    wander_db: float = 0.0


def path_of(packet: np.uint64, wander_db: float) -> Path:
    """Return the path of the packet with that key.

    `wander_db` is the standard deviation of its level.
    """
    return Path(
        delay=DELAY_SYMBOLS * uniform(fold(packet, DELAY)),
        cfo_hz=CARRIER_HZ * (2 * uniform(fold(packet, CARRIER)) - 1),
        phase=uniform(fold(packet, PHASE)),
        wander_db=wander_db * normal(fold(packet, WANDER)),
    )


@dataclass(frozen=True)
class Medium:
    """Five channels between emitters and a receiver; see the module's docstring.

    Parameters
    ----------
    noise : level of the noise source in each channel, as N0 for a packet of unit
        energy.
    floor : N0 of the receiver itself, in all channels.
    gains_db : for each emitter ("transmitter", "noise", "jammer", ...) the path's power
        gain in each channel, in dB; 0 for those that are not named.
    wander_db : standard deviation of the packets' level, in dB.
    seed : of all randomness.
    format : the packets' layout; it decides how long the receiver listens.

    Examples
    --------
    >>> from ironarm.radio.signal.receiver import Receiver
    >>> medium = Medium(
    ...     noise=[10 ** (-sinr / 10) for sinr in (41, 37, 35, 31, 28)], seed=1
    ... )
    >>> packet = Emission(Packet(medium.format.symbols(12)), channel=2)
    >>> report = Receiver().receive(medium.narrowband(2, [packet], round_number=12))
    >>> report.round, round(report.sinr_db)
    (12, 35)
    >>> jam = Emission(
    ...     Noise(450), channel=2, emitter="jammer", power_db=-7.5, moving=False
    ... )
    >>> round(
    ...     Receiver()
    ...     .receive(medium.narrowband(2, [packet, jam], round_number=12))
    ...     .sinr_db,
    ...     1,
    ... )
    7.7
    """

    noise: Sequence[float]
    floor: float = 0.0
    gains_db: Mapping[str, Sequence[float]] = field(default_factory=dict)
    wander_db: float = 0.0
    seed: int = 0
    format: PacketFormat = STANDARD

    def __post_init__(self) -> None:
        for name, levels in (
            ("noise", self.noise),
            *((f"gains_db[{emitter!r}]", gains) for emitter, gains in self.gains_db.items()),
        ):
            if len(levels) != len(CENTRES_HZ):
                raise InvalidInput(
                    f"{name} must have one number for each of the {len(CENTRES_HZ)} channels, got "
                    f"{len(levels)}."
                )
        for level in (*self.noise, self.floor):
            number("a noise level", level, at_least=0)
        number("wander_db", self.wander_db, at_least=0)

    def gain(self, emitter: str, channel: int) -> float:
        """Return the amplitude gain of an emitter's path in a channel."""
        return (
            float(10 ** (self.gains_db[emitter][channel] / 20)) if emitter in self.gains_db else 1.0
        )

    def n0(self, channel: int) -> float:
        """Return the noise that arrives in a channel, for each complex sample."""
        return self.floor + self.noise[channel] * self.gain("noise", channel) ** 2

    def path(self, trial: int, round_number: int) -> Path:
        """Return how the packet of a round arrives."""
        return path_of(key(self.seed, trial, round_number), self.wander_db)

    def narrowband(
        self,
        channel: int,
        emissions: Sequence[Emission],
        *,
        sps: int = 2,
        symbols: int | None = None,
        trial: int = 0,
        round_number: int = 0,
    ) -> np.ndarray:
        """Return what a receiver hears in a channel, at `sps` samples a symbol.

        `symbols` is how long it listens; None for a packet's window.

        The first emission gets the round's own path (`path`), so it should be the
        packet. Each of the others has its own, by its place in the list.
        """
        count = (window_symbols(self.format) if symbols is None else symbols) * sps
        packet = key(self.seed, trial, round_number)
        heard = math.sqrt(self.n0(channel)) * complex_normals(fold(packet, NOISE), count)
        for place, emission in enumerate(emissions):
            if emission.channel == channel:
                _add(heard, *self._arriving(emission, place, packet, sps))
        return heard

    def wideband(
        self,
        emissions: Sequence[Emission],
        *,
        symbols: int | None = None,
        trial: int = 0,
        round_number: int = 0,
    ) -> np.ndarray:
        """Return what a receiver hears of all channels at 5 MS/s.

        `symbols` must be a multiple of 10.
        """
        symbols = window_symbols(self.format) if symbols is None else symbols
        if symbols < 10 or symbols % 10:
            raise InvalidInput(
                "symbols must be a multiple of 10, so that channels lie on whole FFT bins, got "
                f"{symbols}."
            )
        packet = key(self.seed, trial, round_number)
        count = symbols * WIDE_SPS
        heard = np.fft.ifft(
            np.sqrt(self.noise_in_bins(symbols)) * complex_normals(fold(packet, NOISE), count),
            norm="ortho",
        )
        for place, emission in enumerate(emissions):
            samples, start = self._arriving(emission, place, packet, 3)
            padded = np.concatenate([samples, np.zeros(-len(samples) % 30)])
            spectrum = np.fft.fft(padded)
            if not isinstance(emission.signal, Packet):
                spectrum[~in_channel(len(padded) // 3, 3)] = 0
            at = 4 * start
            # the square root of 3/12: unit energy at the higher rate
            raised = resampled(spectrum, 4 * len(padded)) * 0.5
            _add(heard, raised * carrier(emission.channel, at, len(raised)), at)
        return heard

    def _arriving(
        self, emission: Emission, place: int, packet: np.uint64, sps: int
    ) -> tuple[np.ndarray, int]:
        """Return an emission's samples at the receiver, and their first place."""
        # the first emission has the round's own path, which `path` returns
        own = packet if place == 0 else fold(packet, EMITTER + place)
        path = path_of(own, self.wander_db) if emission.moving else Path()
        late = emission.start * sps + path.delay * sps
        samples = emission.signal.render(sps, late - math.floor(late), fold(own, JAM))
        amplitude = self.gain(emission.emitter, emission.channel) * 10 ** (
            (emission.power_db + path.wander_db) / 20
        )
        turns = path.phase + path.cfo_hz / (SYMBOL_RATE * sps) * np.arange(len(samples))
        return amplitude * samples * np.exp(2j * np.pi * turns), math.floor(late)

    def noise_in_bins(self, symbols: int) -> np.ndarray:
        """Return the noise's variance in each FFT bin of a wideband window.

        Bins outside all channels have the receiver's own noise.
        """
        variance = np.full(symbols * WIDE_SPS, self.floor)
        inside = np.flatnonzero(in_channel(symbols, WIDE_SPS))
        for channel in range(len(CENTRES_HZ)):
            variance[(inside + channel_bin(channel, symbols)) % len(variance)] = self.n0(channel)
        return variance


def channelise(samples: np.ndarray, channel: int) -> np.ndarray:
    """Return one channel of a wideband recording, centred at 0 Hz, 3 samples a symbol.

    The recording's length must be a multiple of 120 samples.
    """
    if len(samples) % 120:
        raise InvalidInput(
            "a wideband recording must be a multiple of 120 samples long to be channelised, got "
            f"{len(samples)}."
        )
    symbols = len(samples) // WIDE_SPS
    spectrum = np.roll(np.fft.fft(samples), -channel_bin(channel, symbols))
    return resampled(spectrum, 3 * symbols) * 2.0  # unit energy at the lower rate


def channel_bin(channel: int, symbols: int) -> int:
    """Return the FFT bin of a channel's centre in a wideband window."""
    return round((CENTRES_HZ[channel] - MIDDLE_HZ) / SYMBOL_RATE * symbols)


def carrier(channel: int, start: int, count: int) -> np.ndarray:
    """Return the carrier that moves a channel to its place in the wideband view.

    Its first number belongs to sample `start`.
    """
    # channels are a tenth of the rate apart
    cycle = np.exp(2j * np.pi * (CENTRES_HZ[channel] - MIDDLE_HZ) / WIDE_RATE * np.arange(10))
    return np.resize(np.roll(cycle, -start), count)


def resampled(spectrum: np.ndarray, count: int) -> np.ndarray:
    """Return `count` samples of a spectrum, which is cut or padded in the middle."""
    kept = min(len(spectrum), count)
    changed = np.zeros(count, dtype=complex)
    half = (kept + 1) // 2
    changed[:half] = spectrum[:half]
    changed[count - (kept - half) :] = spectrum[len(spectrum) - (kept - half) :]
    return np.fft.ifft(changed) * (count / len(spectrum))


def in_channel(symbols: int, sps: int) -> np.ndarray:
    """Return which FFT bins lie within the half-width of a channel around 0 Hz."""
    bins = np.abs(np.fft.fftfreq(symbols * sps, 1 / (symbols * sps)))
    return bins <= WIDTH_HZ / SYMBOL_RATE / 2 * symbols  # type: ignore[no-any-return]


def _add(heard: np.ndarray, samples: np.ndarray, start: int) -> None:
    """Add samples to what is heard, from `start` on; drop those beyond the end."""
    begin, end = max(start, 0), min(start + len(samples), len(heard))
    if begin < end:
        heard[begin:end] += samples[begin - start : end - start]
