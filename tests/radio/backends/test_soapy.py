"""Radios through SoapySDR and its driver, served by the virtual radio."""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ironarm.commands.radio import probe
from ironarm.errors import InvalidInput, RadioFault
from ironarm.radio.backends.packet_search import listen
from ironarm.radio.backends.soapy import SoapyRadio
from ironarm.radio.signal.medium import CENTRES_HZ, Medium
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import STANDARD, modulate
from ironarm.radio.virtual.server import TRANSLATION_HZ, VirtualRadio
from ironarm.radio.virtual.streaming_medium import FULL_SCALE

from .soapy_required import require_soapy

TARGETS_DB = (41, 37, 35, 31, 28)
MEDIUM = Medium(noise=[10 ** (-sinr / 10) for sinr in TARGETS_DB], seed=4)
RECEIVER = Receiver(sps=3)
SECOND = 1_250_000


require_soapy()


class Permit:
    """Leave to transmit in some bands, up to one gain."""

    def __init__(self, *bands_mhz):
        self.bands_mhz = bands_mhz or ((1199, 1203), (19, 23))

    def check_frequency(self, frequency_hz, width_hz, translation_hz=0.0):
        for middle in (frequency_hz, frequency_hz + translation_hz):
            if not any(
                low <= (middle - width_hz / 2) / 1e6 < (middle + width_hz / 2) / 1e6 <= high
                for low, high in self.bands_mhz
            ):
                raise InvalidInput(f"{middle / 1e6:g} MHz is not allowed.")

    def check_gain(self, gain_db):
        if gain_db is None or gain_db > 30:
            raise InvalidInput(f"{gain_db} dB is not allowed.")


@pytest.fixture
def virtual():
    with VirtualRadio(MEDIUM) as server:
        yield server


def opened(virtual, device, **more):
    permit = None if device == "receiver" else Permit()
    usual = {
        "frequency_hz": CENTRES_HZ[0],
        "frequency_translation_hz": TRANSLATION_HZ,
        "permit": permit,
        "digital_gain": permit is not None,
    }
    return SoapyRadio(virtual.arguments(device), **{**usual, **more})


def round_of(transmitter, receiver, channel, number, jam=None, jammer=None):
    """Play one round: tune both, mark the time, send the packet, and search for it."""
    for radio in (transmitter, receiver, *([jammer] if jammer else [])):
        radio.tune(CENTRES_HZ[channel])
    start = receiver.now()
    if jammer:
        jammer.transmit(jam)
    transmitter.transmit(modulate(STANDARD.symbols(number), 3))
    return listen(receiver, RECEIVER, number, at=start, samples=SECOND)


def test_bursts_through_one_device_are_received_through_another(virtual):
    """Channels change every round; each packet has its number and a right checksum.

    The mean SINR of four is within 1 dB of the channel's, and each within 1.5 dB.

    The noise that a packet meets depends on when it comes, so it is new in each run;
    the spread is 0.25 dB, and false alarms have a probability below 1e-7.
    """
    measured = {channel: [] for channel in range(5)}
    with opened(virtual, "transmitter") as transmitter, opened(virtual, "receiver") as receiver:
        for number in range(20):
            channel = (0, 1, 4, 2, 3)[number % 5]
            report = round_of(transmitter, receiver, channel, number)
            assert (report.detected, report.crc_ok, report.round) == (True, True, number)
            assert report.sinr_db == pytest.approx(TARGETS_DB[channel], abs=1.5)
            measured[channel].append(report.sinr_db)
        info = receiver.info()
        assert (
            info.driver,
            info.frequency_hz,
            info.rate_hz,
            info.gain_db,
            info.overflows,
            info.underruns,
        ) == ("soapy:redpitaya", CENTRES_HZ[3], 1.25e6, None, 0, 0)
    assert [np.mean(measured[channel]) for channel in range(5)] == pytest.approx(TARGETS_DB, abs=1)
    assert virtual.complaints == []


def test_a_jammer_on_a_third_device(virtual):
    """A jammer's noise sets the SINR, whose spread is 0.28 dB.

    The noise begins before the packet and ends after it.
    """
    noise = np.random.default_rng(1).normal(scale=np.sqrt(0.5 * 10**-0.75), size=(2, 250_000))
    with (
        opened(virtual, "transmitter") as transmitter,
        opened(virtual, "receiver") as receiver,
        opened(virtual, "jammer") as jammer,
    ):
        assert round_of(
            transmitter, receiver, 2, 9, noise[0] + 1j * noise[1], jammer
        ).sinr_db == pytest.approx(7.5, abs=1.6)
        receiver.receive(250_000)
        assert round_of(transmitter, receiver, 2, 10).sinr_db == pytest.approx(35, abs=1.5)


def test_a_packet_that_is_not_sent_is_missed(virtual):
    with opened(virtual, "receiver") as receiver:
        report = listen(receiver, RECEIVER, 1, at=receiver.now(), samples=20_000)
    assert (report.detected, report.sinr_db) == (False, RECEIVER.floor_db)


