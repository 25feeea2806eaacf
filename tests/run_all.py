"""Every check of the project: style, format and types first, then the other steps,
three at a time.

    python tests/run_all.py            with the compiled code that earlier runs kept
    python tests/run_all.py --cold     with none: as on a new machine

Most steps run with bounds checks on: compiled code is then shared, and faults that
reading beyond an array would hide are found everywhere. The others run what users run,
the machine code that `make objects` builds, which is built first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
LINT_IMPORTS = str(Path(sys.executable).with_name("lint-imports"))
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5"]
EXAMPLES = ["--doctest-modules", "--doctest-glob=*.md"]
CHECKED = {"NUMBA_BOUNDSCHECK": "1"}
KEPT_DAYS = 30
SHIPPED = ROOT / "src" / "ironarm" / "engine" / "shipped"
Step = tuple[str, list[str], dict[str, str]]


def another_processor() -> dict[str, str]:
    """Return an environment in which numbers are rounded as on an old processor.

    NumPy and the C library choose their code by what the processor can do, and `exp`,
    `log` and powers then differ in their last bits. Nothing that we promise may depend
    on these.
    """
    import numpy as np

    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    # older releases of glibc add _Usable; names that it does not know do nothing
    names = [name + end for name in ("AVX2", "FMA", "FMA4", "AVX512F") for end in ("", "_Usable")]
    return {
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in names),
    }


def pytest_of(*parts: str, but: Sequence[str] = ()) -> list[str]:
    """Return the command that runs these parts of the tests, without some."""
    return [*PYTEST, *(f"tests/{part}" for part in parts), *(f"--ignore=tests/{x}" for x in but)]


QUICK: list[Step] = [
    ("style", [sys.executable, "-m", "ruff", "check", "--output-format=concise", "."], {}),
    ("format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."], {}),
    ("layers", [LINT_IMPORTS, "--no-logo", "--no-cache"], {}),
    ("types", [sys.executable, "-m", "mypy"], {}),
]
BUILD: Step = (
    "machine code that comes with a wheel",
    [sys.executable, "release/objects.py"],
    {},
)
COMPILING = (
    *("policies", "simulation", "agent_files", "agent", "attacks", "rules"),
    "test_testing.py",
)
"""What compiles most policies, in one process: there they share compiled helpers."""
OWN_STEPS = (
    *("service", "integrations", "lab", "theory", "radio"),
    *COMPILING,
)
DIGITS = tuple(f"theory/test_{name}.py" for name in ("certification", "paper", "ucb_parameters"))
"""Tests of theory that compare printed numbers."""
AS_RELEASED = ("engine/test_every_way.py", "engine/test_jit.py", "engine/test_shipped.py")
APART = ("docs", *AS_RELEASED, "test_dist.py", "test_lowest.py")
# What compiles most comes first, beside what compiles other things or nothing: what one
# step has compiled, the later ones find. Long ones come before short ones, so that
# both processors are busy to the end.
STEPS: list[Step] = [
    ("policies against their naive twins, simulations and agents", pytest_of(*COMPILING), CHECKED),
    ("theory and radio", pytest_of("theory", "radio"), CHECKED),
    ("a part of them on the lowest versions", [sys.executable, "tests/lowest.py"], {}),
    (
        "policies, estimators and nodes as plain Python",
        [
            *pytest_of("policies", "estimators", "service/test_nodes.py", AS_RELEASED[0]),
            *("-m", "not statistical"),
        ],
        {"NUMBA_DISABLE_JIT": "1"},
    ),
    ("all other tests", pytest_of("", but=(*OWN_STEPS, *APART)), CHECKED),
    ("service and integrations", pytest_of("service", "integrations"), CHECKED),
    ("the lab: studies, arena, sweeps, scenarios", pytest_of("lab"), CHECKED),
    (
        "examples in docstrings and documentation",
        [*PYTEST, *EXAMPLES, "src", "README.md", "docs"],
        CHECKED,
    ),
    (
        "recorded bits, theory and examples as on another processor",
        [
            *pytest_of("simulation/test_recorded.py", "commands/test_certify.py", *DIGITS),
            *(*EXAMPLES, "src", "README.md", "docs", "-m", "not statistical"),
        ],
        {**CHECKED, **another_processor()},
    ),
    ("the site, its figures and its tutorials", pytest_of("docs"), CHECKED),
    (
        "as users run it, with the machine code that comes with a wheel",
        pytest_of(*AS_RELEASED, "simulation/test_recorded.py"),
        {},
    ),
    ("the same as on another processor", pytest_of(AS_RELEASED[0]), another_processor()),
    ("the wheel alone, and the source distribution", pytest_of("test_dist.py"), CHECKED),
]
AT_ONCE = 3
"""Steps at a time, on two processors: services and radios wait now and then."""


class Outcome(NamedTuple):
    """How a step went."""

    name: str
    passed: bool
    seconds: float
    processor: float


def main() -> int:
    """Run all steps; the exit code is 0 if all of them pass."""
    cold = "--cold" in sys.argv[1:] or os.environ.get("COLD") == "1"
    started = time.monotonic()
    if cold:
        shutil.rmtree(SHIPPED, ignore_errors=True)
    outcomes = []
    with compiled_code(cold) as cache:
        for step in (*QUICK, BUILD):
            outcomes.append(run(step, cache))
            if not outcomes[-1].passed:
                return 1
        with ThreadPoolExecutor(AT_ONCE) as pool:
            outcomes += pool.map(lambda step: run(step, cache), STEPS)
    print(table(outcomes, time.monotonic() - started))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


@contextmanager
def compiled_code(cold: bool) -> Iterator[Path]:
    """Lend the folder for compiled code: one that stays, or an empty one.

    It can stay because its files are named by the hash of all the code they hold. It
    lies beside the user's own folder, never in it.
    """
    if cold:
        with tempfile.TemporaryDirectory(prefix="ironarm-test-") as folder:
            yield Path(folder)
        return
    from ironarm.engine.kept import cache_directory

    folder = cache_directory().with_name("ironarm-test")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_unused(folder, KEPT_DAYS)
    yield folder


def remove_unused(folder: Path, days: float) -> None:
    """Remove files that nobody has read or written for so many days."""
    limit = time.time() - days * 86_400
    for path in folder.iterdir():
        status = path.stat()
        if max(status.st_atime, status.st_mtime) < limit:
            path.unlink(missing_ok=True)


PRINTING = threading.Lock()
NO_TESTS = 5  # the exit code of pytest when it has none to run


def run(step: Step, cache: Path, none_is_fine: bool = False) -> Outcome:
    """Run one step and print its output when it is over, so that they do not mix."""
    name, command, extra = step
    with PRINTING:
        print(f"== {name} ...", flush=True)
    started = time.monotonic()
    environment = {**os.environ, "IRONARM_CACHE_DIR": str(cache), "MPLBACKEND": "Agg", **extra}
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=said, stderr=subprocess.STDOUT
        )
        code, processor = wait(process)
        passed = code == 0 or (none_is_fine and code == NO_TESTS)
        seconds = time.monotonic() - started
        said.seek(0)
        with PRINTING:
            shutil.copyfileobj(said, sys.stdout)
            word = "passed" if passed else f"FAILED ({code})"
            print(f"== {name}: {word}, {seconds:.0f} s", flush=True)
    return Outcome(name, passed, seconds, processor)


def wait(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a process; return its exit code and the processor time it took."""
    if not hasattr(os, "wait4"):
        return process.wait(), float("nan")
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def table(outcomes: Sequence[Outcome], seconds: float) -> str:
    """Return how long each step took, in seconds on the clock and of processor."""
    rows = [*outcomes, Outcome("all", True, seconds, sum(each.processor for each in outcomes))]
    width = max(len(each.name) for each in rows)
    lines = [f"{'seconds':<{width}}   clock  processor"]
    lines += [
        f"{each.name:<{width}}  {each.seconds:6.0f}  {each.processor:9.0f}"
        f"{'' if each.passed else '  FAILED'}"
        for each in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
