"""One router on one scenario: who serves which request, and when outcomes are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ...errors import RouterFault
from .scenario import Scenario


class Router(Protocol):
    """What plays a scenario: `routers.py` has some, `process.py` asks a command."""

    def start(self, scenario: Scenario) -> None:
        """Forget everything; a run begins. Do not look at readings."""

    def choose(self, request: int, deployments: list[str]) -> str:
        """Return which of these deployments serves the request."""

    def outcome(self, request: int, deployment: str, value: float) -> None:
        """Learn what came of a request, perhaps many requests later."""

    def end(self) -> None:
        """Take note that the run is over."""


@dataclass(frozen=True)
class RouterScore:
    """How a router did in one run."""

    best: float
    """The share of the requests of the second half that the best deployment served."""
    excess: float
    """How far the clean value of the chosen deployment is from the best, on average
    over all requests, in the scenario's unit."""
    chosen: list[int]
    """The number of the deployment that served each request."""


def play(router: Router, scenario: Scenario) -> RouterScore:
    """Let a router serve every request of a scenario, and return its score."""
    return score(scenario, list(steps(router, scenario)))


def steps(router: Router, scenario: Scenario) -> Iterator[int]:
    """Let a router serve request after request; yield the deployments' numbers.

    Before a request it is told all outcomes that are due by then, oldest request first.
    """
    due: dict[int, list[tuple[int, int, float]]] = {}
    router.start(scenario)
    for request in range(1, scenario.requests + 1):
        for earlier, k, reading in sorted(due.pop(request, [])):
            router.outcome(earlier, scenario.names[k], reading)
        offered = [scenario.names[k] for k in scenario.present(request)]
        choice = router.choose(request, offered)
        if choice not in offered:
            raise RouterFault(
                f"the router chose {choice!r} for request {request} of {scenario.name}, seed "
                f"{scenario.seed}; expected one of {', '.join(offered)}."
            )
        k = scenario.names.index(choice)
        shown, after = scenario.readings[request - 1][k], scenario.after[request - 1][k]
        if shown is not None and after is not None:
            due.setdefault(request + after + 1, []).append((request, k, shown))
        yield k
    router.end()


def score(scenario: Scenario, chosen: list[int]) -> RouterScore:
    """Return the score of the deployments that served a scenario's requests."""
    excess = scenario.excess()
    second = range(scenario.requests // 2, scenario.requests)
    return RouterScore(
        best=sum(excess[t][chosen[t]] == 0 for t in second) / len(second),
        excess=sum(row[k] for row, k in zip(excess, chosen, strict=True)) / len(chosen),
        chosen=chosen,
    )
