"""`ironarm compare`: a policy of one's own against the best, in one page."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.lab.arena.compare import with_rivals
from ironarm.lab.arena.places import (
    CANNOT_TELL,
    LOSES,
    TOO_FEW,
    WINS,
    Compared,
    Place,
    Search,
    first_look,
)
from ironarm.lab.arena.read import read_arena
from ironarm.lab.arena.report import needs_text
from ironarm.lab.arena.standings import ENOUGH_TRIALS, Standing, StandingsRow
from ironarm.lab.arena.worst_case import Damage, WorstCase
from ironarm.lab.kit.statistics import Estimate
from ironarm.naming import own_code
from tests.browser import opened
from tests.naming.test_own_code import POLICY

ARENA = Path(__file__).parent / "small_arena.toml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A comparison in the small arena; the policy lies in another folder."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "mine.py").write_text(POLICY)
    text = f"{folder / 'mine.py'}:Mine(omega=4*sigma*sigma)"
    command = ["compare", text, "--arena", str(ARENA), "--quick", "--out", str(folder / "out")]
    assert main(command) == 0
    return command, folder / "out" / "quick"


@pytest.fixture(scope="module")
def page(finished):
    """The page of that comparison."""
    return (finished[1] / "report.html").read_text()


def words_of(page):
    """Return what is read on a page: no code, no pictures."""
    words = re.sub(r"<(svg|style|code|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", "", words.replace("<wbr>", ""))


def test_the_page_says_what_a_researcher_asks(finished, page):
    """Standings with one's own marked, where it wins, where it breaks, its speed."""
    words = words_of(page)
    assert re.search(r"Mine\(omega=4\*sigma\*sigma\) is number \d of 5: under its worst", words)
    assert re.search(r'<tr class="marked"><th scope="row">Mine\(<wbr>omega', page)
    assert re.search(r"it wins 0 and loses 0; 3 had fewer than 20 trials", words)
    assert re.search(r"In the setting normal at ρ\s=\s0.3 a search found", words)
    assert re.search(r"mean regret of (UCB|MedEUCB|CountIMED|EXP3)", words)
    assert re.search(r"A round of Mine\(omega=4\*sigma\*sigma\) takes \d+ ns with 3 arms", words)
    [lead] = re.findall(r'<p class="lead">(.*?)</p>', page, re.DOTALL)
    first, second, *others = re.findall(r".*?\.(?:\s|$)", words_of(lead))
    assert "under its worst named attack" in first
    assert "a search found" in second
    assert 3 <= len(others) <= 4
    assert "sorted by the largest ratio" in words
    for name in ("regret-rho-0.1", "regret-rho-0.3", "overview-map"):
        assert (finished[1] / "figures" / f"{name}.pdf").is_file()


