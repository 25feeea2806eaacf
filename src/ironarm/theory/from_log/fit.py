"""From logged rewards to laws: robust estimates with bootstrap intervals.

They say so when the data cannot tell.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...bandits import ReplayBandit
from ...errors import InvalidInput
from ...policies import Policy
from ...show.notebook import html_table
from ...show.text import counted, text_table
from ...validation import number, whole
from ..arms import Arms, Normal
from ..bounded import Bounded
from ..suited import MOSTLY_ZERO, Suitability, ties_remark, trimmed_means, zero_one_remark
from .bounded_log import ENOUGH, Resampled, bounded_log, kind_of_log

HEAD = ("arm", "rewards", "median", "sigma", "gap")
HEAD_OF_MEANS = ("arm", "rewards", "mean", "gap")
MAD_TO_SIGMA = 1.482602218505602
TOO_LARGE = 1e100
"""Squares and differences of rewards up to it are numbers."""


@dataclass(frozen=True)
class FittedArm:
    """One arm of the log, with robust estimates.

    `sigma` is 1.4826 MAD, `gap` the distance of its lower median to that of the best
    arm, `mean` a clipped mean and `mean_gap` its distance, `tied` the share of rewards
    equal to the median.
    """

    name: str
    rewards: int
    median: Resampled
    sigma: Resampled
    gap: Resampled
    mean: Resampled
    mean_gap: Resampled
    tied: float


@dataclass(frozen=True, eq=False)
class Fit:
    """What a log says.

    Attributes
    ----------
    fitted : one `FittedArm` for each arm.
    best : the arm with the best median, or with the best mean if `bounded` is given.
    malicious, coin : the largest rho that can be tolerated, from the arms' empirical
        distribution functions; no normal law is assumed.
    bounded : what can be done if means of rewards in a range are the right tool: for
        rewards of 0 and 1, and where most are equal. Else None.
    suitability : whether medians are the right tool.
    cannot_tell : why the data cannot tell which arm is best, a sentence; empty if it
        can.
    level : of the intervals.
    deviation : the standard deviation of the best arm's rewards, outliers and all.
    """

    fitted: tuple[FittedArm, ...]
    best: int
    malicious: Resampled
    coin: Resampled
    bounded: Bounded | None
    suitability: Suitability
    cannot_tell: str
    level: float
    deviation: float

    @property
    def arms(self) -> Arms:
        """The arms as normal laws with the estimated medians and sigmas."""
        return Arms.of([Normal(arm.median.value, arm.sigma.value) for arm in self.fitted])

    @property
    def tied(self) -> tuple[str, ...]:
        """The names of the arms that share the first place; empty if one is alone."""
        first = [arm.name for arm in self.fitted if self._is_first(arm)]
        return tuple(first) if len(first) > 1 else ()

    def __str__(self) -> str:
        return text_table(self._head(), self._cells())

    def _repr_html_(self) -> str:
        bold = [] if self.tied else [self.best]
        return html_table(self._head(), self._cells(), bold=bold)

    def _head(self) -> tuple[str, ...]:
        return HEAD if self.bounded is None else HEAD_OF_MEANS

    def _cells(self) -> list[tuple[str, ...]]:
        """Return a row of texts for each arm."""
        if self.bounded is not None:
            return [
                (
                    arm.name,
                    f"{arm.rewards:,}",
                    str(arm.mean),
                    self._place(arm) or str(arm.mean_gap),
                )
                for arm in self.fitted
            ]
        return [
            (
                arm.name,
                f"{arm.rewards:,}",
                str(arm.median),
                str(arm.sigma),
                self._place(arm) or str(arm.gap),
            )
            for arm in self.fitted
        ]

    def _place(self, arm: FittedArm) -> str:
        """Return what stands for the gap of an arm in the first place."""
        if not self._is_first(arm):
            return ""
        return "equal" if self.tied else "best"

    def _is_first(self, arm: FittedArm) -> bool:
        best = self.fitted[self.best]
        return arm.mean.value == best.mean.value and (
            self.bounded is not None or arm.median.value == best.median.value
        )


def fit(
    table: ReplayBandit | str | Path | Iterable[tuple[Any, float]] | Any,
    *,
    rho: float = 0.0,
    level: float = 0.95,
    resamples: int = 400,
    seed: int = 0,
) -> Fit:
    """Estimate the laws of logged rewards, robustly, with bootstrap intervals.

    The largest rho is that of Assumption 2, max over x0 of min(1/2 - F_best(x0), min_j
    F_j(x0) - 1/2), with empirical distribution functions; for an independent coin 2
    s/(1 + 2 s). A log with a share of corrupt rewards moves medians and MADs little,
    but it does move them: better to log from a time without attacks.

    **When not to use it:** with fewer than 20 rewards of an arm it refuses to tell.
    With rewards that depend on time or on each other the intervals are too narrow.

    Parameters
    ----------
    table : a CSV file or a data frame with the columns `arm` and `reward`, (arm,
        reward) pairs, or a `ReplayBandit`.
    rho : the corrupt share expected later, for the advice on what to use instead.
    level : of the intervals.
    resamples : bootstrap resamples.
    seed : of the resampling.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(1)
    >>> log = [("a", x) for x in noise.normal(0, 1, 400)] + [
    ...     ("b", x) for x in noise.normal(2, 1, 400)
    ... ]
    >>> result = fit(log)
    >>> result.fitted[result.best].name, result.cannot_tell
    ('b', '')
    >>> bool(
    ...     result.coin.low < 0.4057 < result.coin.high
    ... )  # the limit for normal arms two sigma apart
    True
    """
    bandit = table if isinstance(table, ReplayBandit) else ReplayBandit(table)
    rho = number("rho", rho, at_least=0, below=1)
    level = number("level", level, above=0, below=1)
    resamples = whole("resamples", resamples, at_least=10)
    logged = _comparable(bandit)
    medians = np.array([_lower_median(x) for x in logged])
    means = np.array([_clipped_mean(x, _sigma(x)) for x in logged])
    kind = kind_of_log(logged)
    # where medians tie, as those of few 0/1 rewards do, means decide
    best = int(np.argmax(means) if kind else np.lexsort((-means, -medians))[0])
    generator = np.random.default_rng(seed)
    boots = [_resample(logged, best, generator) for _ in range(resamples)]
    ends = [(1 - level) / 2, (1 + level) / 2]

    def estimate(value: float, values: list[float], rewards: int = ENOUGH) -> Resampled:
        if rewards < ENOUGH:
            # too few for a bootstrap interval to mean anything
            return Resampled(float(value), math.nan, math.nan)
        low, high = np.quantile(values, ends)
        return Resampled(float(value), float(low), float(high))

    least = [min(len(x), len(logged[best])) for x in logged]

    fitted = tuple(
        FittedArm(
            _shown(name, bandit.names),
            len(x),
            estimate(medians[j], [boot.medians[j] for boot in boots], len(x)),
            estimate(_sigma(x), [boot.sigmas[j] for boot in boots], len(x)),
            estimate(
                medians[best] - medians[j],
                [boot.medians[best] - boot.medians[j] for boot in boots],
                least[j],
            ),
            estimate(means[j], [boot.means[j] for boot in boots], len(x)),
            estimate(
                means[best] - means[j],
                [boot.means[best] - boot.means[j] for boot in boots],
                least[j],
            ),
            float((x == medians[j]).mean()),
        )
        for j, (name, x) in enumerate(zip(bandit.names, logged, strict=True))
    )
    malicious = estimate(max(0.0, _room(logged, best)), [max(0.0, boot.room) for boot in boots])
    if any(arm.rewards < ENOUGH for arm in fitted):
        malicious = Resampled(malicious.value, 0.0, 0.5)
    coin = Resampled(
        *(2 * s / (1 + 2 * s) for s in (malicious.value, malicious.low, malicious.high))
    )
    bounded = bounded_log(
        kind, logged, best, [arm.mean_gap for j, arm in enumerate(fitted) if j != best]
    )
    judgement = _suitability(logged, fitted, best, boots, rho, bounded, malicious.value > 0)
    why_not = _cannot_tell(fitted, best, bounded)
    deviation = float(np.std(logged[best]))
    return Fit(fitted, best, malicious, coin, bounded, judgement, why_not, level, deviation)


def _comparable(bandit: ReplayBandit) -> list[np.ndarray]:
    """Return the rewards of each arm, in order; refuse what cannot be compared."""
    if len(bandit.logged) < 2:
        raise InvalidInput(
            "a certificate compares arms, so the table must have at least 2, got "
            f"{len(bandit.logged)}."
        )
    logged = [np.asarray(rewards) for rewards in bandit.logged]
    largest = max(float(np.abs(x[[0, -1]]).max()) for x in logged)
    if largest > TOO_LARGE:
        raise InvalidInput(
            f"rewards up to {largest:.3g} are too large to compute with; log them in other units."
        )
    return logged


def _shown(name: object, names: Sequence[object]) -> str:
    """Return an arm's name; as Python has it if it is empty or reads as another."""
    text = str(name)
    alone = sum(str(other) == text for other in names) == 1
    return text if alone and text.isprintable() and text.strip() else repr(name)


