"""Regret and share of optimal pulls over the rounds, and pulls of each arm.

Results, sweeps and radio runs are drawn by the same functions, so that they look alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..validation import choice, did_you_mean
from .figures import Styles, check_format, plain_label, pyplot, save_figure, set_ticks
from .looks import MARKERS

PANELS = ("regret", "optimal", "pulls")
COLUMN_INCHES = 3.3
"""Width of a column of a printed page."""

MOST_ARMS_NAMED = 25


@dataclass(frozen=True, eq=False)
class Band:
    """Means, and the ends of their intervals if there are several trials."""

    mean: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class PolicyCurve:
    """What is drawn of one policy: a band for each panel, by the panel's name.

    `kind` is the name of the policy's class, which decides its colour. `arms` is their
    number.
    """

    label: str
    kind: str
    rounds: np.ndarray
    bands: Mapping[str, Band]
    arms: int = 1


@dataclass(frozen=True, eq=False)
class Look:
    """How a figure is to look; checked before anything is computed.

    Parameters
    ----------
    what : "regret", "optimal", "pulls", or None for the first two.
    x : "log" or "linear", the axis of rounds; None for "log".
    ax : axes to draw into; None for a new figure.
    column : a figure for print, as wide as a column.
    path : where it is to be written; None for nowhere.
    """

    what: str | None = None
    x: str | None = None
    ax: Any = None
    column: bool = False
    path: str | Path | None = None

    def __post_init__(self) -> None:
        if self.what is not None:
            choice("what", self.what, PANELS)
        if self.x is not None:
            choice("x", self.x, ("log", "linear"))
            if self.what == "pulls":
                raise InvalidInput(
                    "x is the axis of rounds, which a figure of pulls does not have; leave it out."
                )
        if self.ax is not None:
            if not hasattr(self.ax, "get_figure") or not hasattr(self.ax, "errorbar"):
                raise InvalidInput(
                    f"ax must be the axes of a matplotlib figure, got {type(self.ax).__name__}."
                )
            if self.column:
                raise InvalidInput(
                    "column is for a new figure, but ax already belongs to one; leave one out."
                )
        if self.path is not None:
            check_format(Path(self.path))

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels to draw; into somebody's axes only one fits."""
        if self.what is not None:
            return (self.what,)
        return PANELS[:2] if self.ax is None else PANELS[:1]

    @property
    def size(self) -> float:
        """The size of the letters, in points."""
        return 8 if self.column else 10

    def width(self, usual: float = 8) -> float:
        """The width of the figure, in inches."""
        return COLUMN_INCHES if self.column else usual

    def finish(self, figure: Any) -> Any:
        """Write the figure if there is a path, and return it."""
        plt = pyplot()
        try:
            if self.path is not None:
                save_figure(figure, self.path, dpi=300 if self.column else 150)
        finally:
            # a notebook shows the value of a cell, and open figures once more
            if self.ax is None and (self.path is not None or "inline" in plt.get_backend()):
                plt.close(figure)
        return figure


def chosen(
    labels: Sequence[str],
    policies: Iterable[str | int] | str | int | None = None,
    renamed: Mapping[str, str] | Iterable[str] | None = None,
) -> list[tuple[int, str]]:
    """Return which policies to draw, in order: their numbers and their labels.

    >>> chosen(["UCB", "RUCB"], ["RUCB", 0], {"UCB": "usual"})
    [(1, 'RUCB'), (0, 'usual')]
    """
    if policies is None:
        order = list(range(len(labels)))
    else:
        given = [policies] if isinstance(policies, (str, int)) else list(policies)
        order = [_position(labels, policy) for policy in given]
        if not order:
            raise InvalidInput("policies is empty; leave it out to draw all.")
        if len(set(order)) < len(order):
            raise InvalidInput(f"a policy is chosen twice in {given!r}.")
    names = [labels[i] for i in order]
    if isinstance(renamed, Mapping):
        for label in renamed:
            _position(labels, label)
        names = [str(renamed.get(name, name)) for name in names]
    elif renamed is not None:
        given_names = [renamed] if isinstance(renamed, str) else [str(name) for name in renamed]
        if len(given_names) != len(names):
            raise InvalidInput(
                f"labels must name each policy that is drawn, in order: expected {len(names)}, "
                f"got {len(given_names)}."
            )
        names = given_names
    return list(zip(order, names, strict=True))


