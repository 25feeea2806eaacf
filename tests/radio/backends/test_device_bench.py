"""Calibration's bench on virtual radios, on a computer that is slow or busy."""

import time
from contextlib import contextmanager

import numpy as np
import pytest

from ironarm.errors import RadioFault
from ironarm.radio.backends import device_bench
from ironarm.radio.backends.device_bench import DeviceBench
from ironarm.radio.signal.medium import Medium
from ironarm.radio.testbed.config import RadioConfig
from ironarm.radio.virtual import server

from .soapy_required import require_soapy

require_soapy()

NAMES = {"tx": "transmitter", "jammer": "jammer", "rx": "receiver", "noise": "noise"}
LEVEL = 1e-3
COVERED_DB, ALONE_DB = 27.0, 47.0
"""A packet is sent 3 dB below 1, under noise of 1e-3 and without; the floor is 1e-5."""


@contextmanager
def bench(jam_seconds=0.04):
    """Yield a bench on virtual radios, with packets that hardly wander."""
    medium = Medium(noise=[1e-5] * 5, seed=1)
    with server.VirtualRadio(medium, list(NAMES.values())) as virtual:
        devices = {
            role: ",".join(f"{key}={value}" for key, value in virtual.arguments(name).items())
            for role, name in NAMES.items()
        }
        table = {
            "bands_mhz": [[1199.5, 1202.5], [19.5, 22.5]],
            "max_gain_db": 0,
            "setup": "conducted",
            "frequency_translation_hz": -1180e6,
            "digital_gain": True,
            "jam_seconds": jam_seconds,
            "devices": devices,
        }
        with DeviceBench(RadioConfig.of({"hardware": table}), "conducted") as opened:
            yield opened


def slow(radio, seconds):
    """Let a radio send later than it is told to."""
    transmit = radio.transmit

    def late(samples, at=None):
        time.sleep(seconds)
        transmit(samples, at)

    radio.transmit = late


def test_noise_may_last_longer_than_the_radio_keeps_samples():
    """The radio keeps 2 s; here noise and packets are received for more than 3 s."""
    with bench(jam_seconds=1.0) as opened:
        measured = opened.measure(0, LEVEL, 0.0, 5)
    # the spread is 0.25 dB: four standard errors, and the noise is new in each run
    assert measured.mean() == pytest.approx(COVERED_DB, abs=0.5)


def test_a_busy_computer_is_not_too_late_if_the_radios_wait_for_it(monkeypatch):
    """Packets come half a second after their noise of 0.1 s, but the clock is slow.

    For the radios that is no time at all.
    """
    monkeypatch.setattr(server, "BLOCK_SECONDS", 30 * server.BLOCK_SECONDS)
    with bench() as opened:
        slow(opened._transmitter.radio, 0.5)
        margin = opened._margin
        measured = opened.measure(0, LEVEL, 0.0, 5)
        assert opened._margin == margin
    assert measured.mean() == pytest.approx(COVERED_DB, abs=0.5)


def test_packets_that_come_late_are_sent_again_under_longer_noise():
    """Noise of 0.1 s is over when the packets come; that of the third try is not."""
    with bench() as opened:
        slow(opened._transmitter.radio, 0.3)
        margin = opened._margin
        measured = opened.measure(0, LEVEL, 0.0, 5)
        assert opened._margin > 3 * margin
        assert opened.measure(0, 0.0, 0.0, 5).mean() == pytest.approx(ALONE_DB, abs=0.5)
    assert measured.mean() == pytest.approx(COVERED_DB, abs=0.5)


def lossy(monkeypatch, lost):
    """Lose packets by their numbers; return how many trains were sent."""
    trains = []

    def search(*arguments):
        found = listen_to_train(*arguments)
        trains.append(found)
        return {number: report for number, report in found.items() if not lost(number)}

    listen_to_train = device_bench.listen_to_train
    monkeypatch.setattr(device_bench, "listen_to_train", search)
    return trains


@pytest.mark.parametrize("level", [0.0, LEVEL])
def test_packets_that_do_not_arrive_are_sent_again(level, monkeypatch):
    """As many as are missing, with new numbers."""
    trains = lossy(monkeypatch, lambda number: number in (1, 4))
    with bench() as opened:
        measured = opened.measure(0, level, 0.0, 5)
    assert [len(train) for train in trains] == [5, 2]
    assert len(measured) == 5
    assert measured.mean() == pytest.approx(COVERED_DB if level else ALONE_DB, abs=0.5)


def test_packets_that_never_arrive_are_a_fault(monkeypatch):
    """Some of many, or all where there is no noise.

    If all are missing under noise, that is what was measured.
    """
    lossy(monkeypatch, lambda number: number % 2)
    monkeypatch.setattr(device_bench, "TRIES", 3)
    with bench() as opened:
        with pytest.raises(RadioFault, match="in channel 0 did not arrive, and noise is not the"):
            opened.measure(0, LEVEL, 0.0, 6)
        lossy(monkeypatch, lambda number: True)
        with pytest.raises(RadioFault, match="4 of 4 packets in channel 0 did not arrive"):
            opened.measure(0, 0.0, 0.0, 4)
        assert np.array_equal(opened.measure(0, LEVEL, 0.0, 4), [-20.0] * 4)
