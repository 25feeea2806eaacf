"""`make objects` builds what is missing, and lists it for each Python."""

import json
import sys

import pytest

import ironarm as ia
from ironarm.engine import adversary, shipped, switches
from tests.script import ROOT, script_of

pytestmark = pytest.mark.skipif(
    switches.DISABLED or switches.PUBLIC_ONLY, reason="nothing is compiled, or not kept"
)


@pytest.fixture(scope="module")
def objects():
    """The script."""
    with script_of(ROOT / "release" / "objects.py") as module:
        yield module


def test_every_policy_and_attack_is_built(objects):
    """All loops of a policy, what agents call, and what makes room for rewards."""
    names = objects.names()
    for policy in ia.policies.__all__:
        built = {name.rpartition(" ")[2] for name in names if name.startswith(f"{policy} ")}
        assert built >= {"run", "run_observed", "run_late", "select", "observe", "adjust"}
    for kind in ia.attacks.ATTACKS.values():
        for entry in adversary.entry_points(kind(rho=0.2)):
            assert entry.name in names.values()
    assert {"draw_tape v2", "draw_tape v3", "measure v2"} <= set(names)
    bounded = [name for name in names if name.startswith("MedEUCB BoundedMedian ")]
    assert {name.rpartition(" ")[2] for name in bounded} >= {"select", "rebuild", "repack"}


def test_only_what_is_missing_is_built(objects, tmp_path, monkeypatch):
    """Again if it is damaged; what no list names any more is removed."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(shipped, "AS_SHIPPED", True)
    shipped._listed.cache_clear()
    entry = objects.entry_points()["arrays"]["draw_tape v2"]
    monkeypatch.setattr(objects, "entry_points", lambda: {"arrays": {"draw_tape": entry}})
    place = shipped.place()
    place.mkdir()
    try:
        assert objects.missing() == {"arrays": ["draw_tape"]}
        objects.build("arrays", ["draw_tape"])
        (place / "stale.o").write_bytes(b"")
        (place / "cpython-100.json").write_text("{}")
        objects.write_lists({"cpython-999": {"draw_tape": "draw_tape_0"}})
        here = sys.implementation.cache_tag
        assert sorted(path.name for path in place.iterdir()) == sorted(
            [f"{entry.name}.o", "cpython-999.json", f"{here}.json"]
        )
        mine = json.loads(shipped.list_for(here).read_text())
        theirs = json.loads(shipped.list_for("cpython-999").read_text())
        assert (list(mine), list(theirs)) == ([entry.name], ["draw_tape_0"])
        assert mine[entry.name] == theirs["draw_tape_0"]
        shipped._listed.cache_clear()
        assert shipped.read(entry.name)[1] == entry.name
        assert objects.missing() == {}
        (place / f"{entry.name}.o").write_bytes(b"\x7fELF")
        assert shipped.read(entry.name) is None
        assert objects.missing() == {"arrays": ["draw_tape"]}
    finally:
        shipped._listed.cache_clear()


def test_nothing_is_missing(objects):
    """Once it is built, as `make test` does first."""
    if not shipped.place().is_dir():
        pytest.skip("nothing is built; run: make objects")
    assert objects.missing() == {}
