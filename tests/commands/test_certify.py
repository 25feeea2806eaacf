"""`ironarm certify`: pages and JSON from means, laws and tables.

Mistakes get a sentence and exit code 2.
"""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main


def test_the_page_is_that_of_the_library(capsys):
    """From means and sigma."""
    assert (
        main(
            [
                "certify",
                "--means",
                "0,3",
                "--sigma",
                "1.5",
                "--rho",
                "0.2",
                "--horizon",
                "1e4",
                "--policy",
                "MedEUCB(b=6)",
            ]
        )
        == 0
    )
    expected = str(
        ia.certify(ia.GaussianBandit([0, 3], 1.5), rho=0.2, policy=ia.MedEUCB(b=6), horizon=10_000)
    )
    assert capsys.readouterr().out == expected + "\n"


def test_json_from_named_laws(capsys):
    """Numbers for machines."""
    assert (
        main(
            [
                "certify",
                "--laws",
                "gamma(3)",
                "norm(9, 2)",
                "--rho",
                "0.05",
                "--horizon",
                "20000",
                "--json",
            ]
        )
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert data["guaranteed"] is True
    assert data["best"] == "arm 1"
    assert 0 < data["budget"]["malicious"] < data["budget"]["coin"] < 0.5


def test_a_table_of_logged_rewards(tmp_path, capsys):
    """The estimates stand on the page."""
    noise = np.random.default_rng(1)
    path = tmp_path / "rewards.csv"
    path.write_text(
        "arm,reward\n"
        + "".join(
            f"{name},{x}\n"
            for name, mean in (("north", 0), ("south", 3))
            for x in noise.normal(mean, 1, 200)
        )
    )
    assert main(["certify", "--csv", str(path), "--rho", "0.1", "--horizon", "20000"]) == 0
    page = capsys.readouterr().out
    assert "south" in page
    assert "95 % intervals" in page
    assert "an expected regret of at most" in page


def test_the_papers_tables(capsys):
    """Theorems, then lemmas, as text and as JSON."""
    assert main(["certify", "--paper"]) == 0
    page = capsys.readouterr().out
    assert re.search(r"Theorem 1 needs +154.1 .*\n *b of at least", page)
    assert re.search(r"apply: T <= G", page)
    assert re.search(r"\n1, low +example +40 +0.2 +0.3 +0.4848 +0.10 ± \d % +4.8\n", page)
    assert main(["certify", "--paper", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert list(tables) == ["theory", "lemmas"]
    rows = tables["theory"]
    assert {"quantity", "synthetic 0.125", "radio 0.3", "remarks"} <= set(rows[0])
    (bound,) = (row for row in rows if row["quantity"] == "Theorem 1 bound")
    assert bound["radio 0.3"] is None
    assert bound["remarks"]["radio 0.3"] == "does not apply: T <= G"
    assert {row["lemma"] for row in tables["lemmas"]} == {1, 2, 3}
    assert all(0 < row["measured"] < row["bound"] < 1 < row["ratio"] for row in tables["lemmas"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--means", "1,1"], "best arm must be unique"),
        (["--means", "1,2", "--sigma", "0"], "sigma must be above 0"),
        (["--means", "a"], "cannot read the numbers"),
        (["--rho", "0.6"], "rho must be below 0.5"),
        (["--laws", "norm(1, 1)", "nrom(2, 1)"], "Did you mean"),
        (["--laws", "norm(1, 1)", "norm(2, 1)", "--sigma", "3"], "--sigma is for --means"),
        (["--csv", "no-such-file.csv"], "cannot be read"),
        (["--policy", "MedUCB"], "Did you mean 'MedEUCB'"),
        (["--horizon", "0.5"], "horizon must be"),
        (
            ["--map", "--rho", "0", "--sigma", "1"],
            "so --sigma, --rho would change nothing; leave them out.",
        ),
        (["--paper", "--map"], "so --map would change nothing; leave it out."),
        (["--trials", "100"], "so --trials would change nothing; leave it out, or add --map."),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(arguments, message, capsys):
    """On standard error, without a traceback."""
    assert main(["certify", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("ironarm: ")


def test_help_has_examples_and_the_import_is_light():
    """`ironarm certify --help`; neither it nor `import ironarm` loads scipy."""
    output = subprocess.run(
        [sys.executable, "-m", "ironarm", "certify", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "examples:" in output
    assert "--csv" in output
    code = (
        "import sys, ironarm; assert not any(name.split('.')[0] == 'scipy' for name in "
        "sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