def test_a_frequency_that_the_driver_ignores_is_an_error(virtual):
    """The driver accepts more than 60 MHz and stays where it was.

    So its range is checked first, and its frequency is read back.
    """
    with pytest.raises(
        InvalidInput, match=r"cannot receive at 1200 MHz; it can do 0.625 to 60 MHz"
    ):
        opened(virtual, "receiver", frequency_translation_hz=0.0)
    with opened(virtual, "receiver") as receiver:
        with pytest.raises(
            InvalidInput,
            match=(
                r"cannot receive at 61 MHz \(1241 MHz on the air, frequency_translation_hz = "
                r"-1.18e\+09\); it can do 0.625 to 60 MHz"
            ),
        ):
            receiver.tune(1241e6)
        receiver.check_range = lambda _: None
        with pytest.raises(InvalidInput, match=r"at 61 MHz and is at 20 MHz"):
            receiver.tune(1241e6)
        assert receiver.info().frequency_hz == 1200e6


def test_after_tuning_nothing_of_the_old_frequency_is_left(virtual):
    """After tuning, the first 2000 samples have the new channel's noise.

    Channels differ by 13 dB; 20 % is 9 standard deviations.
    """
    with opened(virtual, "receiver") as receiver:
        receiver.now()
        for channel in (4, 0, 4, 0, 4, 0):
            receiver.tune(CENTRES_HZ[channel])
            heard = receiver.receive(2000, at=receiver.now())
            assert np.mean(np.abs(heard) ** 2) == pytest.approx(
                10 ** (-TARGETS_DB[channel] / 10), rel=0.2
            )


def test_a_rate_that_the_driver_does_not_have_is_an_error(virtual):
    """The driver repeats any rate it is told; it has six."""
    with pytest.raises(
        InvalidInput,
        match=(
            r"cannot receive 833333 samples a second; it can do 20000, 50000, 100000, 250000, "
            r"500000, 1.25e[+]06, and is at 100000"
        ),
    ):
        opened(virtual, "receiver", rate_hz=5e6 / 6)


def test_a_gain_that_does_not_exist_is_an_error(virtual):
    with pytest.raises(InvalidInput, match="has no gain that can be set"):
        opened(virtual, "receiver", gain_db=20)


def test_a_digital_gain_scales_what_is_sent(virtual):
    """13 dB less digital gain is 13 dB less SINR; more than 0 dB is refused."""
    with (
        opened(virtual, "transmitter", digital_gain=True, gain_db=-13) as transmitter,
        opened(virtual, "receiver") as receiver,
    ):
        assert transmitter.info().gain_db == -13
        assert round_of(transmitter, receiver, 0, 3).sinr_db == pytest.approx(41 - 13, abs=1.5)
        with pytest.raises(InvalidInput, match="gain_db must be at most 0, got 1"):
            transmitter.set_gain(1)
    with pytest.raises(InvalidInput, match="only what is sent"):
        opened(virtual, "receiver", digital_gain=True)


def test_an_unknown_device_is_an_error():
    with pytest.raises(
        InvalidInput, match=r"cannot open the device 'driver=nonesuch' .*ironarm radio probe"
    ):
        SoapyRadio("driver=nonesuch", frequency_hz=20e6)


def test_transmitting_needs_a_permit(virtual):
    burst = modulate(STANDARD.symbols(0), 3)
    with (
        opened(virtual, "receiver") as receiver,
        pytest.raises(InvalidInput, match="has no permit to transmit"),
    ):
        receiver.transmit(burst)
    with pytest.raises(InvalidInput, match="1200 MHz is not allowed"):
        opened(virtual, "transmitter", permit=Permit((433, 434)))
    # without a transverter that is what goes on the air
    with pytest.raises(InvalidInput, match="20 MHz is not allowed"):
        opened(virtual, "transmitter", permit=Permit((1199, 1203)))
    with opened(virtual, "transmitter") as transmitter:
        with pytest.raises(InvalidInput, match="1204 MHz is not allowed"):
            transmitter.tune(1204e6)
        with pytest.raises(InvalidInput, match=r"40\.0 dB is not allowed"):
            transmitter.set_gain(40)
        transmitter.permit = Permit((433, 434))  # also asked again when it matters
        with pytest.raises(InvalidInput, match="1200 MHz is not allowed"):
            transmitter.transmit(burst)


def test_bursts_beyond_full_scale(virtual):
    """A few clipped samples of noise are counted.

    A signal that is too large, or not a number, is refused.
    """
    with opened(virtual, "jammer") as jammer:
        quiet = np.zeros(1000, complex)
        quiet[:5] = 1.5 * FULL_SCALE
        jammer.transmit(quiet)
        assert jammer.clipped == 5
        with pytest.raises(
            InvalidInput, match="1000 of 1000 samples are beyond the radio's full scale, 2"
        ):
            jammer.transmit(np.full(1000, 2.1))
        with pytest.raises(InvalidInput, match="finite"):
            jammer.transmit(np.full(10, np.nan))
        with pytest.raises(InvalidInput, match="sends at once"):
            jammer.transmit(quiet, at=5)


