"""The figures of a study: each kind is one function.

A new kind is one function and one line in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...policies import MedEUCB
from ...policies.med_e_ucb import plan_block
from ...show.figures import Styles, looks_of, plain_label, pyplot
from ...show.looks import Look
from ...show.text import counted_span
from ..kit.panels import growth, optimal, regret, share_axes, tails
from .runner import StudyFindings
from .study import Run, Study

BLOCKS = 10


def draw(findings: StudyFindings, figure: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Draw a figure of the study, as pairs of a file name and a matplotlib figure.

    It has one panel, or one for each rho.
    """
    run = findings.study.run(figure["run"])
    if figure["kind"] == "schedule":
        return [(figure["name"], schedule(findings.study, run, figure["policies"][0]))]
    if figure["kind"] in PICTURES:
        return [(figure["name"], picture(findings.study, run, figure["kind"]))]
    trials = findings.study.paper_trials if figure.get("trials") == "paper" else None
    # a panel's file is also seen without the page
    heading = plain_label(f": {figure['heading']}") if "heading" in figure else ""
    every = looks(findings.study)
    shown = {name: every[name] for name in figure["policies"]}
    panels = []
    for rho in run.rho:
        evidence = findings.evidence(run, rho, trials)
        on = counted_span(evidence.span(figure["policies"]), "trial")
        drawn = KINDS[figure["kind"]](evidence, shown, f"ρ = {rho:g}, {on}{heading}")
        panels.append((f"{figure['name']}-rho-{rho:g}", drawn))
    share_axes([panel.axes[0] for _, panel in panels])
    return panels


def looks(study: Study) -> dict[str, Look]:
    """Return how each policy of a study is drawn, in all of its figures."""
    return looks_of(
        {name: type(entry.candidates(0.1)[0]).__name__ for name, entry in study.policies.items()}
    )


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


def picture(study: Study, run: Run, kind: str) -> Any:
    """What a run is played on, not what came out: the radio testbed.

    `setup` shows nodes, channels and the attacks of every run on that bandit,
    `spectrogram` power over time and frequency at the run's last rho, `constellation`
    a packet's symbols, clean and jammed.
    """
    testbed: Any = run.bandit
    attacks = [run.attack_at(run.rho[-1])]
    if kind == "setup":
        same = [other for other in study.runs if other.bandit.to_dict() == testbed.to_dict()]
        attacks = [each.attack_at(rho) for each in same for rho in each.rho]
    return testbed.picture(kind, attacks)


PICTURES = ("setup", "spectrogram", "constellation")
"""Kinds of figures by `picture`: those of `RadioBandit.picture`."""

KINDS: dict[str, Callable[..., Any]] = {
    "schedule": schedule,
    "regret": regret,
    "optimal": optimal,
    "tails": tails,
    "growth": growth,
}
