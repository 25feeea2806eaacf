"""A sweep file lists the cells; mistakes in it are found before anything runs."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.lab.sweeps.file import read_sweep, sweep_cells

from .examples import SMALL, written

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLE = DOCS / "examples" / "sweep.toml"


def documented(language):
    """The block in that language in docs/sweep.md."""
    return (DOCS / "sweep.md").read_text().partition(f"```{language}\n")[2].partition("```")[0]


def test_the_documented_file_is_the_example():
    """Line by line, but for the introduction."""
    assert EXAMPLE.read_text().endswith(documented("toml"))


def test_help_shows_a_file_and_examples(capsys):
    """The file shown there can be read."""
    with pytest.raises(SystemExit):
        main(["sweep", "--help"])
    output = capsys.readouterr().out
    assert "ironarm sweep sweep.toml --dask" in output
    shown = output.partition("a sweep file:\n")[2].partition("examples:")[0]
    assert len(sweep_cells(tomllib.loads(shown))) == 40


def test_rho_stands_for_the_cells_own():
    """Alone, in sums, products and lists, without rounding errors; else 0."""
    data = {
        "policies": ["TrimmedUCB(alpha=[rho, rho + 0.1, 2 * rho])"],
        "attacks": ["Infinite", "NoAttack"],
        "rho": [0.2],
        "means": [0, 1],
        "horizon": 10,
        "trials": 1,
        "seed": 1,
    }
    assert [0.2, 0.3, 0.4, 0.0, 0.1] == [cell.policy.alpha for cell in sweep_cells(data)]


def test_arms_and_gap_are_the_papers_arms():
    """Ten arms with a gap of two have the means 2, 4, ..., 20."""
    data = {
        "policies": "UCB",
        "attacks": "NoAttack",
        "arms": 10,
        "gap": [2, 0.1, 2],
        "horizon": 10,
        "trials": 1,
        "seed": 1,
    }
    paper, narrow = sweep_cells(data)
    assert np.array_equal(np.arange(2, 21, 2), paper.bandit.means)
    assert narrow.bandit.means[2] == 0.3
    assert paper.bandit.sigma.tolist() == [1] * 10


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("trails = 5", "unknown key 'trails'.* Did you mean 'trials'"),
        ('policies = ["MedUCB"]', "unknown policy 'MedUCB'.* Did you mean 'MedEUCB'"),
        ('policies = ["UCB(alfa=1)"]', "UCB has no parameter 'alfa'.* Did you mean 'alpha'"),
        ('policies = ["UCB(alpha=[1, -1])"]', "alpha must be above 0, got -1"),
        ('policies = ["UCB(alpha=[])"]', "has no value for alpha"),
        ('policies = ["UCB(alpha=tau)"]', "cannot read the policy 'UCB\\(alpha=tau\\)'"),
        ("policies = [\"UCB(alpha='a' + 1)\"]", "cannot read the policy"),
        ("policies = [\"UCB(alpha=__import__('os'))\"]", "cannot read the policy"),
        ('policies = ["TrimmedUCB"]', "TrimmedUCB needs alpha"),
        (
            'policies = ["TrimmedUCB(alpha=rho + 0.4)"]',
            "alpha must be at least 0 and below 0.5, got 0.5",
        ),
        ('policies = ["MedEUCB(block=10)"]', "block=10 is too small for 3 arms"),
        ("policies = []", "policies is empty"),
        ("policies = [1]", "policies must be text in quotes"),
        ('attacks = ["Mimik"]', "unknown attack 'Mimik'.* Did you mean 'Mimic'"),
        ('attacks = ["Constant(valeu=1)"]', "Did you mean 'value'"),
        ('attacks = ["Constant(rho=0.1)"]', "has a rho of its own"),
        ("rho = [0.1, 1]", "rho must be at least 0 and below 1, got 1"),
        ('rho = ["a"]', "rho must be a number, got 'a'"),
        ("rho = []", "rho is empty"),
        ("gap = 0", "gap must be above 0"),
        ("arms = 1", "arms must be a whole number of at least 2"),
        ("means = [1, 2]", "both means and arms are given"),
        ("sigma = -1", "sigma must be at least 0"),
        ("horizon = 0", "horizon must be a whole number of at least 1"),
        ("trials = 0", "trials must be a whole number of at least 1"),
        ("seed = 9_223_372_036_854_775_808", "seed must be a whole number below"),
        ("horizon =", "is not valid TOML"),
    ],
)
def test_mistakes_in_a_file_get_a_sentence_before_anything_runs(line, message, tmp_path, capsys):
    """It names the file, what was expected and what was meant; exit code 2."""
    key = line.partition(" ")[0]
    lines = [given for given in SMALL.splitlines() if not given.startswith(f"{key} ")]
    file = written(tmp_path, "\n".join([*lines, line]))
    assert main(["sweep", str(file), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"ironarm: {file}")
    assert errors.count("\n") == 1
    with pytest.raises(ia.InvalidInput, match=message):
        read_sweep(file)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("key", ["policies", "attacks", "rho", "gap", "horizon", "trials", "seed"])
def test_a_missing_line_is_named_with_an_example(key, tmp_path):
    """What is missing, and what to add."""
    file = written(
        tmp_path, "\n".join(line for line in SMALL.splitlines() if not line.startswith(key))
    )
    with pytest.raises(ia.InvalidInput, match=f"{key} is missing; add a line such as '{key} = "):
        read_sweep(file)


@pytest.mark.parametrize(
    ("data", "message"), [(None, "No such file"), (b"\xff\xfe", "it is not text")]
)
def test_a_file_that_cannot_be_read(data, message, tmp_path):
    """Is named."""
    path = tmp_path / "x.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ia.InvalidInput, match=message):
        read_sweep(path)
