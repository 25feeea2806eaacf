"""What is released works: the wheel alone, and the tests of the source distribution."""

import email
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
UV = [sys.executable, "-m", "uv"]
QUICK_TESTS = ["tests/test_version.py", "tests/test_which_policy.py", "tests/show/test_text.py"]
"""Tests of the source distribution that compile next to nothing."""


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder that `make dist` fills."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([*UV, "build", "--quiet", "--out-dir", str(folder)], cwd=ROOT, check=True)
    return folder


def test_the_wheel_alone_runs_the_readme(dist, tmp_path):
    """In a fresh environment with nothing but what the wheel asks for."""
    (wheel,) = dist.glob("*.whl")
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    venv = [*UV, "venv", "--quiet", f"--python={sys.executable}", str(tmp_path / "venv")]
    subprocess.run(venv, check=True)
    subprocess.run([*UV, "pip", "install", "--quiet", f"--python={python}", str(wheel)], check=True)
    (tmp_path / "README.md").write_text((ROOT / "README.md").read_text())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in (["-m", "doctest", "README.md"], ["-m", "ironarm", "--version"]):
        done = subprocess.run(
            [str(python), "-P", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_says_what_it_is(dist):
    """All that an index shows: licence, description, Python, addresses; and typed."""
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (place,) = (name for name in names if name.endswith("/METADATA"))
        about = email.message_from_bytes(file.read(place))
    assert about["License-Expression"] == "Apache-2.0"
    assert about["Description-Content-Type"] == "text/markdown"
    assert about["Requires-Python"] == ">=3.11"
    assert about.get_payload().startswith("# ironarm")
    links = {line.partition(",")[0] for line in about.get_all("Project-URL")}
    assert links >= {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert "ironarm/py.typed" in names
    assert not [name for name in names if not name.startswith(("ironarm/", "ironarm-"))]


def test_the_source_distribution_runs_its_tests(dist, tmp_path):
    """It holds whatever git holds but what only this repository's home needs."""
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0:
        missing = [name for name in tracked.stdout.splitlines() if not (folder / name).exists()]
        assert all(name.startswith((".ci/", ".github/")) for name in missing), missing
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK_TESTS]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
