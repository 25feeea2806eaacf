"""The version stands in one place, and what repeats it agrees."""

import re
from pathlib import Path

import ironarm as ia

ROOT = Path(__file__).parent.parent


def test_citation_and_changelog_have_the_packages_version():
    """`__version__` in src/ironarm/version.py is the place."""
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == ia.__version__
    assert f"## [{ia.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_changelog_can_carry_a_release():
    """First what is not released, then the versions with their dates, newest first."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## \[(.+?)\](?: - (.+))?$", changelog, re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    versions = [tuple(map(int, version.split("."))) for version, _ in headings[1:]]
    assert versions == sorted(versions, reverse=True)
    dates = [date for _, date in headings[1:]]
    assert re.fullmatch(r"not released yet|\d{4}-\d\d-\d\d", dates[0])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates[1:])
