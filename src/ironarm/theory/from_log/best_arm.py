"""Which arm is best, and how sure that is, from rewards in a log.

Rewards in a log were not gathered for a test: the policy looked at them and then chose
which arm to pull next, and whoever watches looks again and again. So the evidence here
is a test martingale for each arm: a likelihood ratio, averaged over what the arm might
be, that exceeds 1/a with a probability of at most a, whenever one looks and whatever
chose the arms (Ville's inequality).

**Medians.** If x is above the median of an arm, at least half of its rewards are at
most x. With s of n rewards at most x, the evidence against that is the average of the
likelihood ratio of p to 1/2 over all p below 1/2 (`log_evidence`). An interval at the
level 1 - a is what is left at 2/a on either side. Arm b is above all others if some x
is refuted as too high for b's median and as too low for everybody else's. That is
wrong only if the upper bound of the arm that is truly best is wrong, or the lower
bound of one of the other K - 1. So with evidence of u against x on all other arms and
of v on b, the probability of error is at most 1/u + (K - 1)/v. A bandit's bad arms have
few rewards and its best one many, so the first part gets `OTHERS` of the probability.
Nothing is presumed of the rewards' laws but that an arm's rewards are alike and
independent.

**Arms with few rewards.** A good policy hardly pulls an arm that it knows to be bad, so
five rewards may be all there are, and five say little of a median. They say much if
arms differ in level but not in shape: then an arm that is at least as good as b has at
most a share q of its rewards below b's q-quantile, for every q, and five rewards far
below everything that b pays refute that. The evidence is then the average over the
quantiles in `SHAPE`, with a lower bound of b's in the place of each. What
needs this says so (`assumed`).

**Means**, where most rewards are equal and medians say nothing: rewards of 0 and 1, or
in a range. The same ratio with p and x for shares, and s the sum of the rewards in
units of the range; it is a supermartingale for all rewards in the range, because the
ratio is convex in the reward.

**When not to trust it:** corrupt rewards are rewards like any other here; how many of
them the arms can take is another question (`insight`). If arms change, a mixture of old
and new rewards is judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .evidence import (
    Interval,
    kind_of,
    log_evidence,
    mean_intervals,
    median_interval,
    order_place,
    range_of,
)

SURE = 0.95
"""From this confidence on an arm is called the best."""
OTHERS = 0.8
"""How much of the probability of error is spent on the arms that are not the best."""
SHAPE = (1 / 2, 1 / 4, 1 / 16)
"""The quantiles of the best arm with which an arm of few rewards is compared."""
LEVELS = (0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4)
"""The probabilities of error that are tried there."""
GRID = 2_000
"""Values that are tried between the means of two arms."""

Evidence = tuple[Callable[[int], tuple[float, float]], int]


@dataclass(frozen=True)
class BestArm:
    """Which arm looks best.

    Attributes
    ----------
    best : its place in the list of samples; None if there is nothing to compare.
    confidence : that it is the best, from 0 to 1.
    rivals : the arms that are not clearly worse, at the level `SURE`.
    assumed : whether the confidence presumes that all arms' rewards have one shape; the
        rivals are then those that are clearly worse only by that.
    intervals : one for each arm; each holds at that level on its own.
    of : "median", or "mean" where most rewards are equal.
    """

    best: int | None
    confidence: float
    rivals: tuple[int, ...]
    intervals: tuple[Interval, ...]
    of: str
    assumed: bool = False

    @property
    def sure(self) -> bool:
        """Whether the best arm is known."""
        return self.best is not None and self.confidence >= SURE


def best_arm_of(
    samples: Sequence[np.ndarray],
    minimize: bool = False,
    ends: tuple[float, float] | None = None,
) -> BestArm:
    """Say which arm is best.

    Parameters
    ----------
    samples : the rewards of each arm, in any order; infinite ones for failures.
    minimize : whether small rewards are good.
    ends : the range of the rewards if it is known, for means.

    Examples
    --------
    >>> noise = np.random.default_rng(1)
    >>> best_arm_of([noise.normal(0, 1, 200), noise.normal(2, 1, 200)]).best
    1
    >>> best_arm_of([noise.normal(0, 1, 200), noise.normal(0.1, 1, 200)]).sure
    False
    """
    if not any(len(x) for x in samples):
        unknown = tuple(Interval(math.nan, -math.inf, math.inf) for _ in samples)
        return BestArm(None, 0.0, (), unknown, "median")
    arms = _Means(samples, ends) if kind_of(samples) else _Medians(samples)
    intervals = tuple(arms.intervals(math.log(2 / (1 - SURE))))
    values = [-math.inf if math.isnan(i.value) else i.value for i in intervals]
    if minimize:
        values = [math.inf if math.isnan(i.value) else i.value for i in intervals]
    best = int(np.argmin(values) if minimize else np.argmax(values))
    if len(samples) == 1:
        return BestArm(best, 1.0, (), intervals, arms.of)
    # the evidence that each part needs for an error of 1, in logarithms
    spent_others = -math.log(OTHERS)
    spent_best = math.log((len(samples) - 1) / (1 - OTHERS))
    most = _most(arms.evidence(best, minimize), spent_best, spent_others)
    confidence = 1 - min(1.0, math.exp(-most))
    needed = -math.log(1 - SURE)
    mine = arms.intervals(needed + spent_best)[best]
    rivals = tuple(
        j
        for j, other in enumerate(arms.intervals(needed + spent_others))
        if j != best and not (mine.high < other.low if minimize else other.high < mine.low)
    )
    if confidence < SURE and isinstance(arms, _Medians):
        shaped = arms.confidence_by_shape(best, minimize)
        if shaped >= SURE:
            return BestArm(best, shaped, rivals, intervals, arms.of, True)
    return BestArm(best, confidence, rivals, intervals, arms.of)


class _Medians:
    """Arms that are compared by their medians."""

    of = "median"

    def __init__(self, samples: Sequence[np.ndarray]) -> None:
        self._ordered = [np.sort(x) for x in samples]

    def intervals(self, log_level: float) -> list[Interval]:
        return [median_interval(x, log_level) for x in self._ordered]

    def evidence(self, best: int, minimize: bool) -> Evidence:
        """Return how to compute the evidence at each x, and how many there are.

        It is the evidence that the best arm's median is beyond x, and the least that
        another's is not. The former falls with x, the latter rises.
        """
        ordered = [-x[::-1] for x in self._ordered] if minimize else self._ordered
        rewards = np.unique(np.concatenate(ordered))  # x is just above one of them
        others = [each for j, each in enumerate(ordered) if j != best]
        sizes = np.array([float(len(each)) for each in others])
        mine, half = ordered[best], np.array([0.5])

        def at(k: int) -> tuple[float, float]:
            below = [
                float(np.searchsorted(each, rewards[k], side="right")) for each in (mine, *others)
            ]
            return (
                float(log_evidence(np.array(below[:1]), np.array([len(mine)]), half, False)[0]),
                float(log_evidence(np.array(below[1:]), sizes, half, True).min()),
            )

        return at, len(rewards)

    def confidence_by_shape(self, best: int, minimize: bool) -> float:
        """Return how sure it is that the best arm is, if all have one shape."""
        ordered = [-x[::-1] for x in self._ordered] if minimize else self._ordered
        mine, others = ordered[best], [x for j, x in enumerate(ordered) if j != best]
        confidence = 0.0
        for a in LEVELS:
            spent = math.log(len(others) * len(SHAPE) / ((1 - OTHERS) * a))
            known = [(q, order_place(len(mine), spent, q)) for q in SHAPE]
            ends = [(q, mine[k - 1]) for q, k in known if k > 0]
            if any(_shape_evidence(x, ends) < 1 / (OTHERS * a) for x in others):
                break
            confidence = 1 - a
        return confidence


def _shape_evidence(rewards: np.ndarray, ends: list[tuple[float, float]]) -> float:
    """Return the evidence that rewards are below another arm's quantiles, `ends`."""
    n = np.array([float(len(rewards))])
    found = 0.0
    for q, end in ends:
        s = np.array([float(np.searchsorted(rewards, end, side="left"))])
        found += math.exp(min(700.0, log_evidence(s, n, np.array([q]), True)[0])) / len(SHAPE)
    return found


