"""What a routing strategy learns: outcomes, and their rewards."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from .model_groups import ModelGroup

DISTINCT = 4096
"""How many different rewards failures have, each as close to the next as can be. The
default policy counts equal rewards as one, as a defence against forgers who repeat
themselves, and would try a deployment that always fails again and again. So the worst
reward must be finite: infinite ones are all the same."""
SHORTEST = 1e-6  # seconds; the logarithm of less says nothing


class Outcome(NamedTuple):
    """How a deployment answered a call."""

    group: str
    deployment: str
    seconds: float
    """From the decision to the end of the answer."""
    first_token: float
    """From the decision to the first token; `seconds` if the answer is not streamed."""
    cost: float | None
    """In dollars, as LiteLLM computes it."""
    response: Any
    """The answer; a streamed one is put together."""
    call: Mapping[str, Any]
    """What LiteLLM tells its callbacks, `messages` and `metadata` among it."""


class PendingDecision(NamedTuple):
    """A decision that waits for its outcome."""

    group: ModelGroup
    deployment: str
    decision: Any
    started: datetime
    made: float

    def seconds(self, end: datetime) -> float:
        """Return the time from the decision to that moment."""
        return (end - self.started).total_seconds()


Reward = Callable[[PendingDecision, Mapping[str, Any], Any, datetime], Any]
"""Of a ticket, what LiteLLM tells its callbacks, the response, and when it ended."""


def _latency(
    ticket: PendingDecision, call: Mapping[str, Any], response: Any, end: datetime
) -> float:
    return -math.log(max(ticket.seconds(end), SHORTEST))


def _first_token(
    ticket: PendingDecision, call: Mapping[str, Any], response: Any, end: datetime
) -> float:
    return -math.log(max(ticket.seconds(_first(call) or end), SHORTEST))


def _cost(
    ticket: PendingDecision, call: Mapping[str, Any], response: Any, end: datetime
) -> float | None:
    cost = call.get("response_cost")
    return None if cost is None else -cost


def _first(call: Mapping[str, Any]) -> datetime | None:
    """Return when the first token came; None if the answer was not streamed."""
    return call.get("completion_start_time") if call.get("stream") else None


def of_outcome(function: Callable[[Outcome], Any]) -> Reward:
    """Return the reward that a user's function gives."""

    def reward(
        ticket: PendingDecision, call: Mapping[str, Any], response: Any, end: datetime
    ) -> Any:
        return function(
            Outcome(
                ticket.group.name,
                ticket.deployment,
                ticket.seconds(end),
                ticket.seconds(_first(call) or end),
                call.get("response_cost"),
                response,
                call,
            )
        )

    return reward


REWARDS: dict[str, Reward] = {"latency": _latency, "first-token": _first_token, "cost": _cost}


def failures(worst: float) -> Iterator[float]:
    """Return rewards of failures: the worst, and the numbers next to it, over and over.

    >>> rewards = failures(-7.0)
    >>> next(rewards), next(rewards), next(rewards)
    (-7.0, -6.999999999999999, -6.999999999999998)
    """
    step = math.ulp(worst) if math.isfinite(worst) else 0.0
    return (worst + step * i for i in itertools.cycle(range(DISTINCT)))
