"""The results of a sweep as two Parquet files, by trial and by checkpoint.

Both begin with the same columns, which say what was run. Every column holds numbers,
text or truth values, and nothing nested. The same cells give the same bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...errors import InvalidInput, IronarmError
from ...files import write_whole
from ...show.text import short, text_table
from ...simulation.cells import Cell, CellStore
from ...simulation.result import Result
from ...simulation.summary import bootstrap_interval
from .file import tidy

TRIALS = "trials.parquet"
CHECKPOINTS = "checkpoints.parquet"

CELLS_AT_ONCE = 16
"""Enough to share the resampling of trials among cells; few enough to be held in
memory.
"""

ROWS_AT_ONCE = 100_000
"""Rows in a row group: readers skip and parallelise by these."""

LINES = 40
"""How many cells the printed table may show."""


def write_tables(cells: Sequence[Cell], store: CellStore, out: Path) -> tuple[Path, Path]:
    """Write both files, each whole or not at all; returns their paths."""
    about = _about(cells)
    trials, checkpoints = _ParquetFile(), _ParquetFile()
    for start in range(0, len(cells), CELLS_AT_ONCE):
        group = cells[start : start + CELLS_AT_ONCE]
        results = [_finished(cell, store) for cell in group]
        trials.add(_trial_rows(about.slice(start, len(group)), results))
        checkpoints.add(_checkpoint_rows(about.slice(start, len(group)), results))
    paths = out / TRIALS, out / CHECKPOINTS
    try:
        for path, file in zip(paths, (trials, checkpoints), strict=True):
            write_whole(path, file.finished())
    except OSError as error:
        raise InvalidInput(
            f"the tables cannot be written to {out}: {error.strerror}. Finished cells are kept; "
            "the same command resumes."
        ) from None
    return paths


def _finished(cell: Cell, store: CellStore) -> Result:
    result = store.get(cell)
    if result is None:
        raise IronarmError(
            f"the file {store.path(cell)} has disappeared or is damaged. Run the same command "
            "again."
        )
    return result


class _ParquetFile:
    """A Parquet file in the making, in memory, where it is compressed and small."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._writer: Any = None
        self._waiting: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        self._waiting.append(table)
        if sum(len(table) for table in self._waiting) >= ROWS_AT_ONCE:
            self._write()

    def finished(self) -> bytes:
        if self._waiting:
            self._write()
        self._writer.close()
        return self._buffer.getvalue()

    def _write(self) -> None:
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._buffer, self._waiting[0].schema, compression="zstd"
            )
        self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting = []


def _about(cells: Sequence[Cell]) -> pa.Table:
    """Return what was run, one row for each cell."""
    columns = {
        "policy": pa.array([type(cell.policy).__name__ for cell in cells]),
        "label": pa.array([cell.policy.label for cell in cells]),
        **_parameters("policy", [cell.policy.parameters for cell in cells]),
        "attack": pa.array([type(cell.attack).__name__ for cell in cells]),
        **_parameters(
            "attack",
            [
                {name: value for name, value in cell.attack.parameters.items() if name != "rho"}
                for cell in cells
            ],
        ),
        "rho": pa.array([cell.attack.rho for cell in cells], pa.float64()),
        "arms": pa.array([cell.bandit.arms for cell in cells], pa.int64()),
        "gap": pa.array([_gap(cell.bandit.gaps) for cell in cells], pa.float64()),
        "horizon": pa.array([cell.horizon for cell in cells], pa.int64()),
        "seed": pa.array([cell.seed for cell in cells], pa.int64()),
    }
    versions = json.dumps(cells[0].specification["versions"], sort_keys=True)
    return pa.table(columns).replace_schema_metadata({"ironarm": versions})


