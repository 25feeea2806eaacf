"""The site builds without a warning, and every link in it leads somewhere."""

import html
import re
import subprocess
import sys

import policy_tables
import pytest
from reference import page_of, shown_members

import ironarm as ia
from ironarm import attacks, bandits, errors, extend, policies
from ironarm.cli import VERBS

from . import MAKE


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, str(MAKE / "website.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_public_name_is_in_the_reference(site):
    """Each has a heading of its own, on the page of its kind."""
    for name in set(ia.__all__) - {"__version__"}:
        page = (site / "reference" / f"{page_of(name)}.html").read_text()
        assert f'id="ironarm.{name}"' in page, name
    for room in (policies, attacks, bandits, errors):
        for name in set(room.__all__) - set(ia.__all__):
            page = (site / "reference" / f"{page_of(name)}.html").read_text()
            assert f'id="{room.__name__}.{name}"' in page, name
    page = (site / "reference" / "extend.html").read_text()
    for name in set(extend.__all__) - set(ia.__all__) - set(errors.__all__):
        assert f'id="ironarm.extend.{name}"' in page, name


def test_every_command_is_in_the_reference(site):
    """With what its help says."""
    page = (site / "reference" / "commands.html").read_text()
    for verb in VERBS:
        assert f"usage: ironarm {verb}" in page


def test_formulas_are_shown_as_written(site):
    """Markdown makes no sign of (c), no one letter of 1/2 and no superscript of ^."""
    for path in site.rglob("*.html"):
        article = path.read_text().partition("<article")[2].partition("</article>")[0]
        assert not [sign for sign in ("©", "®", "½", "¼", "<sup>", "<mark>") if sign in article], (
            path
        )


def test_functions_are_shown_with_their_parameters(site):
    """Also those in a module of the same name, and each parameter with its own type."""
    for name in ("simulate", "certify"):
        page = (site / "reference" / f"{page_of(name)}.html").read_text()
        signature = page.partition(f'id="ironarm.{name}"')[2].partition("</pre>")[0]
        assert "horizon" in signature, name
    everything = "".join(path.read_text() for path in (site / "reference").glob("*.html"))
    assert "HELD" not in re.sub(r"<[^>]*>", "", everything)


def test_a_notebook_has_no_links_to_pages_that_it_leaves_behind(site):
    """The page of a tutorial has them."""
    notebooks = list(site.rglob("*.ipynb"))
    assert len(notebooks) == 3
    for path in notebooks:
        assert "](../" not in path.read_text()
        assert 'href="../' in path.with_suffix(".html").read_text()


def test_the_tables_of_policies_are_what_the_policies_say():
    """If not, run `python docs/make/policy_tables.py`."""
    page = policy_tables.PAGE.read_text()
    assert policy_tables.with_tables(page) == page


def test_every_policy_is_in_the_tables_of_policies(site):
    """Among the rules, and where the page says when to use which."""
    page = (site / "policies.html").read_text().partition("<article")[2]
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    rules, _, uses = text.partition("When to use each")
    for name, kind in policies.POLICIES.items():
        assert re.search(rf"\b{name}\b", rules), name
        assert re.search(rf"\b{name}\(", uses), name
        assert kind.use_when.partition("(docs/")[0].replace("`", "").strip() in uses, name
    assert 'href="count-imed.html"' in page


def test_search_finds_the_pages(site):
    """The index of the search is in the site, and holds the words of the pages."""
    assert "CoherentIMED" in (site / "search.json").read_text()


def test_the_reference_shows_the_methods_of_an_agent_and_no_steps_of_a_policy():
    """The steps of a policy are its own business; other ways to make one are not."""
    assert {"select", "update", "save", "load"} <= set(shown_members(ia.Agent))
    assert list(shown_members(ia.MedEUCB)) == ["for_rho"]
