"""Cells are read or run, each once, and the bar counts what is run."""

import numpy as np
import pytest

import ironarm as ia
from ironarm.lab.kit.cell_runner import CellRunner
from ironarm.simulation.cells import Cell, CellStore
from ironarm.simulation.progress import Progress


class Counted(Progress):
    """A bar that shows nothing, and knows how much is done of how much."""

    def __init__(self):
        super().__init__("", 1, False)
        self.labels = []

    def note(self, what):
        """Keep what would be shown."""
        if not self.labels or self.labels[-1] != what:
            self.labels.append(what)

    @property
    def left(self):
        """The work that is still to be done."""
        return self._total - self._done


def cell(policy, rho=0.1, trials=3):
    return Cell(policy, ia.GaussianBandit([0, 1]), ia.Constant(rho), 100, trials, 1, (50, 100))


CELLS = [
    cell(ia.UCB()),
    cell(ia.RUCB()),
    cell(ia.UCB(alpha=3)),
    cell(ia.UCB(), rho=0.2, trials=5),
    cell(ia.UCB()),
]


def same(results, expected):
    return all(
        np.array_equal(one.regret, other.regret) and one.specification == other.specification
        for one, other in zip(results, expected, strict=True)
    )


@pytest.fixture(scope="module")
def alone():
    """The results of the cells, each run by itself."""
    return [each.run(1, False) for each in CELLS]


@pytest.mark.parametrize("together", [None, 1, 2])
def test_results_are_those_of_each_cell_alone(together, alone, tmp_path):
    """In the order of the cells, however many run together."""
    runner, bar = CellRunner(tmp_path, 1, together=together), Counted()
    runner.prepare(CELLS, bar)
    assert same(runner.obtain(CELLS, bar, lambda batch: f"{len(batch)} cells"), alone)
    assert (runner.computed, runner.kept, runner.shared) == (4, 0, 1)
    sizes = {None: [3, 1], 1: [1], 2: [2, 1]}[together]
    assert bar.labels == [f"{size} cells" for size in sizes]


@pytest.mark.parametrize("prepared", [True, False])
@pytest.mark.parametrize("kept", [0, 2, 5])
def test_the_bar_counts_what_is_run(kept, prepared, alone, tmp_path):
    """At the end nothing is left, and nothing was done twice."""
    store, bar = CellStore(tmp_path / "cells"), Counted()
    for each, result in zip(CELLS[:kept], alone[:kept], strict=True):
        store.put(each, result)
    runner = CellRunner(tmp_path, 1)
    if prepared:
        runner.prepare(CELLS, bar)
    else:
        bar.restart(sum(each.rounds for each in CELLS[:4]))
    assert same(runner.obtain(CELLS, bar, ""), alone)
    assert bar.left == 0
    assert bar._done == sum(each.rounds for each in CELLS[kept:4])
    assert (runner.kept, runner.computed) == (min(kept, 4), 4 - min(kept, 4))


def test_a_damaged_file_is_run_again_and_counted(alone, tmp_path):
    """It was there when the work was counted."""
    store, bar = CellStore(tmp_path / "cells"), Counted()
    store.path(CELLS[0]).write_bytes(b"damaged")
    runner = CellRunner(tmp_path, 1)
    runner.prepare(CELLS, bar)
    assert same(runner.obtain(CELLS, bar, ""), alone)
    assert (bar.left, runner.computed) == (0, 4)
    assert same([store.get(CELLS[0])], alone[:1])


def test_forced_each_cell_is_run_once(alone, tmp_path):
    """Also one that is asked for again, later."""
    store, bar = CellStore(tmp_path / "cells"), Counted()
    for each, result in zip(CELLS, alone, strict=True):
        store.put(each, result)
    runner = CellRunner(tmp_path, 1, force=True)
    runner.prepare(CELLS, bar)
    runner.obtain(CELLS, bar, "")
    assert same(runner.obtain(CELLS[:2], bar, ""), alone[:2])
    assert (runner.computed, runner.kept, runner.shared, bar.left) == (4, 0, 3, 0)
