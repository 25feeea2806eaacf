"""Panels of figures, from the results of one run at one rho: regret and its kin."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...show.figures import plain_label, pyplot, set_ticks
from ...show.looks import Look
from ...simulation.summary import bootstrap_interval
from .evidence import Evidence

SIZE = (6.4, 4.9)
BETWEEN_BARS = 6
"""Checkpoints from one bar of a policy to its next, at least."""


def share_axes(panels: Sequence[Any]) -> None:
    """Give panels that are seen side by side the same limits, and then their ticks."""
    x = [axes.get_xlim() for axes in panels]
    y = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_xlim(min(low for low, _ in x), max(high for _, high in x))
        axes.set_ylim(min(low for low, _ in y), max(high for _, high in y))
        set_ticks(axes)


def regret(
    evidence: Evidence, looks: Mapping[str, Look], title: str, above: Collection[str] = ()
) -> Any:
    """Mean regret over the rounds, with bands, on logarithmic axes.

    Lines of policies `above` are thicker, and lie above the others.
    """
    figure, axes = _panel(title)
    curves = {name: evidence.curves(name) for name in looks}
    _lines(axes, evidence, looks, curves, above=above)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="round",
        ylabel=_regret(evidence),
        xlim=_from(evidence, looks, 10),
        ylim=(0.7 * _lowest(evidence, curves, 10), None),
    )
    return _with_legend(figure, axes)


def optimal(evidence: Evidence, looks: Mapping[str, Look], title: str) -> Any:
    """Mean share of optimal pulls over the rounds, with intervals.

    Bands would cover each other: a few stuck trials make them half as high as the axis.
    """
    figure, axes = _panel(title)
    shares = {name: 100 * evidence.optimal_curves(name) for name in looks}
    _lines(axes, evidence, looks, shares, bands=False)
    axes.set(
        xscale="log",
        xlabel="round",
        ylabel="optimal pulls so far, %",
        xlim=_from(evidence, looks, 10),
        ylim=(-3, 103),
    )
    return _with_legend(figure, axes)


def tails(evidence: Evidence, looks: Mapping[str, Look], title: str) -> Any:
    """Share of trials whose final regret exceeds a value.

    Where two policies ended the same in every trial, the legend says so: tuning may
    choose what another policy has anyway.
    """
    figure, axes = _panel(title)
    drawn: dict[str, np.ndarray] = {}
    for name, (colour, line, _) in looks.items():
        final = evidence.regret(name)
        same = next((other for other, its in drawn.items() if np.array_equal(its, final)), None)
        drawn[name] = final
        ordered = np.sort(final)
        share = 1 - np.arange(len(ordered)) / len(ordered)
        axes.plot(
            np.append(ordered, ordered[-1]),
            np.append(share, share[-1] / 2),
            line,
            color=colour,
            label=plain_label(name if same is None else f"{name}: as {same}"),
            drawstyle="steps-pre",
            linewidth=1.8,
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=f"final {_regret(evidence)}",
        ylabel="share of trials with higher regret",
        ylim=(0.7 / evidence.span(looks)[1], 1.3),
    )
    return _with_legend(figure, axes)


def growth(evidence: Evidence, looks: Mapping[str, Look], title: str) -> Any:
    """Mean regret over the rounds with bands, and the median trial, dotted."""
    figure, axes = _panel(title)
    curves = {name: evidence.curves(name) for name in looks}
    _lines(axes, evidence, looks, curves)
    dots: dict[str, Any] = {"linestyle": (0, (1, 1.5)), "linewidth": 1.3}
    for name, (colour, _, _) in looks.items():
        axes.plot(evidence.rounds(name), np.median(curves[name], axis=0), color=colour, **dots)
    axes.plot([], [], color="#808080", label="median trial (dotted)", **dots)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="round",
        ylabel=_regret(evidence),
        xlim=_from(evidence, looks, 1000),
        ylim=(0.7 * _lowest(evidence, curves, 1000), None),
    )
    return _with_legend(figure, axes)


def _from(evidence: Evidence, names: Iterable[str], first: int) -> tuple[float, float]:
    """Return the horizontal axis: from round `first` to the horizon, or from 1."""
    last = max(int(evidence.rounds(name)[-1]) for name in names)
    return (first if first < last else 1, last)


def _lowest(evidence: Evidence, curves: Mapping[str, np.ndarray], first: int) -> float:
    """The smallest positive mean from that round on."""
    means = [
        values.mean(axis=0)[evidence.rounds(name) >= min(first, int(evidence.rounds(name)[-1]))]
        for name, values in curves.items()
    ]
    return min([float(mean[mean > 0].min()) for mean in means if (mean > 0).any()], default=1.0)


def _regret(evidence: Evidence) -> str:
    """What an axis of regret is called."""
    return f"regret, {plain_label(evidence.unit)}" if evidence.unit else "regret"


def _panel(title: str) -> tuple[Any, Any]:
    figure, axes = pyplot().subplots(figsize=SIZE, layout="constrained")
    axes.set_title(title, fontsize=11, loc="left")  # a phone shows the left part first
    return figure, axes


def _lines(
    axes: Any,
    evidence: Evidence,
    looks: Mapping[str, Look],
    curves: Mapping[str, np.ndarray],
    *,
    bands: bool = True,
    above: Collection[str] = (),
) -> None:
    """Draw means with 95 % intervals: bands, or a bar at every few checkpoints.

    Policies have their bars at different checkpoints, so that none covers another.
    """
    for i, (name, (colour, line, marker)) in enumerate(looks.items()):
        rounds, values = evidence.rounds(name), curves[name]
        axes.plot(
            rounds,
            values.mean(axis=0),
            line,
            color=colour,
            label=plain_label(name),
            linewidth=3.2 if name in above else 1.8,
            zorder=3 if name in above else 2,  # 2 is matplotlib's own
            marker=marker,
            markevery=8,
            markersize=4,
            markerfacecolor="none",
        )
        if evidence.trials > 1:
            low, high = bootstrap_interval(np.ascontiguousarray(values.T))
            if bands:
                axes.fill_between(rounds, low, high, color=colour, alpha=0.18, linewidth=0)
            else:
                some = slice(i, None, max(len(looks), BETWEEN_BARS))
                axes.vlines(rounds[some], low[some], high[some], color=colour, linewidth=1.1)


def _with_legend(figure: Any, axes: Any) -> Any:
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    return figure
