"""Tuning: which value of a grid is best, and where to look next if it is at an end.

A policy is not tuned if its best value is the last one that was tried. So a grid of one
parameter is continued beyond that end, in its own steps, until the best value lies
inside. A grid of several parameters is played as it is, and `Choice.at_edge` says if
its best value is at an end of any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...policies import Policy

MOST_CANDIDATES = 40
"""No grid is continued beyond this many values."""


@dataclass(frozen=True)
class Candidate:
    """Values of the tuned parameters, the policy with them, its mean final regret."""

    values: tuple[Any, ...]
    policy: Policy
    regret: float


@dataclass(frozen=True)
class Tuned:
    """How a policy was tuned at one rho."""

    name: str
    rho: float
    trials: int
    parameters: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    """In the order of the grid; a grid of one parameter is sorted by its value."""
    runs: tuple[str, ...]
    """The runs that use the choice."""

    def with_candidate(self, values: Sequence[Any], policy: Policy, regret: float) -> Tuned:
        """Return the choice with one more candidate."""
        candidates = [*self.candidates, Candidate(tuple(values), policy, regret)]
        if len(self.parameters) == 1 and all(_is_number(one.values[0]) for one in candidates):
            candidates.sort(key=lambda one: one.values[0])
        return replace(self, candidates=tuple(candidates))

    @property
    def best(self) -> Candidate:
        """The candidate with the smallest mean regret, inside the grid among equals."""
        return min(self.candidates, key=lambda one: (one.regret, self._is_at_edge(one)))

    @property
    def policy(self) -> Policy:
        """The best candidate's policy."""
        return self.best.policy

    @property
    def at_edge(self) -> bool:
        """Whether the best value is the smallest or the largest that was tried.

        Of several parameters, one is enough. Always False if there is no order: for a
        grid of names, or of one value.
        """
        return self._is_at_edge(self.best)

    def _is_at_edge(self, candidate: Candidate) -> bool:
        for place, value in enumerate(candidate.values):
            tried = {one.values[place] for one in self.candidates}
            if len(tried) > 1 and all(map(_is_number, tried)) and value in (min(tried), max(tried)):
                return True
        return False


def next_value(choice: Tuned) -> float | None:
    """Return the next value to try, or None if the best one lies inside the grid.

    The grid is continued by the ratio of its two values at that end.

    >>> from ironarm import UCB
    >>> choice = Tuned("UCB", 0.1, 50, ("alpha",), (), ("main",))
    >>> for alpha, regret in [(1, 9.0), (2, 7.0), (8, 5.0)]:
    ...     choice = choice.with_candidate([alpha], UCB(alpha), regret)
    >>> next_value(choice)
    32.0
    """
    if len(choice.parameters) > 1 or not choice.at_edge:
        return None
    if len(choice.candidates) >= MOST_CANDIDATES:
        return None
    grid = [float(one.values[0]) for one in choice.candidates]
    end, inner = (grid[0], grid[1]) if choice.best is choice.candidates[0] else grid[:-3:-1]
    if not end * inner > 0:
        return None  # zero is an end; there is no ratio to go on by
    return float(f"{end * end / inner:.4g}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
