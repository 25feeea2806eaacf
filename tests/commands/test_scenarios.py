"""`ironarm scenarios`: list, show, make and run."""

import json
import sys

import pytest

from ironarm.cli import main
from ironarm.lab.scenarios import file as scenario_file
from ironarm.lab.scenarios.spec import shipped


def test_list_and_show_name_them_all(capsys):
    """With what happens, and the deployments."""
    assert main(["scenarios", "list"]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in shipped())
    assert main(["scenarios", "show", "degradation"]) == 0
    output = capsys.readouterr().out
    assert "four times slower" in output
    assert "1,001" in output
    assert main(["scenarios", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(shipped())


def test_make_writes_files_that_run_reads(tmp_path, capsys):
    """A file plays as the scenario that it came from."""
    out = tmp_path / "files"
    assert main(["scenarios", "make", "stalls", "--seeds", "2", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "SHA256SUMS",
        "stalls-1.jsonl",
        "stalls-2.jsonl",
    ]
    capsys.readouterr()
    common = ["--router", "greedy", "--alone", "--json"]
    assert main(["scenarios", "run", str(out / "stalls-1.jsonl"), *common]) == 0
    from_file = json.loads(capsys.readouterr().out)[0]
    assert main(["scenarios", "run", "stalls", "--seeds", "1", *common]) == 0
    made = json.loads(capsys.readouterr().out)[0]
    assert from_file["best"] == made["best"]
    assert from_file["seeds"] == made["seeds"] == [1]


def test_make_refuses_to_write_other_numbers(tmp_path, capsys, monkeypatch):
    """If this machine computes something else than what was published."""
    monkeypatch.setattr(scenario_file, "digest", lambda text: "0" * 64)
    assert main(["scenarios", "make", "calm", "--seeds", "1", "--out", str(tmp_path)]) == 2
    assert "came out different from what was published" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_run_prints_a_table_with_intervals(capsys):
    """Ours beside the one that is given; the best first."""
    words = ["scenarios", "run", "fail-fast", "--seeds", "2", "--router", "policy:RUCB(omega=0.36)"]
    assert main(words) == 0
    output = capsys.readouterr().out
    lines = output.splitlines()
    assert "fail-fast: The best stalls" in lines[0]
    assert "95 % interval" in output
    rows = [line.split()[0] for line in lines if line[:6] in ("policy", "greedy", "round-")]
    assert "policy:RUCB(omega=0.36)" in rows
    assert rows[0] in ("policy:CoherentIMED", "policy:RestartingIMED")
    assert rows.index("round-robin") < rows.index("greedy")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "stals"], "Did you mean 'stalls'"),
        (["run", "none.jsonl"], "cannot be read"),
        (["run", "calm", "--seeds", "0"], "--seeds must be a whole number of at least 1"),
        (["run", "calm", "--alone"], "give one with --router"),
        (["run", "calm", "--seeds", "1", "--alone", "--router", "no-such-x"], "cannot be started"),
        (["run", "calm", "--seeds", "1", "--alone", "--router", "a 'b"], "cannot be read"),
        (["run", "calm", "--alone", "--router", "greedy", "--router", "policy:X"], "policy"),
        (
            ["run", "calm", "--seeds", "1", "--alone", "--router", f"{sys.executable} -c 1"],
            "ended with exit code 0",
        ),
    ],
)
def test_mistakes_get_a_sentence(words, message, capsys):
    """And exit code 2."""
    assert main(["scenarios", *words]) == 2
    assert message in capsys.readouterr().err
