"""Calibration hits its targets with any path gains, and names what is out of reach."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from ironarm.errors import BadFile, InvalidInput
from ironarm.radio.signal.medium import Medium
from ironarm.radio.testbed.calibrate import (
    TARGETS_DB,
    CalibratedChannel,
    Calibration,
    SimulatedBench,
    UnreachableTarget,
    calibrate,
)

QUIET = (0.0,) * 5


def bench(floor=1e-9, transmitter=0.0, noise=0.0, seed=1):
    gains = {
        "transmitter": np.broadcast_to(transmitter, 5).tolist(),
        "noise": np.broadcast_to(noise, 5).tolist(),
    }
    return SimulatedBench.of(Medium(noise=QUIET, floor=floor, gains_db=gains, seed=seed))


@pytest.mark.parametrize("seed", [1, 2])
def test_targets_from_unknown_gains(seed, tmp_path):
    """Fresh packets have the target means within 0.2 dB and unit spread within 8 %.

    1,000 packets: six and five standard errors.
    """
    draw = np.random.default_rng(seed)
    transmitter = draw.uniform(-40, 0, 5)
    here = bench(
        10**-5.5 * 10 ** (transmitter.min() / 10),
        transmitter,
        transmitter - draw.uniform(-20, 20, 5),
        seed,
    )
    found = calibrate(here)
    found.save(tmp_path / "calibration.json")
    kept = Calibration.load(tmp_path / "calibration.json")
    assert kept == found
    for channel, target in enumerate(TARGETS_DB):
        sinr = here.measure(channel, kept.levels[channel], kept.wander_db, 1000)
        assert abs(sinr.mean() - target) < 0.2
        assert sinr.std() == pytest.approx(1, rel=0.08)


def test_unreachable_targets_are_named():
    """A floor of 40 dB, a weak or unconnected noise source, a spread below its own."""
    with pytest.raises(
        UnreachableTarget,
        match=(
            r"channel 0 cannot reach 41 dB: with the noise source off it has (39\.9|40\.0|40\.1) "
            r"dB"
        ),
    ):
        calibrate(bench(floor=1e-4))
    with pytest.raises(UnreachableTarget, match=r"channel 2 cannot come down to 35 dB"):
        calibrate(bench(noise=[0, 0, -50, 0, 0]))
    with pytest.raises(UnreachableTarget, match=r"channel 3 (does not react|cannot come down)"):
        calibrate(bench(noise=[0, 0, 0, -300, 0]))
    with pytest.raises(UnreachableTarget, match=r"spread by 0\.2"):
        calibrate(bench(), spread_db=0.1)


def test_a_calibration_without_end_is_refused():
    """Before a packet is sent; what is needed is said."""
    with pytest.raises(
        InvalidInput,
        match=(
            r"takes 1\.6e\+07 packets in each channel, and 100,000 is the most; choose 0\.013 dB "
            r"or more"
        ),
    ):
        calibrate(bench(), tolerance_db=0.001)
    with pytest.raises(InvalidInput, match="packets must be a whole number"):
        calibrate(bench(), packets=99_999_999_999)


def test_an_unsteady_bench_is_noticed():
    """Its gain drops by 3 dB before the verification."""

    class Drifting(SimulatedBench):
        def measure(self, channel, level, wander_db, packets):
            return super().measure(channel, level, wander_db, packets) - (3 if wander_db else 0)

    with pytest.raises(UnreachableTarget, match="not steady"):
        calibrate(Drifting.of(bench().medium))


def test_bad_files(tmp_path):
    """No file, no JSON, something else, a part missing."""
    path = tmp_path / "calibration.json"
    with pytest.raises(BadFile, match="cannot be read"):
        Calibration.load(path)
    for text, problem in (
        ("{", "not valid JSON"),
        ("[" * 10**5 + "]" * 10**5, "nested too deeply"),
        ("[1]", "not a calibration file"),
        ('{"ironarm_calibration": 2}', "of this version"),
        ('{"ironarm_calibration": 1}', "damaged"),
    ):
        path.write_text(text)
        with pytest.raises(BadFile, match=problem):
            Calibration.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("level", float("nan")),
        ("level", None),
        ("level", 1.5),
        ("level", -0.1),
        ("target_db", "41"),
        ("slope", float("inf")),
        ("wander_db", None),
    ],
)
def test_numbers_that_are_none_are_damage(name, value, tmp_path):
    """They would be found in the middle of a run, or never."""
    whole = asdict(
        Calibration(
            (CalibratedChannel(1200e6, 41.0, 50.0, 1e-3, 0.5, 41.0, 1.0),), 0.9, 1.0, "today"
        )
    )
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps({"ironarm_calibration": 1, **whole}))
    assert Calibration.load(path).levels == (0.5,)
    (whole if name in whole else whole["channels"][0])[name] = value
    path.write_text(json.dumps({"ironarm_calibration": 1, **whole}))
    with pytest.raises(BadFile, match=f"is damaged .{name} must be"):
        Calibration.load(path)
