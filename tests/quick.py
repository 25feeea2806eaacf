"""Style, format, layers and types, and the tests that a change touches: `make quick`.

    python tests/quick.py           what differs from the branch `main`, and new files
    python tests/quick.py HEAD~3    what differs from that commit

Which tests a file touches:

1. A test touches itself.
2. `src/ironarm/a/b.py` touches `tests/a/test_b.py`.
3. Without such a test, or if it is a policy, it touches those in `tests/a` that have
   one of its classes as a parameter, as in `test_live_choices[UCB-paper-none]`.
4. Without that, it touches the tests that import it; and without these, those that
   the files that import it touch, unless there are many.
5. Examples, in docstrings or in Markdown, touch themselves.
6. Data and parts of tests touch the tests that read them: see `READ_BY`.

That is a first look, not a proof: `make test` runs everything.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import grimp

import run_all
from run_all import CHECKED, EXAMPLES, QUICK, ROOT, Step, compiled_code, run

PYTEST = [*run_all.PYTEST, "-m", "not statistical"]
READ_BY = {
    "src/ironarm/lab/arena/*.toml": ("tests/lab/arena/test_arena.py",),
    "src/ironarm/lab/studies/*/*.toml": (
        "tests/lab/studies/test_study.py",
        "tests/lab/studies/test_claims.py",
    ),
    "tests/every_policy.py": ("tests/policies/test_against_naive.py",),
    "tests/naive/*.py": ("tests/policies/test_against_naive.py",),
}
"""Files that no test imports by name, and the tests that read them."""
MANY_CHANGED, MANY_IMPORT_IT = 40, 12
"""Beyond, this would no longer be quick."""


def main() -> int:
    """Run the checks and the tests side by side; 0 if all pass."""
    changed = changed_files(*sys.argv[1:2])
    if len(changed) > MANY_CHANGED:
        print(f"{len(changed)} files have changed; their tests are left to `make test`.")
        changed = []
    steps = touched(changed)
    with compiled_code(cold=False) as cache, ThreadPoolExecutor(2) as pool:
        checks = pool.submit(lambda: [run(step, cache) for step in QUICK])
        tests = pool.submit(lambda: [run(step, cache, none_is_fine=True) for step in steps])
        outcomes = [*checks.result(), *tests.result()]
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def changed_files(since: str | None = None) -> list[Path]:
    """Return the files that differ from a commit, and those new to git."""
    since = since or git("merge-base", "HEAD", "main") or "HEAD"
    names = git("diff", "--name-only", since).splitlines()
    names += git("ls-files", "--others", "--exclude-standard").splitlines()
    return sorted({Path(name) for name in names if (ROOT / name).is_file()})


def git(*arguments: str) -> str:
    """Return what git prints; nothing if it fails, for want of a branch for example."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def touched(changed: Iterable[Path]) -> list[Step]:
    """Return the tests that these files touch, as steps."""
    tests: set[tuple[str, str]] = set()
    examples: set[str] = set()
    for path in changed:
        tests |= {(test, "") for kind, read in READ_BY.items() if path.match(kind) for test in read}
        if path.parts[0] == "tests" and path.match("test_*.py"):
            tests.add((path.as_posix(), ""))
        elif path.suffix == ".md" and path.parts[0] in ("README.md", "docs"):
            examples.add(path.as_posix())
        elif path.suffix == ".py" and path.parts[:2] == ("src", "ironarm"):
            examples.add(path.as_posix())
            tests |= tests_of(path) or tests_of_importers(path)
    steps: list[Step] = []
    files = sorted(where for where, name in tests if not name)
    if files:
        steps.append((f"tests: {', '.join(files)}", [*PYTEST, *files], CHECKED))
    for folder in sorted({where for where, name in tests if name}):
        names = sorted(name for where, name in tests if name and where == folder)
        chosen = " or ".join(f"[{name} or -{name}" for name in names)
        title = f"tests: {folder} with {', '.join(names)}"
        steps.append((title, [*PYTEST, folder, "-k", chosen], CHECKED))
    if examples:
        look = [*PYTEST, *EXAMPLES, *sorted(examples)]
        steps.append(("examples in what has changed", look, CHECKED))
    return steps


def tests_of(path: Path) -> set[tuple[str, str]]:
    """Return the tests of a source file: (file, "") or (folder, name of a class)."""
    folder = Path("tests", *path.parts[2:-1])
    twin = folder / f"test_{path.stem.strip('_')}.py"
    own = {(twin.as_posix(), "")} if (ROOT / twin).is_file() else set()
    if own and folder.name != "policies":
        return own
    classes = re.findall(r"^class ([A-Z]\w*)", (ROOT / path).read_text(), re.MULTILINE)
    tested = " ".join(test.read_text() for test in (ROOT / folder).glob("test_*.py"))
    if folder.name == "policies":
        tested += " ".join(twins.read_text() for twins in (ROOT / "tests/naive").glob("*.py"))
    named = {(folder.as_posix(), name) for name in classes if re.search(rf"\b{name}\(", tested)}
    if own or named:
        return own | named
    return {(test.as_posix(), "") for test in importers(path) if test.match("test_*.py")}


def tests_of_importers(path: Path) -> set[tuple[str, str]]:
    """Return the tests of the source files that import this one, if they are few."""
    found = [other for other in importers(path) if other.parts[0] == "src"]
    if len(found) > MANY_IMPORT_IT:
        print(f"{len(found)} files import {path}; their tests are left to `make test`.")
        return set()
    return {test for other in found for test in tests_of(other)}


def importers(path: Path) -> list[Path]:
    """Return the files that import a source file."""
    module = ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")
    names = import_graph().find_modules_that_directly_import(module)
    paths = [Path("src" if name.startswith("ironarm") else "", *name.split(".")) for name in names]
    return sorted(
        path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")
        for path in paths
    )


@cache
def import_graph() -> grimp.ImportGraph:
    """Return who imports whom."""
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    return grimp.build_graph("ironarm", "tests", cache_dir=None)


if __name__ == "__main__":
    raise SystemExit(main())
