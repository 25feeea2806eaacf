"""A map of how much corruption a policy survives: rho against gap/sigma.

It shows theory's three thresholds and the measured share of trials that are stuck.

Each column of the map is one gap, and its cells are lower near that gap's thresholds. A
cell is measured at its middle: five normal arms, one of them better by the gap, under
the paper's attack, whose outliers lie so far away that they bias a median as much as
any attack can. Cells are kept, so an interrupted map resumes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ...attacks import OppositeUniform
from ...bandits import GaussianBandit
from ...errors import InvalidInput
from ...files import write_whole
from ...policies import Policy
from ...show.figures import write_figure
from ...show.text import counted, text_table, wrapped
from ...simulation.cells import Cell
from ...simulation.progress import Progress
from ...theory import thresholds
from ...validation import whole
from ..kit.cell_runner import CellRunner
from .breakdown_figure import draw

ARMS = 5
ATTACK = OppositeUniform
GAPS = tuple(0.25 * 2 ** (i / 5) for i in range(24))
SHARES = (0.05, 0.5, 0.95)
"""The shares of trials stuck that are printed."""

LOWEST = {"corollaries": 0.025, "malicious": 0.025, "coin": 0.01}
GROWTH, HIGHEST = 0.5, 0.05
"""How high a cell is: LOWEST at a threshold, GROWTH times the distance more away from
it, and never above HIGHEST. Median policies break down at the last threshold.
"""


@dataclass(frozen=True)
class Column:
    """The cells of one gap over sigma, by the `borders` between them, in rho."""

    gap: float
    borders: tuple[float, ...]

    @classmethod
    def at(cls, gap: float) -> Column:
        """Return cells from rho = 0 to 1/2; the thresholds are borders of cells.

        >>> column = Column.at(1.0)
        >>> thresholds(1.0).coin in column.borders, len(column.borders)
        (True, 18)
        """
        limits = asdict(thresholds(gap))

        def height(rho: np.ndarray) -> np.ndarray:
            allowed = [LOWEST[name] + GROWTH * abs(rho - limits[name]) for name in LOWEST]
            return np.minimum(HIGHEST, np.min(allowed, axis=0))

        borders = [0.0]
        for border in (*(limits[name] for name in LOWEST), 0.5):
            close = LOWEST["coin"] / 2  # no cell fits between two borders that are closer
            if border < 0.5 and (border - borders[-1] < close or 0.5 - border < close):
                continue
            fine = np.linspace(borders[-1], border, 400)
            heights = height((fine[1:] + fine[:-1]) / 2)
            cells = np.concatenate([[0.0], np.cumsum(np.diff(fine) / heights)])
            count = math.ceil(cells[-1])
            between = np.interp(np.arange(1, count) / count, cells / cells[-1], fine)
            borders += [*between.tolist(), border]
        return cls(gap, tuple(borders))

    @property
    def rates(self) -> tuple[float, ...]:
        """The rho of each cell: its middle."""
        return tuple((low + high) / 2 for low, high in pairwise(self.borders))


@dataclass(frozen=True, eq=False)
class BreakdownMap:
    """The measured share of trials stuck, for each cell of each column."""

    policy: Policy
    horizon: int
    trials: int
    seed: int
    columns: tuple[Column, ...]
    stuck: tuple[np.ndarray, ...]

    @property
    def title(self) -> str:
        """What was measured."""
        trials = counted(self.trials, "trial")
        rounds = f"{trials} of {self.horizon:,} rounds at each point"
        return f"{rounds}, {ARMS} arms, attack {ATTACK.__name__}"

    def __str__(self) -> str:
        """Show from which rho on trials are stuck, beside the thresholds."""
        head = (
            "gap/sigma",
            *(f"{share:.0%} stuck" for share in SHARES),
            "corollaries",
            "theorems",
            "any policy",
        )
        body = [
            (
                f"{column.gap:.3g}",
                *(_first(column.rates, stuck, share) for share in SHARES),
                *(f"{limit:.3f}" for limit in asdict(thresholds(column.gap)).values()),
            )
            for column, stuck in zip(self.columns, self.stuck, strict=True)
        ]
        return (
            f"{wrapped(f'{self.policy!r}: {self.title}')}\n\n{text_table(head, body)}\n\n"
            + "\n".join(map(wrapped, self._reading()))
        )

    def _reading(self) -> tuple[str, str]:
        """Say how to read the table."""
        return (
            "stuck: the smallest rho measured at which at least this share of trials is stuck. "
            f"With {counted(self.trials, 'trial')} at each point, small shares vary by chance, so "
            "such a column need not rise from line to line.",
            "corollaries, theorems, any policy: the limits on rho by theory",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, the thresholds included."""
        columns = [
            {
                "gap_over_sigma": column.gap,
                "thresholds": asdict(thresholds(column.gap)),
                "borders": list(column.borders),
                "rho": list(column.rates),
                "stuck": stuck.tolist(),
            }
            for column, stuck in zip(self.columns, self.stuck, strict=True)
        ]
        return {
            "policy": self.policy.to_dict(),
            "arms": ARMS,
            "attack": ATTACK.__name__,
            "horizon": self.horizon,
            "trials": self.trials,
            "seed": self.seed,
            "columns": columns,
        }


def measure(
    policy: Policy,
    out: Path,
    *,
    horizon: int = 20_000,
    trials: int = 40,
    seed: int = 2020,
    columns: Sequence[Column] | None = None,
    workers: int | None = None,
) -> BreakdownMap:
    """Measure the share of stuck trials in every cell; `out` keeps them."""
    horizon, trials = whole("horizon", horizon, at_least=100), whole("trials", trials, at_least=2)
    columns = tuple(map(Column.at, GAPS)) if columns is None else tuple(columns)
    cells = [
        _cell(policy, column.gap, rho, horizon, trials, seed)
        for column in columns
        for rho in column.rates
    ]

    def label(batch: Sequence[Cell]) -> str:
        rho, gap = batch[0].attack.rho, batch[0].bandit.means[0]
        return f"map of {policy.label}: rho = {rho:.3f}, gap = {gap:.3g} sigma"

    runner = CellRunner(out, workers, work=lambda cell: cell.trials)
    with Progress("preparing", 1, True) as bar:
        runner.prepare(cells, bar)
        results = iter(runner.obtain(cells, bar, label))
    stuck = [
        np.array([float(next(results).stuck.mean()) for _ in column.rates]) for column in columns
    ]
    return BreakdownMap(policy, horizon, trials, seed, columns, tuple(stuck))


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
    breakdown = measure(policy, out, horizon=horizon, trials=trials, workers=workers)
    written = [out / "map.json"]
    write_whole(written[0], (json.dumps(breakdown.to_dict(), indent=1) + "\n").encode())
    written += [out / f"map.{form}" for form in write_figure(draw(breakdown), out, "map")]
    return breakdown, written


def _cell(policy: Policy, gap: float, rho: float, horizon: int, trials: int, seed: int) -> Cell:
    bandit = GaussianBandit([gap] + [0.0] * (ARMS - 1))
    return Cell(policy, bandit, ATTACK(rho=rho), horizon, trials, seed, (horizon,))


def _first(rates: Sequence[float], stuck: np.ndarray, share: float) -> str:
    """Return the smallest rho with at least that share stuck, as text."""
    found = next((rho for rho, x in zip(rates, stuck, strict=True) if x >= share), None)
    return "never" if found is None else f"{found:.3f}"
