"""A map of how much poison a policy survives: rho against gap/sigma.

It shows theory's three thresholds and the measured share of trials that are stuck.

The measurement is a grid of cells: five normal arms, one of them better by the gap,
under the paper's attack, whose outliers lie so far away that they bias a median as much
as any attack can. Cells are kept, so an interrupted
map resumes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..attacks import OppositeUniform
from ..bandits import GaussianBandit
from ..errors import InvalidInput
from ..figures import (
    BLACK,
    ORANGE,
    SKY,
    pyplot,
    write_figure,
)
from ..files import write_whole
from ..policies import Policy
from ..simulation.cells import Cell, CellStore, compile_cells
from ..simulation.progress import Part, Progress
from ..simulation.summary import text_table
from ..theory import thresholds
from ..validation import whole

ARMS = 5
GAPS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
RATES = tuple(round(0.02 + 0.04 * i, 2) for i in range(12))


@dataclass(frozen=True)
class BreakdownMap:
    """The measured share of trials stuck: rows are rho, columns gaps over sigma."""

    policy: Policy
    horizon: int
    trials: int
    seed: int
    gaps: tuple[float, ...]
    rates: tuple[float, ...]
    stuck: np.ndarray

    def __str__(self) -> str:
        """Show the share of trials stuck in percent, the largest rho first.

        A star marks points beyond the threshold that no policy can pass.
        """
        head = ("rho \\ gap/sigma", *(f"{gap:g}" for gap in self.gaps))
        limits = [thresholds(gap).coin for gap in self.gaps]
        body = [
            (
                f"{rho:g}",
                *(
                    f"{100 * share:.0f}{' ' if rho < limit else '*'}"
                    for share, limit in zip(row, limits, strict=True)
                ),
            )
            for rho, row in zip(reversed(self.rates), self.stuck[::-1], strict=True)
        ]
        title = (
            f"{self.policy!r}: trials stuck, %, of {self.trials} of {self.horizon:,} rounds at "
            f"each point ({ARMS} arms)"
        )
        return (
            f"{title}\n\n{text_table(head, body)}\n\n* beyond the largest rho that any policy can "
            "take at this gap"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, the thresholds included."""
        limits = [thresholds(gap) for gap in self.gaps]
        setting = {
            "arms": ARMS,
            "attack": "OppositeUniform",
            "horizon": self.horizon,
            "trials": self.trials,
            "seed": self.seed,
        }
        return {
            "policy": self.policy.to_dict(),
            **setting,
            "gap_over_sigma": list(self.gaps),
            "rho": list(self.rates),
            "stuck": self.stuck.tolist(),
            "thresholds": {
                name: [getattr(limit, name) for limit in limits]
                for name in ("corollaries", "malicious", "coin")
            },
        }


def measure(
    policy: Policy,
    store: CellStore,
    *,
    horizon: int = 20_000,
    trials: int = 40,
    seed: int = 2020,
    gaps: Sequence[float] = GAPS,
    rates: Sequence[float] = RATES,
    workers: int | None = None,
) -> BreakdownMap:
    """Measure the share of stuck trials at every point of the grid."""
    horizon, trials = whole("horizon", horizon, at_least=100), whole("trials", trials, at_least=2)
    cells = {
        (rho, gap): Cell(
            policy,
            GaussianBandit([gap] + [0.0] * (ARMS - 1)),
            OppositeUniform(rho=rho),
            horizon,
            trials,
            seed,
            (horizon,),
        )
        for rho in rates
        for gap in gaps
    }
    stuck = np.empty((len(rates), len(gaps)))
    with Progress("preparing", len(cells), True) as bar:
        compile_cells(cells.values(), bar.announce)
        bar.restart(len(cells) * trials)
        for i, rho in enumerate(rates):
            for j, gap in enumerate(gaps):
                kept = store.get(cells[rho, gap])
                if kept is None:
                    kept = store.obtain(
                        cells[rho, gap],
                        workers,
                        Part(bar, f"map of {policy.label}: rho = {rho:g}, gap = {gap:g} sigma", 1),
                    )
                else:
                    bar.advance(trials)
                stuck[i, j] = kept.stuck.mean()
    return BreakdownMap(policy, horizon, trials, seed, tuple(gaps), tuple(rates), stuck)


def draw(breakdown: BreakdownMap) -> Any:
    """Draw the map: shades for the measurement, lines for the thresholds."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7.2, 5.4), layout="constrained")
    columns, rows = np.exp(_edges(np.log(breakdown.gaps))), _edges(breakdown.rates)
    shades = axes.pcolormesh(
        columns,
        rows,
        100 * breakdown.stuck,
        cmap="Greys",
        vmin=0,
        vmax=100,
        linewidth=0,
        rasterized=True,
    )
    figure.colorbar(shades, ax=axes, label="trials stuck, %")
    fine = np.geomspace(columns[0], columns[-1], 200)
    limits = [thresholds(float(gap)) for gap in fine]
    lines = (
        ("corollaries", "the paper's corollaries", SKY, ":"),
        ("malicious", "the paper's theorems, best s (malicious adversary)", ORANGE, "--"),
        ("coin", "possible at all (independent coin)", "#D55E00", "-"),
    )
    for name, label, colour, line in lines:
        axes.plot(
            fine,
            [getattr(limit, name) for limit in limits],
            line,
            color=colour,
            linewidth=2.2,
            label=label,
        )
    axes.set(
        xscale="log",
        xlabel="gap / sigma",
        ylabel="rho",
        xlim=(columns[0], columns[-1]),
        ylim=(0, max(0.5, rows[-1])),
    )
    axes.set_xticks(breakdown.gaps, [f"{gap:g}" for gap in breakdown.gaps])
    axes.set_xticks([], minor=True)
    axes.set_title(
        f"{breakdown.policy.label}: {breakdown.trials} trials of {breakdown.horizon:,} rounds at "
        f"each point, {ARMS} arms",
        fontsize=10,
        color=BLACK,
    )
    axes.grid(False)
    figure.legend(
        loc="outside lower center",
        ncols=1,
        frameon=False,
        fontsize=9,
        title="largest rho that can be taken, by",
    )
    return figure


def _edges(centres: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the borders between the cells of an axis."""
    points = np.asarray(centres, float)
    if len(points) == 1:
        return np.array([points[0] - 0.02, points[0] + 0.02])
    middles = (points[1:] + points[:-1]) / 2
    return np.concatenate([[2 * points[0] - middles[0]], middles, [2 * points[-1] - middles[-1]]])


def write_map(
    policy: Policy,
    out: Path,
    *,
    horizon: int = 20_000,
    trials: int = 40,
    workers: int | None = None,
) -> tuple[BreakdownMap, list[Path]]:
    """Measure and draw the map into a folder: map.json, and map as SVG, PDF and PNG."""
    if policy.expected_spread is not None and abs(policy.expected_spread - 1) > 0.5:
        raise InvalidInput(
            "the map is drawn in units of sigma, so the policy must be made for a sigma of 1; "
            f"{policy!r} is made for {policy.expected_spread:g}."
        )
    store = CellStore(out / "cells")
    breakdown = measure(policy, store, horizon=horizon, trials=trials, workers=workers)
    written = [out / "map.json"]
    write_whole(written[0], (json.dumps(breakdown.to_dict(), indent=1) + "\n").encode())
    written += [out / f"map.{form}" for form in write_figure(draw(breakdown), out, "map")]
    return breakdown, written
