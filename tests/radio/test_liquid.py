"""An independent receiver, liquid-dsp's symbol tracker, demodulates our transmitter."""

import numpy as np
import pytest
from scipy.stats import norm

from ironarm.radio.randomness import complex_normals, key, words
from ironarm.radio.waveform import modulate, qpsk

liquid = pytest.importorskip("liquid", reason="liquid-dsp is not installed; it comes with the extra 'dev'")
COUNT = 20_000


def aligned(received, sent):
    """Return the received symbols over their gain and the symbols sent, at the delay where both agree best; the first half, in which the loops settle, is left out."""
    received = received[len(received) // 2 :]
    spectrum = np.fft.fft(sent, 2 * len(sent)).conj()
    match = np.fft.ifft(np.fft.fft(received, 2 * len(sent)).conj() * spectrum.conj())
    shift = int(np.argmax(np.abs(match)))
    sent = sent[shift : shift + len(received)]
    received = received[: len(sent)]
    return received * np.vdot(received, sent) / np.vdot(received, received).real, sent


@pytest.mark.parametrize("sinr_db", [10, 20, 28])
def test_liquid_demodulates_our_transmitter(sinr_db):
    """Bits as theory says (none wrong from 20 dB on; at 10 dB at most twice the theoretical rate, for its loops' own noise), SINR within 1 dB."""
    bits = (words(key(6), 2 * COUNT) >> np.uint64(50)) & np.uint64(1)
    sent = qpsk(bits)
    samples = modulate(sent, 3, 0.37)
    samples = samples * np.exp(2j * np.pi * 2e-4 * np.arange(len(samples))) + 10 ** (-sinr_db / 20) * complex_normals(key(7), len(samples))
    tracker = liquid.symtrack(ftype="rrcos", k=3, m=24, beta=0.2, ms="qpsk")
    received, sent = aligned(tracker.execute(samples.astype(np.complex64)), sent)
    assert len(received) > COUNT / 3
    errors = np.sum((np.sign(received.real) != np.sign(sent.real)) | (np.sign(received.imag) != np.sign(sent.imag)))
    assert errors <= 2 * len(received) * 2 * norm.sf(np.sqrt(10 ** (sinr_db / 10))) + (5 if sinr_db < 20 else 0)
    gain = np.vdot(sent, received) / len(sent)
    measured = -10 * np.log10(np.mean(np.abs(received / gain - sent) ** 2))
    assert measured == pytest.approx(sinr_db, abs=1)
