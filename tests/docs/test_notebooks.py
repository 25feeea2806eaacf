"""The tutorials run as notebooks, and their pages show what came out."""

import nbformat
import pytest
from notebooks import TUTORIALS, after_run, page

ENDS = {
    "own-policy": "StubbornMedian had less regret in",
    "service-with-bots": "best message shown to",
    "radio-under-a-jammer": "guaranteed: True",
}
"""What each tutorial prints near its end."""


def test_every_tutorial_is_run():
    """A new one needs a line above."""
    assert ENDS.keys() == {path.stem for path in TUTORIALS.glob("*.md")}


@pytest.mark.parametrize("name", ENDS)
def test_a_tutorial_ends_in_a_result(name, tmp_path):
    """All cells run, nothing goes to stderr, and the result is on the page."""
    made = after_run(TUTORIALS / f"{name}.md")
    nbformat.validate(made)
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(2, len(cells) + 2))
    text = page(made, name, tmp_path)
    assert ENDS[name] in text.partition("```text")[2]
    drawn = [path.name for path in tmp_path.glob("*.svg")]
    assert len(drawn) == text.count("![")
    assert all(f"({figure})" in text for figure in drawn)


def test_robust_policies_win_where_the_tutorials_say_so(tmp_path):
    """The words around the outputs are true of the outputs."""
    text = page(after_run(TUTORIALS / "service-with-bots.md"), "service", tmp_path)
    lines = [line for line in text.splitlines() if " % of the users" in line and "{" not in line]
    shares = [int(line.partition(" %")[0].split()[-1]) for line in lines]
    assert shares[0] > 80
    assert shares[1] < 20
