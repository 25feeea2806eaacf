"""The report stands alone, and opens in a browser at a desk and on a phone."""

import json
import re
from pathlib import Path

import pytest

from ironarm.cli import main
from tests.browser import opened


@pytest.fixture(scope="module", params=["small", "small_radio", "synthetic", "arena"])
def out(request, tmp_path_factory):
    """Reports of a small study, a small radio study, the paper's, and a small arena.

    The paper's has very few trials.
    """
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "arena":
        assert (
            main(
                [
                    "arena",
                    str(Path(__file__).parents[1] / "arena" / "small_arena.toml"),
                    "--quick",
                    "--out",
                    str(folder),
                ]
            )
            == 0
        )
        return folder
    study = (
        "synthetic" if request.param == "synthetic" else str(Path(__file__).parent / request.param)
    )
    trials = {"small": ["--quick"], "small_radio": [], "synthetic": ["--quick", "--trials", "2"]}[
        request.param
    ]
    assert main(["reproduce", "--study", study, *trials, "--out", str(folder)]) == 0
    return folder


def test_the_page_needs_nothing_else(out):
    """No address of anything elsewhere, no file to be loaded.

    Links go to the files beside it and to itself.
    """
    page = (out / "report.html").read_text()
    assert not re.findall(r'(?:src|srcset|data)="', page)
    assert "@import" not in page
    assert "<link" not in page
    links = set(re.findall(r'<a href="([^"]+)"', page))
    assert links
    for link in links:
        assert f'id="{link[1:]}"' in page if link.startswith("#") else (out / link).is_file()
    assert set(re.findall(r"https?://[^\s\"'<>]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_the_paper_and_our_questions_are_exported_apart(out):
    """The counts of each are those of its claims, each counted once."""
    found = json.loads((out / "report.json").read_text())
    if "claims" not in found:
        return  # an arena
    for who, counts in found["counts"].items():
        mine = [claim for claim in found["claims"] if claim["ours"] == (who == "ours")]
        for judgement, count in counts.items():
            assert count == sum(claim["judgement"] == judgement for claim in mine)
        assert sum(counts.values()) == len(mine)


def test_tuned_policies_are_tuned(out):
    """The best value lies inside what was tried, or the table says that it does not."""
    page = (out / "report.html").read_text()
    rows = json.loads((out / "report.json").read_text()).get("tables", {})
    grids = [row for name in ("tuning", "grids") for row in rows.get(name, [])]
    assert ("at the edge of what was tried" in page) == any(row["at_edge"] for row in grids)
    for row in grids:
        values = [one["value"] for one in row["candidates"]]
        inside = values.index(row["chosen"]) not in (0, len(values) - 1)
        assert inside or row["at_edge"]


def test_names_in_the_page_are_unique(out):
    """Figures share one page."""
    names = re.findall(r'\bid="([^"]+)"', (out / "report.html").read_text())
    assert len(names) == len(set(names))


def test_the_page_says_how_it_was_made(out):
    """Command, seed, time, versions."""
    page = (out / "report.html").read_text()
    for words in ("command", "seed", "time taken", "numba", "cells"):
        assert words in page


def test_the_page_opens_in_a_browser(out, tmp_path):
    """From a phone to a large screen, in four fonts.

    Nothing on the console, no text too small to read, every figure and claim there. No
    page is wider than its window, no table wider than its box, no cell cut or hidden,
    no word of a heading split.
    """
    page = (out / "report.html").read_text()
    for width, lines in opened(page, tmp_path).items():
        assert float(lines["smallest"]) >= 7
        assert int(lines["claims"]) == page.count('<details class="claim')
        assert (int(lines["claims"]) > 0) == ('id="claims"' in page)
        assert (int(lines["hints"]) > 0) == (width < 700)  # that pictures can be scrolled
        assert int(lines["figures"]) == page.count('<div role="img"') > 0
        assert (width, lines["tables"], lines["cut"]) == (width, str(page.count("<table")), "0")
        assert (width, lines["broken"]) == (width, "0")
