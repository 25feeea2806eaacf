"""The page of `ironarm demo router`: one figure, one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...files import write_whole
from ...show.curves import Look, add_legend, legend_columns
from ...show.figures import looks_of, pyplot
from ..kit.page import panel, render
from ..kit.report_files import versions
from ..kit.table import Table
from .demo import WINDOW
from .play import RouterScore
from .scenario import Scenario

FIRST = 20
"""The first request that is drawn: a share of fewer is all or nothing."""
Found = Mapping[str, tuple[RouterScore, list[float]]]


def write_page(
    out: Path,
    scenario: Scenario,
    about: str,
    found: Found,
    ours: Mapping[str, str],
    packages: Mapping[str, str],
    remark: str,
    command: str,
) -> None:
    """Draw the figure and write the page.

    `ours` names the policies of our routers, `packages` the versions of others' that
    took part, and `remark` is what a fair reader should know of them.
    """
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    drawn = panel(_figure(scenario, found, ours), folder, "share-on-the-best")
    unit = "s" if scenario.unit == "seconds" else scenario.unit
    rows = sorted(found.items(), key=lambda item: item[1][0].excess)
    table = Table(
        title="",
        head=("router", "on the best, second half", f"lost, {unit} a request"),
        body=tuple(
            (name, f"{100 * score.best:.1f} %", f"{score.excess:.3f}") for name, (score, _) in rows
        ),
        data=(),
        marked=tuple(ours),
    )
    page = render(
        "demo.html",
        title=f"Routers on the scenario {scenario.name}",
        scenario=scenario,
        about=about,
        figure={
            "name": "share-on-the-best",
            "title": "Share of the requests that the best deployment served",
            "caption": (
                f"Over the last {WINDOW} requests. All routers meet the same requests; which "
                "deployment is the best is known from the clean values, which no router sees."
            ),
            "panels": [drawn],
        },
        table=table,
        remark=remark,
        command=command,
        versions={**versions(), **packages},
    )
    write_whole(out / "router.html", page)


def _figure(scenario: Scenario, found: Found, ours: Mapping[str, str]) -> Any:
    plt = pyplot()
    looks = looks_of({name: ours.get(name, name) for name in found})
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    rounds = range(FIRST, scenario.requests + 1)
    for name, (_, recent) in found.items():
        colour, line, marker = looks[name]
        axes.plot(
            rounds,
            recent[FIRST - 1 :],
            color=colour,
            linestyle=line,
            marker=marker,
            markevery=max(1, scenario.requests // 12),
            linewidth=2.8 if name in ours else 1.4,
            zorder=3 if name in ours else 2,
            label=name,
        )
    for moment in _changes(scenario):
        axes.axvline(moment, color="#000000", linewidth=0.8, linestyle=":")
    axes.set_xlabel("request")
    axes.set_ylabel("share on the best")
    axes.set_xlim(0, scenario.requests)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    axes.xaxis.set_major_formatter(lambda request, _: f"{request:,.0f}")
    look = Look()
    handles, labels = axes.get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True))
    add_legend(figure, shown, legend_columns(labels, look), look)
    return figure


def _changes(scenario: Scenario) -> Sequence[int]:
    """Return when the best deployment may have changed, after the beginning."""
    return [moment for moment, _ in scenario.clean if moment > 1]
