"""Every check of the project: style, format and types first, then the other steps, two
at a time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINT_IMPORTS = str(Path(sys.executable).with_name("lint-imports"))
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
# they compile no code of their own, and run on what the documentation's examples have
# compiled
UNCHECKED = {
    "studies, arena and sweeps": ("studies", "arena", "sweeps"),
    "service, integrations and commands": ("service", "integrations", "scenarios", "commands"),
    "theory, radio nodes and processes": (
        "theory",
        "radio/backends/test_hardware.py",
        "radio/network/test_node_process.py",
        "radio/network/test_processes.py",
        "engine/test_jit.py",
        "test_signals.py",
    ),
}
# they have steps of their own
APART = ("docs", "test_dist.py", "test_lowest.py")
Step = tuple[str, list[str], dict[str, str]]

QUICK: list[Step] = [
    ("style", [sys.executable, "-m", "ruff", "check", "--output-format=concise", "."], {}),
    ("format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."], {}),
    ("layers", [LINT_IMPORTS, "--no-logo", "--no-cache"], {}),
    ("types", [sys.executable, "-m", "mypy"], {}),
]
# long ones first, so that both processors are busy to the end
STEPS: list[Step] = [
    (
        "tests, bounds checked",
        [
            *PYTEST,
            "--durations=5",
            "tests",
            *(f"--ignore=tests/{part}" for part in (*chain(*UNCHECKED.values()), *APART)),
        ],
        {"NUMBA_BOUNDSCHECK": "1"},
    ),
    (
        "examples in docstrings and documentation",
        [*PYTEST, "--doctest-modules", "--doctest-glob=*.md", "src", "README.md", "docs"],
        {},
    ),
    *(
        (name, [*PYTEST, "--durations=5", *(f"tests/{part}" for part in parts)], {})
        for name, parts in UNCHECKED.items()
    ),
    (
        "policies and estimators as plain Python",
        [*PYTEST, "tests/policies", "tests/estimators"],
        {"NUMBA_DISABLE_JIT": "1"},
    ),
    ("a part of them on the lowest versions", [sys.executable, "tests/lowest.py"], {}),
    ("the site, its figures and its tutorials", [*PYTEST, "--durations=5", "tests/docs"], {}),
    ("the wheel alone, and the source distribution", [*PYTEST, "tests/test_dist.py"], {}),
]


def main() -> int:
    """Run all steps; the exit code is 0 if all of them pass."""
    with tempfile.TemporaryDirectory(prefix="ironarm-test-") as cache:
        for step in QUICK:
            if not run(step, cache):
                return 1
        with ThreadPoolExecutor(2) as pool:
            passed = list(pool.map(lambda step: run(step, cache), STEPS))
    return 0 if all(passed) else 1


PRINTING = threading.Lock()
NO_TESTS = 5  # the exit code of pytest when it has none to run


def run(step: Step, cache: str | None, none_is_fine: bool = False) -> bool:
    """Run one step and print its output when it is over, so that two do not mix;
    True if it passed. Without a cache of its own, it uses the user's.
    """
    name, command, extra = step
    with PRINTING:
        print(f"== {name} ...", flush=True)
    started = time.monotonic()
    own_cache = {} if cache is None else {"IRONARM_CACHE_DIR": cache}
    environment = {**os.environ, **own_cache, "MPLBACKEND": "Agg", **extra}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    passed = done.returncode == 0 or (none_is_fine and done.returncode == NO_TESTS)
    with PRINTING:
        print(done.stdout, end="")
        print(
            f"== {name}: {'passed' if passed else f'FAILED ({done.returncode})'}, "
            f"{time.monotonic() - started:.0f} s",
            flush=True,
        )
    return passed


if __name__ == "__main__":
    raise SystemExit(main())
