"""Routers on scenarios with several seeds: every router meets the same requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...show.text import text_table
from ...simulation.progress import Progress
from ..kit.statistics import Estimate, mean, mean_share
from .play import Router, RouterScore, play
from .scenario import Scenario

HEAD = ("router", "on the best, 2nd half", "95 % interval", "excess", "95 % interval")


@dataclass(frozen=True)
class RouterStanding:
    """How a router did on a scenario, over its seeds."""

    scenario: str
    router: str
    seeds: tuple[int, ...]
    best: Estimate
    excess: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "scenario": self.scenario,
            "router": self.router,
            "seeds": list(self.seeds),
            "best": vars(self.best),
            "excess": vars(self.excess),
        }


def run(
    routers: Mapping[str, Router],
    scenarios: Mapping[str, Sequence[Scenario]],
    show: bool | None = None,
) -> list[RouterStanding]:
    """Play every router on every scenario of every seed, and return the standings."""
    total = sum(len(runs) for runs in scenarios.values()) * len(routers)
    found = []
    with Progress("playing", total, show) as bar:
        for name, runs in scenarios.items():
            for label, router in routers.items():
                bar.note(f"{name}, {label}")
                scores = []
                for scenario in runs:
                    scores.append(play(router, scenario))
                    bar.advance()
                    bar.refresh()
                found.append(standing(name, label, runs, scores))
    return found


def standing(
    name: str, router: str, runs: Sequence[Scenario], scores: Sequence[RouterScore]
) -> RouterStanding:
    """Return the means over the seeds, with bootstrap intervals."""
    return RouterStanding(
        name,
        router,
        tuple(scenario.seed for scenario in runs),
        mean_share(np.array([score.best for score in scores])),
        mean(np.array([score.excess for score in scores])),
    )


def table(standings: Sequence[RouterStanding]) -> str:
    """Return one scenario's standings as a table, the best router first."""
    ordered = sorted(standings, key=lambda one: (-one.best.value, one.excess.value))
    body = [
        (
            one.router,
            f"{one.best.value:.3f}",
            f"{one.best.low:.3f} to {one.best.high:.3f}",
            f"{one.excess.value:.3f}",
            f"{one.excess.low:.3f} to {one.excess.high:.3f}",
        )
        for one in ordered
    ]
    return text_table(HEAD, body)
