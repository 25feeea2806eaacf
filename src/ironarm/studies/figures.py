"""The figures of a study: each kind is one function.

A new kind is one function and one line in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..figures import Styles, pyplot
from ..policies import MedEUCB
from ..policies.med_e_ucb import plan_block
from ..simulation.summary import bootstrap_interval
from ..text import counted
from ..toml_fields import (
    distinct,
    fields,
    file_name,
    tables,
    text,
)
from ..validation import choice, whole
from .evidence import Evidence
from .runner import Findings
from .study import Run, Study, known_policies
from .tables import TABLES

BLOCKS = 10
SIZE = (6.4, 4.9)
BETWEEN_BARS = 6
"""Checkpoints from one bar of a policy to its next, at least."""


def check_show(study: Study) -> None:
    """Refuse words, figures and tables that name what the study does not have."""
    if "introduction" in study.show:
        text("introduction", study.show["introduction"])
    for part in ("words", "policies"):
        for term, meaning in fields(
            part,
            study.show.get(part, {}),
            [],
            study.policies if part == "policies" else study.show.get(part, {}),
        ).items():
            text(f"{part}: {term}", meaning)
    parts: list[tuple[str, Iterable[str], list[str], list[str]]] = [
        (
            "figures",
            [*KINDS, *PICTURES],
            ["name", "kind", "title", "run", "caption"],
            ["policies", "trials", "heading"],
        ),
        ("tables", TABLES, ["name", "kind", "title"], ["run", "from"]),
    ]
    for part, kinds, required, optional in parts:
        items = tables(part, study.show.get(part, []))
        for item in items:
            what = f"{part[:-1]} {item.get('name', '')!r}"
            fields(what, item, required, optional)
            file_name(f"{what}: name", item["name"])
            for words in ("title", "caption", "heading"):
                if words in item:
                    text(f"{what}: {words}", item[words])
            choice(f"{what}: kind", item["kind"], kinds)
            if "run" in item or item["kind"] in ("tails", "growth"):
                choice(f"{what}: run", item.get("run"), [run.name for run in study.runs])
            if part == "figures" and ("policies" in item) == (item["kind"] in PICTURES):
                fault = (
                    "shows no policies; leave them out" if "policies" in item else "needs policies"
                )
                raise InvalidInput(f"{what}: a figure of the kind {item['kind']!r} {fault}.")
            if "heading" in item and (item["kind"] in PICTURES or item["kind"] == "schedule"):
                raise InvalidInput(
                    f"{what}: a figure of the kind {item['kind']!r} has no panels to head; leave "
                    "heading out."
                )
            if (
                item["kind"] in PICTURES
                and study.run(item["run"]).bandit.to_dict()["bandit"] != "RadioBandit"
            ):
                raise InvalidInput(
                    f"{what}: a {item['kind']} is drawn of a RadioBandit, got "
                    f"{study.run(item['run']).bandit!r}."
                )
            if "policies" in item:
                known_policies(
                    f"{what}: policies", item["policies"], study.run(item["run"]).policies
                )
            if "trials" in item:
                choice(f"{what}: trials", item["trials"], ["paper"])
            if "from" in item:
                whole(
                    f"{what}: from", item["from"], at_least=1, below=study.run(item["run"]).horizon
                )
            if item["kind"] == "schedule" and not isinstance(
                study.policies[item["policies"][0]].candidates(0.1)[0], MedEUCB
            ):
                raise InvalidInput(
                    f"{what}: a schedule is drawn of MedEUCB, got {item['policies'][0]!r}."
                )
        distinct(f"the name of {part}", [item["name"] for item in items])


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
    heading = _label(f"{figure['heading']}: ") if "heading" in figure else ""
    panels = []
    for rho in run.rho:
        evidence = Evidence(findings.outcomes[run.name, rho], trials, findings.study.unit)
        kinds = {
            name: type(policy).__name__
            for name in figure["policies"]
            for policy in findings.study.policies[name].candidates(rho)[:1]
        }
        panels.append(
            (
                f"{figure['name']}-rho-{rho:g}",
                KINDS[figure["kind"]](
                    evidence, kinds, f"{heading}ρ = {rho:g}, {counted(evidence.trials, 'trial')}"
                ),
            )
        )
    share_axes([panel.axes[0] for _, panel in panels])
    return panels


def share_axes(panels: Sequence[Any]) -> None:
    """Give panels that are seen side by side the same limits, and then their ticks."""
    x = [axes.get_xlim() for axes in panels]
    y = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_xlim(min(low for low, _ in x), max(high for _, high in x))
        axes.set_ylim(min(low for low, _ in y), max(high for _, high in y))
        _set_ticks(axes)


def regret(evidence: Evidence, kinds: Mapping[str, str], title: str) -> Any:
    """Mean regret over the rounds, with bands, on logarithmic axes."""
    figure, axes = _panel(title)
    curves = {name: evidence.curves(name) for name in kinds}
    _lines(axes, evidence, kinds, curves)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="round",
        ylabel=_regret(evidence),
        xlim=_from(evidence, kinds, 10),
        ylim=(0.7 * _lowest(evidence, curves, 10), None),
    )
    return _with_legend(figure, axes)


def optimal(evidence: Evidence, kinds: Mapping[str, str], title: str) -> Any:
    """Mean share of optimal pulls over the rounds, with intervals.

    Bands would cover each other: a few stuck trials make them half as high as the axis.
    """
    figure, axes = _panel(title)
    shares = {name: 100 * evidence.optimal_curves(name) for name in kinds}
    _lines(axes, evidence, kinds, shares, bands=False)
    axes.set(
        xscale="log",
        xlabel="round",
        ylabel="optimal pulls so far, %",
        xlim=_from(evidence, kinds, 10),
        ylim=(-3, 103),
    )
    return _with_legend(figure, axes)


def tails(evidence: Evidence, kinds: Mapping[str, str], title: str) -> Any:
    """Share of trials whose final regret exceeds a value."""
    figure, axes = _panel(title)
    styles = Styles()
    for name, kind in kinds.items():
        ordered = np.sort(evidence.regret(name))
        share = 1 - np.arange(len(ordered)) / len(ordered)
        colour, line, _ = styles.next(kind)
        axes.plot(
            np.append(ordered, ordered[-1]),
            np.append(share, share[-1] / 2),
            line,
            color=colour,
            label=_label(name),
            drawstyle="steps-pre",
            linewidth=1.8,
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=f"final {_regret(evidence)}",
        ylabel="share of trials with more",
        ylim=(0.7 / evidence.trials, 1.3),
    )
    return _with_legend(figure, axes)


def growth(evidence: Evidence, kinds: Mapping[str, str], title: str) -> Any:
    """Mean regret over the rounds with bands, and the median trial, dotted."""
    figure, axes = _panel(title)
    curves = {name: evidence.curves(name) for name in kinds}
    _lines(axes, evidence, kinds, curves)
    styles = Styles()
    for name, kind in kinds.items():
        median = np.median(curves[name], axis=0)
        axes.plot(
            evidence.rounds(name),
            median,
            linestyle=(0, (1, 1.5)),
            color=styles.next(kind)[0],
            linewidth=1.3,
            label=f"{_label(name)}: median",
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="round",
        ylabel=_regret(evidence),
        xlim=_from(evidence, kinds, 1000),
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


def _from(evidence: Evidence, kinds: Mapping[str, str], first: int) -> tuple[float, float]:
    """Return the horizontal axis: from round `first` to the horizon, or from 1."""
    last = max(int(evidence.rounds(name)[-1]) for name in kinds)
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
    return f"regret, {_label(evidence.unit)}" if evidence.unit else "regret"


def _label(name: str) -> str:
    """A policy's name as a label, in which a dollar sign is a dollar sign."""
    return name.replace("$", r"\$")


