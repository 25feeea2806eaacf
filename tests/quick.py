"""Style, format, layers and types, and the tests that a change touches: `make quick`.

    python tests/quick.py           what differs from the branch `main`, and new files
    python tests/quick.py HEAD~3    what differs from that commit

Which tests a file touches is a matter of names:

1. A test file touches itself.
2. `src/ironarm/a/b.py` touches `tests/a/test_b.py`, and its own docstrings' examples.
3. Without such a test, it touches those in `tests/a` whose names, as `pytest -k` sees
   them, hold a class of `b.py`; without a class, those that import `ironarm.a.b`.
4. A Markdown file touches its own examples.

That is a first look, not a proof: `make test` runs everything.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import run_all
from run_all import QUICK, ROOT, Step, run

PYTEST = [*run_all.PYTEST, "-m", "not statistical"]
TOO_MANY = 40
"""Changed files; beyond, this would no longer be quick."""


def main() -> int:
    """Run the checks and the tests side by side; 0 if all pass."""
    changed = changed_files(*sys.argv[1:2])
    if len(changed) > TOO_MANY:
        print(f"{len(changed)} files have changed; their tests are left to `make test`.")
        changed = []
    steps = touched(changed)
    with ThreadPoolExecutor(2) as pool:
        checks = pool.submit(lambda: [run(step, None) for step in QUICK])
        tests = pool.submit(lambda: [run(step, None, none_is_fine=True) for step in steps])
        return 0 if all(checks.result()) and all(tests.result()) else 1


def changed_files(since: str | None = None) -> list[Path]:
    """Return the files that differ from a commit, and those new to git."""
    since = since or git("merge-base", "HEAD", "main") or "HEAD"
    names = (
        f"{git('diff', '--name-only', since)}\n{git('ls-files', '--others', '--exclude-standard')}"
    )
    paths = {Path(name) for name in names.splitlines() if name}
    return sorted(path for path in paths if (ROOT / path).is_file())


def git(*arguments: str) -> str:
    """Return what git prints; nothing if it fails, for want of a branch for example."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def touched(changed: Iterable[Path]) -> list[Step]:
    """Return the tests that these files touch, as steps."""
    files: set[str] = set()
    examples: set[str] = set()
    by_name: dict[str, set[str]] = {}
    for path in changed:
        if path.match("tests/**/test_*.py") or path.match("tests/test_*.py"):
            files.add(path.as_posix())
        elif path.suffix == ".md" and path.parts[0] in ("README.md", "docs"):
            examples.add(path.as_posix())
        elif path.suffix == ".py" and path.parts[:2] == ("src", "ironarm"):
            examples.add(path.as_posix())
            found, names = tests_of(path)
            files |= found
            if names:
                folder = Path("tests", *path.parts[2:-1]).as_posix()
                by_name.setdefault(folder, set()).update(names)
    steps: list[Step] = []
    if files:
        steps.append((f"tests: {', '.join(sorted(files))}", [*PYTEST, *sorted(files)], {}))
    for folder, names in sorted(by_name.items()):
        chosen = " or ".join(sorted(names))
        steps.append((f"tests: {folder} with {chosen}", [*PYTEST, folder, "-k", chosen], {}))
    if examples:
        look = [*PYTEST, "--doctest-modules", "--doctest-glob=*.md"]
        loop = "--ignore=src/ironarm/engine/loop.py"
        steps.append(("examples in what has changed", [*look, loop, *sorted(examples)], {}))
    return steps


def tests_of(path: Path) -> tuple[set[str], set[str]]:
    """Return the tests of a source file, and the names to look for in its folder."""
    folder = Path("tests", *path.parts[2:-1])
    twin = folder / f"test_{path.stem.strip('_')}.py"
    if (ROOT / twin).is_file():
        return {twin.as_posix()}, set()
    classes = set(re.findall(r"^class ([A-Z]\w*)", (ROOT / path).read_text(), re.MULTILINE))
    if classes and (ROOT / folder).is_dir():
        return set(), classes
    module = ".".join(path.with_suffix("").parts[1:])
    parent, _, name = module.rpartition(".")
    imported = re.compile(rf"{re.escape(module)}\b|from {re.escape(parent)} import .*\b{name}\b")
    tests = (ROOT / "tests").rglob("test_*.py")
    return {t.relative_to(ROOT).as_posix() for t in tests if imported.search(t.read_text())}, set()


if __name__ == "__main__":
    raise SystemExit(main())
