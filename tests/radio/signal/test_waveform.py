"""The packet is what its description says: bandwidth, energy, layout, checksum."""

import numpy as np
import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.signal.waveform import (
    HALF_SPAN,
    SYMBOL_RATE,
    PacketFormat,
    bits_of,
    modulate,
    preamble_segment,
    pulse_taps,
    qpsk,
    rrc,
)


def test_the_pulse_is_the_root_of_a_raised_cosine():
    """Values in the three limits, unit energy, and interference below -63 dB."""
    middle, corner = (
        1 - 0.2 + 0.8 / np.pi,
        0.2
        / np.sqrt(2)
        * ((1 + 2 / np.pi) * np.sin(np.pi / 0.8) + (1 - 2 / np.pi) * np.cos(np.pi / 0.8)),
    )
    assert rrc(np.array([0.0, 1.25, -1.25])) == pytest.approx([middle, corner, corner], abs=1e-6)
    for sps in (2, 3, 12):
        for delay in (0.0, 0.3, 0.9):
            taps = pulse_taps(sps, delay)
            through = np.correlate(taps, taps, "full")[len(taps) - 1 :: sps]
            assert through[0] == pytest.approx(1, abs=1e-4)
            assert 2 * np.sum(through[1:] ** 2) < 10**-6.3


def test_a_packet_occupies_one_channel():
    """99.99 % of the power within 500 kHz."""
    samples = modulate(PacketFormat().symbols(5), 12)
    power = np.abs(np.fft.fft(samples)) ** 2
    inside = np.abs(np.fft.fftfreq(len(samples), 1 / (12 * SYMBOL_RATE))) <= 250e3
    assert power[inside].sum() / power.sum() > 0.9999


def test_a_delay_moves_the_samples():
    """A whole delay is a shift; half a sample is what twice the rate shows between."""
    symbols = PacketFormat().symbols(1)
    assert np.allclose(modulate(symbols, 2, 3.0)[3:], modulate(symbols, 2))
    fine = modulate(symbols, 4)
    late = modulate(symbols, 2, 0.5)
    inner = slice(2 * HALF_SPAN, -2 * HALF_SPAN)
    assert np.abs(late[1:][inner] - np.sqrt(2) * fine[1::2][: len(late) - 1][inner]).max() < 2e-3


def test_header_and_layout():
    """Any round is read back; a wrong repeat is outvoted, a bad header refused."""
    format = PacketFormat(payload=100, header_repeats=3)
    assert (format.length, format.known_count, int(format.known.sum())) == (64 + 72 + 100, 164, 164)
    for number in (0, 1999, 2**32 - 1):
        symbols = format.symbols(number)
        assert np.allclose(np.abs(symbols), 1)
        assert format.read_header(symbols) == (number, True)
        symbols[64 : 64 + 24] *= -0.9
        assert format.read_header(symbols) == (number, True)
        symbols[70:130] *= -1
        assert format.read_header(symbols) == (None, False)


def test_symbols_and_bits():
    """Gray-coded bits come back; the preamble segment's shifts are orthogonal."""
    bits = np.random.default_rng(1).integers(0, 2, 200)
    assert np.array_equal(bits_of(qpsk(bits)), bits)
    segment = preamble_segment()
    assert max(abs(np.vdot(segment, np.roll(segment, k))) for k in range(1, 16)) < 1e-9


def test_bad_formats_are_refused():
    """Too short a payload, no header, one sample a symbol."""
    with pytest.raises(InvalidInput, match="payload"):
        PacketFormat(payload=3)
    with pytest.raises(InvalidInput, match="header_repeats"):
        PacketFormat(header_repeats=0)
    with pytest.raises(InvalidInput, match="sps"):
        modulate(np.ones(3), 1)