def test_realtime_counts_what_a_stalled_reader_loses_and_recovers():
    with VirtualRadio(MEDIUM, realtime=True) as virtual, opened(virtual, "receiver") as receiver:
        receiver.now()
        before = virtual.overflows("receiver")
        with receiver._reader._changed:  # the reader's thread cannot put away what it reads
            time.sleep(0.4)
        assert virtual.overflows("receiver") - before > 100
        assert len(receiver.receive(50_000)) == 50_000


def test_the_virtual_radio_as_a_process():
    """It says how SoapySDR finds its devices, serves, and ends when it is told to."""
    command = (
        "import sys, argparse; from ironarm.commands.radio import virtual as v; p = "
        "argparse.ArgumentParser(); v.add(p); sys.exit(v.run(p.parse_args(sys.argv[1:])))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", command, "--json", "--sinr", "30,30,30,30,30"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            told = json.loads(server.stdout.readline())
            more = {
                "frequency_hz": 1200e6,
                "frequency_translation_hz": told["frequency_translation_hz"],
            }
            with (
                SoapyRadio(
                    told["devices"]["transmitter"], permit=Permit(), digital_gain=True, **more
                ) as transmitter,
                SoapyRadio(told["devices"]["receiver"], **more) as receiver,
            ):
                report = round_of(transmitter, receiver, 1, 12)
            assert (report.round, report.crc_ok) == (12, True)
            assert report.sinr_db == pytest.approx(30, abs=1.5)
        finally:
            server.terminate()
    assert server.returncode == 0


def test_closing_leaves_no_thread_and_no_socket(virtual):
    """Also when an exception ends the block, and when it is closed twice."""
    before = set(threading.enumerate()), sockets()
    transmitter, receiver = opened(virtual, "transmitter"), opened(virtual, "receiver")

    def work():
        with transmitter, receiver:
            round_of(transmitter, receiver, 0, 1)
            assert sockets() >= before[1] + 4
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    transmitter.close()
    deadline = time.monotonic() + 60
    while sockets() > before[1] and time.monotonic() < deadline:
        time.sleep(0.01)  # the server's ends, in this process too
    assert (set(threading.enumerate()), sockets()) == before
    for use in (lambda: transmitter.transmit(np.zeros(10)), receiver.now, receiver.info):
        with pytest.raises(RadioFault, match="is closed"):
            use()


def test_closing_from_another_thread_frees_who_waits(virtual):
    with opened(virtual, "receiver") as receiver:
        receiver.now()
        threading.Timer(0.1, receiver.close).start()
        with pytest.raises(RadioFault, match="was closed"):
            receiver.receive(100 * SECOND)


def test_a_radio_that_dies_is_noticed(monkeypatch):
    monkeypatch.setattr("ironarm.radio.backends.soapy.WRITE_SECONDS", 0.2)
    virtual = VirtualRadio(MEDIUM)
    with opened(virtual, "receiver") as receiver, opened(virtual, "transmitter") as transmitter:
        transmitter.transmit(np.ones(10))
        receiver.now()
        receiver._reader._silent = 0.2
        virtual.close()
        with pytest.raises(RadioFault, match=r"gave no samples for 0.2 s"):
            receiver.receive(10 * SECOND)
        with pytest.raises(RadioFault, match="takes no more samples"):
            send_again_and_again(transmitter)  # the first may still seem to go out


def test_nobody_at_the_address():
    """The driver says so only when samples are to flow, in its own way."""
    with VirtualRadio(MEDIUM) as gone:
        arguments = gone.arguments("receiver")
    with (
        SoapyRadio(arguments, frequency_hz=20e6) as receiver,
        pytest.raises(RadioFault, match=r"cannot start to receive .* Check its cable or address"),
    ):
        receiver.now()


def test_loading_brings_nothing_else_of_the_system():
    """NumPy is still the environment's own; the system's folder is not on the path."""
    assert not str(np.__file__).startswith("/usr/lib/python3/dist-packages")
    assert "/usr/lib/python3/dist-packages" not in sys.path


def test_probe_shows_what_a_device_can_do(virtual, capsys):
    arguments = ",".join(f"{key}={value}" for key, value in virtual.arguments("receiver").items())
    assert probed("--device", arguments) == 0
    page = capsys.readouterr().out
    assert (
        "receive 0: 0.05 to 60 MHz; 0.02, 0.05, 0.1, 0.25, 0.5, 1.25 MS/s; no gain that can be set"
        in page
    )
    assert probed("--device", "driver=nonesuch") == 1
    assert "No radio was found" in capsys.readouterr().out


def send_again_and_again(transmitter):
    for _ in range(10):
        transmitter.transmit(np.ones(10))


def probed(*arguments):
    parser = argparse.ArgumentParser()
    probe.add(parser)
    return probe.run(parser.parse_args(arguments))


def sockets():
    """Return how many sockets this process has open."""
    folder = Path("/proc/self/fd")
    count = 0
    for entry in folder.iterdir():
        try:
            count += os.readlink(entry).startswith("socket:")
        except FileNotFoundError:  # the folder's own
            continue
    return count
