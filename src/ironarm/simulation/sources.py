"""Who sends the rewards of a simulation: sources, some of them corrupt."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..engine.machine import compiled
from ..random import fill_open_uniform
from ..validation import number, whole


@dataclass(frozen=True)
class Sources:
    """The senders of rewards: users, publishers, sensors.

    In each round one of them sends the reward. With sources, an attack's `rho` is the
    share of the *sources* that are corrupt, and the attack decides everything that a
    corrupt source sends. Their number is rho times `count`, rounded; which ones are
    corrupt is drawn again in each trial. A policy may read the sender (`s.source`);
    most do not.

    Parameters
    ----------
    count : how many sources there are.
    zipf : their shares of the traffic fall like 1 / rank^zipf; 0 for equal shares.
    active : how many times as much a corrupt source sends as an honest one would.

    Examples
    --------
    >>> import ironarm as ia
    >>> sources = ia.Sources(400, active=5)
    >>> round(sources.corrupt_traffic(rho=0.15), 3)
    0.469
    """

    count: int
    zipf: float = 0.0
    active: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", whole("count", self.count, at_least=1, below=2**31))
        object.__setattr__(self, "zipf", number("zipf", self.zipf, at_least=0))
        object.__setattr__(self, "active", number("active", self.active, above=0))

    def corrupt_traffic(self, rho: float) -> float:
        """Return the corrupt sources' share of the traffic, for equal honest shares.

        With zipf above 0 the share depends on which sources are corrupt.
        """
        corrupt = round(rho * self.count) / self.count
        return corrupt * self.active / (corrupt * self.active + 1 - corrupt)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return asdict(self)


class Senders:
    """The senders of a trial, round by round, the same for every policy."""

    def __init__(self, sources: Sources, rho: float, length: int) -> None:
        self._sources = sources
        self._corrupt_count = round(rho * sources.count)
        self._traffic = np.arange(1.0, sources.count + 1) ** -sources.zipf
        self._uniform, self._senders = np.empty(length), np.empty(length, np.int64)
        self._order = np.empty(sources.count)
        self._draw = compiled(fill_open_uniform)

    def rewind(self, stream: np.ndarray) -> None:
        """Begin a new trial: draw which sources are corrupt."""
        self._stream = stream
        self._draw(stream, self._order)
        self._corrupt = np.zeros(self._sources.count, np.uint8)
        self._corrupt[np.argsort(self._order)[: self._corrupt_count]] = 1
        weights = self._traffic * np.where(self._corrupt, self._sources.active, 1.0)
        self._below = np.cumsum(weights / weights.sum())
        self._below[-1] = 1.0

    def next(self, coin: np.ndarray) -> np.ndarray:
        """Return the senders of the next rounds, and write their coins."""
        rounds = len(coin)
        uniform, senders = self._uniform[:rounds], self._senders[:rounds]
        self._draw(self._stream, uniform)
        senders[:] = np.searchsorted(self._below, uniform)
        coin[:] = self._corrupt[senders]
        return senders