class _Means:
    """Arms that are compared by the means of rewards in a range."""

    of = "mean"

    def __init__(self, samples: Sequence[np.ndarray], ends: tuple[float, float] | None) -> None:
        self._ends = ends or range_of(samples)
        clipped = [np.clip(x, *self._ends) for x in samples]
        self._sums = np.array([x.sum() for x in clipped])
        self._sizes = np.array([len(x) for x in clipped])

    def intervals(self, log_level: float) -> list[Interval]:
        return mean_intervals(self._sums, self._sizes, self._ends, log_level)

    def evidence(self, best: int, minimize: bool) -> Evidence:
        low, high = self._ends
        n = self._sizes.astype(float)
        s = np.clip((self._sums - n * low) / (high - low), 0.0, n)
        if minimize:
            s = n - s
        x = np.linspace(0, 1, GRID + 2)[1:-1]
        rest = np.arange(len(n)) != best

        def at(k: int) -> tuple[float, float]:
            return (
                float(log_evidence(s[[best]], n[[best]], x[[k]], True)[0]),
                float(log_evidence(s[rest], n[rest], x[[k]], False).min()),
            )

        return at, GRID


def _most(evidence: Evidence, spent_best: float, spent_others: float) -> float:
    """Return the most evidence that some x gives for both, after what is spent."""
    at, count = evidence

    def both(k: int) -> tuple[float, float]:
        mine, others = at(k)
        return mine - spent_best, others - spent_others

    low, high = 0, count - 1  # where they cross is between
    while high - low > 1:
        middle = (low + high) // 2
        mine, others = both(middle)
        low, high = (middle, high) if mine > others else (low, middle)
    return max(min(both(low)), min(both(high)))
