"""The arena's heat maps: policies down, attacks across, dark for far from the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...show.figures import pyplot
from .arena import Setting
from .runner import ArenaFindings
from .standings import rows, standings

NEAREST, FURTHEST = 1.0, 1000.0  # times the best: beyond them the shade stays the same
MARKS = (1, 3, 10, 30, 100, 300, 1000)  # on the scale
DARKEST = 0.94  # of the colour map: the page may be black, and shades must not be lost on it
STUCK = 0.01


def overview(findings: ArenaFindings) -> Any:
    """Draw one map of all settings: the worst regret over settings and rho.

    It is in units of the smallest worst case in that setting.
    """
    best = {
        (setting.name, rho): _best(findings, setting, rho)
        for setting in findings.arena.settings
        for rho in setting.rho
    }
    order = [standing.policy for standing in standings(findings)]
    values = np.full((len(order), len(findings.arena.attacks)), np.nan)
    for (setting, rho, attack), scores in findings.scores.items():
        j = list(findings.arena.attacks).index(attack)
        for policy, score in scores.items():
            i = order.index(policy)
            values[i, j] = np.nanmax([values[i, j], score.regret.value / best[setting, rho]])
    return _map(
        values,
        order,
        _attack_labels(findings, findings.arena.attacks),
        lambda i, j: _compact(float(values[i, j])),
        "times the smallest worst case",
    )


def in_setting(findings: ArenaFindings, setting: Setting, rho: float) -> Any:
    """Draw the map of one setting at one rho: mean regret.

    Shades are in units of the smallest worst case there.
    """
    order = [row.policy for row in rows(findings, setting, rho)]
    scores: Mapping[str, Any] = {
        attack: findings.scores[setting.name, rho, attack]
        for attack in findings.arena.attacks_in(setting)
    }
    values = np.array(
        [[scores[attack][policy].regret.value for attack in scores] for policy in order]
    ) / _best(findings, setting, rho)

    def label(i: int, j: int) -> str:
        score = scores[list(scores)[j]][order[i]]
        return _compact(score.regret.value) + ("°" if score.stuck.value > STUCK else "")

    where = f"{setting.name} at ρ = {rho:g}: times the smallest worst case"
    return _map(values, order, _attack_labels(findings, scores), label, where)


def _best(findings: ArenaFindings, setting: Setting, rho: float) -> float:
    return max(1e-12, rows(findings, setting, rho)[0].worst.regret.value)


def _attack_labels(findings: ArenaFindings, names: Iterable[str]) -> list[str]:
    return [name if findings.within_model[name] else f"{name}*" for name in names]


def _map(
    values: np.ndarray, down: Sequence[str], across: Sequence[str], label: Any, scale: str
) -> Any:
    """Draw a map, with its scale above it on the left, where a phone shows it."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, LogNorm

    figure, axes = pyplot().subplots(
        # an arena of few attacks is as wide as another, so its letters are as large
        figsize=(max(8.0, 1.6 + 0.64 * len(across)), 2.2 + 0.3 * len(down)),
        layout="constrained",
    )
    # equal ratios are equal steps of lightness, so it can be read in grey too
    colours = ListedColormap(colormaps["inferno_r"](np.linspace(0, DARKEST, 256)))
    shades = axes.imshow(
        values,
        cmap=colours,
        norm=LogNorm(NEAREST, FURTHEST, clip=True),
        aspect="auto",
        interpolation="nearest",
    )
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if np.isfinite(values[i, j]):
                axes.text(
                    j,
                    i,
                    label(i, j),
                    ha="center",
                    va="center",
                    fontsize=7,
                    color=_ink(shades.to_rgba(values[i, j])),
                )
    axes.set_xticks(
        range(len(across)), across, rotation=40, ha="right", rotation_mode="anchor", fontsize=8
    )
    axes.set_yticks(range(len(down)), down, fontsize=8)
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(
        shades, ax=axes, location="top", shrink=0.45, aspect=30, anchor=(0.0, 0.0), pad=0.02
    )
    bar.set_ticks(MARKS, labels=["≤ 1", *map(str, MARKS[1:-1]), "≥ 1,000"], fontsize=8)
    bar.ax.minorticks_off()
    bar.set_label(scale, fontsize=9, loc="left")
    return figure


def _ink(shade: Sequence[float]) -> str:
    """Return black or white, whichever has more contrast on a shade.

    The black is not #000000, which a page replaces by the colour of its text.
    """
    linear = (((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in shade[:3])
    luminance = float(np.dot((0.2126, 0.7152, 0.0722), tuple(linear)))
    return "#010101" if luminance > 0.18 else "#ffffff"


def _compact(x: float) -> str:
    """Return a number in at most four characters.

    >>> [_compact(x) for x in (0.03, 3.14, 42.4, 999, 4230, 26190, 1_792_931)]
    ['<0.1', '3.1', '42', '999', '4.2k', '26k', '1.8M']
    """
    if 0 < x < 0.05:
        return "<0.1"
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if x >= 0.9995 * size:
            return f"{x / size:.1f}{unit}" if x < 9.95 * size else f"{x / size:.0f}{unit}"
    return f"{x:.1f}" if x < 9.95 else f"{x:.0f}"
