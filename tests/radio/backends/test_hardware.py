"""Nodes as processes, each with a SoapySDR device served by the virtual radio."""

import json
import tomllib
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pytest

from ironarm.cli import main
from ironarm.errors import BadFile, InvalidInput
from ironarm.radio.backends.device_bench import DeviceBench
from ironarm.radio.backends.hardware import (
    check_times,
    cover_symbols,
    jammer_gains,
    lead_seconds,
)
from ironarm.radio.backends.safety import TransmitRules
from ironarm.radio.network.processes import run_processes
from ironarm.radio.signal.medium import Medium
from ironarm.radio.signal.waveform import SYMBOL_RATE
from ironarm.radio.testbed.calibrate import Calibration
from ironarm.radio.testbed.config import RadioConfig

MEANS, JAMMED, SPREAD = (41, 37, 35, 31, 28), (10, 8.75, 7.5, 6.25, 5), 0.3
GAINS = {"transmitter": (0, -1, -2, -1, 0), "noise": (-3, -6, -9, -12, 0)}
JAMMER = [gain - 3 * SPREAD - sinr for gain, sinr in zip(GAINS["transmitter"], JAMMED, strict=True)]
EXAMPLE = tomllib.loads(
    (Path(__file__).parents[3] / "docs" / "radio-hardware.md")
    .read_text(encoding="utf-8")
    .split("```toml\n")[1]
    .split("```")[0]
)
# other channels than by default, so that no node may take those for granted
TABLE = {
    **EXAMPLE["hardware"],
    "bands_mhz": [[432.75, 435.25], [19.75, 22.25]],
    "frequency_translation_hz": -413e6,
    "setup": "licensed",
    "gains_db": {"jammer": JAMMER},
}
TIMES = {"port": 0, "ack_port": 0, "lost_seconds": 5.0, "return_seconds": 5.0}
PLAIN = {
    "jammer": {"rho": 0.4},
    "ack": {"timeout_seconds": 2.0},
    "channels": {"spread": SPREAD, "base_mhz": 433},
    "processes": TIMES,
}


def configured(devices, **more):
    return RadioConfig.of(
        {
            **EXAMPLE,
            "rounds": 12,
            "seed": 2,
            **PLAIN,
            "hardware": {**TABLE, "devices": devices},
            **more,
        }
    )


def transmitting(virtual):
    """Return the devices whose transmitter somebody holds switched on."""
    return [
        name for name, device in virtual._devices.items() if device.transmit.samples is not None
    ]


def test_the_jammers_gains_are_one_or_five():
    """The configuration refuses anything else."""
    assert jammer_gains(configured({}), None) == JAMMER
    assert (
        jammer_gains(RadioConfig.of({"hardware": {"gains_db": {"jammer": 3}}}), None) == [3.0] * 5
    )


def test_the_documented_channels_are_within_the_documented_bands():
    """On the air and at the device."""
    rules = TransmitRules.from_table(EXAMPLE["hardware"])
    for centre in RadioConfig.of(EXAMPLE).centres_hz:
        rules.permit("conducted").check_frequency(
            centre, 500e3, EXAMPLE["hardware"]["frequency_translation_hz"]
        )


def test_times_with_which_no_round_can_be_played_are_refused():
    """Before anything is started.

    A packet's noise must be over before the next packet, which may be in another
    channel, and must begin while the transmitter still waits for it.
    """
    check_times(configured({}))
    four = {"tx": "a", "rx": "b", "jammer": "c", "noise": "d"}
    for wrong, message in (
        (
            {"round_seconds": 0.1},
            r"round_seconds must be more than jam_seconds in \[hardware\], 0.1, .* got 0.1",
        ),
        (
            {"ack": {"timeout_seconds": 0.02, "retries": 1}},
            r"given up after 0\.04 s.* more than 0\.05 s",
        ),
    ):
        with pytest.raises(InvalidInput, match=message):
            run_processes(
                configured(four, **wrong),
                on_start=lambda _: pytest.fail("processes were started"),
            )
    for name, seconds, message in (
        ("jam_seconds", 0.001, "at least 0.01"),
        ("jam_seconds", 11, "at most 10"),
        ("listen_seconds", 61, "at most 60"),
    ):
        with pytest.raises(InvalidInput, match=rf"{name} in \[hardware\] must be .*{message}"):
            configured({}, hardware={**TABLE, name: seconds})


def test_each_attempt_at_a_round_is_covered_for_longer():
    """Up to 5 s, or what is configured; noise may begin at most 0.25 s before."""
    config = configured({})
    covers = [cover_symbols(config, attempt) / SYMBOL_RATE for attempt in (0, 1, 2, 5, 6, 10**6)]
    assert covers == pytest.approx([0.1, 0.2, 0.4, 3.2, 5, 5], rel=1e-4)
    longer = configured({}, hardware={**TABLE, "jam_seconds": 8})
    assert cover_symbols(longer, 3) == round(8 * SYMBOL_RATE)
    assert (lead_seconds(config), lead_seconds(longer)) == (0.025, 0.25)


