"""`ironarm compare`: a policy of one's own against the best, in one page."""

import json
import re
from pathlib import Path

import pytest

from ironarm.arena.compare import LEVEL, LOSES, WINS, Place
from ironarm.arena.standings import Row
from ironarm.cli import main
from ironarm.studies.statistics import Estimate
from tests.test_own_code import POLICY

ARENA = Path(__file__).parent / "small_arena.toml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A comparison in the small arena; the policy lies in another folder."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "mine.py").write_text(POLICY)
    text = f"{folder / 'mine.py'}:Mine(omega=4*sigma*sigma)"
    command = ["compare", text, "--arena", str(ARENA), "--quick", "--out", str(folder / "out")]
    assert main(command) == 0
    return command, folder / "out"


def test_the_page_says_what_a_researcher_asks(finished):
    """Standings with one's own marked, where it wins, where it breaks, its speed."""
    _, out = finished
    page = (out / "report.html").read_text()
    assert re.search(r"Mine\(omega=4\*sigma\*sigma\) is number \d of 5: over the attacks", page)
    assert re.search(r'<tr class="marked"><th scope="row">Mine\(omega', page)
    assert re.search(r"wins in \d of 3 places, is level in \d and loses in \d", page)
    assert "A search found" in page
    assert re.search(r"A round takes \d+ ns", page)
    for name in ("regret-rho-0.1", "regret-rho-0.3", "overview-map"):
        assert (out / "figures" / f"{name}.pdf").is_file()


def test_the_numbers_are_for_machines_too(finished):
    """Every place with its verdict, and the worst attack found."""
    found = json.loads((finished[1] / "report.json").read_text())
    [mine] = found["compared"]
    assert len(mine["places"]) == 3
    for place in mine["places"]:
        assert place["rival"]["policy"] != place["mine"]["policy"]
        assert place["verdict"] in (WINS, LEVEL, LOSES)
    assert mine["worst_found"]["attack"].startswith("Shaped(")
    assert len(found["standings"]) == 5


def test_a_repeated_comparison_computes_nothing(finished, capsys):
    """And another policy costs its own cells only."""
    command, _ = finished
    assert main(command) == 0
    assert "0 cells computed" in capsys.readouterr().out
    assert main([*command[:2], "RUCB", *command[2:]]) == 0
    # 3 places, 3 attacks each; without an attack two of them are the same
    assert "8 cells computed" in capsys.readouterr().out


def test_a_finished_arena_takes_one_more_policy(finished, tmp_path, capsys):
    """For the price of its own cells."""
    command = ["arena", str(ARENA), "--quick", "--out", str(tmp_path)]
    assert main(command) == 0
    own = finished[0][1]
    assert main([*command, "--policy", own]) == 0
    assert "8 cells computed" in capsys.readouterr().out
    assert "Mine(omega=4*sigma*sigma)" in (tmp_path / "report.html").read_text()


def test_a_place_is_won_only_beyond_doubt():
    """Where the intervals overlap, the two are level."""

    def row(low, high):
        score = type("Score", (), {"regret": Estimate((low + high) / 2, low, high)})
        return Row("p", "a", score, 0.0, Estimate(0, 0, 0), None, 1.0, 1.0, 1.0, None)

    verdicts = [
        Place("s", 0.1, row(*mine), row(*theirs)).verdict
        for mine, theirs in (((1, 2), (3, 4)), ((1, 3), (3, 4)), ((5, 6), (3, 4)))
    ]
    assert verdicts == [WINS, LEVEL, LOSES]


def test_mistakes_are_one_sentence(capsys):
    """Nobody to compare with, an unknown policy, a policy that plays nowhere."""
    for arguments, message in (
        (["UCB", "--against", "UCB"], "nobody to compare with"),
        (["Nobody"], "unknown policy 'Nobody'"),
        (["nothing.py:Mine"], "cannot be read"),
    ):
        assert main(["compare", *arguments]) == 2
        assert message in capsys.readouterr().err
