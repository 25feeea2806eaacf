"""The measured SINR is the true one, in bias, spread, symbol errors and decisions.

A missed packet is an outcome of its own.
"""

import math

import numpy as np
import pytest
from scipy.stats import norm

from ironarm.errors import InvalidInput
from ironarm.radio.signal.compiled_chain import CompiledChain
from ironarm.radio.signal.medium import Emission, Medium, Packet
from ironarm.radio.signal.randomness import complex_normals, key, words
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.sinr_law import estimator_bias, estimator_spread

KEYS = np.array([key(11, 0, i) for i in range(4000)])


def decision_directed_db(symbols):
    """Return the SINR as a receiver reads it that doesn't know the symbols.

    It takes the nearest constellation point for the symbol that was sent.

    `symbols` are the received symbols over the gain, as in `PacketReport.symbols`. The
    gain is fitted again to the decisions, as such receivers do.
    """
    nearest = (np.sign(symbols.real) + 1j * np.sign(symbols.imag)) / math.sqrt(2)
    gain = np.vdot(nearest, symbols) / len(symbols)
    left = float(np.sum(np.abs(symbols / gain - nearest) ** 2)) / len(symbols)
    return -10 * math.log10(left)


def decision_directed_theory_db(sinr_db):
    """Return what `decision_directed_db` reads, on average power, at a true SINR.

    Each axis is a folded normal variable |r| with r ~ N(a, sigma^2), a^2 = 1/2 and
    sigma^2 = 1/(2 SINR). Decisions see its mean m as signal and its variance as noise:
    m^2 / (a^2 + sigma^2 - m^2).
    """
    a, sigma = math.sqrt(0.5), math.sqrt(0.5 * 10 ** (-sinr_db / 10))
    m = sigma * math.sqrt(2 / math.pi) * math.exp(-((a / sigma) ** 2) / 2) + a * math.erf(
        a / sigma / math.sqrt(2)
    )
    return 10 * math.log10(m * m / (a * a + sigma * sigma - m * m))


def packets(sinr_db, count, seed=3, sps=2):
    """Return reports with symbols from the NumPy chain, and the symbols sent."""
    medium = Medium(noise=[10 ** (-sinr_db / 10)] * 5, seed=seed)
    receiver = Receiver(sps=sps)
    for i in range(count):
        sent = medium.format.symbols(i)
        yield (
            receiver.receive(
                medium.narrowband(1, [Emission(Packet(sent), 1)], sps=sps, round_number=i),
                keep_symbols=True,
            ),
            sent,
        )


@pytest.mark.parametrize("sinr_db", [5, 7.5, 10, 16, 28, 35, 41])
def test_bias_and_spread(sinr_db):
    """Bias at most 0.1 dB from 5 to 41 dB, spread as the formula within 5 %.

    The spread is 4.343 sqrt(psi_1(N - 2)), with the gain's share at low SINR. 5 % is
    4.5 standard errors: false alarm 1e-5 each.
    """
    sinr = CompiledChain().sinr(KEYS, 10 ** (-sinr_db / 10))
    assert abs(sinr.mean() - sinr_db) < 0.1
    if 10 <= sinr_db <= 35:  # away from both ends it is closer: five standard errors of the mean
        assert abs(sinr.mean() - sinr_db - estimator_bias(320)) < 0.02
    assert sinr.std() == pytest.approx(estimator_spread(320, sinr_db), rel=0.05)
    if sinr_db >= 16:
        # psi_1(N - 1) is about 1 / (N - 3/2)
        assert sinr.std() == pytest.approx(4.343 * math.sqrt(1 / 318.5), rel=0.05)


def test_the_residual_has_n_minus_2_degrees_of_freedom():
    """The mean is right to 0.007 dB, four standard errors, because N - 2 is.

    With N - 1 it would be 0.014 dB too high.
    """
    sinr = CompiledChain().sinr(words(key(12), 20_000), 10**-2.0)
    assert sinr.mean() == pytest.approx(20 + estimator_bias(320), abs=0.007)


