"""How the map of a policy's breakdown is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...show.figures import pyplot
from ...show.looks import BLACK
from ...theory import thresholds

if TYPE_CHECKING:
    from .breakdown_map import BreakdownMap

TICKS = (0.25, 0.5, 1.0, 2.0, 4.0)
CURVES = (
    ("coin", "largest ρ that any policy can take", "-"),
    ("malicious", "limit of the paper's theorems", "--"),
    ("corollaries", "limit of the paper's corollaries", ":"),
)


def draw(breakdown: BreakdownMap) -> Any:
    """Draw the map: shades for the measurement, lines for the thresholds.

    The axes end where the measured cells end; what is not measured is hatched.
    """
    plt = pyplot()
    from matplotlib.patheffects import Normal, Stroke

    # narrow, so that the text can still be read in a column of print
    figure, axes = plt.subplots(figsize=(5.4, 4.8), layout="constrained")
    edges = column_edges([column.gap for column in breakdown.columns])
    for j, (column, stuck) in enumerate(zip(breakdown.columns, breakdown.stuck, strict=True)):
        cells = axes.pcolormesh(
            edges[j : j + 2],
            column.borders,
            100 * stuck[:, None],
            cmap=shades(),
            vmin=0,
            vmax=100,
            rasterized=True,  # some viewers show seams between vector shapes
        )
    figure.colorbar(cells, ax=axes, label="trials stuck, %", pad=0.02)
    fine = np.geomspace(edges[0], edges[-1], 200)
    limits = [thresholds(float(gap)) for gap in fine]
    for name, label, dashes in CURVES:
        axes.plot(
            fine,
            [getattr(limit, name) for limit in limits],
            dashes,
            color=BLACK,
            linewidth=1.6,
            label=label,
            path_effects=[Stroke(linewidth=4, foreground="white"), Normal()],
        )
    bottoms = {column.borders[0] for column in breakdown.columns}
    tops = {column.borders[-1] for column in breakdown.columns}
    if len(bottoms) > 1 or len(tops) > 1:
        axes.patch.set(hatch="////", edgecolor="0.6")
    axes.set(
        xscale="log",
        xlabel="gap / σ",
        ylabel="ρ",
        xlim=(edges[0], edges[-1]),
        ylim=(min(bottoms), max(tops)),
    )
    axes.set_title(f"{breakdown.policy.label}\n{breakdown.title}", fontsize=10)
    axes.set_xticks(TICKS, [f"{gap:g}" for gap in TICKS])
    axes.set_xticks([], minor=True)
    axes.grid(False)
    figure.legend(loc="outside lower center", frameon=False)
    return figure


def shades() -> Any:
    """Return the colours: even steps of lightness, also in grey.

    The darkest are left out, because no line would show on them.
    """
    plt = pyplot()
    from matplotlib.colors import ListedColormap

    return ListedColormap(plt.get_cmap("magma_r")(np.linspace(0, 0.85, 256)))


def column_edges(gaps: Sequence[float]) -> np.ndarray:
    """Return the borders between columns, on a logarithmic axis.

    >>> column_edges([1, 4]).round(6).tolist()
    [0.5, 2.0, 8.0]
    """
    points = np.log(np.asarray(gaps, float))
    if len(points) == 1:
        return np.exp(points[0] + np.array([-0.1, 0.1]))
    middles = (points[1:] + points[:-1]) / 2
    ends = 2 * points[0] - middles[0], 2 * points[-1] - middles[-1]
    return np.exp(np.concatenate([ends[:1], middles, ends[1:]]))
