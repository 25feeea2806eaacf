"""The figures of README and docs are those that the gallery's code draws."""

import json
import re
from pathlib import Path

import pytest
from figures import DOCS, DRAWN, FOLDER, codes, digest, drawn, ends

from ironarm.show.figures import pyplot


def test_every_figure_was_drawn_by_its_code():
    """`python docs/make/figures.py` brings them up to date."""
    recorded = json.loads(DRAWN.read_text())
    assert {name: digest(code) for name, code in codes().items()} == {
        name: figure["code"] for name, figure in recorded.items()
    }
    files = {f"{name}-{ground}.svg" for name in recorded for ground in ("light", "dark")}
    assert files | {DRAWN.name} == {path.name for path in FOLDER.iterdir()}


@pytest.mark.parametrize("name", codes())
def test_the_code_still_draws_the_same(name):
    """A change of a policy that moves a line asks for a new figure."""
    figure = drawn(codes()[name])
    assert json.loads(DRAWN.read_text())[name]["ends"] == ends(figure)
    pyplot().close(figure)


def test_pages_show_only_figures_of_the_gallery():
    """So that none is made by hand."""
    shown = set()
    for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        shown |= {
            Path(name).name for name in re.findall(r'src(?:set)?="([^"]+\.svg)"', page.read_text())
        }
    assert shown == {path.name for path in FOLDER.glob("*.svg")}
