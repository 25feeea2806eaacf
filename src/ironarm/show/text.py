"""Text for a terminal: tables and paragraphs that fit it, and words for numbers."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Sequence

USUAL = 80
NARROWEST = 40
NARROWEST_LABEL = 10


def line_width() -> int:
    """Return how many columns a line may have: the terminal's, or 80 without one."""
    try:
        if not sys.stdout.isatty():
            return USUAL
        return max(NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (AttributeError, OSError, ValueError):  # no stdout, or one without a file
        return USUAL


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "trial"), counted(2000, "trial")
    ('1 trial', '2,000 trials')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def counted_span(span: tuple[int, int], noun: str) -> str:
    """Return a span of counts with its noun, or the count if it is only one.

    >>> counted_span((20, 20), "trial"), counted_span((200, 4000), "trial")
    ('20 trials', '200 to 4,000 trials')
    """
    fewest, most = span
    return counted(most, noun) if fewest == most else f"{fewest:,} to {counted(most, noun)}"


def listed(words: Sequence[str], last: str = "or") -> str:
    """Return words as part of a sentence.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "and"), listed(["a"])
    ('a, b or c', 'a and b', 'a')
    """
    *others, final = words
    return f"{', '.join(others)} {last} {final}" if others else final


def wrapped(text: str, first: str = "", others: str = "") -> str:
    """Return a paragraph in lines that fit, the first and the others indented so."""
    return textwrap.fill(
        text,
        line_width(),
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
    )


def text_table(
    head: Sequence[str], body: Sequence[Sequence[str]], words: Sequence[int] = ()
) -> str:
    """Return a table as text, words to the left and numbers to the right.

    The first column holds words, and so do those that `words` names. A table that is
    too wide for a line becomes narrower: first the head takes several lines, then the
    columns of words, then intervals. No number is cut.

    >>> print(text_table(("policy", "mean regret"), [("UCB(alpha=1)", "1,024")]))
    policy        mean regret
    -------------------------
    UCB(alpha=1)        1,024
    """
    columns = [list(column) for column in zip(head, *body, strict=True)]
    texts = {0, *words}
    widths = _fitting(columns, texts, line_width() - 2 * (len(columns) - 1))
    rows = []
    for number, row in enumerate([head, *body]):
        cells = [_in_lines(cell, width) for cell, width in zip(row, widths, strict=True)]
        height = max(map(len, cells))
        for cell in cells:  # a head stands on the line below it
            place = 0 if number == 0 else len(cell)
            cell[place:place] = [""] * (height - len(cell))
        rows += [
            "  ".join(
                line.ljust(width) if i in texts else line.rjust(width)
                for i, (line, width) in enumerate(zip(lines, widths, strict=True))
            ).rstrip()
            for lines in zip(*cells, strict=True)
        ]
        if number == 0:
            rows.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(rows)


def _fitting(columns: list[list[str]], texts: set[int], room: int) -> list[int]:
    """Return the columns' widths, in all at most `room` if that is possible."""
    widths = [max(map(len, column)) for column in columns]
    longest_words = [max(map(_longest_word, column)) for column in columns]
    longest_parts = [
        max(
            len(part) for cell in column for word in _pieces(cell) for part in _parts(word.rstrip())
        )
        for column in columns
    ]
    steps: list[Callable[[int], int]] = [
        lambda i: max(_longest_word(columns[i][0]), *map(len, columns[i][1:]), 0),
        lambda i: longest_words[i] if i in texts else widths[i],
        lambda i: longest_parts[i] if i in texts else widths[i],
        lambda i: longest_parts[i] if i in texts else longest_words[i],
        # a name is cut elsewhere only if nothing else helps
        lambda i: min(NARROWEST_LABEL, widths[i]) if i in texts else longest_words[i],
    ]
    for least in steps:
        floors = [least(i) for i in range(len(columns))]
        while sum(widths) > room:
            widest = max(range(len(columns)), key=lambda i: (widths[i] - floors[i], widths[i]))
            if widths[widest] <= floors[widest]:
                break
            widths[widest] -= 1
    return widths


def _pieces(text: str) -> list[str]:
    """Return the parts of a text between which a line may end."""
    return re.findall(r".+?(?:\(|\s+(?!%)|$)", text) or [""]


def _parts(word: str) -> list[str]:
    """Return the parts of a name between which a line may end, if it must.

    >>> _parts("CubeRootMedianUCB(")
    ['Cube', 'Root', 'Median', 'UCB(']
    """
    return re.split(r"(?<=[a-z])(?=[A-Z])", word)


def _longest_word(text: str) -> int:
    return max(len(piece.rstrip()) for piece in _pieces(text))


def _in_lines(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width`; a remark in brackets begins a line."""
    parts = [text] if len(text) <= width else text.replace(" (", "\n(").split("\n")
    lines: list[str] = []
    for part in parts:
        lines.append("")
        for word in _pieces(part):
            for piece in [word] if len(word.rstrip()) <= width else _parts(word):
                if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
                    lines.append("")
                lines[-1] += piece
                while len(lines[-1].rstrip()) > width:
                    lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return [line.rstrip() for line in lines]


def short(x: float, unit: str = "") -> str:
    """Return a number as people read it, with its unit if it has one.

    >>> short(1234567.8), short(456.7), short(0.012345, "dB"), short(123456789)
    ('1,234,568', '457', '0.0123 dB', '1.235e+08')
    """
    number = f"{x:,.0f}" if 100 <= abs(x) < 1e8 else f"{x:.{4 if abs(x) >= 1e8 else 3}g}"
    return f"{number} {unit}" if unit else number
