"""What the benchmarks share: contenders alternated in one run, minima of CPU time,
plain tables with the target beside the measurement.

The machine may be busy with other work, and then every time is too long, by a different
factor each moment. So no time is compared with one taken in another run: contenders
take turns, each keeps its shortest time, and what counts is the ratio.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAPER_MEANS = range(2, 21, 2)

# Where the system turns bytecode files off, each process that a benchmark starts would
# compile NumPy and Numba anew, and that would be what is measured.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def options(text: str | None) -> argparse.Namespace:
    """Read the options that every benchmark takes."""
    parser = argparse.ArgumentParser(description=(text or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats and smaller instances")
    return parser.parse_args()


def alternate(
    contenders: dict[str, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Let the contenders take turns; return each one's shortest time in seconds."""
    best = dict.fromkeys(contenders, math.inf)
    for turn in range(repeats):
        names = list(contenders) if turn % 2 == 0 else list(reversed(contenders))
        for name in names:
            start = clock()
            contenders[name]()
            best[name] = min(best[name], clock() - start)
    return best


def at_most(value: float, target: float) -> tuple[str, str]:
    """Return the target as text and whether it is met."""
    return f"<= {target:g}", "met" if value <= target else "not met"


def at_least(value: float, target: float) -> tuple[str, str]:
    """Return the target as text and whether it is met."""
    return f">= {target:g}", "met" if value >= target else "not met"


def show(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> None:
    """Print a table that reads well on a terminal and in Markdown."""
    lines = show_lines(head, rows)
    print(f"\n### {title}\n\n" + "\n".join(lines) + (f"\n\n{note}" if note else ""), flush=True)


def show_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of such a table."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines
