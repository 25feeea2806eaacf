"""A configuration is data; a mistake is named with its table and the likely meaning."""

import json
import math
import sys
import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from ironarm.errors import BadFile, InvalidInput
from ironarm.radio.backends.safety import TransmitRules
from ironarm.radio.signal.medium import CENTRES_HZ
from ironarm.radio.testbed.calibrate import SimulatedBench, calibrate
from ironarm.radio.testbed.closed_loop import run
from ironarm.radio.testbed.config import Channels, RadioConfig
from ironarm.radio.testbed.live_view import LiveView
from ironarm.radio.testbed.records import Round


def test_the_documented_files_are_the_default(tmp_path):
    """docs/radio.md has every key, with its default; TOML and JSON read the same."""
    page = (Path(__file__).parents[3] / "docs" / "radio.md").read_text()
    path = tmp_path / "bench.toml"
    path.write_text(page.split("```toml\n")[1].split("```")[0])
    read = RadioConfig.read(path)
    assert read == RadioConfig()
    documented, defaults = tomllib.loads(path.read_text()), asdict(read)
    for name, table in defaults.items():
        if isinstance(table, dict):
            assert documented[name].keys() == table.keys()
    (tmp_path / "bench.json").write_text(json.dumps(read.to_dict()))
    assert RadioConfig.read(tmp_path / "bench.json") == read


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"round": 5}, "unknown key 'round' in the configuration; .* Did you mean 'rounds'"),
        ({"rounds": 0}, "rounds must be a whole number of at least 1"),
        ({"jammer": {"rho": 1.5}}, "rho must be .* at most 1"),
        ({"jammer": [1]}, r"\[jammer\] must be a table"),
        (
            {"jammer": {"strategy": "bst"}},
            "the jammer's strategy must be .* got 'bst'. Did you mean 'best'?",
        ),
        (
            {"jammer": {"strategy": [0.1]}},
            "strategy must be a list with one probability for each of the 5 channels",
        ),
        (
            {"channels": {"means": [1, 2]}},
            "means must be a list with one number for each of the 5 channels",
        ),
        ({"channels": {"means": [1, 2, 3, 4, "x"]}}, "a value of means must be a number"),
        ({"channels": {"jammed": [50] * 5}}, "jammed must not be above means"),
        ({"channels": {"spread": 0.1}}, "spread must be at least"),
        ({"agent": {"policy": "MedUCB"}}, "Did you mean 'MedEUCB'"),
        ({"agent": {"policy": "MedEUCB(block=20)"}}, "block=20 is too small for 5 arms"),
        ({"agent": {"policy": 5}}, "policy must be text"),
        ({"ack": {"timeout_seconds": 0}}, "timeout_seconds must be above 0"),
        ({"processes": {"lost_seconds": 0.1}}, "lost_seconds must be at least 0.4"),
        ({"processes": {"noise_node": 1}}, "noise_node must be true or false"),
        ({"processes": {"port": 70000}}, "port must be"),
        ({"channels": {"means": [61, 37, 35, 31, 28]}}, "a value of means must be .* at most 60"),
        ({"channels": {"jammed": [-1, 8, 7, 6, 5]}}, "a value of jammed must be at least 0"),
        ({"channels": {"spread": 21}}, "spread must be .* at most 20"),
        ({"paths": {"noise": [-201, 0, 0, 0, 0]}}, "a value of noise must be at least -200"),
        ({"paths": {"jammer": [1e300] * 5}}, "a value of jammer must be .* at most 200"),
        ({"round_seconds": 1e7}, r"round_seconds must be .* at most 1e\+06"),
        ({"hardware": 5}, r"\[hardware\] must be a table"),
        (
            {"hardware": {"max_gian_db": 5}},
            r"unknown key 'max_gian_db' in \[hardware\]; .* Did you mean 'max_gain_db'",
        ),
        (
            {"hardware": {"gains_db": {"jamer": 5}}},
            r"unknown key 'jamer' in \[hardware\.gains_db\]; .* Did you mean 'jammer'",
        ),
        ({"hardware": {"gains_db": 5}}, r"\[hardware\.gains_db\] must be a table"),
        (
            {"hardware": {"gains_db": {"tx": [1, 2]}}},
            r"the gain of tx in \[hardware\.gains_db\] must be a number, got \[1, 2\]",
        ),
        ({"hardware": {"gains_db": {"noise": [1] * 5}}}, "the gain of noise .* must be a number"),
        (
            {"hardware": {"gains_db": {"jammer": [1, 2]}}},
            "the jammer's gains .* one for each of the 5 channels",
        ),
        (
            {"hardware": {"gains_db": {"jammer": [1, 2, 3, 4, None]}}},
            "the gain of jammer .* must be a number",
        ),
        ({"hardware": {"gains_db": {"rx": math.nan}}}, "the gain of rx .* must be finite"),
        (
            {"hardware": {"listen_seconds": "20"}},
            r"listen_seconds in \[hardware\] must be a number, got '20'",
        ),
        ({"hardware": {"listen_seconds": math.nan}}, "listen_seconds .* must be finite"),
        ({"hardware": {"jam_seconds": [1]}}, "jam_seconds .* must be a number"),
        ({"hardware": {"jam_seconds": 61}}, "jam_seconds .* must be .* at most 10"),
        (
            {"hardware": {"devices": {"tx": 5}}},
            r"the device of tx in \[hardware\.devices\] must be text",
        ),
    ],
)
def test_mistakes_are_named(data, message):
    """With what is expected."""
    with pytest.raises(InvalidInput, match=message):
        RadioConfig.of(data)


