"""The packet: QPSK symbols in root-raised-cosine pulses.

It has a preamble, a header with the round's number, and a known payload.

At 5e6/12 symbols a second and a roll-off of 0.2 a packet occupies (1 + 0.2) * 5e6/12 =
500 kHz, one channel. There are 12 samples to a symbol in the 5 MS/s view of all five
channels, 3 or 2 in a view of one channel.

    | preamble: 4 x 16 | header: 3 x 24 | payload: 256 |

The preamble repeats 16 symbols (a Frank sequence, whose shifts are orthogonal) with the
signs + + + -, so that the receiver finds it at any carrier offset, and at one place
only. The header holds the round's number (32 bits) and a checksum (16 bits), three
times, so that it can be read in most jammed packets too (95 % at 5 dB). All other
symbols are known to the receiver, which measures the SINR on them.

Powers: symbols have unit energy and so has the pulse. White noise of variance N0 for
each complex sample, whatever the sample rate, gives the SINR 1/N0.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ...errors import InvalidInput
from ...validation import whole
from .randomness import words

SYMBOL_RATE = 5e6 / 12
"""Symbols a second."""

ROLL_OFF = 0.2

HALF_SPAN = 20
"""Symbols on each side of a pulse's middle before it is cut off.

For this roll-off the cut leaves 64 to 68 dB of self-noise; 16 leaves 55 dB and 24, by
bad luck, 61.
"""

SEGMENT = 16
SEGMENT_SIGNS = (1, 1, 1, -1)
HEADER_BITS = 48


def rrc(t: np.ndarray) -> np.ndarray:
    """Return the root-raised-cosine pulse of unit energy at times t, in symbols.

    >>> rrc(np.array([0.0])).round(4).tolist()
    [1.0546]
    """
    t = np.asarray(t, dtype=float)
    a = ROLL_OFF
    # The middle, and the two points where the denominator vanishes, are limits. Beside
    # them the formula is accurate to 1e-7.
    t = np.where(np.abs(t) < 1e-8, 1e-8, t)
    t = np.where(np.abs(np.abs(t) - 1 / (4 * a)) < 1e-8, np.abs(t) + 2e-8, t)
    return (np.sin(np.pi * t * (1 - a)) + 4 * a * t * np.cos(np.pi * t * (1 + a))) / (
        np.pi * t * (1 - (4 * a * t) ** 2)
    )


def pulse_taps(sps: int, delay: float = 0.0) -> np.ndarray:
    """Return the pulse sampled `sps` times a symbol.

    There are 2 * HALF_SPAN * sps + 1 taps. The pulse's middle is `delay` samples (0 to
    1) after tap HALF_SPAN * sps.
    """
    t = (np.arange(2 * HALF_SPAN * sps + 1) - HALF_SPAN * sps - delay) / sps
    return np.where(np.abs(t) <= HALF_SPAN, rrc(t), 0.0) / np.sqrt(sps)


def modulate(symbols: np.ndarray, sps: int, delay: float = 0.0) -> np.ndarray:
    """Return the samples of symbols in pulses.

    The first symbol is HALF_SPAN * sps + delay samples after the beginning.

    Parameters
    ----------
    symbols : complex numbers of unit mean power.
    sps : samples to a symbol, >= 2.
    delay : in samples, >= 0; need not be whole.

    Examples
    --------
    >>> samples = modulate(PacketFormat().symbols(7), sps=2)
    >>> len(samples), round(float((abs(samples) ** 2).sum() / 392), 2)
    (863, 1.0)
    """
    if sps < 2:
        raise InvalidInput(
            f"sps must be a whole number of at least 2 samples to a symbol, got {sps}."
        )
    ahead = int(delay)
    taps = pulse_taps(sps, delay - ahead)
    # one phase of the samples at a time: the products with the zeros between the
    # symbols are left out
    count = len(symbols) + 2 * HALF_SPAN + 1
    out = np.zeros((count, sps), dtype=complex)
    for phase in range(sps):
        part = taps[phase::sps]
        out[: len(symbols) + len(part) - 1, phase] = np.convolve(symbols, part)
    samples = out.ravel()[: (len(symbols) - 1) * sps + len(taps)]
    return np.concatenate([np.zeros(ahead), samples]) if ahead else samples


def qpsk(bits: np.ndarray) -> np.ndarray:
    """Return one symbol for each two bits (Gray).

    The first bit decides the sign of the real part, the second that of the imaginary
    part.
    """
    pairs = 1.0 - 2.0 * np.asarray(bits, dtype=float).reshape(-1, 2)
    return (pairs[:, 0] + 1j * pairs[:, 1]) / np.sqrt(2)


def bits_of(symbols: np.ndarray) -> np.ndarray:
    """Return the two bits of each symbol, by the signs of its parts."""
    return np.stack([symbols.real < 0, symbols.imag < 0], axis=-1).astype(np.uint8).reshape(-1)


@dataclass(frozen=True)
class PacketFormat:
    """The layout of a packet; see the module's docstring.

    Parameters
    ----------
    payload : known symbols after the header, >= 16.
    header_repeats : how often the header is sent, >= 1.

    Examples
    --------
    >>> format = PacketFormat()
    >>> format.length, format.known_count
    (392, 320)
    >>> format.read_header(format.symbols(1999))
    (1999, True)
    """

    payload: int = 256
    header_repeats: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "payload", whole("payload", self.payload, at_least=16))
        object.__setattr__(
            self, "header_repeats", whole("header_repeats", self.header_repeats, at_least=1)
        )

    @property
    def length(self) -> int:
        """Symbols in a packet."""
        return 4 * SEGMENT + self.header_symbols + self.payload

    @property
    def header_symbols(self) -> int:
        """Symbols in the header."""
        return self.header_repeats * HEADER_BITS // 2

    @property
    def known_count(self) -> int:
        """Symbols that the receiver knows, N: preamble and payload."""
        return 4 * SEGMENT + self.payload

    @cached_property
    def reference(self) -> np.ndarray:
        """The known symbols, and 0 for the symbols of the header."""
        payload = qpsk(
            (
                words(np.uint64(2020), self.payload)[:, None] >> np.array([40, 41], np.uint64)
                & np.uint64(1)
            ).ravel()
        )
        reference = np.concatenate([preamble(), np.zeros(self.header_symbols), payload])
        reference.flags.writeable = False
        return reference

    @cached_property
    def known(self) -> np.ndarray:
        """True where the receiver knows the symbol."""
        return self.reference != 0

    def symbols(self, round_number: int) -> np.ndarray:
        """Return the symbols of the packet of a round (its number modulo 2^32)."""
        symbols = self.reference.copy()
        symbols[~self.known] = np.tile(qpsk(_header_bits(round_number)), self.header_repeats)
        return symbols

    def read_header(self, symbols: np.ndarray) -> tuple[int | None, bool]:
        """Return the round's number and whether the checksum is right.

        The number is None if the checksum is wrong.
        """
        sent = (
            symbols[4 * SEGMENT : 4 * SEGMENT + self.header_symbols]
            .reshape(self.header_repeats, -1)
            .sum(axis=0)
        )
        data = np.packbits(bits_of(sent)).tobytes()
        right = binascii.crc_hqx(data[:4], 0xFFFF) == int.from_bytes(data[4:], "big")
        return (int.from_bytes(data[:4], "big") if right else None), right


STANDARD = PacketFormat()


@lru_cache(maxsize=1)
def preamble() -> np.ndarray:
    """Return the 64 symbols of the preamble."""
    return np.concatenate([sign * preamble_segment() for sign in SEGMENT_SIGNS])


def preamble_segment() -> np.ndarray:
    """Return the 16 symbols that the preamble repeats.

    They are the Frank sequence exp(2 pi i p q / 4), turned onto the QPSK points.
    """
    p, q = np.divmod(np.arange(SEGMENT), 4)
    points: np.ndarray = np.exp(2j * np.pi * (p * q / 4 + 1 / 8))
    return points


def _header_bits(round_number: int) -> np.ndarray:
    data = (int(round_number) % 2**32).to_bytes(4, "big")
    return np.unpackbits(
        np.frombuffer(data + binascii.crc_hqx(data, 0xFFFF).to_bytes(2, "big"), np.uint8)
    )
