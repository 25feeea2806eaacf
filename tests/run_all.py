"""Every check of the project, in the order in which a failure is cheapest to learn: style, types, tests, tests of plain Python, documentation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def main() -> int:
    """Run all steps; the exit code is that of the first that fails."""
    with tempfile.TemporaryDirectory(prefix="ironarm-test-") as cache:
        steps: list[tuple[str, list[str], dict[str, str]]] = [
            ("style", [sys.executable, "-m", "ruff", "check", "."], {}),
            ("format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."], {}),
            ("types", [sys.executable, "-m", "mypy"], {}),
            ("tests, bounds checked", [*PYTEST, "tests"], {"NUMBA_BOUNDSCHECK": "1"}),
            ("policies as plain Python", [*PYTEST, "tests/policies", "tests/estimators"], {"NUMBA_DISABLE_JIT": "1"}),
            ("examples in the documentation", [*PYTEST, "--doctest-modules", "--doctest-glob=*.md", "--ignore=src/ironarm/engine/loop.py", "src", "README.md", "docs"], {}),
        ]
        for name, command, extra in steps:
            print(f"== {name}", flush=True)
            started = time.monotonic()
            environment = {**os.environ, "IRONARM_CACHE_DIR": cache, "MPLBACKEND": "Agg", **extra}
            code = subprocess.run(command, cwd=ROOT, env=environment).returncode
            print(f"== {name}: {'ok' if code == 0 else f'failed with {code}'}, {time.monotonic() - started:.0f} s", flush=True)
            if code:
                return code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
