"""The figures of a study: each kind is one function.

A new kind is one function and one line in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..figures import Look, Styles, looks_of, plain_label, pyplot, set_ticks
from ..policies import MedEUCB
from ..policies.med_e_ucb import plan_block
from ..simulation.summary import bootstrap_interval
from ..text import counted
from .evidence import Evidence
from .runner import Findings
from .study import Run, Study

BLOCKS = 10
SIZE = (6.4, 4.9)
BETWEEN_BARS = 6
"""Checkpoints from one bar of a policy to its next, at least."""


def draw(findings: Findings, figure: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Draw a figure of the study, as pairs of a file name and a matplotlib figure.

    It has one panel, or one for each rho.
    """
    run = findings.study.run(figure["run"])
    if figure["kind"] == "schedule":
        return [(figure["name"], schedule(findings.study, run, figure["policies"][0]))]
    if figure["kind"] in PICTURES:
        return [(figure["name"], picture(findings.study, run, figure["kind"]))]
    trials = findings.study.paper_trials if figure.get("trials") == "paper" else run.trials
    # a panel's file is also seen without the page
    heading = plain_label(f": {figure['heading']}") if "heading" in figure else ""
    every = looks(findings.study)
    shown = {name: every[name] for name in figure["policies"]}
    panels = []
    for rho in run.rho:
        evidence = Evidence(findings.outcomes[run.name, rho], trials, findings.study.unit)
        panels.append(
            (
                f"{figure['name']}-rho-{rho:g}",
                KINDS[figure["kind"]](
                    evidence, shown, f"ρ = {rho:g}, {counted(evidence.trials, 'trial')}{heading}"
                ),
            )
        )
    share_axes([panel.axes[0] for _, panel in panels])
    return panels


def looks(study: Study) -> dict[str, Look]:
    """Return how each policy of a study is drawn, in all of its figures."""
    return looks_of(
        {name: type(entry.candidates(0.1)[0]).__name__ for name, entry in study.policies.items()}
    )


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
        ylim=(0.7 / evidence.trials, 1.3),
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


def schedule(study: Study, run: Run, name: str) -> Any:
    """The blocks of med-E-UCB: rounds of pure exploration, then UCB rounds.

    They are drawn from the policy's own plan.
    """
    policy = study.policies[name].candidates(0.1)[0]
    assert isinstance(policy, MedEUCB)
    arms = run.bandit.arms
    block = policy.block_for(arms)
    windows = []
    for k in range(BLOCKS):
        plan = np.zeros(4, np.int64)
        plan_block(plan, arms, policy.b, float(block), k * block + 1)
        windows.append((int(plan[0]) - k * block, int(plan[1])))
    plt = pyplot()
    figure, (whole, close) = plt.subplots(
        1, 2, figsize=(9, 3.9), sharey=True, layout="constrained", width_ratios=(3, 2)
    )
    blue = Styles().next("MedEUCB")[0]
    for k, (start, each) in enumerate(windows):
        for axes in (whole, close):
            axes.barh(
                k, block, left=1, height=0.72, color="none", edgecolor="#808080", linewidth=0.8
            )
            for arm in range(arms if each else 0):
                axes.barh(
                    k,
                    each,
                    left=start + arm * each,
                    height=0.72,
                    color=blue,
                    edgecolor="white" if axes is close and each < 20 else blue,
                    linewidth=0.4,
                )
        whole.text(
            block * 1.01,
            k,
            f"{each} pull{'s' if each > 1 else ''} of each arm",
            va="center",
            fontsize=8,
        ) if each else None
    whole.set(
        xlim=(1, block * 1.27),
        xticks=np.linspace(0, block, 6),
        xlabel="round of the block",
        yticks=range(BLOCKS),
        ylabel="block k",
        ylim=(BLOCKS - 0.5, -0.5),
        title=f"blocks of G = {block:,} rounds",
    )
    close.set(xlim=(1, 61), xlabel="round of the block", title="their first 60 rounds")
    for axes in (whole, close):
        axes.grid(False)
    return figure


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


def picture(study: Study, run: Run, kind: str) -> Any:
    """What a run is played on, not what came out: the radio testbed.

    `setup` shows nodes, channels and the attacks of every run on that bandit,
    `spectrogram` power over time and frequency at the run's last rho, `constellation`
    a packet's symbols, clean and jammed.
    """
    from ..radio.testbed import figures as pictures

    testbed: Any = run.bandit
    if kind == "constellation":
        return pictures.constellation(testbed)
    if kind == "spectrogram":
        return pictures.spectrogram(testbed, run.attack_at(run.rho[-1]))
    same = [other for other in study.runs if other.bandit.to_dict() == testbed.to_dict()]
    return pictures.setup(testbed, *(each.attack_at(rho) for each in same for rho in each.rho))


PICTURES = ("setup", "spectrogram", "constellation")
"""Kinds of figures by `picture`; the radio testbed is loaded only to draw them."""

KINDS: dict[str, Callable[..., Any]] = {
    "schedule": schedule,
    "regret": regret,
    "optimal": optimal,
    "tails": tails,
    "growth": growth,
}