def _position(labels: Sequence[str], policy: str | int) -> int:
    found = [i for i, label in enumerate(labels) if label == policy]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(labels)
    if found:
        raise InvalidInput(f"several policies are called {policy}; choose by number, from 0.")
    text = str(policy)
    if text.isdecimal() and int(text) < len(labels):
        return int(text)
    raise InvalidInput(
        f"there is no policy {policy!r}; choose from {shown}, or by number from 0 to "
        f"{len(labels) - 1}.{did_you_mean(policy, labels)}"
    )


def draw(
    lines: Sequence[PolicyCurve],
    look: Look,
    *,
    title: str = "",
    unit: str = "",
    arms: Sequence[str] | None = None,
) -> Any:
    """Draw lines, one panel above the other, with one legend; return the figure.

    Parameters
    ----------
    title : not drawn in a column, where the caption says it.
    unit : of the regret.
    arms : the arms' names.
    """
    if look.ax is not None:
        draw_panel(look.ax, lines, look.panels[0], look, unit=unit, arms=arms)
        set_ticks(look.ax)
        look.ax.legend(frameon=False, fontsize="small")
        return look.finish(look.ax.get_figure())
    plt = pyplot()
    columns = legend_columns([line.label for line in lines], look)
    rows = -(-len(lines) // columns)
    height = (2.0 if look.column else 4.0) * len(look.panels) + (0.16 if look.column else 0) * rows
    figure, stack = plt.subplots(
        len(look.panels),
        1,
        figsize=(look.width(), height),
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for axes, panel in zip(stack[:, 0], look.panels, strict=True):
        draw_panel(axes, lines, panel, look, unit=unit, arms=arms)
        set_ticks(axes)
    for axes in stack[:-1, 0]:
        axes.set_xlabel("")
    if title and not look.column:
        figure.suptitle(plain_label(title), fontsize=look.size)
    handles, labels = stack[0, 0].get_legend_handles_labels()
    add_legend(figure, dict(zip(labels, handles, strict=True)), columns, look)
    return look.finish(figure)


def legend_columns(labels: Sequence[str], look: Look) -> int:
    """Return how many columns of the legend fit below the figure."""
    longest = max(map(len, labels))
    return max(1, min(3, int(look.width() * 72 / (0.6 * look.size * (longest + 7)))))


def add_legend(figure: Any, handles: Mapping[str, Any], columns: int, look: Look) -> None:
    """Put a legend below the figure; `handles` has what is drawn by its label."""
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=look.size,
        handlelength=3,
    )


def draw_panel(
    axes: Any,
    lines: Sequence[PolicyCurve],
    panel: str,
    look: Look,
    *,
    styles: Sequence[tuple[str, str, str]] | None = None,
    unit: str = "",
    arms: Sequence[str] | None = None,
) -> None:
    """Draw one panel into axes; without `styles`, in those that `styles_of` gives."""
    styles = styles or styles_of(lines)
    if panel == "pulls":
        _pulls(axes, lines, styles, look, arms)
    else:
        _over_rounds(axes, lines, styles, panel, look, unit)
    if look.ax is None:
        axes.tick_params(labelsize=look.size)
        for axis in (axes.xaxis, axes.yaxis):
            axis.label.set_size(look.size)


def styles_of(lines: Sequence[PolicyCurve]) -> list[tuple[str, str, str]]:
    """Return colour, dashes and marker of each line of a figure."""
    styles = Styles(line.kind for line in lines)
    return [styles.next(line.kind) for line in lines]


def _over_rounds(
    axes: Any,
    lines: Sequence[PolicyCurve],
    styles: Sequence[tuple[str, str, str]],
    panel: str,
    look: Look,
    unit: str,
) -> None:
    thin = 0.7 if look.column else 1.0
    for i, (line, (colour, dashes, marker)) in enumerate(zip(lines, styles, strict=True)):
        band = line.bands[panel]
        axes.plot(
            line.rounds,
            band.mean,
            dashes,
            color=colour,
            label=plain_label(line.label),
            linewidth=1.8 * thin,
            marker=marker,
            # as shares of the axes' diagonal, each line's elsewhere
            markevery=(0.02 + 0.017 * (i % 7), 0.12),
            markersize=6 * thin,
            markerfacecolor="white",
        )
        if band.low is not None:
            axes.fill_between(
                line.rounds, band.low, band.high, color=colour, alpha=0.18, linewidth=0
            )
    scale = look.x or "log"
    begin, end = first_round(lines), max(int(line.rounds[-1]) for line in lines)
    axes.set(xscale=scale, xlabel="round")
    if begin < end:
        axes.set_xlim(begin, end)
    if panel == "optimal":
        axes.set(ylabel="share of optimal pulls", ylim=(-0.03, 1.03))
        return
    axes.set_ylabel(f"regret, {unit}" if unit else "regret")
    seen = np.concatenate([line.bands[panel].mean[line.rounds >= begin] for line in lines])
    if scale == "log" and (seen > 0).any():
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(0.7 * float(seen[seen > 0].min()), float(seen.max()) * 1e-7))
    else:
        axes.set_ylim(bottom=0)


