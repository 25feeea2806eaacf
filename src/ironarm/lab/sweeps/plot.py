"""The figure of a sweep: one panel for each setting, one line for each policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import BadFile, InvalidInput
from ...show.curves import (
    Band,
    Look,
    PolicyCurve,
    add_legend,
    chosen,
    draw,
    draw_panel,
    legend_columns,
    styles_of,
)
from ...show.figures import plain_label, pyplot, set_ticks
from ...validation import did_you_mean
from .tables import CHECKPOINTS, TRIALS, attack_columns, attack_label

MOST_PANELS = 16
NEEDED = ("policy", "label", "attack", "rho", "arms", "gap", "round", "regret_mean", "optimal_mean")


def checkpoints_of(path: Path) -> Path:
    """Return the table to draw for a folder or a table of a sweep."""
    table = path / CHECKPOINTS if path.is_dir() else path
    if table.name == TRIALS:  # it has no rounds
        table = table.with_name(CHECKPOINTS)
    if not table.is_file():
        raise BadFile(f"{table} does not exist; `ironarm sweep` writes it when all cells are done.")
    return table


def plot_sweep(
    path: str | Path,
    look: Look,
    policies: Iterable[str | int] | str | int | None = None,
    labels: Mapping[str, str] | Iterable[str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> Any:
    """Draw the curves of a sweep, and return the figure.

    Parameters
    ----------
    path : the sweep's folder, or one of its tables.
    look : what is drawn, and how.
    policies, labels : as in `Result.plot`.
    where : columns of the table and the values to draw, such as `{"rho": 0.3}`.
    """
    if look.what == "pulls":
        raise InvalidInput(
            "the tables of a sweep hold no pulls; choose regret or optimal, or draw one of its "
            "cells."
        )
    panel = look.panels[0]
    source = checkpoints_of(Path(path))
    rows = _rows(source, where or {})
    settings = _settings(rows)
    if len(settings) > (1 if look.ax is not None else MOST_PANELS):
        most = "one fits into ax" if look.ax is not None else f"at most {MOST_PANELS} fit"
        raise InvalidInput(
            f"{source} has {len(settings)} settings, and {most}; choose some of them, for "
            f"example where rho={rows[0]['rho']:g} ({_choices(rows)})."
        )
    names = list(dict.fromkeys(row["label"] for row in rows))
    order = chosen(names, policies, labels)
    # a policy may be missing in a setting, as TrimmedUCB(alpha=0.3) is where rho is 0.1
    drawn = {
        title: [
            line for i, label in order if (line := _line(group, names[i], label, panel)) is not None
        ]
        for title, group in settings.items()
    }
    return _figure({title: lines for title, lines in drawn.items() if lines}, look, panel)


def _figure(drawn: Mapping[str, list[PolicyCurve]], look: Look, panel: str) -> Any:
    if look.ax is not None:
        return draw(next(iter(drawn.values())), look)
    every = list({line.label: line for lines in drawn.values() for line in lines}.values())
    styles = dict(zip((line.label for line in every), styles_of(every), strict=True))
    across = 1 if look.column or len(drawn) == 1 else (2 if len(drawn) <= 4 else 3)
    down = -(-len(drawn) // across)
    columns = legend_columns(list(styles), look)
    legend_high = 0.022 * look.size * -(-len(styles) // columns)
    figure, grid = pyplot().subplots(
        down,
        across,
        figsize=(
            look.width(12 if across == 3 else 8),
            (2 if look.column else 3) * down + legend_high,
        ),
        squeeze=False,
        layout="constrained",
    )
    panels = list(grid.flat)[: len(drawn)]
    handles: dict[str, Any] = {}
    for axes, (title, lines) in zip(panels, drawn.items(), strict=True):
        draw_panel(axes, lines, panel, look, styles=[styles[line.label] for line in lines])
        axes.set_title(fill(plain_label(title), 40), fontsize=0.9 * look.size)
        shown, labels = axes.get_legend_handles_labels()
        handles.update(zip(labels, shown, strict=True))
    _share_height(panels)
    for axes in list(grid.flat)[len(drawn) :]:
        axes.set_visible(False)
    for axes in grid[:, 1:].flat:
        axes.set_ylabel("")
        axes.tick_params(labelleft=False)
    for axes in panels[:-across]:
        axes.set_xlabel("")
    add_legend(figure, handles, columns, look)
    return look.finish(figure)


def _share_height(panels: Sequence[Any]) -> None:
    """Give all panels the same vertical axis, so that they can be compared."""
    logs = [axes for axes in panels if axes.get_yscale() == "log"]
    if len(logs) in (0, len(panels)):
        lows, highs = zip(*(axes.get_ylim() for axes in panels), strict=True)
        for axes in panels:
            axes.set_ylim(min(lows), max(highs))
    for axes in panels:
        set_ticks(axes)


def _rows(source: Path, where: Mapping[str, Any]) -> list[dict[str, Any]]:
    try:
        table = pq.read_table(source)
    except (pa.ArrowException, OSError):
        raise BadFile(f"{source} is damaged or not a table of a sweep.") from None
    missing = [name for name in NEEDED if name not in table.column_names]
    if missing:
        raise BadFile(f"{source} is not the table of a sweep: {missing[0]} is missing.")
    rows: list[dict[str, Any]] = table.to_pylist()
    for column, value in where.items():
        if column not in table.column_names:
            raise InvalidInput(
                f"there is no column {column!r} in {source}."
                f"{did_you_mean(column, table.column_names)}"
            )
        kept = [row for row in rows if _is(row[column], value)]
        if not kept:
            there = list(dict.fromkeys(row[column] for row in rows))
            shown = ", ".join(map(str, there[:10]))
            raise InvalidInput(f"no row has {column} = {value}; there is {shown}.")
        rows = kept
    return rows


def _is(there: Any, wanted: Any) -> bool:
    """Whether a value is the one that was asked for, which may be text."""
    if isinstance(there, (int, float)) and not isinstance(there, bool):
        try:
            return float(there) == float(wanted)
        except (TypeError, ValueError):
            return False
    return str(there) == str(wanted)


def _settings(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows by setting: the attack, rho, the arms and the gap, in words."""
    columns = attack_columns(list(rows[0]))
    words = {
        name: len({row[name] for row in rows}) > 1 for name in ("arms", "gap") if name in rows[0]
    }
    settings: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        more = [
            f"{name} {row[name]:g}"
            for name, varies in words.items()
            if varies and row[name] is not None
        ]
        title = ", ".join([attack_label(row, columns), f"rho {row['rho']:g}", *more])
        settings.setdefault(title, []).append(row)
    return settings


def _choices(rows: Sequence[dict[str, Any]]) -> str:
    """Say which columns have several values."""
    columns = [*attack_columns(list(rows[0])), "rho", "arms", "gap"]
    varying = [name for name in columns if len({row.get(name) for row in rows}) > 1]
    return f"these columns vary: {', '.join(varying)}"


def _line(
    group: Sequence[dict[str, Any]], wanted: str, label: str, panel: str
) -> PolicyCurve | None:
    rows = sorted((row for row in group if row["label"] == wanted), key=lambda row: row["round"])
    if not rows:
        return None

    def column(name: str) -> np.ndarray:
        return np.array([row[name] for row in rows])

    several = panel == "regret" and rows[0].get("trials", 1) > 1
    band = Band(
        column(f"{panel}_mean"),
        column("regret_low") if several else None,
        column("regret_high") if several else None,
    )
    return PolicyCurve(
        label, str(rows[0]["policy"]), column("round"), {panel: band}, rows[0]["arms"]
    )
