"""Print how large the package is, room by room: lines and statements.

    python tests/house.py               # as it is
    python tests/house.py HEAD~20       # beside an earlier commit

A statement is a node `ast.stmt` that is not a bare string, so docstrings and comments
cost nothing.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "src/ironarm"


def statements(text: str) -> int:
    """Return how many statements a file has."""
    return sum(
        isinstance(node, ast.stmt)
        and not (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        for node in ast.walk(ast.parse(text))
    )


def files_now() -> Iterator[tuple[str, str]]:
    """Yield the package's files: path below it, and text."""
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        yield path.relative_to(ROOT / PACKAGE).as_posix(), path.read_text("utf-8")


def files_at(commit: str) -> Iterator[tuple[str, str]]:
    """Yield the package's files at a commit."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout

    for path in git("ls-tree", "-r", "--name-only", commit, PACKAGE).split():
        if path.endswith(".py"):
            yield path.removeprefix(f"{PACKAGE}/"), git("show", f"{commit}:{path}")


def by_room(files: Iterator[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return lines and statements of each folder, and of the files beside them."""
    rooms: dict[str, tuple[int, int]] = {}
    for path, text in files:
        room = path.split("/")[0] if "/" in path else "(root)"
        lines, count = rooms.get(room, (0, 0))
        rooms[room] = lines + text.count("\n"), count + statements(text)
    rooms["all"] = tuple(map(sum, zip(*rooms.values(), strict=True)))  # type: ignore[assignment]
    return rooms


def main() -> None:
    """Print the table."""
    now = by_room(files_now())
    before = by_room(files_at(sys.argv[1])) if len(sys.argv) > 1 else {}
    print(f"{'room':14}{'lines':>8}{'statements':>12}{'  before' if before else ''}")
    for room in dict.fromkeys([*sorted({*now, *before} - {"all"}), "all"]):
        earlier = "  {:>7}{:>9}".format(*before.get(room, (0, 0))) if before else ""
        print("{:14}{:>8}{:>12}".format(room, *now.get(room, (0, 0))) + earlier)


if __name__ == "__main__":
    main()
