"""From samples to a report: find a packet, synchronise, measure its SINR.

This is the reference in NumPy. It receives what nodes, radios and recordings give it.
`ironarm radio run` and `RadioBandit` use the same steps compiled, `receive_kernels.py`.

1. *Find.* Samples are correlated with one segment of the preamble; neighbouring
   segments are multiplied (one conjugated), so that a carrier offset only turns the
   product. Its largest magnitude is where the packet begins, its angle the carrier
   offset, up to +-13 kHz.
2. *Filter.* The samples are turned back by the carrier offset, and filtered with the
   pulse at the packet's own timing, between the samples if necessary.
3. *Refine.* With s the known symbols and s' the slope of the noiseless signal at the
   symbols, the filter's output is g (s + j dw n s + dt s') + noise, if the carrier is
   dw too low and the timing dt too late. All three come from least squares. Filter and
   refine again with the better timing and carrier: what is left then is noise.
4. *Measure.* EVM^2 = (sum of |residual|^2) / (N - 2) / |g|^2 over the N known symbols.
   Four real numbers were fitted (g is complex), hence N - 2. SINR = -20 log10(EVM).
5. *Judge.* If the known symbols explain too little of what was received, the SINR is
   below `detect_db`: no packet was found. That is an outcome of its own, `detected =
   False`, and its SINR is the configured floor. Noise alone passes with a probability
   far below 1e-12.

The measurement is *data-aided*: it compares with symbols that are known. A measurement
against the nearest constellation points instead flatters bad packets, because wrong
decisions look close. At 5 dB it reads 0.6 dB too much, and never less than about 3 dB
(`tests/radio/signal/test_receiver.py` has the formula).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...errors import InvalidInput
from .waveform import (
    HALF_SPAN,
    ROLL_OFF,
    SEGMENT,
    SEGMENT_SIGNS,
    STANDARD,
    SYMBOL_RATE,
    PacketFormat,
    modulate,
    preamble_segment,
    pulse_taps,
)

BLOCK = 32
"""Symbols whose phases are averaged before the carrier is refined.

Few enough for the offset that the preamble leaves.
"""

TAIL = 2
"""Symbols of a segment's pulses that the search keeps on each side."""

PASSES = 2


@dataclass(frozen=True)
class PacketReport:
    """The receiver's report on one packet.

    Attributes
    ----------
    detected : False if no packet was found; then `sinr_db` is the floor, and the rest
        has no meaning.
    sinr_db : the reward, data-aided, in dB.
    evm : root-mean-square error vector over the gain, 10^(-sinr_db / 20).
    cfo_hz : carrier offset, in Hz.
    timing : where the first symbol is, in symbols after the beginning of the samples.
    gain : complex gain of the path.
    crc_ok : whether the header's checksum is right.
    round : the round's number from the header (modulo 2^32), None if the checksum is
        wrong.
    symbols : the received symbols over the gain, if they were asked for.
    """

    detected: bool
    sinr_db: float
    evm: float
    cfo_hz: float = math.nan
    timing: float = math.nan
    gain: complex = complex(math.nan)
    crc_ok: bool = False
    round: int | None = None
    symbols: np.ndarray | None = None


@dataclass(frozen=True)
class Receiver:
    """A receiver for one channel, centred on 0 Hz.

    Parameters
    ----------
    format : the packet's layout.
    sps : samples to a symbol, 2 or 3.
    detect_db : a packet that reads less counts as missed, in dB.
    floor_db : the SINR that is reported for a missed packet, in dB.

    Examples
    --------
    >>> from ironarm.radio.signal.randomness import complex_normals, key
    >>> receiver = Receiver()
    >>> sent = np.exp(0.3j) * modulate(receiver.format.symbols(7), sps=2, delay=5.4)
    >>> report = receiver.receive(sent + 0.1 * complex_normals(key(1), len(sent)))
    >>> (
    ...     report.detected,
    ...     report.round,
    ...     round(report.sinr_db, 1),
    ...     round(report.timing, 2),
    ... )
    (True, 7, 19.7, 22.7)
    >>> receiver.receive(complex_normals(key(2), 1000)).detected
    False
    """

    format: PacketFormat = STANDARD
    sps: int = 2
    detect_db: float = -8.0
    floor_db: float = -20.0

    def __post_init__(self) -> None:
        if self.sps not in (2, 3):
            raise InvalidInput(
                f"sps must be 2 or 3 samples to a symbol, got {self.sps!r}; bring a wideband "
                "recording to one channel with medium.channelise first."
            )
        if not self.floor_db <= self.detect_db:
            raise InvalidInput(
                f"floor_db must not be above detect_db, {self.detect_db:g} dB, got "
                f"{self.floor_db:g}."
            )

    def receive(self, samples: np.ndarray, keep_symbols: bool = False) -> PacketReport:
        """Return the report on the strongest packet that lies fully in the samples."""
        missed = PacketReport(False, self.floor_db, 10 ** (-self.floor_db / 20))
        samples = np.asarray(samples)
        if self.places(len(samples)) < 1 or not np.isfinite(samples).all() or not samples.any():
            return missed
        begin, turn = self.find(samples)
        fit = design(self.format)
        for _ in range(PASSES):
            filtered = self.filtered(samples, begin, turn)
            shift = _carrier_of_blocks(filtered * fit.reference.conj())
            symbols = filtered * np.exp(-1j * shift * fit.places)
            gain, moved, left = _least_squares(symbols, fit)
            begin = float(
                np.clip(
                    begin - np.clip(moved[1], -0.5, 0.5) * self.sps,
                    HALF_SPAN * self.sps,
                    HALF_SPAN * self.sps + self.places(len(samples)),
                )
            )
            turn += (shift + moved[0]) / self.sps
            if not (gain and left > 0):
                return missed
        evm = math.sqrt(left / (self.format.known_count - 2))
        sinr_db = -20 * math.log10(evm)
        if not sinr_db >= self.detect_db:
            return missed
        symbols = symbols * np.exp(-1j * moved[0] * fit.places) / gain
        round_number, crc_ok = self.format.read_header(symbols)
        cfo = turn * self.sps * SYMBOL_RATE / (2 * math.pi)
        return PacketReport(
            True,
            sinr_db,
            evm,
            cfo,
            begin / self.sps,
            gain,
            crc_ok,
            round_number,
            symbols if keep_symbols else None,
        )

    def places(self, samples: int) -> int:
        """Return at how many samples a packet may begin and still lie fully in them."""
        return samples - (self.format.length - 1 + 2 * HALF_SPAN) * self.sps

    def find(self, samples: np.ndarray) -> tuple[float, float]:
        """Return the first symbol's place, in samples, and the carrier offset.

        The offset is in radians a sample.
        """
        sps, step = self.sps, SEGMENT * self.sps
        first, places = HALF_SPAN * sps, self.places(len(samples))
        template = segment_template(sps)
        start = first - TAIL * sps
        segment = np.correlate(
            samples[start : start + places + 3 * step + len(template) - 1], template, "valid"
        )
        products = np.zeros(places, dtype=complex)
        for k in range(3):
            products += (
                SEGMENT_SIGNS[k]
                * SEGMENT_SIGNS[k + 1]
                * segment[k * step : k * step + places].conj()
                * segment[(k + 1) * step : (k + 1) * step + places]
            )
        strength = np.abs(products)
        best = int(np.argmax(strength))
        offset = 0.0
        if 0 < best < places - 1:
            before, here, after = strength[best - 1 : best + 2]
            offset = (
                0.5 * (before - after) / (before - 2 * here + after)
                if before - 2 * here + after < 0
                else 0.0
            )
        return first + best + offset, float(np.angle(products[best])) / step

    def filtered(self, samples: np.ndarray, begin: float, turn: float) -> np.ndarray:
        """Undo the carrier offset, and return the pulse filter's output at the symbols.

        The first symbol is at `begin`.
        """
        sps = self.sps
        at = min(int(begin), HALF_SPAN * sps + self.places(len(samples)) - 1)
        part = samples[at - HALF_SPAN * sps : at + (self.format.length - 1 + HALF_SPAN) * sps + 1]
        part = part * np.exp(-1j * turn * (np.arange(len(part)) - HALF_SPAN * sps))
        return np.correlate(part, pulse_taps(sps, begin - at), "valid")[::sps]


