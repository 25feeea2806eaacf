"""Routers to compare with: ironarm's policies, and the simplest that there are."""

from __future__ import annotations

import math
import random
from collections import deque
from contextlib import suppress
from typing import Any

from ...errors import InvalidInput, UnknownDecision
from ...policies import Policy
from .scenario import Scenario

LAST = 10
PATIENCE = 500
"""Requests after which a decision without an outcome is cancelled."""


class RoundRobin:
    """Each deployment in turn: what a router does that learns nothing."""

    def start(self, scenario: Scenario) -> None:
        """Nothing to forget."""

    def choose(self, request: int, deployments: list[str]) -> str:
        """Return the next one."""
        return deployments[(request - 1) % len(deployments)]

    def outcome(self, request: int, deployment: str, value: float) -> None:
        """Learn nothing."""

    def end(self) -> None:
        """Nothing to do."""


class Greedy:
    """The best mean of the last 10 outcomes; deployments without one come first."""

    def start(self, scenario: Scenario) -> None:
        """Forget all outcomes."""
        self._sign = 1.0 if scenario.goal == "max" else -1.0
        self._random = random.Random(scenario.seed)
        self._seen: dict[str, deque[float]] = {}

    def choose(self, request: int, deployments: list[str]) -> str:
        """Return the best, at random among equals."""
        return max(deployments, key=lambda name: (self._worth(name), self._random.random()))

    def _worth(self, name: str) -> float:
        seen = self._seen.get(name)
        return self._sign * sum(seen) / len(seen) if seen else math.inf

    def outcome(self, request: int, deployment: str, value: float) -> None:
        """Keep it among the last 10."""
        self._seen.setdefault(deployment, deque(maxlen=LAST)).append(value)

    def end(self) -> None:
        """Nothing to do."""


class PolicyRouter:
    """An agent with one of ironarm's policies, on the logarithm of times.

    In the policy's text, `sigma` stands for the spread of clean readings. No other
    router gets to know it.
    """

    def __init__(self, policy: str) -> None:
        self._text = policy
        self._made(1.0)  # refuses what is no policy before anything is played

    def _made(self, sigma: float) -> Policy:
        from ...policies import policy_from_text

        return policy_from_text(self._text, sigma=sigma)

    def start(self, scenario: Scenario) -> None:
        """Begin with a new agent, at the first request."""
        self._agent: Any = None
        self._policy = self._made(scenario.spread)
        self._seed, self._minimize = scenario.seed, scenario.goal == "min"
        self._log = scenario.unit == "seconds"
        self._open: dict[int, Any] = {}

    def choose(self, request: int, deployments: list[str]) -> str:
        """Let the agent decide among the deployments of the moment."""
        from ...agent import Agent

        if self._agent is None:
            self._agent = Agent(
                self._policy, arms=deployments, seed=self._seed, minimize=self._minimize
            )
        if set(self._agent.arms) != set(deployments):
            self._follow(deployments)
        with suppress(KeyError, UnknownDecision):  # it came, or its deployment is gone
            self._agent.cancel(self._open.pop(request - PATIENCE))
        decision = self._agent.decide()
        self._open[request] = decision.id
        return str(decision.arm)

    def _follow(self, deployments: list[str]) -> None:
        """Add and remove arms; the decisions of those that are gone are closed."""
        for name in deployments:
            if name not in self._agent.arms:
                self._agent.add_arm(name)
        for name in self._agent.arms:
            if name not in deployments:
                self._agent.remove_arm(name)

    def outcome(self, request: int, deployment: str, value: float) -> None:
        """Learn it; one that comes too late is dropped."""
        with suppress(KeyError, UnknownDecision):  # cancelled, or its deployment is gone
            id = self._open.pop(request)
            self._agent.learn(id, math.log(max(value, 1e-9)) if self._log else value)

    def end(self) -> None:
        """Nothing to do."""


BUILT_IN = {"round-robin": RoundRobin, "greedy": Greedy}
PREFIX = "policy:"


def built_in(text: str) -> Any:
    """Return a router by its name, or None if the text is a command.

    >>> built_in("round-robin").choose(3, ["a", "b"])
    'a'
    """
    if text.startswith(PREFIX):
        return PolicyRouter(text.removeprefix(PREFIX))
    if text in BUILT_IN:
        return BUILT_IN[text]()
    if not text.strip():
        raise InvalidInput("a router is empty; give a name or a command.")
    return None
