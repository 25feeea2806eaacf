"""Sweeps: many cells, policy × attack × rho × gap × parameters, in parallel.

Every worker writes each cell that it has run to a file; see `simulation.cells`. So
finished cells stay, whatever ends a worker or the sweep, and running the same sweep
again runs only the others. The tables are made from the files in the sweep's order.
They don't depend on which worker ran a cell, or when.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import InvalidInput, IronarmError, missing_extra
from ...simulation.cells import Cell, CellStore, compile_cells
from ...simulation.progress import Progress
from .backends import Run, backend
from .own_processes import WorkerKilled

ROUNDS_WITHOUT_PROGRESS = 3
"""How often the remaining cells are tried while workers die and none finishes."""

KILLED = "a worker was killed; its cell is run again after the others"
LACKING_ON_CLUSTER = (
    "a machine of the cluster lacks ironarm or a package it needs. Install them wherever the "
    "scheduler or a worker runs."
)
LACKING = (
    "a process of the sweep cannot import what this one has imported: {error}. Install it, or put "
    "it beside your script."
)


def run_sweep(
    cells: Sequence[Cell],
    out: str | Path,
    *,
    workers: int | None = None,
    dask: str | None = None,
    force: bool = False,
    progress: bool | None = None,
) -> tuple[Path, Path]:
    """Run the missing cells, write the tables, and return the tables' paths.

    Parameters
    ----------
    cells : what `read_sweep` returns.
    out : a folder for the tables; its subfolder `cells` holds the finished cells. On a
        cluster of several machines, all must see this folder under this path.
    workers : processes on this machine; None for one on each processor.
    dask : None for processes on this machine; "local" for a Dask cluster on this
        machine; or a scheduler's address.
    force : run all cells, including finished ones.
    progress : show progress on standard error; None for yes, if it is a terminal.
    """
    try:
        from .tables import write_tables
    except ImportError:
        raise missing_extra("A sweep", "study") from None
    out = Path(out).resolve()  # workers may run in other folders
    store = CellStore(out / "cells")
    if force:
        for cell in cells:
            store.path(cell).unlink(missing_ok=True)
    with Progress("sweep", 1, progress) as bar:
        missing = _missing(cells, store, bar)
        if missing:
            compile_cells(missing, bar.compiling)
            with backend(workers, dask) as run:
                _run(missing, store, run, bar, LACKING if dask is None else LACKING_ON_CLUSTER)
        _remove_remains(cells, store)
        bar.note("writing tables")
        return write_tables(cells, store, out)


def _missing(cells: Sequence[Cell], store: CellStore, bar: Progress) -> list[Cell]:
    """Return the cells to run; announce how many exist and how many are damaged."""
    missing = [cell for cell in cells if store.get(cell) is None]
    damaged = sum(store.path(cell).exists() for cell in missing)
    if len(missing) < len(cells):
        bar.announce(f"{len(cells) - len(missing)} of {len(cells)} cells are already finished")
    if damaged:
        bar.announce(
            f"{damaged} cell files are damaged; their cells are run again"
            if damaged > 1
            else "1 cell file is damaged; its cell is run again"
        )
    return missing


def _remove_remains(cells: Sequence[Cell], store: CellStore) -> None:
    """Remove the partial files of killed workers; the whole files exist by now."""
    keys = {cell.key for cell in cells}
    for path in store.folder.glob(".*.npz.*"):
        if path.name.split(".")[1] in keys:
            path.unlink(missing_ok=True)


def _run(cells: Sequence[Cell], store: CellStore, run: Run, bar: Progress, lacking: str) -> None:
    """Run the cells; those whose workers were killed again after the others.

    `lacking` is what to say if a worker lacks a package.
    """
    bar.restart(len(cells))
    bar.note(f"sweep, {len(cells)} cells")
    for cell in filter(_only_here, cells):
        store.obtain(cell, progress=False)
        bar.advance()
        bar.refresh()
    waiting, fruitless = [cell for cell in cells if not _only_here(cell)], 0
    while waiting:
        # a copy has no cached key, so the worker computes the key from its own code
        tasks = [(str(store.folder), replace(cell), cell.key) for cell in waiting]
        reported: set[str] = set()
        for (_, _, key), error in run(run_cell, tasks):
            if isinstance(error, WorkerKilled):
                print(KILLED, file=sys.stderr, flush=True)
                continue
            if isinstance(error, ModuleNotFoundError) or (
                # what Dask says where its scheduler lacks a package
                isinstance(error, RuntimeError) and "deserialization" in str(error)
            ):
                raise IronarmError(lacking.format(error=error)) from error
            if error is not None:
                raise error
            reported.add(key)
            bar.advance()
            bar.refresh()
        left = [cell for cell in waiting if store.get(cell) is None]
        absent = sum(cell.key in reported for cell in left)
        if absent:
            raise InvalidInput(
                f"the results of {absent} cells did not arrive in {store.folder}: the workers "
                "write elsewhere. Choose a folder with --out that all workers share."
            )
        fruitless = 0 if len(left) < len(waiting) else fruitless + 1
        if fruitless == ROUNDS_WITHOUT_PROGRESS:
            raise IronarmError(
                "workers were killed again and again before any cell was finished; "
                f"{len(left)} cells are left. Memory may be short: try fewer --workers. "
                "Finished cells are kept; the same command resumes."
            )
        waiting = left


def _only_here(cell: Cell) -> bool:
    """Say whether no other process can run a cell.

    What a script or a notebook defines itself, nobody else can import, and a lambda
    cannot be sent.
    """
    try:
        return b"__main__" in pickle.dumps(replace(cell))
    except Exception:
        return True


def run_cell(folder: str, cell: Cell, key: str) -> str:
    """Run a cell in a worker unless it is finished, keep its result, return its key."""
    if cell.key != key:
        raise IronarmError(
            "a worker has another version of ironarm, Python, NumPy or Numba than the process "
            "that started the sweep. Install the same versions everywhere."
        )
    store = CellStore(folder)
    try:
        store.obtain(cell, workers=1, progress=False)
    except OSError as error:
        if store.get(cell) is not None:  # another sweep has run it meanwhile
            return key
        raise IronarmError(
            f"the result of a cell cannot be written to {folder}: {error.strerror}. Finished "
            "cells are kept; the same command resumes."
        ) from None
    return key
