"""The arena's heat maps: policies down, attacks across, dark for far from the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..figures import pyplot
from .read import Setting
from .runner import Findings
from .standings import rows, standings

FURTHEST = 1000.0  # times the best: anything beyond has the same shade
STUCK = 0.01


def overview(findings: Findings) -> Any:
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
    plt = pyplot()
    figure, axes = plt.subplots(
        figsize=(1.6 + 0.78 * values.shape[1], 1.9 + 0.3 * len(order)), layout="constrained"
    )
    shades = _map(
        axes,
        values,
        order,
        _attack_labels(findings, findings.arena.attacks),
        lambda i, j: _times(float(values[i, j])),
    )
    figure.colorbar(shades, ax=axes, label="regret / smallest worst case", shrink=0.8, pad=0.02)
    return figure


def in_setting(findings: Findings, setting: Setting, rho: float) -> Any:
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

    plt = pyplot()
    figure, axes = plt.subplots(
        figsize=(1.6 + 0.72 * values.shape[1], 1.7 + 0.3 * len(order)), layout="constrained"
    )
    _map(axes, values, order, _attack_labels(findings, scores), label)
    axes.set_title(f"rho = {rho:g}", fontsize=10)
    return figure


def _best(findings: Findings, setting: Setting, rho: float) -> float:
    return max(1e-12, rows(findings, setting, rho)[0].worst.regret.value)


def _attack_labels(findings: Findings, names: Iterable[str]) -> list[str]:
    return [name if findings.within_model[name] else f"{name}*" for name in names]


def _map(
    axes: Any, values: np.ndarray, down: Sequence[str], across: Sequence[str], label: Any
) -> Any:
    from matplotlib.colors import LogNorm

    shades = axes.imshow(
        np.clip(values, 1 / 30, FURTHEST),
        cmap="cividis_r",
        norm=LogNorm(1 / 10, FURTHEST),
        aspect="auto",
        interpolation="nearest",
    )
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if np.isfinite(values[i, j]):
                red, green, blue, _ = shades.cmap(shades.norm(values[i, j]))
                light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
                axes.text(
                    j,
                    i,
                    label(i, j),
                    ha="center",
                    va="center",
                    fontsize=7,
                    color="#111111" if light else "#ffffff",
                )
    axes.set_xticks(
        range(len(across)), across, rotation=40, ha="right", rotation_mode="anchor", fontsize=8
    )
    axes.set_yticks(range(len(down)), down, fontsize=8)
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    return shades


def _times(x: float) -> str:
    return f"{x:.2g}" if x < 100 else _compact(x)


def _compact(x: float) -> str:
    """Return a number in at most four characters.

    >>> [_compact(x) for x in (3.14, 42.4, 999, 4230, 26190, 1_792_931)]
    ['3.1', '42', '999', '4.2k', '26k', '1.8M']
    """
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if x >= 0.9995 * size:
            return f"{x / size:.1f}{unit}" if x < 9.95 * size else f"{x / size:.0f}{unit}"
    return f"{x:.1f}" if x < 9.95 else f"{x:.0f}"