def _panel(title: str) -> tuple[Any, Any]:
    figure, axes = pyplot().subplots(figsize=SIZE, layout="constrained")
    axes.set_title(title, fontsize=11)
    return figure, axes


def _lines(
    axes: Any,
    evidence: Evidence,
    kinds: Mapping[str, str],
    curves: Mapping[str, np.ndarray],
    *,
    bands: bool = True,
) -> None:
    """Draw means with 95 % intervals: bands, or a bar at every few checkpoints.

    Policies have their bars at different checkpoints, so that none covers another.
    """
    styles = Styles()
    for i, (name, kind) in enumerate(kinds.items()):
        rounds, values = evidence.rounds(name), curves[name]
        colour, line, marker = styles.next(kind)
        axes.plot(
            rounds,
            values.mean(axis=0),
            line,
            color=colour,
            label=_label(name),
            linewidth=1.8,
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
                some = slice(i, None, max(len(kinds), BETWEEN_BARS))
                axes.vlines(rounds[some], low[some], high[some], color=colour, linewidth=1.1)


def _set_ticks(axes: Any) -> None:
    low, high = axes.get_ylim()
    # less than two decades: powers of ten alone would be too few
    if axes.get_yscale() == "log" and high < 100 * low:
        ticks = [
            step * 10**k for k in range(-3, 9) for step in (1, 2, 5) if low <= step * 10**k <= high
        ]
        axes.set_yticks(ticks, [f"{tick:,g}" for tick in ticks])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter("")  # hidden labels still slow the layout down


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
