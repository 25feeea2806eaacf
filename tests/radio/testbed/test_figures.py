"""Pictures show the configuration and the signals as they are."""

import numpy as np
import pytest

import ironarm as ia
from ironarm.radio.signal.medium import CENTRES_HZ
from ironarm.radio.testbed import figures as pictures
from ironarm.radio.testbed.wideband_rounds import wideband_rounds

BANDIT = ia.RadioBandit()


def words(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_setup_is_the_configured_one():
    """Frequencies, means, jammed means; who is never jammed."""
    shown = words(
        pictures.setup(
            BANDIT,
            *(ia.attacks.Jammer(rho, whom) for whom in ("best", "any") for rho in (0.125, 0.3)),
        )
    )
    assert {
        "1200.0 MHz",
        "1202.0 MHz",
        "41.0 → 10.0 dB",
        "28.0 → 5.0 dB",
        "hits only the best channel or any packet,\nρ = 0.125 or 0.3",
    } <= set(shown)
    shown = words(
        pictures.setup(BANDIT, ia.attacks.Jammer(0.3), ia.attacks.Jammer(0.3, same_power=True))
    )
    assert {
        "41.0 → 10.0 or 7.5 dB",
        "28.0 → 5.0 or 7.5 dB",
        "hits any packet,\nρ = 0.3; own or same power",
    } <= set(shown)
    shown = words(
        pictures.setup(
            ia.RadioBandit(means=(40, 30, 20, 10, 5), jammed=(0,) * 5),
            ia.attacks.Jammer(0.2, "best"),
        )
    )
    assert {
        "40.0 → 0.0 dB",
        "30.0 dB, never jammed",
        "hits only the best channel,\nρ = 0.2",
    } <= set(shown)


def test_the_spectrogram_reads_the_levels_that_were_set():
    """Noise within 0.5 dB in each channel, the floor 10 dB below, signals on top."""
    heard = list(
        wideband_rounds(BANDIT, ia.attacks.Jammer(0.4), ia.EpsilonGreedy(c=10), rounds=10, seed=1)
    )
    power, edges = pictures.power_db(heard)
    middles = (edges[:-1] + edges[1:]) / 2
    quiet = np.ones(power.shape[1], bool)
    for i, burst in enumerate(heard):  # where something is sent, with some room
        columns = power.shape[1] // len(heard)
        first, count = burst.jam or burst.packet
        quiet[i * columns + first // 480 - 1 : i * columns + (first + count) // 480 + 2] = False
    quiet_level = 10 * np.log10((10 ** (power[:, quiet] / 10)).mean(axis=1))
    for channel, centre in enumerate(CENTRES_HZ):
        inside = np.abs(middles - centre) < 150e3
        assert quiet_level[inside] == pytest.approx(
            np.full(inside.sum(), 10 * np.log10(BANDIT.n0[channel])), abs=1.0
        )
        assert quiet_level[inside].mean() == pytest.approx(
            10 * np.log10(BANDIT.n0[channel]), abs=0.5
        )
    assert quiet_level[middles < CENTRES_HZ[0] - 400e3].mean() == pytest.approx(
        10 * np.log10(BANDIT.n0[0]) - 10, abs=0.5
    )
    assert any(burst.jammed for burst in heard)


def test_the_constellation_is_that_of_a_packet():
    """Clean near 41 dB, the same packet jammed near 10; in the figure's titles."""
    clean, jammed = (pictures.received(BANDIT, 0, jam, 1) for jam in (False, True))
    assert clean.timing == pytest.approx(jammed.timing, abs=0.05)
    assert (clean.sinr_db, jammed.sinr_db) == pytest.approx((41, 10), abs=3)
    assert [axes.get_title() for axes in pictures.constellation(BANDIT).axes[:2]] == [
        f"clean: SINR {clean.sinr_db:.1f} dB",
        f"jammed: SINR {jammed.sinr_db:.1f} dB",
    ]
