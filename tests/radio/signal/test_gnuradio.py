"""GNU Radio's own blocks, under the system's Python, demodulate our transmitter."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from ironarm.radio.signal.randomness import complex_normals, key, words
from ironarm.radio.signal.waveform import bits_of, modulate, qpsk

SYSTEM_PYTHON = "/usr/bin/python3"
SCRIPT = Path(__file__).parent / "gnuradio" / "receive.py"
COUNT = 60_000
SPS = 3


def system_python(*arguments):
    """Run the system's Python without anything of this environment."""
    return subprocess.run(
        [SYSTEM_PYTHON, *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module", autouse=True)
def gnuradio():
    if (
        not Path(SYSTEM_PYTHON).exists()
        or system_python("-c", "from gnuradio import digital").returncode
    ):
        pytest.skip(
            "NOT TESTED: GNU Radio is not installed, so nobody else checks the waveform closely; "
            "apt-get install --no-install-recommends gnuradio (as root)"
        )


@pytest.fixture(scope="module")
def sent_bits():
    return (words(key(6), 2 * COUNT) >> np.uint64(50)) & np.uint64(1)


def received_and_sent(received, sent):
    """Return the second half of the received symbols over their gain, and those sent.

    They are aligned at the delay where both agree best.
    """
    received = received[len(received) // 2 :]
    spectrum = np.fft.fft(received, 2 * len(sent)).conj() * np.fft.fft(sent, 2 * len(sent))
    shift = int(np.argmax(np.abs(np.fft.ifft(spectrum))))
    sent = sent[shift : shift + len(received)]
    received = received[: len(sent)]
    return received * len(sent) / np.vdot(sent, received), sent


def metered_db(sinr_db):
    """Return what GNU Radio's meter reads.

    It decides for the nearest point, which flatters bad symbols. Here it gets symbols
    of unit power, noise included.

    Each axis is a folded normal variable |r|, E r^2 = 1/2 and a^2 = 1/2 the point's: E
    (|r| - a)^2 = 1 - 2 a E|r|.
    """
    snr = 10 ** (sinr_db / 10)
    mean, sigma = np.sqrt(0.5 * snr / (1 + snr)), np.sqrt(0.5 / (1 + snr))
    folded = sigma * np.sqrt(2 / np.pi) * np.exp(-snr / 2) + mean * (1 - 2 * norm.sf(np.sqrt(snr)))
    return -10 * np.log10(2 * (1 - np.sqrt(2) * folded))


@pytest.mark.parametrize("sinr_db", [41, 28, 10, 5])
def test_gnuradio_demodulates_our_transmitter(sinr_db, sent_bits, tmp_path):
    """Its loops find every symbol: SINR within 0.6 dB, symbol errors as theory says.

    The carrier is 1 kHz off, the delay fractional. 0.6 dB is the loops' own noise at 41
    dB. Errors may be 10 % more for the loops, and 5 standard deviations: 1e-6 false
    alarms.
    """
    samples = modulate(qpsk(sent_bits), SPS, 0.37)
    samples = samples * np.exp(2j * np.pi * 1000 / 1.25e6 * np.arange(len(samples))) + 10 ** (
        -sinr_db / 20
    ) * complex_normals(key(7), len(samples))
    samples.astype(np.complex64).tofile(tmp_path / "samples")
    done = system_python(
        str(SCRIPT), str(tmp_path / "samples"), str(tmp_path / "symbols"), str(SPS), "0.2"
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    received, sent = received_and_sent(
        np.fromfile(tmp_path / "symbols", np.complex64).astype(complex), qpsk(sent_bits)
    )
    assert len(received) > 0.49 * COUNT
    assert -10 * np.log10(np.mean(np.abs(received - sent) ** 2)) == pytest.approx(sinr_db, abs=0.6)
    assert report["m2m4_db"] == pytest.approx(sinr_db, abs=0.6)
    assert report["evm_db"] == pytest.approx(metered_db(sinr_db), abs=0.6)
    wrong = int(
        (bits_of(received).reshape(-1, 2) != bits_of(sent).reshape(-1, 2)).any(axis=1).sum()
    )
    q = norm.sf(np.sqrt(10 ** (sinr_db / 10)))
    expected = len(received) * (2 * q - q * q)
    assert expected - 5 * np.sqrt(expected) <= wrong <= 1.1 * expected + 5 * np.sqrt(expected)