def test_a_quick_page_says_that_it_is_a_first_look(finished, page, capsys):
    """At its top, and on the terminal; and the full page lies elsewhere."""
    text = "This is a first look, with 2 to 3 trials in a setting."
    assert words_of(page).index(text) < words_of(page).index("is number")
    assert json.loads((finished[1] / "report.json").read_text())["quick"]
    capsys.readouterr()
    assert main(finished[0]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(text)
    for number in (1, 2, 3):
        assert f"step {number} of 3: " in said.err
    assert not (finished[1].parent / "report.html").exists()
    arena = read_arena(ARENA, trials=ENOUGH_TRIALS)
    assert first_look(arena, quick=False) == ""


def test_the_page_speaks_one_language(page):
    """The letter and not its name, no marks of plain text, all headings linked."""
    words = words_of(page)
    assert "`" not in words
    assert not re.search(r"(?<!-)\brho\b", words)  # the figures' files have its name
    headings = re.findall(r'<h2 id="([^"]+)"', page)
    assert headings == re.findall(r'<a href="#([^"]+)"', page)
    assert all(re.findall(r'<th scope="col">([^<]*)</th>', page))


def test_what_a_policy_needs_may_not_be_stated(finished):
    """Only a class that says so needs to know nothing."""
    path = finished[0][1].partition(":")[0]
    with own_code.allowed():
        arena = with_rivals(read_arena(ARENA), [f"{path}:Mine"], ["CoherentIMED", "UCB"])
        needs = {name: needs_text(arena, name) for name in arena.policies}
    assert needs == {"Mine": "not stated", "CoherentIMED": "nothing", "UCB": "σ"}


def test_the_page_opens_in_a_browser(page, tmp_path):
    """Nothing is cut, and no word of a heading is split."""
    for width, lines in opened(page, tmp_path).items():
        assert (width, lines["tables"], lines["cut"]) == (width, str(page.count("<table")), "0")
        assert (width, lines["broken"]) == (width, "0")


def test_the_numbers_are_for_machines_too(finished):
    """Every place with its judgement, and the worst attack found."""
    found = json.loads((finished[1] / "report.json").read_text())
    [mine] = found["compared"]
    assert len(mine["places"]) == 3
    for place in mine["places"]:
        assert place["rival"]["policy"] != place["mine"]["policy"]
        assert place["judgement"] == TOO_FEW
    assert mine["worst_found"]["attack"].startswith("Shaped(")
    assert len(mine["rival_under_them"]) == 1 + len(mine["worst_named"])
    assert len(found["standings"]) == 5


def test_a_repeated_comparison_computes_nothing(finished, capsys):
    """And another policy costs its own cells only.

    5 policies meet 3 attacks in 3 places, one of which one policy refuses. 4 cells are
    shared by two rho: those without an attack, of policies that do not use rho.
    """
    command, _ = finished
    capsys.readouterr()
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "0 cells computed, 38 kept from before, 4 used more than once" in said
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


def row(low, high, policy="p", stuck=0.0):
    score = type("Score", (), {"regret": Estimate((low + high) / 2, low, high)})
    return StandingsRow(policy, "a", score, stuck, Estimate(0, 0, 0), None, 1.0, 1.0, 1.0, None)


def test_a_place_is_won_only_beyond_doubt():
    """Where the intervals overlap one cannot tell, and few trials give no judgement."""
    pairs = (((1, 2), (3, 4)), ((1, 3), (3, 4)), ((5, 6), (3, 4)))
    for trials, judgements in (
        (ENOUGH_TRIALS, [WINS, CANNOT_TELL, LOSES]),
        (ENOUGH_TRIALS - 1, [TOO_FEW] * 3),
    ):
        assert [
            Place("s", 0.1, trials, row(*mine), row(*theirs)).judgement for mine, theirs in pairs
        ] == judgements


def test_it_says_where_the_ratio_is_worst_and_where_it_is_stuck():
    """These may be two places."""
    ratio = Place("far", 0.1, 30, row(80, 90), row(1, 2, "best", 0.0))
    stuck = Place("stuck", 0.3, 30, row(5, 6, stuck=0.5), row(4, 5, "other", 0.1))
    said = Compared("mine", 1, 2, None, (ratio, stuck), None, 10)._breaks()
    assert "worst in far, rho = 0.1 (57 times the worst case of best)" in said
    assert said.endswith(
        "and gets stuck on a wrong arm most often in stuck, rho = 0.3: in 50.0 % of trials under "
        "one attack (other: 10.0 %)."
    )
    said = Compared("mine", 1, 2, None, (ratio,), None, 10)._breaks()
    assert said.endswith("and no trial ended stuck on a wrong arm.")


def test_the_headline_says_what_the_search_found():
    """A policy that a search breaks must not look good in the first sentences."""
    named = Damage(ia.Infinite(rho=0.3), 100.0, 90.0, 110.0, 0.0)
    found = Damage(ia.attacks.Shaped(rho=0.3), 900.0, 800.0, 1000.0, 0.5)
    place = Place("far", 0.3, 30, row(1, 2), row(3, 4, "best"))
    standing = Standing("mine", (), 1.0, "far, rho = 0.3", 1.0, 0.0, 50.0, 0)
    where = "In the setting far at rho = 0.3 a search found"
    for low, said in (
        (
            8.0,
            f"{where} an attack 9.00 times as bad as the worst named one, Infinite: mean regret "
            "900, against 200 of best under the same attack. The rank does not count that attack.",
        ),
        (1.0, f"{where} no attack that is clearly worse than Infinite."),
    ):
        worst = WorstCase(
            ia.UCB(), None, 0.3, 1000, 30, 1, found, (named,), (9.0, low, 10.0), rungs=()
        )
        search = Search("far", worst, "best", (replace(found, mean=200.0), named))
        rank, second, *_ = Compared("mine", 1, 2, standing, (place,), search, 10).sentences()
        assert rank.startswith("mine is number 1 of 2: under its worst named attack")
        assert second == said


def test_mistakes_are_one_sentence(capsys):
    """Nobody to compare with, an unknown policy, a policy that plays nowhere."""
    for arguments, message in (
        (["UCB", "--against", "UCB"], "nothing to compare with"),
        (["Nobody"], "unknown policy 'Nobody'"),
        (["nothing.py:Mine"], "nothing.py does not exist"),
    ):
        assert main(["compare", *arguments]) == 2
        assert message in capsys.readouterr().err
