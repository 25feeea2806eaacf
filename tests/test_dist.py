"""What is released works: the wheel alone, and the tests of the source distribution."""

import email
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ironarm.engine import shipped
from tests.script import script_of

ROOT = Path(__file__).parent.parent
UV = [sys.executable, "-m", "uv"]
QUICK_TESTS = ["tests/test_version.py", "tests/test_which_policy.py", "tests/show/test_text.py"]
"""Tests of the source distribution that compile next to nothing."""
FIVE_LINES = """
import sys
import ironarm as ia
bandit, attack = ia.GaussianBandit(means=range(2, 21, 2)), ia.OppositeUniform(rho=0.3)
policies = [ia.CoherentIMED(), ia.MedEUCB(), ia.UCB()]
result = ia.simulate(policies, bandit, attack, horizon=10_000, trials=20, seed=7)
print(*(f"{row.mean:.0f}" for row in result.summary().rows), "numba" not in sys.modules)
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder that `make dist` fills."""
    folder = tmp_path_factory.mktemp("dist")
    build = [*UV, "build", "--quiet", "--out-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True)
    if shipped.place().is_dir():
        wanted = {**os.environ, "IRONARM_WHEEL": "platform"}
        subprocess.run([*build, "--wheel"], cwd=ROOT, check=True, env=wanted)
    return folder


def with_machine_code(dist):
    """The wheel that has it."""
    for wheel in dist.glob("*.whl"):
        if not wheel.name.endswith("-none-any.whl"):
            return wheel
    return pytest.skip("there is no machine code; run: make objects")


def installed(wheel, folder, *options, python=sys.executable):
    """Install a wheel into a fresh environment; return its Python."""
    subprocess.run([*UV, "venv", "--quiet", f"--python={python}", str(folder)], check=True)
    there = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [*UV, "pip", "install", "--quiet", f"--python={there}", *options, str(wheel)]
    subprocess.run(install, check=True)
    return there


def plain_environment(**more):
    """The environment of somebody who has set nothing."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMBA_", "IRONARM_")) and name != "PYTHONPATH"
    }
    return {**kept, **more}


def test_a_stranger_has_the_readmes_table_at_once(dist, tmp_path):
    """Nothing is compiled or kept, Numba is not even loaded, and nothing is said."""
    python = installed(with_machine_code(dist), tmp_path / "venv")
    (tmp_path / "README.md").write_text((ROOT / "README.md").read_text())
    program = "import doctest, sys; print(doctest.testfile('README.md', False), *sys.modules)"
    done = subprocess.run(
        [str(python), "-P", "-c", program],
        cwd=tmp_path,
        env=plain_environment(IRONARM_CACHE_DIR=str(tmp_path / "compiled")),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("TestResults(failed=0, attempted="), done.stdout
    assert done.stderr == ""
    assert not {"numba", "scipy"} & set(done.stdout.split())
    assert not (tmp_path / "compiled").exists()


def other_pythons():
    """Those for which the wheel has machine code, beside this one."""
    with script_of(ROOT / "release" / "objects.py") as objects:
        return list(objects.other_pythons())


def test_other_pythons_find_their_machine_code_in_the_same_wheel(dist, tmp_path):
    """Those that were at hand when it was built."""
    wheel, tried = with_machine_code(dist), []
    for python in other_pythons():
        asked = [python, "-c", "import sys; print(sys.implementation.cache_tag)"]
        tag = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        if not shipped.list_for(tag).is_file():
            continue
        there = installed(wheel, tmp_path / tag, "--no-deps", python=python)
        needed = ["numpy", "llvmlite", "rich"]
        install = [*UV, "pip", "install", "--quiet", f"--python={there}", *needed]
        subprocess.run(install, check=True)
        done = subprocess.run(
            [str(there), "-P", "-c", FIVE_LINES],
            env=plain_environment(IRONARM_CACHE_DIR=str(tmp_path / "compiled")),
            capture_output=True,
            text=True,
        )
        assert (done.stderr, done.stdout.split()) == ("", ["823", "3362", "95994", "True"])
        tried.append(tag)
    if not tried:
        pytest.skip("NOT TESTED: no other Python was at hand")
    assert not (tmp_path / "compiled").exists()


def test_the_pure_wheel_alone_runs_the_readme(dist, tmp_path):
    """In a fresh environment with nothing but what the wheel asks for."""
    (wheel,) = dist.glob("*-none-any.whl")
    python = installed(wheel, tmp_path / "venv")
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
    (wheel,) = dist.glob("*-none-any.whl")
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


def test_machine_code_is_in_one_wheel_only(dist):
    """That for one kind of system: a list for each Python, a hash for each file."""
    with zipfile.ZipFile(with_machine_code(dist)) as file:
        code = {name: file.read(name) for name in file.namelist() if "/shipped/" in name}
    lists = [name for name in code if name.endswith(".json")]
    assert f"ironarm/engine/shipped/{shipped.place().name}/" in lists[0]
    for name in lists:
        for file, hash in json.loads(code[name]).values():
            data = code[name.rpartition("/")[0] + "/" + file]
            assert hashlib.sha256(data).hexdigest() == hash
    (pure,) = dist.glob("*-none-any.whl")
    (source,) = dist.glob("*.tar.gz")
    with zipfile.ZipFile(pure) as file, tarfile.open(source) as archive:
        assert not [name for name in file.namelist() + archive.getnames() if "/shipped/" in name]


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
