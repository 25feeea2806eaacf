"""An independent receiver, liquid-dsp, demodulates our transmitter."""

import numpy as np
import pytest
from scipy.stats import norm

from ironarm.radio.signal.randomness import complex_normals, key, words
from ironarm.radio.signal.waveform import (
    bits_of,
    modulate,
    pulse_taps,
    qpsk,
)

liquid = pytest.importorskip(
    "liquid", reason="liquid-dsp is not installed; it comes with the extra 'dev'"
)
COUNT = 20_000


def bits_by_liquid(symbols):
    """Return the bits that liquid-dsp's modem reads, the real part's bit lowest."""
    modem = liquid.modem("qpsk")
    read = np.array([modem.demodulate(symbol) for symbol in symbols.astype(complex)])
    return np.stack([read & 1, read >> 1], axis=-1).ravel()


def aligned(received, sent):
    """Return the received symbols over their gain, and the symbols sent.

    They are aligned at the delay where both agree best. The first half, in which the
    loops settle, is left out.
    """
    received = received[len(received) // 2 :]
    spectrum = np.fft.fft(sent, 2 * len(sent)).conj()
    match = np.fft.ifft(np.fft.fft(received, 2 * len(sent)).conj() * spectrum.conj())
    shift = int(np.argmax(np.abs(match)))
    sent = sent[shift : shift + len(received)]
    received = received[: len(sent)]
    return received * np.vdot(received, sent) / np.vdot(received, received).real, sent


@pytest.mark.parametrize("sps", [2, 3])
def test_pulses_are_liquids(sps):
    """The taps agree to 1e-6, and symbols survive liquid's own filter 60 dB clean."""
    filter = liquid.firfilt("rrcos", k=sps, m=20, beta=0.2)
    taps = np.array(filter.coefficients)
    assert pulse_taps(sps) * np.sqrt(sps) == pytest.approx(taps, abs=1e-6)
    bits = (words(key(4), 800) >> np.uint64(50)) & np.uint64(1)
    symbols = qpsk(bits)
    samples = np.concatenate([modulate(symbols, sps), np.zeros(40 * sps)]).astype(np.complex64)
    received = np.asarray(filter.execute(samples))[40 * sps :: sps][: len(symbols)] / np.sqrt(sps)
    assert np.mean(np.abs(received - symbols) ** 2) < 1e-6
    assert np.array_equal(bits_by_liquid(received), bits)


@pytest.mark.parametrize("sinr_db", [10, 20, 28])
def test_liquid_demodulates_our_transmitter(sinr_db):
    """Its symbol tracker synchronises: bits as theory says, SINR within 1 dB.

    No bit is wrong from 20 dB on. At 10 dB there may be twice the theoretical rate, for
    the loops' own noise. It has an equaliser, so it does not test the pulse.
    """
    sent_bits = (words(key(6), 2 * COUNT) >> np.uint64(50)) & np.uint64(1)
    samples = modulate(qpsk(sent_bits), 3, 0.37)
    samples = samples * np.exp(2j * np.pi * 2e-4 * np.arange(len(samples))) + 10 ** (
        -sinr_db / 20
    ) * complex_normals(key(7), len(samples))
    tracker = liquid.symtrack(ftype="rrcos", k=3, m=24, beta=0.2, ms="qpsk")
    received, sent = aligned(tracker.execute(samples.astype(np.complex64)), qpsk(sent_bits))
    assert len(received) > COUNT / 3
    wrong = (bits_by_liquid(received) != bits_of(sent)).sum()
    assert wrong <= 2 * len(received) * 2 * norm.sf(np.sqrt(10 ** (sinr_db / 10))) + (
        5 if sinr_db < 20 else 0
    )
    gain = np.vdot(sent, received) / len(sent)
    assert -10 * np.log10(np.mean(np.abs(received / gain - sent) ** 2)) == pytest.approx(
        sinr_db, abs=1
    )