def first_round(lines: Sequence[PolicyCurve]) -> int:
    """Return the checkpoint after which something can be seen.

    Before it all lines lie on each other, a single line keeps its first value, or there
    were fewer rounds than arms, so that some arm has never been tried.
    """
    rounds = lines[0].rounds
    if any(not np.array_equal(line.rounds, rounds) for line in lines):
        return int(min(line.rounds[0] for line in lines))
    first = [len(rounds)]
    for panel in lines[0].bands:
        means = np.array([line.bands[panel].mean for line in lines])
        usual = means[0] if len(lines) > 1 else means[:, :1]
        seen = ~np.isclose(means, usual, rtol=1e-9, atol=0).all(axis=0)
        if seen.any():
            first.append(int(np.argmax(seen)))
    begin = 0 if min(first) == len(rounds) else max(0, min(first) - 1)
    tried = int(np.searchsorted(rounds, max(line.arms for line in lines), side="right")) - 1
    # not in a short run, of which little would be left
    return int(rounds[max(begin, tried) if 10 * rounds[max(tried, 0)] <= rounds[-1] else begin])


def _pulls(
    axes: Any,
    lines: Sequence[PolicyCurve],
    styles: Sequence[tuple[str, str, str]],
    look: Look,
    arms: Sequence[str] | None,
) -> None:
    lowest = 1.0
    for i, (line, (colour, _, _)) in enumerate(zip(lines, styles, strict=True)):
        band = line.bands["pulls"]
        lowest = min(lowest, float(band.mean.min()))
        place = np.arange(len(band.mean)) + 0.7 * ((i + 0.5) / len(lines) - 0.5)
        ends = None
        if band.low is not None and band.high is not None:
            # rounding may leave a mean outside by a hair
            ends = np.maximum(0, [band.mean - band.low, band.high - band.mean])
        axes.errorbar(
            place,
            band.mean,
            ends,
            fmt=MARKERS[1 + i % (len(MARKERS) - 1)],
            color=colour,
            label=plain_label(line.label),
            markersize=3 if look.column else 5,
            # once all markers are used they are hollow
            markerfacecolor=None if i < len(MARKERS) - 1 else "white",
            linewidth=1,
        )
    count = max(len(line.bands["pulls"].mean) for line in lines)
    axes.set(xlabel="arm", ylabel="pulls")
    axes.set_yscale("symlog" if lowest < 1 else "log", **({"linthresh": 1} if lowest < 1 else {}))
    if count <= MOST_ARMS_NAMED:
        names = [plain_label(name) for name in arms] if arms else [str(i) for i in range(count)]
        long = max(map(len, names)) * count * look.size * 0.6 > 65 * look.width()
        axes.set_xticks(range(count), names, rotation=90 if long else 0)
    axes.grid(False, axis="x")
