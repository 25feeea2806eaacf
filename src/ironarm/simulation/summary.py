"""The summary of a simulation: what happened, how sure we are, and who beat whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from ..show.notebook import html_table
from ..show.text import short, text_table

RESAMPLES = 2000
HEAD = (
    "policy",
    "mean regret",
    "95 % interval",
    "median",
    "95 % quantile",
    "stuck",
    "optimal pulls",
)


@dataclass(frozen=True)
class SummaryRow:
    """Final regret of one policy over the trials."""

    policy: str
    mean: float
    low: float
    high: float
    median: float
    q95: float
    stuck: float
    optimal: float


@dataclass(frozen=True)
class Pair:
    """Mean regret of `first` minus that of `second`, trial by trial."""

    first: str
    second: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """Rows for the policies and pairs of them; prints as a table."""

    rows: list[SummaryRow]
    pairs: list[Pair]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "rows": [asdict(row) for row in self.rows],
            "pairs": [asdict(pair) for pair in self.pairs],
        }

    def __str__(self) -> str:
        return text_table(HEAD, self._cells())

    def to_html(self, caption: str = "") -> str:
        """Return the table in HTML."""
        return html_table(HEAD, self._cells(), caption=caption)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                row.policy,
                short(row.mean),
                f"{short(row.low)} to {short(row.high)}",
                short(row.median),
                short(row.q95),
                f"{100 * row.stuck:.1f} %",
                f"{100 * row.optimal:.2f} %",
            )
            for row in self.rows
        ]

    def pairs_table(self) -> str:
        """Return the paired differences as a table."""
        head = ("first", "second", "first - second", "95 % interval")
        return text_table(
            head,
            [
                (p.first, p.second, short(p.difference), f"{short(p.low)} to {short(p.high)}")
                for p in self.pairs
            ],
            words=(1,),
        )

    __repr__ = __str__


def summarise(
    labels: list[str], regret: np.ndarray, optimal: np.ndarray, stuck: np.ndarray
) -> Summary:
    """Summarise final values, arrays (policy, trial)."""
    low, high = bootstrap_interval(regret)
    rows = [
        SummaryRow(
            label,
            float(regret[i].mean()),
            float(low[i]),
            float(high[i]),
            float(np.median(regret[i])),
            float(np.quantile(regret[i], 0.95)),
            float(stuck[i].mean()),
            float(optimal[i].mean()),
        )
        for i, label in enumerate(labels)
    ]
    indices = list(combinations(range(len(labels)), 2))
    pairs: list[Pair] = []
    if indices:
        differences = np.array([regret[i] - regret[j] for i, j in indices])
        low, high = bootstrap_interval(differences)
        pairs = [
            Pair(labels[i], labels[j], float(differences[k].mean()), float(low[k]), float(high[k]))
            for k, (i, j) in enumerate(indices)
        ]
    return Summary(rows, pairs)


def bootstrap_interval(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile bootstrap interval of the mean over the last axis.

    Trials are resampled in the same way for every row, with a fixed seed.
    """
    trials = values.shape[-1]
    flat = values.reshape(-1, trials)
    means = np.concatenate([weights @ flat.T for weights in resampling_weights(trials)])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low.reshape(values.shape[:-1]), high.reshape(values.shape[:-1])


def resampling_weights(trials: int) -> Iterable[np.ndarray]:
    """Yield the bootstrap's weights of the trials, in batches; always the same.

    There are RESAMPLES rows in all.
    """
    return _kept_weights(trials) if trials <= 4000 else _drawn_weights(trials)


@lru_cache(maxsize=6)
def _kept_weights(trials: int) -> tuple[np.ndarray, ...]:
    # kept, because drawing takes far longer than using, and a report uses those of some
    # numbers of trials hundreds of times; at most 64 MB each
    return tuple(_drawn_weights(trials))


def _drawn_weights(trials: int) -> Iterator[np.ndarray]:
    generator = np.random.default_rng(0)
    batch = max(1, 1_000_000 // trials)
    for start in range(0, RESAMPLES, batch):
        yield (
            generator.multinomial(
                trials, np.full(trials, 1 / trials), size=min(batch, RESAMPLES - start)
            )
            / trials
        )
