"""The command line prints tables and JSON, writes files, and explains mistakes.

A mistake gets one sentence and exit code 2.
"""

import json
import re
import subprocess
import sys

import pytest

import ironarm as ia
from ironarm.cli import main

SHORT = ["simulate", "--horizon", "600", "--trials", "3", "--seed", "5", "--means", "0,1,3"]


def test_the_table_shows_each_policy(capsys):
    """With the attack, the seed and a line for each."""
    assert main([*SHORT, "--policies", "MedEUCB", "UCB(alpha=1)", "--pairs"]) == 0
    output = capsys.readouterr().out
    assert "seed 5" in output
    assert "OppositeUniform(rho=0.125, scale=1800.0)" in output
    assert "UCB(alpha=1)" in output
    assert "first - second" in output


def test_json_has_the_numbers_of_the_library(capsys):
    """The same call in Python gives the same mean."""
    assert (
        main(
            [
                *SHORT,
                "--policies",
                "RUCB",
                "--attack",
                "Constant(value=7)",
                "--rho",
                "0.2",
                "--json",
            ]
        )
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    result = ia.simulate(
        ia.RUCB(),
        ia.GaussianBandit([0, 1, 3]),
        ia.Constant(rho=0.2, value=7),
        horizon=600,
        trials=3,
        seed=5,
    )
    assert data["rows"][0]["mean"] == result.summary().rows[0].mean
    assert data["specification"]["attack"] == {
        "attack": "Constant",
        "parameters": {"rho": 0.2, "value": 7.0},
    }


def test_save_and_plot_write_files(tmp_path, capsys):
    """The saved result loads."""
    assert (
        main(
            [
                *SHORT,
                "--policies",
                "UCB",
                "--save",
                str(tmp_path / "r.npz"),
                "--plot",
                str(tmp_path / "r.png"),
            ]
        )
        == 0
    )
    assert ia.Result.load(tmp_path / "r.npz").labels == ["UCB"]
    assert (tmp_path / "r.png").stat().st_size > 1000


def test_the_default_policy_is_shown_beside_two_others(capsys):
    """The paper's, and one that fails."""
    assert main(["simulate", "--horizon", "300", "--trials", "1", "--seed", "1", "--json"]) == 0
    names = [p["policy"] for p in json.loads(capsys.readouterr().out)["specification"]["policies"]]
    assert names == ["CoherentIMED", "MedEUCB", "UCB"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policies", "MedUCB"], "Did you mean 'MedEUCB'"),
        (["--policies", "UCB(alfa=1)"], "Did you mean 'alpha'"),
        (["--policies", "UCB(alpha=-1)"], "alpha must be above 0"),
        (["--policies", "UCB(alpha=__import__('os'))"], "cannot read the policy"),
        (["--policies", "UCB(alpha=open('x'))"], "cannot read the policy"),
        (["--policies", "TrimmedUCB"], "alpha"),
        (["--attack", "Mimik"], "Did you mean 'Mimic'"),
        (["--rho", "1"], "rho must be"),
        (["--rho", "abc"], "--rho must be a number, got 'abc'. See `ironarm simulate --help`"),
        (["--seed", "1.5"], "--seed must be a whole number, got '1.5'."),
        (["--nonsense"], "unrecognized arguments: --nonsense. See `ironarm --help`"),
        (["--policies", "lab/tug:Tug"], "one of your own like mine.py:MyPolicy."),
        (["--policies", "UCB(alpha=1"], "one of your own like mine.py:MyPolicy."),
        (
            ["--policies", "UCB", "RUCB", "UCB"],
            "UCB is given twice; both would do exactly the same",
        ),
        (["--means", "a,b"], "cannot read the numbers"),
        (["--means", "1:2:0"], "cannot read the numbers"),
        (["--horizon", "0"], "horizon"),
        (["--policies", "UCB", "--save", "no/such/folder/r.npz"], "there is no folder no/such"),
        (["--policies", "UCB", "--plot", "no/such/folder/r.png"], "there is no folder no/such"),
        (["--policies", "UCB", "--plot", "x.unknown"], "must end with .pdf, .svg, .png or"),
        (["--policies", "UCB", "--save", "x.csv"], "ends in .npz, got .csv"),
        (["--policies", "UCB", "--save", "."], "is a folder; name a file in it"),
        (["--attack", "CustomAttack"], "cannot be written as text"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(arguments, message, capsys):
    """On standard error, without a traceback."""
    assert main(["simulate", "--trials", "1", "--horizon", "10", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("ironarm: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "UCB", "--trials", "0"], "ironarm: trials must be a whole number of at least"),
        (["compare", "mine.py"], "ironarm: mine.py does not exist. Write your own"),
        (
            ["compare", "mine.py:Mine"],
            "ironarm: mine.py does not exist. Write your own",
        ),
        (["arena", "clickz"], "there is no arena file clickz; .* Did you mean 'clicks'"),
        (["reproduce", "--study", "folder"], "the folder folder has no runs.toml; expected"),
        (["reproduce", "--study", "sintetic"], "there is no study 'sintetic'"),
        (["radio", "run", "--save", "run.csv"], "expected a file that ends in .json, got .csv"),
        (["plot", "folder"], r"figures are already drawn: a\.pdf, b\.pdf in folder.figures"),
        (["plot", "agent.json", "--where", "rho=1"], "no choice of where; leave it out"),
        (["plot", "r.npz", "--own", "UCB"], r"no choice of policy \(on the command line, --own\)"),
    ],
)
def test_mistakes_of_other_verbs_get_one_too(arguments, message, tmp_path, monkeypatch, capsys):
    """Before anything is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder" / "figures").mkdir(parents=True)
    (tmp_path / "folder" / "cells").mkdir()
    for name in ("report.html", "figures/b.pdf", "figures/a.pdf"):
        (tmp_path / "folder" / name).touch()
    (tmp_path / "r.npz").write_bytes(b"PK")
    (tmp_path / "agent.json").write_text('{"format": "ironarm agent"}')
    assert main(arguments) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("option", ["--save=no/such/r.npz", "--plot=x.nonsense", "--save=x.csv"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(option, monkeypatch):
    """Not after it, when the result would be lost."""
    monkeypatch.setattr("ironarm.simulation.simulate", None)
    assert main([*SHORT, "--policies", "UCB", option]) == 2


def test_the_table_is_printed_even_if_a_file_fails_in_the_end(tmp_path, monkeypatch, capsys):
    """The disk may be full by then."""

    def full(*_):
        raise OSError(28, "No space left on device", "r.npz")

    monkeypatch.setattr("ironarm.simulation.result.write_whole", full)
    assert main([*SHORT, "--policies", "UCB", "--save", str(tmp_path / "r.npz")]) == 2
    captured = capsys.readouterr()
    assert "mean regret" in captured.out
    assert "No space left on device" in captured.err


def test_policy_and_policies_both_work_and_none_is_lost(capsys):
    """Also given twice."""
    assert main([*SHORT, "--policy", "UCB", "--policy", "RUCB", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["policy"] for row in rows] == ["UCB", "RUCB"]
    assert main(["certify", "--means", "0,3", "--policies", "MedEUCB", "--json"]) == 0


def test_what_is_printed_fits_80_columns_and_one_trial_is_one(capsys):
    """With long names, too."""
    names = ["TrimmedEpsilonGreedy(alpha=0.123456, c=7.125)", "MedEUCB(b=3.25, block=1234)"]
    options = ["--attack", "ACE(delta=0.015625, sigma=1.25, target='worst')", "--pairs"]
    short = [*SHORT[:3], "--trials", "1", *SHORT[5:]]
    assert main([*short, "--policies", *names, *options]) == 0
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    assert output.startswith("1 trial of 600 rounds under ACE(")
    assert "1 trials" not in output


def test_help_shows_examples_for_each_verb():
    """`ironarm --help` and `ironarm simulate --help`, without loading the compiler."""
    for arguments in ([], ["simulate"], ["reproduce"]):
        output = subprocess.run(
            [sys.executable, "-m", "ironarm", *arguments, "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "examples:" in output
        assert "ironarm simulate" in output or "ironarm reproduce" in output
    code = (
        "import sys; sys.argv = ['ironarm', '--help']\ntry:\n    import ironarm.cli; "
        "ironarm.cli.main()\nexcept SystemExit: pass\nassert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_warnings_of_ours_have_no_file_and_line():
    """Before, they began with <frozen runpy>:88."""
    command = [
        sys.executable,
        "-m",
        "ironarm",
        "radio",
        "run",
        "--rounds",
        "300",
        "--policy",
        "UCB(sigma=0.01)",
    ]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    assert (
        [line for line in lines if not line.startswith(("round ", "compiling "))]
        == [
            line for line in lines if line.startswith("ironarm: rewards of an arm spread by about ")
        ]
        != []
    )