def test_files_that_are_none(tmp_path):
    """Missing, not text, not TOML; a mistake in a file names the file."""
    files = {
        "a.toml": (b"\xff", "not text"),
        "b.toml": (b"x = [", "not valid TOML"),
        "c.json": (b"[1]", "no names and values"),
        "d.json": (b"{", "not valid JSON"),
        "deep.json": (b"[" * 10**5 + b"]" * 10**5, "nested too deeply"),
    }
    for name, (content, message) in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadFile, match=message):
            RadioConfig.read(tmp_path / name)
    with pytest.raises(BadFile, match="cannot be read"):
        RadioConfig.read(tmp_path / "none.toml")
    (tmp_path / "e.toml").write_text("rounds = -1\n")
    with pytest.raises(InvalidInput, match=r"e\.toml: rounds must be"):
        RadioConfig.read(tmp_path / "e.toml")
    with pytest.raises(InvalidInput, match=r"^rounds must be"):  # no file, no name
        RadioConfig.read(None, {"rounds": -1})


def test_a_mean_above_the_floor_is_named():
    """With what the channel has without the noise source."""
    with pytest.raises(
        InvalidInput,
        match=r"channel 3 cannot reach 48 dB: without the noise source it has 47\.0 dB",
    ):
        RadioConfig.of({"channels": {"means": [41, 37, 35, 48, 28]}}).medium()


def test_a_calibration_takes_the_place_of_computed_levels(tmp_path):
    """Both agree to 0.2 dB; one for other means is refused."""
    path = tmp_path / "calibration.json"
    calibrate(SimulatedBench.of(RadioConfig().uncalibrated_medium())).save(path)
    measured, computed = RadioConfig.of({"calibration": str(path)}).medium(), RadioConfig().medium()
    assert 10 * np.log10(np.array(measured.noise) / np.array(computed.noise)) == pytest.approx(
        0, abs=0.2
    )
    assert measured.wander_db == pytest.approx(computed.wander_db, abs=0.02)
    with pytest.raises(InvalidInput, match="was made for"):
        RadioConfig.of(
            {"calibration": str(path), "channels": {"means": [40, 37, 35, 31, 28]}}
        ).medium()
    with pytest.raises(
        InvalidInput,
        match=r"made for channels from 1200 MHz on, the configuration says base_mhz = 433",
    ):
        RadioConfig.of({"calibration": str(path), "channels": {"base_mhz": 433}}).medium()


def test_what_holds_otherwise_is_below_the_file(tmp_path):
    """The file's ports hold where it names them, else those given beside it."""
    path = tmp_path / "bench.toml"
    path.write_text("[processes]\nport = 6000\nlost_seconds = 3\n")
    read = RadioConfig.read(
        path, {"processes": {"lost_seconds": 4}}, {"processes": {"port": 0, "ack_port": 0}}
    ).processes
    assert (read.port, read.ack_port, read.lost_seconds) == (6000, 0, 4)
    path.write_text("processes = 5\n")
    with pytest.raises(InvalidInput, match=r"\[processes\] must be a table"):
        RadioConfig.read(path, None, {"processes": {"port": 0}})


def test_the_channels_may_lie_elsewhere(capsys):
    """The simulated packets are the same; only the display shows other frequencies."""
    other = RadioConfig.of(
        {"rounds": 120, "agent": {"policy": "MedEUCB(block=90)"}, "channels": {"base_mhz": 433.5}}
    )
    assert other.centres_hz == (433.5e6, 434e6, 434.5e6, 435e6, 435.5e6)
    permit = TransmitRules.from_table(
        {"bands_mhz": [[433.25, 435.75]], "max_gain_db": 0, "setup": "licensed"}
    ).permit("licensed")
    for centre in other.centres_hz:
        permit.check_frequency(centre, 500e3)
    usual = replace(other, channels=Channels())
    assert usual.centres_hz == CENTRES_HZ
    assert [record.sinr_db for record in run(other).rounds] == [
        record.sinr_db for record in run(usual).rounds
    ]
    with LiveView(other, terminal=False, stream=sys.stdout) as view:
        view.show(Round(119, 2, 34.8, False, False, 34.8, 6.0))
    assert "434.5 MHz" in capsys.readouterr().out