def _parameters(prefix: str, described: list[dict[str, Any]]) -> dict[str, pa.Array]:
    """Return a column for each parameter that any of them has.

    It holds numbers if all values are numbers, else text; null where there is no value.
    """
    columns = {}
    for name in dict.fromkeys(name for parameters in described for name in parameters):
        values = [parameters.get(name) for parameters in described]
        if all(value is None or isinstance(value, Real) for value in values):
            columns[f"{prefix}_{name}"] = pa.array(
                [None if value is None else float(value) for value in values], pa.float64()
            )
        else:
            columns[f"{prefix}_{name}"] = pa.array(
                [None if value is None else str(value) for value in values], pa.string()
            )
    return columns


def _gap(gaps: np.ndarray) -> float | None:
    """Return how far the next best mean is below the best; None if all are equal."""
    return tidy(gaps[gaps > 0].min()) if (gaps > 0).any() else None


def _trial_rows(about: pa.Table, results: list[Result]) -> pa.Table:
    trials = results[0].regret.shape[1]
    table = about.take(np.repeat(np.arange(len(results)), trials))
    return _with_columns(
        table,
        trial=np.tile(np.arange(trials), len(results)),
        regret=np.concatenate([result.regret[0, :, -1] for result in results]),
        optimal=np.concatenate([result.optimal[0, :, -1] for result in results]),
        last_tenth=np.concatenate([result.last_tenth[0] for result in results]),
        stuck=np.concatenate([result.stuck[0] for result in results]),
    )


def _checkpoint_rows(about: pa.Table, results: list[Result]) -> pa.Table:
    rounds = results[0].rounds
    regret = np.stack([result.regret[0].T for result in results])  # (cell, checkpoint, trial)
    low, high = bootstrap_interval(regret)
    table = about.take(np.repeat(np.arange(len(results)), len(rounds)))
    return _with_columns(
        table,
        round=np.tile(rounds, len(results)),
        trials=np.full(len(table), regret.shape[2]),
        regret_mean=regret.mean(axis=2).ravel(),
        regret_low=low.ravel(),
        regret_high=high.ravel(),
        regret_median=np.median(regret, axis=2).ravel(),
        regret_q95=np.quantile(regret, 0.95, axis=2).ravel(),
        optimal_mean=np.stack([result.optimal[0].mean(axis=0) for result in results]).ravel(),
        stuck_share=np.repeat([result.stuck[0].mean() for result in results], len(rounds)),
    )


def _with_columns(table: pa.Table, **columns: np.ndarray) -> pa.Table:
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table


def final_table(checkpoints: Path) -> str:
    """Return the cells at the horizon as text, the best policy first in each setting.

    If there are many cells, only the best are shown.
    """
    table = pq.read_table(checkpoints)
    rows = table.filter(pc.equal(table["round"], table["horizon"])).to_pylist()
    settings: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    columns = attack_columns(table.column_names)
    for row in rows:
        settings.setdefault((*(row[name] for name in columns), row["rho"], row["gap"]), []).append(
            row
        )
    shown = [
        row
        for group in settings.values()
        for row in sorted(group, key=lambda row: row["regret_mean"])[
            : None if len(rows) <= LINES else 1
        ]
    ]
    head = ("policy", "attack", "rho", "gap", "mean regret", "95 % interval", "stuck")
    body = [
        (
            row["label"],
            attack_label(row, columns),
            f"{row['rho']:g}",
            "-" if row["gap"] is None else f"{row['gap']:g}",
            short(row["regret_mean"]),
            f"{short(row['regret_low'])} to {short(row['regret_high'])}",
            f"{100 * row['stuck_share']:.1f} %",
        )
        for row in shown
    ]
    note = (
        ""
        if len(shown) == len(rows)
        else (
            f"\n\nthe best of {len(rows)} cells in each setting; {checkpoints.name} has all of them"
        )
    )
    return text_table(head, body, words=(1,)) + note


def attack_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that describe the attack, its name first."""
    return [name for name in names if name.startswith("attack")]


def attack_label(row: dict[str, Any], columns: list[str]) -> str:
    """Return the attack of a row as text, with its parameters."""
    given = {
        name.removeprefix("attack_"): row[name] for name in columns[1:] if row[name] is not None
    }
    text = ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in given.items()
    )
    return f"{row['attack']}({text})" if text else row["attack"]
