"""A cell's file is named by what determines it, reproducible, and redone if damaged."""

import importlib
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

import ironarm as ia
from ironarm.simulation.cells import Cell, CellStore
from ironarm.simulation.fingerprint import _fingerprint, code_fingerprint

CELL = Cell(
    ia.UCB(),
    ia.GaussianBandit([0, 1, 2]),
    ia.OppositeUniform(rho=0.2),
    horizon=300,
    trials=4,
    seed=1,
    checkpoints=(30, 300),
)


def test_a_cell_is_the_simulation_of_one_policy():
    """The same numbers as in company."""
    together = ia.simulate(
        [ia.RUCB(), ia.UCB()],
        CELL.bandit,
        CELL.attack,
        horizon=300,
        trials=4,
        seed=1,
        checkpoints=[30],
    )
    assert np.array_equal(CELL.run().regret[0], together.regret[1])


def test_what_was_kept_is_not_run_again(tmp_path, monkeypatch):
    """The second time the file answers."""
    store = CellStore(tmp_path)
    first = store.obtain(CELL)
    monkeypatch.setattr(Cell, "run", lambda *_: pytest.fail("it was run again"))
    assert np.array_equal(store.obtain(CELL).regret, first.regret)


def test_the_file_is_the_same_whenever_it_is_made(tmp_path):
    """Byte by byte, with one worker or two."""
    one, two = CellStore(tmp_path / "one"), CellStore(tmp_path / "two")
    one.put(CELL, CELL.run(workers=1))
    two.put(CELL, CELL.run(workers=2))
    assert one.path(CELL).read_bytes() == two.path(CELL).read_bytes()


@pytest.mark.parametrize(
    "changed",
    [
        {"policy": ia.UCB(alpha=1)},
        {"bandit": ia.GaussianBandit([0, 1, 3])},
        {"bandit": ia.GaussianBandit([0, 1, 2], sigma=2)},
        {"attack": ia.OppositeUniform(rho=0.3)},
        {"attack": ia.OppositeUniform(rho=0.2, scale=5)},
        {"horizon": 301, "checkpoints": (30, 301)},
        {"trials": 5},
        {"seed": 2},
        {"checkpoints": (31, 300)},
    ],
)
def test_everything_that_matters_is_in_the_name(changed):
    """One change, another file."""
    assert replace(CELL, **changed).key != CELL.key


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:900] + bytes(40) + data[940:],
        lambda data: b"not a result",
    ],
)
def test_a_damaged_file_is_redone(tmp_path, damage):
    """Cut short, empty, overwritten in the middle, or foreign."""
    store = CellStore(tmp_path)
    expected = store.obtain(CELL).regret
    whole = store.path(CELL).read_bytes()
    store.path(CELL).write_bytes(damage(whole))
    assert store.get(CELL) is None
    assert np.array_equal(store.obtain(CELL).regret, expected)
    assert store.path(CELL).read_bytes() == whole


def test_another_cells_file_under_this_name_is_not_believed(tmp_path):
    """The file says what it holds."""
    store = CellStore(tmp_path)
    other = replace(CELL, seed=2)
    store.put(CELL, other.run())
    assert store.get(CELL) is None


def test_an_edit_of_the_code_makes_results_stale(tmp_path, monkeypatch):
    """Of the policy's own file, or of a file it takes a function from.

    Another policy's results stay.
    """
    source = """
        from dataclasses import dataclass
        import ironarm as ia
        from {helper} import first_arm

        @dataclass(frozen=True)
        class {name}(ia.extend.Policy):
            @staticmethod
            @ia.extend.hot
            def choose(s, t, g):
                return first_arm(s)
        """
    helper = """
        import ironarm as ia

        @ia.extend.hot
        def first_arm(s):
            return {arm}
        """

    def fingerprint(name, arm):
        (tmp_path / "edited_helper.py").write_text(textwrap.dedent(helper.format(arm=arm)))
        (tmp_path / "edited_policy.py").write_text(
            textwrap.dedent(source.format(helper="edited_helper", name=name))
        )
        for module in ("edited_helper", "edited_policy"):
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        _fingerprint.cache_clear()
        import linecache

        linecache.clearcache()
        return code_fingerprint(getattr(importlib.import_module("edited_policy"), name))

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    untouched = code_fingerprint(ia.UCB)
    first = fingerprint("Mine", 0)
    assert fingerprint("Mine", 0) == first
    assert fingerprint("Other", 0) != first
    assert fingerprint("Mine", 1) != first
    assert code_fingerprint(ia.UCB) == untouched


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    """With a sentence."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ia.InvalidInput, match="cannot be created"):
        CellStore(tmp_path / "file" / "cells")