@dataclass(frozen=True, eq=False)
class _Resample:
    medians: np.ndarray
    sigmas: np.ndarray
    means: np.ndarray
    room: float


def _resample(logged: list[np.ndarray], best: int, generator: np.random.Generator) -> _Resample:
    # the rewards are in order, so counting the draws spares sorting them
    drawn = [
        np.repeat(x, np.bincount(generator.integers(0, len(x), len(x)), minlength=len(x)))
        for x in logged
    ]
    medians = np.array([_lower_median(x) for x in drawn])
    sigmas = [_sigma(x) for x in drawn]
    return _Resample(
        medians,
        np.array(sigmas),
        np.array([_clipped_mean(x, sigma) for x, sigma in zip(drawn, sigmas, strict=True)]),
        _room(drawn, best),
    )


def _lower_median(sorted_rewards: np.ndarray) -> float:
    return float(sorted_rewards[(len(sorted_rewards) + 1) // 2 - 1])


def _sigma(sorted_rewards: np.ndarray) -> float:
    return MAD_TO_SIGMA * float(np.median(np.abs(sorted_rewards - _lower_median(sorted_rewards))))


def _clipped_mean(sorted_rewards: np.ndarray, sigma: float) -> float:
    """Return the mean of rewards clipped to ten sigmas around the median.

    A few corrupt rewards in a log must not make it look skewed.
    """
    median, reach = _lower_median(sorted_rewards), 10 * sigma
    return float(
        np.clip(sorted_rewards, median - reach, median + reach).mean()
        if reach > 0
        else sorted_rewards.mean()
    )


def _room(logged: list[np.ndarray], best: int) -> float:
    """Return max over x0 of min(1/2 - F_best(x0), min_j F_j(x0) - 1/2).

    The maximum is at a reward of another arm, where some F_j has just risen. Along the
    rewards of an arm the first term falls and the second rises, so it is where they
    cross.
    """
    others = [x for j, x in enumerate(logged) if j != best]

    def falls(x0: float) -> float:
        return 0.5 - float(np.searchsorted(logged[best], x0, side="right")) / len(logged[best])

    def rises(x0: float) -> float:
        return min(float(np.searchsorted(x, x0, side="right")) / len(x) for x in others) - 0.5

    def crossing(x: np.ndarray) -> float:
        first = bisect_left(x, True, key=lambda x0: rises(x0) >= falls(x0))  # type: ignore[call-overload]
        return max(min(falls(x0), rises(x0)) for x0 in x[max(first - 1, 0) : first + 1])

    return max(crossing(x) for x in others)


def _suitability(
    logged: list[np.ndarray],
    fitted: tuple[FittedArm, ...],
    best: int,
    boots: list[_Resample],
    rho: float,
    bounded: Bounded | None,
    room: bool,
) -> Suitability:
    if any(arm.rewards < ENOUGH for arm in fitted):
        # too few to judge, except that zeros and ones have no use for medians
        return Suitability(bounded is None)
    if all(x[0] == x[-1] == logged[0][0] for x in logged):
        return Suitability(
            False,
            "all rewards are the same number.",
            "All rewards are the same number, so there is nothing to choose by. Log something "
            "that differs between arms.",
        )
    by_mean = int(np.argmax([arm.mean.value for arm in fitted]))
    ordered = (
        all(arm.gap.value > 0 for j, arm in enumerate(fitted) if j != best) and by_mean == best
    )
    if bounded is not None:
        ordered = ordered and room  # medians that the least attack moves are none
        remark = (
            zero_one_remark(ordered)
            if bounded.kind == "0 or 1"
            else MOSTLY_ZERO
            if bounded.kind == "mostly 0"
            else ties_remark(max(arm.tied for arm in fitted))
        )
        return Suitability(ordered, remark, *bounded.advice(rho))
    if by_mean != best:
        ahead = [boot.means[by_mean] - boot.means[best] for boot in boots]
        if np.quantile(ahead, 0.025) > 0:
            remark = (
                f"the best mean is that of arm {fitted[by_mean].name}, the best median that of "
                f"arm {fitted[best].name}: a policy on medians converges to the latter."
            )
            return Suitability(False, remark, *_trimmed(logged, by_mean, rho))
    return Suitability(True)


def _trimmed(logged: list[np.ndarray], by_mean: int, rho: float) -> tuple[str, Policy | None]:
    laws = tuple(_Empirical(x) for x in logged)
    means = np.array([law.mean() for law in laws])
    others = tuple(j for j in range(len(laws)) if j != by_mean)
    return trimmed_means(
        Arms(laws, means, by_mean, others, means[by_mean] - means[list(others)], None), rho
    )


@dataclass(frozen=True, eq=False)
class _Empirical:
    """The law of drawing from a log."""

    rewards: np.ndarray

    def cdf(self, x: Any) -> Any:
        return np.searchsorted(self.rewards, x, side="right") / len(self.rewards)

    def ppf(self, p: Any) -> Any:
        return self.rewards[
            np.maximum(0, np.ceil(np.asarray(p) * len(self.rewards)).astype(np.int64) - 1)
        ]

    def mean(self) -> float:
        return float(self.rewards.mean())


def _cannot_tell(fitted: tuple[FittedArm, ...], best: int, bounded: Bounded | None) -> str:
    few = [arm for arm in fitted if arm.rewards < ENOUGH]
    if few:
        one = f"arm {few[0].name} has {counted(few[0].rewards, 'reward')}"
        some = one if len(few) == 1 else f"{len(few)} arms have few rewards ({one})"
        return f"{some}; with fewer than {ENOUGH} the data cannot tell. Log more."
    others = [arm for j, arm in enumerate(fitted) if j != best]
    if bounded is not None:
        close = [arm for arm in others if arm.mean_gap.low <= 0]
        return _close(fitted[best], close[0], close[0].mean_gap, "mean") if close else ""
    if any(arm.sigma.value == 0 for arm in fitted):
        arm = next(arm for arm in fitted if arm.sigma.value == 0)
        return (
            f"more than half of the rewards of arm {arm.name} are the same number, so its spread "
            "cannot be estimated."
        )
    close = [arm for arm in others if arm.gap.low <= 0]
    return _close(fitted[best], close[0], close[0].gap, "median") if close else ""


def _close(best: FittedArm, other: FittedArm, gap: Resampled, what: str) -> str:
    return (
        f"the data cannot tell whether arm {best.name} or arm {other.name} has the better "
        f"{what}: the gap is {gap}. {_more(gap)}"
    )


def _more(gap: Resampled) -> str:
    """Say roughly how many rewards would suffice.

    The interval shrinks with the root of their number.
    """
    width = (gap.high - gap.low) / 2
    if gap.value <= 0 or width == 0:
        return "Log more."
    return (
        f"About {math.ceil(max(2.0, 1.5 * (width / gap.value) ** 2))} times as many rewards "
        "may tell."
    )
