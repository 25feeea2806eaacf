"""A scenario: what every deployment shows for every request, and how late."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from ...validation import whole
from .draws import uniforms
from .spec import Corruption, Spec

DIGITS = 4
"""Decimals of a reading. Rounded so, a reading does not depend on a computer's last
bits."""
CLEAN, DELAY, LOST, COINS = 0, 1, 2, 16
"""Streams of draws; corruption number i uses COINS + 2 i for its coin and the one after
it for its reading."""


@dataclass(frozen=True)
class Scenario:
    """One scenario with one seed, as its file holds it."""

    name: str
    title: str
    seed: int
    goal: str
    """"min" or "max"."""
    unit: str
    spread: float
    """The standard deviation of clean readings; of their logarithm, if in seconds."""
    names: tuple[str, ...]
    joins: tuple[int, ...]
    leaves: tuple[int, ...]
    """The last request that each deployment can serve."""
    clean: tuple[tuple[int, tuple[float, ...]], ...]
    """From this request on, these are the deployments' clean values."""
    readings: list[list[float | None]]
    """For each request and deployment; None where there is no such deployment."""
    after: list[list[int | None]]
    """How many further requests come before the reading is told; None: it never is."""

    @property
    def requests(self) -> int:
        """How many requests there are."""
        return len(self.readings)

    def present(self, request: int) -> list[int]:
        """Return the numbers of the deployments that can serve a request."""
        row = self.readings[request - 1]
        return [k for k, reading in enumerate(row) if reading is not None]

    def excess(self) -> list[list[float]]:
        """Return for each request how far each clean value is from the best present."""
        sign = 1.0 if self.goal == "max" else -1.0
        found, segment = [], -1
        for request in range(1, self.requests + 1):
            while segment + 1 < len(self.clean) and self.clean[segment + 1][0] <= request:
                segment += 1
            values = [sign * value for value in self.clean[segment][1]]
            best = max(values[k] for k in self.present(request))
            found.append([best - value for value in values])
        return found


def make_scenario(spec: Spec, seed: int) -> Scenario:
    """Return the scenario that a spec and a seed make, always the same."""
    seed = whole("seed", seed, below=2**63)
    size = (spec.requests, len(spec.deployments))
    noise = uniforms(seed, CLEAN, *size).tolist()
    late = uniforms(seed, DELAY, *size).tolist()
    lost = uniforms(seed, LOST, *size).tolist()
    corruptions = [_Drawn(spec, one, seed, i) for i, one in enumerate(spec.corrupt)]
    # a geometric delay: with this probability the outcome comes after one request more
    stays = spec.late / (1 + spec.late)
    normal = NormalDist().inv_cdf
    readings: list[list[float | None]] = []
    after: list[list[int | None]] = []
    for t in range(1, spec.requests + 1):
        row: list[float | None] = [None] * size[1]
        told: list[int | None] = [None] * size[1]
        best = spec.best(t)
        for k in spec.present(t):
            median, z = spec.deployments[k].at(t), normal(noise[t - 1][k])
            if spec.law == "lognormal":
                value = median * math.exp(spec.spread * z)
            else:
                value = median + spec.spread * z
            delay = int(math.log(late[t - 1][k]) / math.log(stays)) if stays else 0
            told[k] = None if lost[t - 1][k] < spec.lost else delay
            good = z > 0 if spec.goal == "max" else z < 0
            for drawn in corruptions:
                if not drawn.hits(t, k, best, good):
                    continue
                if drawn.what.reading is None:
                    told[k] = None
                else:
                    value = drawn.reading(t, k)
            row[k] = round(value, DIGITS)
        readings.append(row)
        after.append(told)
    moments = spec.changes
    return Scenario(
        name=spec.name,
        title=spec.title,
        seed=seed,
        goal=spec.goal,
        unit=spec.unit,
        spread=spec.spread,
        names=tuple(spec.names),
        joins=tuple(one.joins for one in spec.deployments),
        leaves=tuple(one.until for one in spec.deployments),
        clean=tuple((t, tuple(one.at(t) for one in spec.deployments)) for t in moments),
        readings=readings,
        after=after,
    )


class _Drawn:
    """A corruption with its coins: one for each request, whatever is chosen."""

    def __init__(self, spec: Spec, what: Corruption, seed: int, number: int) -> None:
        self.what, self._names = what, spec.names
        self._coins = uniforms(seed, COINS + 2 * number, spec.requests, 1)[:, 0].tolist()
        self._where = uniforms(
            seed, COINS + 2 * number + 1, spec.requests, len(spec.deployments)
        ).tolist()

    def hits(self, request: int, deployment: int, best: int, good: bool) -> bool:
        """Say whether it changes this outcome; `good`: better than the clean value."""
        what = self.what
        if not what.begins <= request <= what.until or self._coins[request - 1] >= what.share:
            return False
        if what.contrary and good != (deployment == best):
            return False
        if what.on == "any":
            return True
        if what.on in ("best", "others"):
            return (deployment == best) == (what.on == "best")
        return self._names[deployment] in what.on

    def reading(self, request: int, deployment: int) -> float:
        """Return what is shown in place of the clean outcome."""
        assert self.what.reading is not None
        low, high = self.what.reading
        return low + (high - low) * float(self._where[request - 1][deployment])