def test_what_the_report_says():
    """Round, checksum, timing, carrier and gain are the path's, at both rates."""
    for sps in (2, 3):
        medium = Medium(noise=[1e-6] * 5, seed=8, gains_db={"transmitter": (-30,) * 5})
        for i in range(5):
            report = Receiver(sps=sps).receive(
                medium.narrowband(
                    0, [Emission(Packet(medium.format.symbols(i)), 0)], sps=sps, round_number=i
                )
            )
            path = medium.path(0, i)
            assert (report.detected, report.crc_ok, report.round, report.symbols) == (
                True,
                True,
                i,
                None,
            )
            assert report.timing == pytest.approx(20 + path.delay, abs=0.01)
            assert report.cfo_hz == pytest.approx(path.cfo_hz, abs=6)
            assert abs(report.gain) == pytest.approx(10**-1.5, rel=0.02)
            assert report.sinr_db == pytest.approx(30, abs=1.5)
            assert report.evm == pytest.approx(10 ** (-report.sinr_db / 20))


def test_symbol_errors_and_decisions_as_theory_says():
    """Symbol errors and the decision-directed reading have their closed forms at 7 dB.

    The error rate is 2Q - Q^2 with Q = Q(sqrt(SINR)). Five standard errors: false alarm
    under 1e-6.
    """
    q = norm.sf(math.sqrt(10**0.7))
    rate, errors, count, readings = 2 * q - q * q, 0, 0, []
    for report, sent in packets(7, 60):
        wrong = (np.sign(report.symbols.real) != np.sign(sent.real)) | (
            np.sign(report.symbols.imag) != np.sign(sent.imag)
        )
        errors, count = errors + int(wrong.sum()), count + len(sent)
        readings.append(decision_directed_db(report.symbols))
    assert abs(errors / count - rate) < 5 * math.sqrt(rate / count)
    theory = decision_directed_theory_db(7)
    assert theory - 7 == pytest.approx(0.21, abs=0.01)
    assert abs(np.mean(readings) - theory) < 5 * np.std(readings) / math.sqrt(len(readings))


@pytest.mark.parametrize("sinr_db", [0, 3, 5, 10, 20])
def test_decision_directed_bias(sinr_db):
    """The closed form holds to 0.02 dB on 200,000 symbols without synchronisation."""
    symbols = np.exp(0.25j * np.pi) + 10 ** (-sinr_db / 20) * complex_normals(key(5), 200_000)
    assert decision_directed_db(symbols) == pytest.approx(
        decision_directed_theory_db(sinr_db), abs=0.02
    )


def test_missed_packets():
    """Noise, silence, too few samples and broken samples are missed and read the floor.

    The compiled chain agrees.
    """
    receiver = Receiver(floor_db=-25)
    samples = complex_normals(key(1), 900)
    for heard in (samples, np.zeros(900), samples[:100], np.full(900, np.nan)):
        report = receiver.receive(heard)
        assert (report.detected, report.sinr_db, report.crc_ok, report.round) == (
            False,
            -25,
            False,
            None,
        )
    chain = CompiledChain(receiver)
    assert np.array_equal(
        chain.receive(np.array([samples, np.zeros(900), np.full(900, np.nan)])), [-25] * 3
    )
    weak = chain.sinr(KEYS, 10**1.5)
    assert set(weak) == {-25.0}
    assert chain.sinr(KEYS, 1.0).min() > -8  # as much noise as packet: all found


def test_settings_that_cannot_be():
    """An unknown rate, a floor above what it detects, windows of another length."""
    with pytest.raises(InvalidInput, match="channelise"):
        Receiver(sps=12)
    with pytest.raises(InvalidInput, match="floor_db"):
        Receiver(floor_db=0)
    with pytest.raises(InvalidInput, match="900 samples"):
        CompiledChain().receive(np.zeros((2, 17)))
