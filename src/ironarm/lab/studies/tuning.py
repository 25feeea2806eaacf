"""Tuning: which value of a grid is best, and what has to be played to know.

A policy is not tuned if its best value is the last one that was tried. So a grid of one
parameter is continued beyond that end, in its own steps, until the best value lies
inside. A grid of several parameters is played as it is, and `Tuned.at_edge` says if
its best value is at an end of any of them.

Nor is it tuned if luck chose. On few trials the values that are nearly as good as the
best come out in any order, and a value that fails once in a thousand trials looks
better than it is. So the best value and its neighbours, as far as they may be the best,
are played again on many more trials.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ...policies import Policy
from ..kit.statistics import Estimate, Losses, mean_loss

MOST_CANDIDATES = 40
"""No grid is continued beyond this many values."""

TIMES = 16
"""The best value and its neighbours are played again on this many times the trials."""

MOST_ROUNDS = 10**9
"""No candidate is played on more rounds than this."""

ALIKE = 0.02
"""Values whose mean regrets differ by less than this share are equally good."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Values of the tuned parameters, the policy with them, its final regrets."""

    values: tuple[Any, ...]
    policy: Policy
    losses: Losses

    @property
    def trials(self) -> int:
        """On how many trials it was played."""
        return len(self.losses.values)


@dataclass(frozen=True)
class Tuned:
    """How a policy was tuned at one rho."""

    name: str
    rho: float
    parameters: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    """In the order of the grid; a grid of one parameter is sorted by its value."""
    runs: tuple[str, ...]
    """The runs that use the choice."""

    def with_candidates(self, found: Iterable[Candidate]) -> Tuned:
        """Return the choice with more candidates, or the same on more trials."""
        candidates = {one.values: one for one in (*self.candidates, *found)}
        ordered = list(candidates.values())
        if len(self.parameters) == 1 and all(_is_number(one.values[0]) for one in ordered):
            ordered.sort(key=lambda one: one.values[0])
        return replace(self, candidates=tuple(ordered))

    @cached_property
    def regrets(self) -> dict[tuple[Any, ...], Estimate]:
        """The mean final regret of each candidate, by its values.

        The intervals allow for losses that none of its trials showed, as large as the
        largest that any candidate had.
        """
        largest = max(float(one.losses.values.max()) for one in self.candidates)
        return {
            one.values: mean_loss(one.losses.values, largest, one.losses.bound)
            for one in self.candidates
        }

    def regret(self, candidate: Candidate) -> Estimate:
        """Return a candidate's mean final regret."""
        return self.regrets[candidate.values]

    @property
    def best(self) -> Candidate:
        """The candidate with the smallest mean regret, inside the grid among equals.

        Only those on the most trials count: the others were left behind.
        """
        most = max(one.trials for one in self.candidates)
        played = [one for one in self.candidates if one.trials == most]
        return min(played, key=lambda one: (self.regret(one).value, self._is_at_edge(one)))

    @property
    def policy(self) -> Policy:
        """The best candidate's policy."""
        return self.best.policy

    @property
    def contenders(self) -> list[Candidate]:
        """The candidates that may be the best: none is clearly better than they are."""
        least = min(one.high for one in self.regrets.values())
        return [one for one in self.candidates if self.regret(one).low <= least]

    @property
    def neighbours(self) -> list[Candidate]:
        """The candidates beside the best one in the grid, if it has an order."""
        if len(self.parameters) > 1 or not all(
            _is_number(one.values[0]) for one in self.candidates
        ):
            return []
        place = self.candidates.index(self.best)
        return [
            self.candidates[other]
            for other in (place - 1, place + 1)
            if 0 <= other < len(self.candidates)
        ]

    @property
    def rivals(self) -> list[Candidate]:
        """The candidates that cannot be told from the best one, and are not alike."""
        best = self.best
        return [
            one
            for one in self.contenders
            if one is not best and not _alike(self.regret(one), self.regret(best))
        ]

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

    >>> import numpy as np
    >>> from ironarm import UCB
    >>> choice = Tuned("UCB", 0.1, ("alpha",), (), ("main",))
    >>> choice = choice.with_candidates(
    ...     Candidate((alpha,), UCB(alpha), Losses(np.full(50, regret)))
    ...     for alpha, regret in [(1, 9.0), (2, 7.0), (8, 5.0)]
    ... )
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
    value = float(f"{end * end / inner:.4g}")
    return None if value in grid else value  # steps too small for four digits


def to_play_again(choice: Tuned, first: int, horizon: int) -> list[Candidate]:
    """Return the candidates to play on `TIMES` the first trials; none if all is known.

    These are the best one and its neighbours, as far as they may be the best. If that
    makes another one the best, its neighbours follow.
    """
    trials = TIMES * first
    if not choice.rivals or trials * horizon > MOST_ROUNDS:
        return []
    near = [choice.best, *choice.neighbours] if choice.neighbours else list(choice.candidates)
    contenders = choice.contenders
    return [one for one in near if one in contenders and one.trials < trials]


def _alike(one: Estimate, other: Estimate) -> bool:
    """Whether two means differ by little, whatever was not seen."""
    size = ALIKE * min(one.value, other.value)
    return max(one.high, other.high) - min(one.low, other.low) <= size


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
