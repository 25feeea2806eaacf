"""Machine code that comes with the package is found by name, and believed by hash."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

import ironarm as ia
from ironarm.engine import shipped, switches
from ironarm.engine.state import State

pytestmark = pytest.mark.skipif(
    switches.DISABLED or switches.PUBLIC_ONLY, reason="nothing is compiled, or not kept"
)
PROGRAM = """
import sys
from pathlib import Path
from ironarm.engine import announce, shipped
from ironarm.engine.entry_point import EntryPoint
from ironarm.engine.state import State
import ironarm as ia
shipped.FOLDER = Path(sys.argv[1])
sys.implementation.cache_tag = sys.argv[2]
state = State(ia.UCB(), 3)
print(state.select(), state.select(), "numba" in sys.modules)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with the machine code of `UCB.select`, as if built by another Python."""
    entry = State(ia.UCB(), 3).machine.entry_point("select")
    place = tmp_path / shipped.place().name
    place.mkdir()
    (place / "UCB_select_built.o").write_bytes(entry.compiled("UCB_select_built"))
    write_list(place)
    return place


def write_list(place, **changed):
    """List the file under the name that this Python looks for."""
    data = (place / "UCB_select_built.o").read_bytes()
    name = State(ia.UCB(), 3).machine.entry_point("select").name
    row = {"name": name, "file": "UCB_select_built.o", "hash": hashlib.sha256(data).hexdigest()}
    row |= changed
    listed = {row["name"]: [row["file"], row["hash"]]}
    (place / f"{sys.implementation.cache_tag}.json").write_text(json.dumps(listed))


def ran(folder, tag=sys.implementation.cache_tag, **environment):
    """Decide twice in another process: what it chose, and whether it loaded Numba."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder.parent), tag],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "NUMBA_BOUNDSCHECK": "0",
            "IRONARM_CACHE_DIR": str(folder.parent / "kept"),
            **environment,
        },
    )
    return done.stdout.split(), done.stderr


@pytest.mark.skipif(switches.CHECKED, reason="what comes with ironarm is not checked")
def test_a_python_finds_what_another_has_built(folder):
    """The function in the file has the builder's name. Nothing is compiled or kept."""
    assert ran(folder) == (["0", "1", "False"], "")
    assert not (folder.parent / "kept").exists()


@pytest.mark.skipif(switches.CHECKED, reason="what comes with ironarm is not checked")
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda place: (place / "UCB_select_built.o").write_bytes(b"\x7fELF"), ""),
        (lambda place: (place / "UCB_select_built.o").unlink(), ""),
        (lambda place: write_list(place, hash="0" * 64), ""),
        (lambda place: write_list(place, name="UCB_select_0"), "is not the usual one"),
        (lambda place: next(place.glob("*.json")).write_text("{"), "for Python 3"),
        (lambda place: next(place.glob("*.json")).write_text('{"a": 1}'), "for Python 3"),
        (lambda place: next(place.glob("*.json")).unlink(), "has no machine code for Python 3"),
        (lambda place: shutil.rmtree(place), "this install has no machine code;"),
    ],
)
def test_what_is_missing_or_damaged_is_compiled(folder, spoil, why):
    """A line says why, the choices are the same, and the next process finds it."""
    spoil(folder)
    output, errors = ran(folder)
    assert output == ["0", "1", "True"]
    assert errors.startswith("ironarm: compiling UCB's select (")
    assert why in errors
    assert ran(folder) == (["0", "1", "False"], "")


@pytest.mark.skipif(switches.CHECKED, reason="what comes with ironarm is not checked")
@pytest.mark.parametrize(
    "variable",
    ["NUMBA_BOUNDSCHECK=1", "IRONARM_SHIPPED=0", "IRONARM_PUBLIC_NUMBA=1"],
)
def test_whoever_wants_other_code_gets_it(folder, variable):
    """With checks, compiled here, or by Numba's public means."""
    name, _, value = variable.partition("=")
    output, errors = ran(folder, **{name: value})
    assert output == ["0", "1", "True"]
    assert f"({name} asks for it" in errors
