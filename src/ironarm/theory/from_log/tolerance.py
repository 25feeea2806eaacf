"""How much corruption an agent's arms can take: bounds that hold when rewards are few.

**What is bounded.** An independent coin of probability rho decides which rewards are
corrupt. Medians find the best arm b for rho below 2 s/(1 + 2 s), where s is the largest
number for which some x has F_b(x) <= 1/2 - s and F_j(x) >= 1/2 + s for all others
(`theory.limits`). Against somebody who sees rewards before he corrupts them, they do
for shares below s. For rewards that are mostly equal, means in their range do for rho
below g/(1 + g), with the gap g in units of the range (`theory.bounded`).

**At least.** s is possible if a lower bound of b's (1/2 - s)-quantile is above an upper
bound of every other arm's (1/2 + s)-quantile. The bounds are those of `evidence`, from
test martingales. Let s be the truth. There is one x at which b, or one other arm j,
must be misjudged for a larger s to look possible: evidence at another x, or for a
larger s, is evidence there. So if b is the best, one martingale of b and one of j
decide; if another arm looks best, one of that arm and one of the best one as an
"other".

**Few rewards.** A bandit's bad arms have few rewards, which say little of quantiles. As
for the best arm, they say more if arms differ in level and not in shape. If an arm is
at most d below b, at most a share q of its rewards plus d are below b's q-quantile:
that is refuted for all d below some d0, the least gap. Then b's upper bound of the (1/2
+ s)-quantile, less d0, is one of the other arm's. Of the two bounds the lower one
counts, for each arm; `assumed` says whether the shape was needed. More martingales may
now err: two of b and another one of j, and `SHAPE` ones of every arm that might look
best. With evidence of v asked of what looks best and of u of the others, the error is
at most (4 K + 2)/v + 4/u.

**At most.** The same from the other side: s is too large if for every arm b that may be
the best, some arm's lower bound of the (1/2 + s)-quantile is not below b's upper bound
of the (1/2 - s)-quantile. One martingale of the best arm and one of each other decide.

**About.** The estimate in the middle takes arms to have one shape: that of the arm with
the most rewards, moved by the difference of the medians. It promises nothing.

**What counts as clean.** Rewards that stand out are left out (`insight`), and belong to
the share that can be taken, whether they are corrupt or an honest law's far end: below
the limit the medians are in order wherever these rewards lie. Corrupt rewards that look
honest stay in, and can move the bounds. As everywhere here, an arm's rewards are taken
to be alike and independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..bounded import limit_on_rho
from .best_arm import SHAPE, SURE, BestArm
from .evidence import LARGEST, Interval, kind_of, log_evidence
from .evidence import mean_intervals as intervals_of_means
from .evidence import range_of as range_of_rewards

WRONG = 1 - SURE
"""How probable an error of `low` is, of `high`, and of an alarm, at most."""
PART = WRONG / 3
"""An alarm is wrong if the best arm is, or `high`, or the share that seems corrupt."""
FEWER = 0.9
"""How much of an error is spent on the arms with few rewards, those not the best."""
STEPS = 12
"""Halvings when a share is sought: to a hundredth of a percent."""
GAP_STEPS = 25
"""Halvings when a gap is sought."""


@dataclass(frozen=True)
class Tolerance:
    """The corrupt share that the arms can take, exclusive.

    Attributes
    ----------
    low : at least that, with a confidence of `SURE`; 0 if nothing is known.
    about : an estimate between them; None if there is none.
    high : at most that, with the same confidence; 1/2 if nothing is known.
    malicious : at least that if who corrupts rewards sees them before; None for means.
    of : what finds the best arm up to there, "median" or "mean".
    assumed : whether `low` presumes that all arms' rewards have one shape.
    unseen : the places of the arms without any reward: one of them may be the best.
    rewards : that it was computed from.
    """

    low: float
    about: float | None
    high: float
    malicious: float | None
    of: str
    assumed: bool
    unseen: tuple[int, ...]
    rewards: int

    def exceeded(self, corrupt: int, rewards: int) -> bool:
        """Say whether so many corrupt ones of all rewards are surely too many."""
        if not corrupt or self.high >= 0.5:
            return False
        high = np.array([max(self.high, 1e-9)])
        seen = log_evidence(np.array([float(corrupt)]), np.array([float(rewards)]), high, True)
        return bool(seen[0] >= -math.log(PART))


def tolerance_of(
    samples: Sequence[np.ndarray],
    judged: BestArm,
    minimize: bool = False,
    ends: tuple[float, float] | None = None,
) -> Tolerance | None:
    """Return what the arms can take; None without rewards, or with one arm only.

    `samples` are the rewards of each arm that do not seem corrupt; `judged` says which
    arm is best; `ends` is the range of the rewards, if it is known.

    >>> from .best_arm import best_arm_of
    >>> noise = np.random.default_rng(1)
    >>> samples = [noise.normal(0, 1, 2000), noise.normal(2, 1, 2000)]
    >>> found = tolerance_of(samples, best_arm_of(samples))
    >>> found.low < 0.4057 < found.high  # the truth for normal arms two sigma apart
    True
    """
    best = judged.best
    if best is None or len(samples) < 2:
        return None
    unseen = tuple(j for j, x in enumerate(samples) if not len(x))
    rewards = sum(map(len, samples))
    # which arms may be the best, as far as `high` is concerned
    sure = judged.confidence >= 1 - PART
    candidates = [best] if sure else list(range(len(samples)))
    by_means = bool(kind_of(samples))
    if by_means and ends is None:
        ends = range_of_rewards(samples)
    if minimize:
        samples = [-x for x in samples]
        ends = None if ends is None else (-ends[1], -ends[0])
    if by_means and ends is not None:
        low, about, high = _of_means(samples, best, candidates, ends)
        return Tolerance(low, about, high, None, "mean", False, unseen, rewards)
    arms = _Quantiles(samples)
    plain, room = arms.room(best, False), arms.room(best, True)
    low, high = limit_on_rho(2 * room), limit_on_rho(2 * arms.most_room(candidates))
    middle = arms.usual_room(best)
    about = None if middle is None else min(max(low, limit_on_rho(2 * middle)), high)
    return Tolerance(low, about, high, room, "median", room > plain, unseen, rewards)


def _spent(wrong: float, of_best: int, of_others: int) -> tuple[float, float]:
    """Return the logarithms of the evidence to ask of the best arm and of others.

    So many martingales of each kind may then err with probability `wrong` in all.
    """
    return (
        math.log(of_best / ((1 - FEWER) * wrong)),
        math.log(of_others / (FEWER * wrong)),
    )


class _Quantiles:
    """Bounds of the arms' quantiles; large rewards are good."""

    def __init__(self, samples: Sequence[np.ndarray]) -> None:
        self._ordered = [np.sort(x) for x in samples]
        self._sizes = np.array([len(x) for x in samples])

    def room(self, best: int, by_shape: bool) -> float:
        """Return how large s is at least; `by_shape` if all arms have one shape."""
        of_best, of_others = _spent(WRONG, (1 + len(SHAPE)) * len(self._sizes) + 2, 4)
        others = [j for j in range(len(self._sizes)) if j != best]
        gaps = self._gaps_by_shape(best, others, of_best, of_others) if by_shape else None

        def possible(s: float) -> bool:
            end = self._lower([best], 0.5 - s, of_best)[0]
            limits = np.array(self._upper(others, 0.5 + s, of_others))
            if gaps is not None:
                limits = np.minimum(limits, self._upper([best], 0.5 + s, of_best)[0] - gaps)
            return bool(end > limits.max())

        return _largest(possible)

    def most_room(self, candidates: list[int]) -> float:
        """Return how large s is at most."""
        every = list(range(len(self._sizes)))
        of_best, of_others = _spent(PART, 1, max(1, len(every) - 1))

        def possible(s: float) -> bool:
            ends = np.array(self._lower(every, 0.5 + s, of_others))
            first, second = np.argsort(-ends, kind="stable")[:2]
            limits = self._upper(candidates, 0.5 - s, of_best)
            return any(
                limit > ends[second if b == first else first]
                for b, limit in zip(candidates, limits, strict=True)
            )

        return 0.5 if possible(_END) else _largest(possible, _END) + _END / 2**STEPS

    def usual_room(self, best: int) -> float | None:
        """Return an estimate of s; None if an arm has no rewards, or mostly fails."""
        if not self._sizes.all():
            return None
        medians = [float(x[(len(x) - 1) // 2]) for x in self._ordered]
        gap = medians[best] - max(m for j, m in enumerate(medians) if j != best)
        shape = self._ordered[int(np.argmax(self._sizes))]
        if not math.isfinite(gap) or gap <= 0:
            return 0.0 if gap <= 0 else None
        below, above = (
            np.searchsorted(shape, shape + by, side="right") / len(shape) for by in (0.0, gap)
        )
        return max(0.0, float(np.minimum(0.5 - below, above - 0.5).max()))

    def _gaps_by_shape(
        self, best: int, others: list[int], of_best: float, of_others: float
    ) -> np.ndarray:
        """Return how far each other arm is below the best at least; -inf if unknown."""
        known = [(q, self._lower([best], q, of_best)[0]) for q in SHAPE]
        known = [(q, end) for q, end in known if math.isfinite(end)]
        rewards = [self._ordered[j] for j in others]
        sizes = self._sizes[others].astype(float)

        def refuted(gaps: np.ndarray) -> np.ndarray:
            total = np.full(len(others), -math.inf)
            for q, end in known:
                ends = zip(rewards, end - gaps, strict=True)
                below = [float(np.searchsorted(x, y, side="left")) for x, y in ends]
                seen = log_evidence(np.array(below), sizes, np.array([q]), True)
                total = np.logaddexp(total, seen - math.log(len(SHAPE)))
            return np.asarray(total >= of_others)

        low = np.zeros(len(others))
        some = refuted(low)
        finite = np.concatenate([x[np.abs(x) <= LARGEST] for x in self._ordered])
        high = np.full(len(others), float(np.ptp(finite)) if len(finite) else 0.0)
        for _ in range(GAP_STEPS):
            middle = (low + high) / 2
            there = refuted(middle)
            low, high = np.where(there, middle, low), np.where(there, high, middle)
        return np.where(some, low, -math.inf)

    def _lower(self, arms: list[int], q: float, log_level: float) -> list[float]:
        places = _places(self._sizes[arms], q, log_level)
        return [
            float(self._ordered[j][k - 1]) if k else -math.inf
            for j, k in zip(arms, places, strict=True)
        ]

    def _upper(self, arms: list[int], q: float, log_level: float) -> list[float]:
        places = _places(self._sizes[arms], 1 - q, log_level)
        return [
            float(self._ordered[j][-k]) if k else math.inf
            for j, k in zip(arms, places, strict=True)
        ]


_END = 0.5 - 1e-6
"""The largest s that is tried."""


def _places(sizes: np.ndarray, q: float, log_level: float) -> np.ndarray:
    """Return which reward in order is a lower bound of each arm's q-quantile, or 0.

    It is `evidence.order_place` for many arms at once.
    """
    low, high = np.full(len(sizes), -1), (sizes * q).astype(int)
    n, share = sizes.astype(float), np.array([q])
    while (high - low > 1).any():
        k = (low + high) // 2
        refuted = log_evidence(np.maximum(k, 0).astype(float), n, share, False) >= log_level
        refuted |= k < 0
        low, high = np.where(refuted, k, low), np.where(refuted, high, k)
    return np.where(sizes > 0, low + 1, 0)


def _largest(possible: Callable[[float], bool], end: float = _END, steps: int = STEPS) -> float:
    """Return the largest number up to an end that is possible, rounded down."""
    low, high = 0.0, end
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low


def _of_means(
    samples: Sequence[np.ndarray], best: int, candidates: list[int], ends: tuple[float, float]
) -> tuple[float, float | None, float]:
    """Return how much means can take: at least, about, at most."""
    clipped = [np.clip(x, *ends) for x in samples]
    sums = np.array([float(x.sum()) for x in clipped])
    sizes = np.array([len(x) for x in clipped])

    def bounds(log_level: float) -> list[Interval]:
        return intervals_of_means(sums, sizes, ends, log_level)

    of_best, of_others = _spent(WRONG, len(samples), 2)
    mine, others = bounds(of_best)[best], bounds(of_others)
    least = mine.low - max(i.high for j, i in enumerate(others) if j != best)
    about = 0.0  # an arm without rewards has no mean
    if sizes.all():
        about = mine.value - max(i.value for j, i in enumerate(others) if j != best)
    of_best, of_others = _spent(PART, 1, max(1, len(samples) - 1))
    all_high, others = bounds(of_best), bounds(of_others)
    most = max(
        all_high[b].high - max(i.low for j, i in enumerate(others) if j != b) for b in candidates
    )
    low, middle, high = (
        limit_on_rho(min(max(gap / (ends[1] - ends[0]), 0.0), 1.0)) for gap in (least, about, most)
    )
    return low, min(max(low, middle), high) if sizes.all() else None, high
