"""Recordings pass sigmf's own validator, and hold what was heard."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.radio.signal.medium import CENTRES_HZ, channelise
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.testbed.recording import record
from ironarm.radio.testbed.wideband_rounds import wideband_rounds

sigmf = pytest.importorskip("sigmf")

BANDIT, JAMMER, POLICY = ia.RadioBandit(), ia.attacks.Jammer(0.4), ia.EpsilonGreedy(c=10)


def command(*arguments):
    """The command `ironarm radio record`."""
    return main(["radio", "record", *arguments])


def validate(meta):
    """sigmf's own command."""
    validator = shutil.which(
        "sigmf_validate", path=str(Path(sys.executable).parent)
    ) or shutil.which("sigmf_validate")
    assert validator, "sigmf_validate is not installed beside Python"
    return subprocess.run([validator, str(meta)], capture_output=True, text=True)


@pytest.mark.parametrize("form", ["ci16_le", "cf32_le"])
def test_a_recording_is_valid_and_reads_back(tmp_path, form, capsys):
    """The receiver finds every packet where its annotation says.

    Jammed packets read as low as they should.
    """
    assert (
        command(
            "--out", str(tmp_path), "--rounds", "8", "--rho", "0.4", "--seed", "3", "--format", form
        )
        == 0
    )
    meta = tmp_path / "testbed.sigmf-meta"
    done = validate(meta)
    assert done.returncode == 0, done.stderr
    found = sigmf.fromfile(str(meta))
    heard = list(wideband_rounds(BANDIT, JAMMER, POLICY, rounds=8, seed=3))
    samples = np.concatenate([burst.samples for burst in heard])
    scale = found.get_global_info()["ironarm:full_scale"]
    assert np.max(np.abs(found.read_samples() * scale - samples)) < (
        2e-4 if form == "ci16_le" else 1e-6
    )
    annotations = found.get_annotations()
    assert (
        [note["core:label"] for note in annotations].count("jamming")
        == sum(burst.jammed for burst in heard)
        > 0
    )
    packets = [note for note in annotations if note["core:label"] == "packet"]
    assert [note["ironarm:round"] for note in packets] == list(range(1, 9))
    jammed = {note["ironarm:round"] for note in annotations if note["core:label"] == "jamming"}
    for note in packets:
        channel = CENTRES_HZ.index(
            (note["core:freq_lower_edge"] + note["core:freq_upper_edge"]) / 2
        )
        assert channel == note["ironarm:channel"]
        around = samples[note["core:sample_start"] - 600 :][:6000]
        report = Receiver(sps=3).receive(channelise(around, channel))
        # the header of a jammed packet cannot always be read
        assert report.round in (note["ironarm:round"], None)
        assert report.timing == pytest.approx(50, abs=0.1)
        assert report.sinr_db == pytest.approx(note["ironarm:sinr_db"], abs=1.5)
        assert (report.sinr_db < 20) == (note["ironarm:round"] in jammed)
    captures = found.get_captures()
    assert [capture["core:global_index"] for capture in captures] == [
        10_000_000 * k for k in range(8)
    ]


def test_the_validator_notices_changed_samples(tmp_path):
    """So it did look at them."""
    meta, _ = record(wideband_rounds(BANDIT, JAMMER, POLICY, rounds=1), BANDIT, tmp_path / "one")
    data = tmp_path / "one.sigmf-data"
    data.write_bytes(data.read_bytes()[:-4] + b"abcd")
    assert validate(meta).returncode != 0


def test_a_recording_is_there_whole_or_not_at_all(tmp_path):
    """An exception in the middle leaves what was there, and nothing half-written."""
    record(wideband_rounds(BANDIT, JAMMER, POLICY, rounds=2), BANDIT, tmp_path / "r")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def broken():
        yield from wideband_rounds(BANDIT, JAMMER, POLICY, rounds=3, seed=9)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        record(broken(), BANDIT, tmp_path / "r")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_loud_jamming_is_not_clipped(tmp_path):
    """Full scale follows the jammer's power."""
    bandit = ia.RadioBandit(jammed=(0, 0, 0, 0, 0))
    meta, _ = record(
        wideband_rounds(bandit, ia.attacks.Jammer(0.99), POLICY, rounds=3),
        bandit,
        tmp_path / "loud",
    )
    stored = np.fromfile(tmp_path / "loud.sigmf-data", "<i2")
    assert 2000 < np.abs(stored).max() < 32767
    assert json.loads(meta.read_text())["global"]["ironarm:jammed_db"] == [0] * 5


@pytest.mark.parametrize(
    ("jammer", "words", "expected"),
    [
        ("trace:trace.txt", "'trace:trace.txt'", [(1, 0), (5, 4)]),
        ("1,0,0,0,0", "1,0,0,0,0", [(1, 0)]),
    ],
)
def test_the_jammers_are_those_of_a_run(tmp_path, jammer, words, expected, monkeypatch):
    """A trace begins with the first round; a list has a probability for each channel.

    Five rounds are one in each channel.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.txt").write_text("any\nnone\nnone\nnone\n")
    assert command("--out", ".", "--rounds", "5", "--policy", "UCB", "--jammer", jammer) == 0
    meta = json.loads((tmp_path / "testbed.sigmf-meta").read_text())
    jammed = [
        (note["ironarm:round"], note["ironarm:channel"])
        for note in meta["annotations"]
        if note["core:label"] == "jamming"
    ]
    assert jammed == expected
    assert f", jammer {words}, seed 0" in meta["global"]["core:description"]


def test_a_jammer_of_the_same_power_is_recorded_with_what_it_leaves(tmp_path):
    """In the metadata, and in the samples of its packets, one in each channel.

    A `Jammer` in Python gives the same samples.
    """
    assert (
        command(
            "--out",
            str(tmp_path),
            "--rounds",
            "5",
            "--policy",
            "UCB",
            "--jammer",
            "1,1,1,1,1",
            "--same-power",
        )
        == 0
    )
    meta = json.loads((tmp_path / "testbed.sigmf-meta").read_text())
    assert meta["global"]["ironarm:jammed_db"] == pytest.approx([7.5] * 5, abs=0.03)
    assert "1,1,1,1,1, the same power in all channels" in meta["global"]["core:description"]
    read = [note["ironarm:sinr_db"] for note in meta["annotations"] if "ironarm:sinr_db" in note]
    jammer = ia.attacks.Jammer(0.999, same_power=True)
    heard = wideband_rounds(BANDIT, jammer, ia.UCB(), rounds=5, seed=0)
    assert read == [round(one.report.sinr_db, 3) for one in heard]
    assert np.mean(read) == pytest.approx(7.5, abs=1.9)  # spread 1 dB: four standard errors


def test_mistakes_are_one_sentence(tmp_path, capsys):
    """Too short a burst, a name with a path, no rounds."""
    for arguments, message in (
        (["--milliseconds", "1"], "milliseconds"),
        (["--name", "../up"], "name"),
        (["--rounds", "0"], "rounds"),
    ):
        assert command("--out", str(tmp_path / "recordings"), *arguments) == 2
        assert capsys.readouterr().err.startswith(f"ironarm: {message} must be")
