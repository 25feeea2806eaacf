"""The version stands in one place, and what repeats it agrees."""

import re
from pathlib import Path

import ironarm as ia

ROOT = Path(__file__).parent.parent


def test_citation_and_changelog_have_the_packages_version():
    """`__version__` in src/ironarm/__init__.py is the place."""
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == ia.__version__
    assert f"## [{ia.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
