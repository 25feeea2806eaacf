"""The medium adds emissions in the right channel, at the right power, at any rate."""

import numpy as np
import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.signal.medium import (
    Emission,
    Medium,
    Noise,
    Packet,
    Samples,
    channelise,
)
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import modulate

TARGETS = (41, 37, 35, 31, 28)


def medium(**changes):
    return Medium(
        **{
            "noise": [10 ** (-sinr / 10) for sinr in TARGETS],
            "floor": 1e-6,
            "seed": 4,
            **changes,
        }
    )


def band_power(samples, channel):
    """Return the mean power within a channel, for each sample at 5 MS/s."""
    frequency = np.fft.fftfreq(len(samples), 1 / 5e6) - (channel - 2) * 500e3
    return (
        np.sum(np.abs(np.fft.fft(samples)[np.abs(frequency) < 240e3]) ** 2)
        / len(samples) ** 2
        / 0.096
    )


def test_the_wideband_view_has_five_noise_floors():
    """Each channel has its level within 5 %, and outside is the receiver's floor.

    2,700 bins each: false alarm 1e-2 at two and a half standard errors, fixed seed.
    """
    heard = medium(noise=[10 ** (-sinr / 10) for sinr in TARGETS]).wideband([], symbols=4500)
    for channel, sinr in enumerate(TARGETS):
        assert band_power(heard, channel) == pytest.approx(10 ** (-sinr / 10) + 1e-6, rel=0.05)
    assert band_power(heard, 4.0 + 1.1) < 2e-6


def test_several_emitters_at_once():
    """Packets, and a jammer, don't disturb neighbouring channels."""
    here = medium()
    packets = [Emission(Packet(here.format.symbols(10 + channel)), channel) for channel in range(5)]
    jam = Emission(Noise(450), 1, "jammer", -10.0, moving=False)
    heard = here.wideband([*packets, jam])
    reports = [Receiver(sps=3).receive(channelise(heard, channel)) for channel in range(5)]
    assert [report.round for report in reports] == [10, 11, 12, 13, 14]
    assert [report.sinr_db for report in reports] == pytest.approx([41, 10, 35, 31, 28], abs=1.0)


def test_a_packet_later_in_a_long_recording():
    """Its place is found to a hundredth of a symbol."""
    here = medium()
    heard = here.wideband(
        [Emission(Packet(here.format.symbols(3)), 3, start=700.0)], symbols=1500, round_number=9
    )
    report = Receiver(sps=3).receive(channelise(heard, 3))
    assert report.timing == pytest.approx(720 + here.path(0, 9).delay, abs=0.01)


@pytest.mark.parametrize("rate", [2, 3, 12])
def test_samples_of_a_radio(rate):
    """A radio's samples, at any rate, read as the packet: SINR, gain and place."""
    here = medium(gains_db={"transmitter": (-12,) * 5}, noise=[10**-4.0] * 5)
    burst = Emission(
        Samples(modulate(here.format.symbols(77), rate), rate), 2, start=3.25, moving=False
    )
    report = Receiver().receive(here.narrowband(2, [burst]))
    assert (report.round, report.sinr_db) == (77, pytest.approx(28, abs=1))
    assert report.timing == pytest.approx(23.25, abs=0.01)
    assert abs(report.gain) == pytest.approx(10**-0.6, rel=0.02)


def test_narrowband_hears_only_its_channel():
    """Another channel's packet changes nothing."""
    here = medium()
    assert np.array_equal(
        here.narrowband(0, [Emission(Packet(here.format.symbols(1)), 1)]), here.narrowband(0, [])
    )


def test_rounds_are_keyed():
    """The same round sounds the same, other rounds, trials and seeds do not."""
    heard = [
        medium(seed=seed).narrowband(0, [], trial=trial, round_number=i)
        for seed, trial, i in ((1, 2, 3), (1, 2, 3), (1, 3, 2), (2, 2, 3), (1, 2, 4))
    ]
    assert np.array_equal(heard[0], heard[1])
    assert all(
        abs(np.vdot(heard[0], other)) < 0.2 * np.vdot(heard[0], heard[0]).real
        for other in heard[2:]
    )


def test_wrong_shapes_are_refused():
    """Four channels, negative noise, a length off the FFT's grid."""
    with pytest.raises(InvalidInput, match="noise must have one number"):
        Medium(noise=[1, 2, 3, 4])
    with pytest.raises(InvalidInput, match="at least 0"):
        Medium(noise=[1, 2, 3, 4, -1])
    with pytest.raises(InvalidInput, match="multiple of 10"):
        medium().wideband([], symbols=455)
    with pytest.raises(InvalidInput, match="multiple of 120"):
        channelise(np.zeros(121), 0)
