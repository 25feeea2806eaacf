"""A part of the tests on the lowest versions that pyproject.toml names.

    python tests/lowest.py          what `make test` runs
    python tests/lowest.py --all    compiles all policies and attacks, for minutes

uv installs them into an environment of their own, `.venv-lowest`, with all extras but
`dev`; it is made again when pyproject's requirements change. Each version must be the
very one that is named. Then agents and simulations of every policy, a study, sweeps,
the radio and the integrations are run. Compiled code stays where `make test` keeps it,
or in the environment, so a second run is short.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

UNUSED = ("dev", "docs")
"""Extras that are for the repository, not for users."""
ROOT = Path(__file__).parent.parent
VENV = ROOT / ".venv-lowest"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
MADE_FROM = VENV / "made-from.json"
UV = [sys.executable, "-m", "uv"]
PYTEST = [str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
# old releases of others use what newer releases of others have deprecated
QUIET = ["-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning"]

# Whose agents are compiled when not all are, because each takes Numba some seconds.
# These are of all kinds: an index or chances, rewards to remember or none.
POLICIES = ("MedEUCB", "EpsilonGreedy", "EXP3")
THEIR_AGENTS = " or ".join(["not agent_goes_on", *(f"-{name}]" for name in POLICIES)])
TESTS = ["tests/agent_files", "tests/test_lowest.py"]
FAST_ENGINE = "tests/engine/test_jit.py::test_compiled_code_counts_no_references"
INTEGRATIONS = ["tests/integrations"]
SOME = [FAST_ENGINE, *TESTS, *INTEGRATIONS, "-k", THEIR_AGENTS]
ALL = ["tests/engine/test_jit.py", *TESTS, *INTEGRATIONS, "tests/simulation/test_recorded.py"]
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def main() -> int:
    """Make the environment if need be, check its versions, run the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    if HERE not in listed_pythons(project):
        print(
            f"SKIPPED: THE LOWEST VERSIONS ARE NOT TESTED. pyproject.toml does not list Python "
            f"{HERE}, so nothing says which versions are the lowest for it."
        )
        return 0
    requirements = lowest_requirements(project)
    make_environment(project, requirements)
    wrong = differences(requirements)
    if wrong:
        print(*wrong, sep="\n")
        return 1
    compiled = ALL if "--all" in sys.argv[1:] else SOME
    steps = (("compiled", compiled, {}), ("plain Python", TESTS, {"NUMBA_DISABLE_JIT": "1"}))
    return 0 if all(run(*step) for step in steps) else 1


def listed_pythons(project: dict) -> list[str]:
    """Return the versions of Python among the classifiers."""
    words = "Programming Language :: Python :: "
    found = (name.removeprefix(words) for name in project["classifiers"] if name.startswith(words))
    return [version for version in found if "." in version]


def lowest_requirements(project: dict) -> dict[str, Version]:
    """Return the lower bounds that hold for this Python and system, by package."""
    bounds: dict[str, Version] = {}
    extras = [
        lines for name, lines in project["optional-dependencies"].items() if name not in UNUSED
    ]
    for requirement in map(Requirement, chain(project["dependencies"], *extras)):
        if requirement.marker is None or requirement.marker.evaluate():
            lower = [s.version for s in requirement.specifier if s.operator == ">="]
            if not lower:
                raise SystemExit(f"pyproject.toml names no lower bound for {requirement}; do it.")
            name = canonicalize_name(requirement.name)
            bounds[name] = max(Version(lower[0]), bounds.get(name, Version("0")))
    return bounds


def make_environment(project: dict, requirements: dict[str, Version]) -> None:
    """Install the lowest versions, unless what is there was made from the same."""
    wanted = {
        "python": sys.version,
        "requirements": [f"{name}>={version}" for name, version in sorted(requirements.items())],
    }
    if MADE_FROM.is_file() and json.loads(MADE_FROM.read_text()) == wanted:
        return
    extras = [f"--extra={name}" for name in project["optional-dependencies"] if name not in UNUSED]
    lowest = ["--resolution=lowest-direct", "--only-binary=:all:"]
    install = ["pip", "install", "--quiet", f"--python={PYTHON}", *lowest]
    for command in (
        ["venv", "--quiet", "--clear", f"--python={sys.executable}", str(VENV)],
        [*install, "--requirements=pyproject.toml", *extras],
    ):
        if subprocess.run([*UV, *command], cwd=ROOT).returncode:
            raise SystemExit("The lowest versions that pyproject.toml names cannot be installed.")
    MADE_FROM.write_text(json.dumps(wanted))


def differences(requirements: dict[str, Version]) -> list[str]:
    """Return a sentence for each package that is not installed as it is named."""
    listing = [*UV, "pip", "list", "--quiet", f"--python={PYTHON}", "--format=json"]
    answer = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    there = {canonicalize_name(row["name"]): row["version"] for row in json.loads(answer)}
    return [
        f"pyproject.toml names {name}>={version}, but the lowest that installs here, with the "
        f"others, is {there[name]}: raise the bound."
        for name, version in requirements.items()
        if Version(there[name]) != version
    ]


def run(name: str, what: list[str], extra: dict[str, str]) -> bool:
    """Run these tests; True if they pass."""
    print(f"on the lowest versions, {name}:", flush=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "IRONARM_CACHE_DIR": os.environ.get("IRONARM_CACHE_DIR", str(VENV / "compiled")),
        "MPLBACKEND": "Agg",
        "IRONARM_SHIPPED": "0",  # what these versions compile is to be tried
        **extra,
    }
    command = [*PYTEST, *QUIET, "--durations=3", *what]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0


if __name__ == "__main__":
    raise SystemExit(main())
