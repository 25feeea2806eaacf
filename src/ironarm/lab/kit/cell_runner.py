"""Results of cells: those that are kept are read, the others are run and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ...simulation import Result
from ...simulation.cells import Cell, CellStore, compile_cells, run_together
from ...simulation.progress import Portion, Progress


class CellRunner:
    """Obtains cells for one piece of work, each cell once.

    The progress that is shown counts what is run, so the time left is right also when
    most cells are kept from before.

    Parameters
    ----------
    out : the folder whose subfolder `cells` holds the results.
    workers : threads; None for one on each processor.
    force : run all cells, also those that are kept from before.
    together : at most so many policies share a simulation; None for all that differ in
        nothing else. An interrupt loses no more cells than that.
    work : how long a cell takes, in the unit of the bar; by default its rounds.
    """

    def __init__(
        self,
        out: Path,
        workers: int | None = None,
        *,
        force: bool = False,
        together: int | None = None,
        work: Callable[[Cell], float] = lambda cell: cell.rounds,
    ) -> None:
        self._store = CellStore(out / "cells")
        self._workers, self._force, self._together, self._work = workers, force, together, work
        self.keys: list[str] = []
        """Of all cells that were asked for, in that order."""
        self.kept = 0
        """How many cells were there before."""
        self.computed = 0
        """How many cells were run."""
        self._seen: set[str] = set()
        self._not_counted: set[str] = set()

    @property
    def shared(self) -> int:
        """How often a cell was asked for once more."""
        return len(self.keys) - len(self._seen)

    def prepare(self, cells: Iterable[Cell], bar: Progress) -> None:
        """Compile what the missing cells need, and count their work from now on.

        Other cells can be obtained too: add their work to the bar.
        """
        each = {cell.key: cell for cell in cells}
        self._not_counted = {
            key
            for key, cell in each.items()
            if key in self._seen or (not self._force and self._store.path(cell).exists())
        }
        missing = [cell for key, cell in each.items() if key not in self._not_counted]
        compile_cells(missing, bar.compiling)
        bar.restart(sum(map(self._work, missing)))

    def obtain(
        self, cells: Sequence[Cell], bar: Progress, label: str | Callable[[Sequence[Cell]], str]
    ) -> list[Result]:
        """Return the cells' results, in their order; run and keep what is missing.

        `label` is what the bar shows, or says it of the cells that run now.
        """
        found: dict[str, Result] = {}
        missing: dict[str, Cell] = {}  # by key: two names may stand for the same cell
        for cell in cells:
            first = cell.key not in self._seen
            self.keys.append(cell.key)
            self._seen.add(cell.key)
            result = None if self._force and first else self._store.get(cell)
            if result is None:
                if cell.key in self._not_counted - missing.keys():  # its file is damaged
                    bar.extend(self._work(cell))
                missing.setdefault(cell.key, cell)
                continue
            found[cell.key] = result
            if first:
                self.kept += 1
                if cell.key not in self._not_counted:
                    bar.extend(-self._work(cell))
        for batch in self._batches(missing.values()):
            share = sum(map(self._work, batch)) / batch[0].trials
            what = label if isinstance(label, str) else label(batch)
            results = run_together(batch, self._workers, Portion(bar, what, share))
            for cell, result in zip(batch, results, strict=True):
                self._store.put(cell, result)
                found[cell.key] = result
            self.computed += len(batch)
        return [found[cell.key] for cell in cells]

    def _batches(self, cells: Iterable[Cell]) -> Iterator[list[Cell]]:
        """Yield cells that can share a simulation: they differ only in the policy."""
        for _, group in groupby(cells, Cell.setting):
            alike = list(group)
            size = self._together or len(alike)
            yield from (alike[first : first + size] for first in range(0, len(alike), size))