def judged(receiver: Receiver, samples: np.ndarray, round_number: int) -> tuple[float, bool]:
    """Return the SINR of a round's packet in some samples, and whether it was missed.

    A packet whose header names another round counts as missed.
    """
    report = receiver.receive(samples)
    if not report.detected or (report.round is not None and report.round != round_number % 2**32):
        return receiver.floor_db, True
    return report.sinr_db, False


@lru_cache(maxsize=4)
def segment_template(sps: int) -> np.ndarray:
    """Return one segment of the preamble as samples, with TAIL symbols on each side."""
    whole = modulate(preamble_segment(), sps)
    return whole[(HALF_SPAN - TAIL) * sps : (HALF_SPAN + SEGMENT - 1 + TAIL) * sps + 1]


@dataclass(frozen=True, eq=False)
class Design:
    """What least squares needs, the same for every packet of a format.

    In the header, where no symbol is known, everything is 0.

    The four real unknowns are the real and imaginary parts of the gain's change, the
    carrier (radians a symbol) and the timing (symbols). Their columns are s, j s, j n
    s, s'.
    """

    reference: np.ndarray  # s
    places: np.ndarray  # n, counted from the middle of the known symbols
    slope: np.ndarray  # s'
    inverse: np.ndarray  # of the columns' 4 x 4 products


@lru_cache(maxsize=16)
def design(format: PacketFormat) -> Design:
    """Return the columns of least squares."""
    s = format.reference
    n = np.arange(format.length)
    places = n - n[format.known].mean()
    slope = np.where(
        format.known,
        np.convolve(s, raised_cosine_slope(np.arange(-HALF_SPAN, HALF_SPAN + 1)), "same"),
        0,
    )
    columns = np.stack([s, 1j * s, 1j * places * s, slope])
    return Design(s, places, slope, np.linalg.inv((columns.conj() @ columns.T).real))


def raised_cosine_slope(k: np.ndarray) -> np.ndarray:
    """Return the slope of the raised-cosine pulse at whole numbers of symbols.

    The raised-cosine pulse is the packet's pulse through its own filter.
    """
    k = np.asarray(k, dtype=float)
    safe = np.where(k == 0, 1.0, k)
    return np.where(
        k == 0,
        0.0,
        np.cos(np.pi * k) * np.cos(np.pi * ROLL_OFF * k) / (safe * (1 - (2 * ROLL_OFF * k) ** 2)),
    )


def _carrier_of_blocks(turned: np.ndarray) -> float:
    """Return how fast the phase of (received * conj(known)) moves, in radians a symbol.

    It compares the phases of neighbouring blocks.
    """
    whole = len(turned) // BLOCK
    blocks = turned[: whole * BLOCK].reshape(whole, BLOCK).sum(axis=1)
    return float(np.angle(np.vdot(blocks[:-1], blocks[1:]))) / BLOCK


def _least_squares(symbols: np.ndarray, fit: Design) -> tuple[complex, tuple[float, float], float]:
    """Return gain, changes of carrier and timing, and the sum of squares that is left.

    The sum is divided by the gain's square.
    """
    s = fit.reference
    known = float(np.vdot(s, s).real)
    rough = complex(np.vdot(s, symbols)) / known
    if rough == 0:
        return 0j, (0.0, 0.0), 0.0
    error = np.where(s != 0, symbols / rough - s, 0)
    along, across = complex(np.vdot(s, error)), complex(np.vdot(fit.places * s, error))
    right = np.array([along.real, along.imag, across.imag, np.vdot(fit.slope, error).real])
    change = fit.inverse @ right
    total = 1 + complex(change[0], change[1])
    left = float(np.vdot(error, error).real - right @ change)
    return rough * total, (float(change[2]), float(change[3])), left / abs(total) ** 2