def test_devices_are_checked_before_anything_is_started():
    """One device too few, one for two nodes, and a missing calibration are refused.

    The process that would start the nodes refuses them.
    """
    four = {"tx": "a", "rx": "b", "jammer": "c", "noise": "d"}
    for devices, more, message in (
        ({"tx": "a", "rx": "b"}, {}, "but none for jammer"),
        ({**four, "jammer": "a"}, {}, "the same device for tx and jammer"),
        (four, {"calibration": "nowhere.json"}, "nowhere.json cannot be read"),
    ):
        with pytest.raises((InvalidInput, BadFile), match=message):
            run_processes(
                configured(devices, **more),
                on_start=lambda _: pytest.fail("processes were started"),
            )


@pytest.mark.parametrize(
    ("hardware", "acknowledged", "message"),
    [
        ({}, None, "the transmitter transmits on hardware, which must be acknowledged"),
        ({}, "conducted", "says 'conducted', but the configuration says setup = 'licensed'"),
        ({"bands_mhz": [[1199.5, 1202.5]]}, "licensed", "reserved worldwide"),
        ({"bands_mhz": [[430, 431]]}, "licensed", "outside of the configured bands"),
        ({"max_gain_db": -20}, "licensed", "the transmitter's gain of 0 dB is above"),
        ({}, "licensed", "the noise source does not know its levels"),
    ],
)
def test_what_may_not_be_sent_is_refused_before_anything_is_started(
    hardware, acknowledged, message
):
    """Bands, gains, the set-up and its acknowledgement need no node to be checked."""
    devices = {"tx": "a", "rx": "b", "jammer": "c", "noise": "d"}
    with pytest.raises(InvalidInput, match=message):
        run_processes(
            configured({}, hardware={**TABLE, **hardware, "devices": devices}),
            acknowledged=acknowledged,
            on_start=lambda _: pytest.fail("processes were started"),
        )


def test_what_transmits_is_switched_off_before_the_receiver(monkeypatch):
    """A receiver whose driver hangs must not keep the others on."""
    done = []

    def opened(configured, role, acknowledged):
        stack = ExitStack()
        stack.callback(done.append, role)
        return stack

    monkeypatch.setattr("ironarm.radio.backends.device_bench.open_radio", opened)
    with DeviceBench(configured({"tx": "a", "rx": "b", "jammer": "c", "noise": "d"}), "licensed"):
        pass
    assert sorted(done[:2]) == ["noise", "tx"]
    assert done[2:] == ["rx"]


def test_calibration_and_a_run_over_soapysdr(tmp_path, capsys):
    """Both are refused without the acknowledgement.

    Calibration finds the targets behind unknown gains, or names one that it cannot
    reach and leaves the file as it was.

    With its levels every packet arrives at the SINR of its channel, or at that of a
    jammed one: the noise source's noise covers them. The noise is new in each run; the
    tolerance of 0.45 dB is 6 standard errors of the verified means of 40 packets, and
    1.5 dB more than 4 for each of 12 single ones: false alarms below 1e-4.
    """
    radios = pytest.importorskip("ironarm.radio.virtual.server")
    pytest.importorskip("tests.radio.backends.soapy_required").require_soapy()
    names = {"tx": "transmitter", "jammer": "jammer", "rx": "receiver", "noise": "noise"}
    config, found = tmp_path / "config.json", tmp_path / "calibration.json"
    with radios.VirtualRadio(
        Medium(noise=[0] * 5, floor=1e-5, gains_db=GAINS, seed=1), list(names.values())
    ) as virtual:
        devices = {
            role: ",".join(f"{key}={value}" for key, value in virtual.arguments(name).items())
            for role, name in names.items()
        }
        calibrate = [
            "radio",
            "calibrate",
            "--config",
            str(config),
            "--out",
            str(found),
            "--packets",
            "40",
            "--tolerance",
            "0.45",
            "--acknowledge-transmitting",
        ]
        short = {**TABLE, "jam_seconds": 0.04, "devices": devices}
        config.write_text(json.dumps({**PLAIN, "hardware": short}))
        assert main(calibrate[:-1]) == 2
        assert (
            "the transmitter transmits on hardware, which must be acknowledged"
            in capsys.readouterr().err
        )
        assert main([*calibrate, "licensed"]) == 0
        calibration = Calibration.load(found)
        assert [setting.measured_db for setting in calibration.channels] == pytest.approx(
            MEANS, abs=0.45
        )
        config.write_text(
            json.dumps(
                {
                    **PLAIN,
                    "channels": {"means": [57, 37, 35, 31, 28], **PLAIN["channels"]},
                    "hardware": short,
                }
            )
        )
        assert main([*calibrate, "licensed"]) == 2
        assert (
            "channel 0 cannot reach 57 dB: with the noise source off it has 49"
            in capsys.readouterr().err
        )
        assert Calibration.load(found) == calibration
        assert [virtual.stream.waiting(name) for name in names.values()] == [0] * 4
        until = monotonic() + 60
        while transmitting(virtual) and monotonic() < until:
            sleep(0.01)  # the server has to notice
        assert transmitting(virtual) == []
        result = run_processes(
            configured(devices, calibration=str(found)), say=lambda _: None, acknowledged="licensed"
        )
    assert [record.round for record in result.rounds] == list(range(12))
    assert {record.missed for record in result.rounds} == {False}
    assert {record.jammed for record in result.rounds} == {False, True}
    assert {record.channel for record in result.rounds} == set(range(5))
    for record in result.rounds:
        assert record.sinr_db == pytest.approx(
            (JAMMED if record.jammed else MEANS)[record.channel], abs=1.5
        )
