"""Text fits the terminal, and no number is lost for it."""

import sys

import pytest

from ironarm.show.text import counted, line_width, short, text_table
from ironarm.simulation.summary import Pair, Summary, SummaryRow

LONG = "TrimmedEpsilonGreedy(alpha=0.123456, c=7.125, something_else=(0.125, 2.5))"
WORD = "APolicyWhoseNameIsLongerThanAWholeLineOfTheTerminalThatItIsPrintedOnForItsUserIsIt"


@pytest.mark.parametrize("name", ["UCB", LONG, WORD])
@pytest.mark.parametrize("size", [1.5, 12_345.0, 9_876_543.0, 98_765_432.0, 1.5e12])
def test_a_summary_fits_80_columns_and_keeps_its_numbers(name, size):
    """However long the names are, and however large the regret."""
    summary = Summary(
        [SummaryRow(name, size, size, 2 * size, size, size, 1.0, 1.0)] * 2,
        [Pair(name, LONG, -size, -2 * size, size)],
    )
    for table, times in ((str(summary), 8), (summary.pairs_table(), 1)):
        assert max(map(len, table.splitlines())) <= 80
        words = table.split()
        assert words.count(short(size)) >= times
        assert short(2 * size) in words or f"-{short(2 * size)}" in words


def test_a_label_is_whole_when_its_lines_are_joined():
    """It is wrapped, not cut."""
    numbers = ["1,234,567 to 2,345,678"] * 2
    table = text_table(("policy", "interval", "other"), [(LONG, *numbers)])
    column = table.splitlines()[2:]
    width = column[0].index("1,234,567") - 2
    joined = "".join(line[: width + 1].rstrip() for line in column)
    assert joined.replace(" ", "") == LONG.replace(" ", "")
    assert table.count("1,234,567 to 2,345,678") == 2


def test_a_name_is_broken_at_capitals():
    """Where it must be broken, and nowhere else."""
    numbers = ["1,234,567 to 2,345,678"] * 3
    table = text_table(("policy", "a", "b", "c"), [("CubeRootMedianUCB", *numbers)])
    assert max(map(len, table.splitlines())) <= 80
    parts = [line.split("  ")[0].strip() for line in table.splitlines()[2:]]
    assert "".join(parts) == "CubeRootMedianUCB"
    assert len(parts) > 1
    assert all((part[0].isupper() and not part.isupper()) or part == "UCB" for part in parts)


def test_a_table_that_fits_is_as_it_was():
    """One line for the head, no wrapping."""
    assert text_table(("policy", "mean regret"), [("UCB", "3"), ("RUCB", "1,000")]) == (
        "policy  mean regret\n-------------------\nUCB               3\nRUCB          1,000"
    )


def test_a_terminal_is_used_to_its_width(monkeypatch):
    """80 columns only where there is no terminal."""
    assert line_width() == 80
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1, raising=False)
    for columns, width in ((132, 132), (20, 40)):
        monkeypatch.setattr(
            "os.get_terminal_size", lambda _, c=columns: type("S", (), {"columns": c})
        )
        assert line_width() == width


def test_one_is_singular():
    assert [counted(n, "trial") for n in (0, 1, 2)] == ["0 trials", "1 trial", "2 trials"]
