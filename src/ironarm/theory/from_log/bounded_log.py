"""Which logs have rewards whose means are to be compared, not their medians."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..bounded import MOSTLY, TIED_SHARE, Bounded, in_range, limit_on_rho, mostly_zero, zero_one

ENOUGH = 20
"""Rewards of each arm; with fewer the data cannot tell."""
STRAYS = 0.1
"""How many other rewards, for each reward of 1, leave rewards clicks all the same."""


@dataclass(frozen=True)
class Resampled:
    """A number, and the ends of its bootstrap interval; NaN if there is none."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.low):
            return f"{self.value:.4g}"
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


def kind_of_log(logged: list[np.ndarray]) -> str:
    """Return "0 or 1", "mostly 0" or "in a range", the kinds of `Bounded`.

    Empty if medians are to be compared: few ties, or too few rewards to judge. Zeros
    and ones are what they are, however few. Each arm's rewards are in order.

    >>> kind_of_log([np.zeros(97).tolist() + [1.0, 5.0, 9.0]] * 2)
    'mostly 0'
    """
    logged = [np.asarray(x) for x in logged]
    low, high = min(x[0] for x in logged), max(x[-1] for x in logged)
    if low == high or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    if all(((x == 0) | (x == 1)).all() for x in logged):
        return "0 or 1"
    if min(map(len, logged)) < ENOUGH:
        return ""
    if low == 0 and min((x == 0).mean() for x in logged) >= MOSTLY:
        return "mostly 0"
    tied = max((x == x[(len(x) + 1) // 2 - 1]).mean() for x in logged)
    return "in a range" if tied >= TIED_SHARE else ""


def bounded_log(
    kind: str, logged: list[np.ndarray], best: int, gaps: list[Resampled]
) -> Bounded | None:
    """Return what the means of a log of this kind can do; None for none of the kinds.

    The range is that of the logged rewards. `gaps` are those of the means.
    """
    if not kind:
        return None
    low, high = float(min(x[0] for x in logged)), float(max(x[-1] for x in logged))
    gap = max(min(gap.value for gap in gaps), 0.0)
    interval = min(gap.low for gap in gaps), min(gap.high for gap in gaps)
    if kind == "0 or 1":
        few = min(map(len, logged)) < ENOUGH  # so few that there is no interval
        return zero_one(gap, (0.0, 1.0) if few else interval)
    shares = np.array([(x > 0).mean() for x in logged])
    found = (
        mostly_zero(gap, high, shares, best, interval)
        if kind == "mostly 0"
        else in_range(gap, low, high, interval)
    )
    pooled = np.concatenate(logged)
    if not are_clicks(pooled) or (low >= 0 and high <= 1):
        return found
    lead = float(shares[best] - np.delete(shares, best).max())
    return replace(found, strays=strays(pooled), positive=limit_on_rho(lead) if lead > 0 else None)


def strays(rewards: np.ndarray) -> int:
    """Return how many rewards are neither 0 nor 1."""
    return int(np.count_nonzero((rewards != 0.0) & (rewards != 1.0)))


def are_clicks(rewards: np.ndarray) -> bool:
    """Say whether rewards are 0 or 1 but for few, compared with the number of ones.

    >>> are_clicks(np.array([0.0, 1.0] * 20 + [1e9]))
    True
    """
    return strays(rewards) <= STRAYS * int(np.count_nonzero(rewards == 1.0))
