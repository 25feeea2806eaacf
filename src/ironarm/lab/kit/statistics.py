"""The measurements behind claims and tables, each with a 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtrik

from ...show.text import short
from ...simulation.summary import bootstrap_interval, resampling_weights

Z95 = 1.959963984540054
RESAMPLED_QUANTILES = 500
AT_ONCE = 100_000
"""So many values are resampled together: few calls, and little memory."""
MANY = 10_000
"""Resampling more values than this takes seconds each time."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Losses:
    """A policy's losses, one for each trial, and a bound on their mean, if proven."""

    values: np.ndarray
    bound: float | None = None


def mean(values: np.ndarray) -> Estimate:
    """Return the mean with its bootstrap interval; of very many values, a normal one.

    >>> mean(np.array([1.0, 1.0, 1.0]))
    Estimate(value=1.0, low=1.0, high=1.0)
    """
    if len(values) > MANY:
        middle, reach = float(values.mean()), Z95 * float(values.std()) / math.sqrt(len(values))
        return Estimate(middle, middle - reach, middle + reach)
    low, high = bootstrap_interval(values)
    return Estimate(float(values.mean()), float(low), float(high))


def mean_loss(
    values: np.ndarray, largest: float | None = None, bound: float | None = None
) -> Estimate:
    """Return the mean of losses, with an interval that allows for what was not seen.

    A bootstrap knows the trials that it has. What happens in none of n trials may still
    happen in a share 3/n of them, and cost up to `largest`, the largest loss possible,
    instead of the usual one; and a few losses that were seen are as uncertain. None if
    there is no limit, and so no allowance. The mean is also at most `bound`, if a
    certificate gives one.

    >>> losses = np.array([9.0, 10.0, 11.0] * 1000)
    >>> [
    ...     round(end)
    ...     for end in (mean_loss(losses).high, mean_loss(losses, 50_011).high)
    ... ]
    [10, 60]
    >>> round(mean_loss(losses, 50_011, bound=12).high)
    12
    """
    found = mean(values)
    high = found.high
    if largest is not None:
        high += _unseen(values, largest)
    if bound is not None:
        high = min(high, bound)
    return replace(found, high=max(high, found.value))


def mean_difference(one: Losses, other: Losses, largest: float | None = None) -> Estimate:
    """Return the mean of one minus other, trial by trial; see `mean_loss`.

    Each side may have losses that no trial showed. Certificates limit both.
    """
    trials = min(len(one.values), len(other.values))
    found = mean(one.values[:trials] - other.values[:trials])
    low, high = found.low, found.high
    if largest is not None:
        high += _unseen(one.values[:trials], largest)
        low -= _unseen(other.values[:trials], largest)
    if one.bound is not None:
        high = min(high, one.bound - mean(other.values).low)
    if other.bound is not None:
        low = max(low, mean(one.values).low - other.bound)
    return Estimate(found.value, min(low, found.value), max(high, found.value))


def _unseen(losses: np.ndarray, largest: float) -> float:
    """Return by how much losses that were not seen may raise the mean, at 95 %."""
    return unseen_share(len(losses)) * max(0.0, largest - float(np.median(losses)))


def carried_by_few(values: np.ndarray) -> tuple[float, bool]:
    """Return the share above ten times the median, and whether it carries the mean.

    It does if these trials are few and without them the mean is lower by a tenth.

    >>> carried_by_few(np.array([10.0] * 999 + [5000.0]))
    (0.001, True)
    >>> carried_by_few(np.array([10.0] * 999 + [11.0]))
    (0.0, False)
    """
    far = values > 10 * np.median(values)
    share = float(far.mean())
    few = 0 < share < 0.1
    return share, few and bool(values[~far].mean() < 0.9 * values.mean())


def mean_share(values: np.ndarray, least: float = 0.0) -> Estimate:
    """Return the mean of shares, one for each trial, with its bootstrap interval.

    What happens in none of n trials may still happen in a share 3/n of them, and move
    the mean by as much, which a bootstrap does not see, so both ends allow for it.
    `least` is the smallest possible value: 0, or -1 for a difference of two shares.

    >>> estimate = mean_share(np.ones(1000))
    >>> estimate.value, round(estimate.low, 4)
    (1.0, 0.997)
    """
    found, unseen = mean(values), unseen_share(len(values))
    low, high = found.low + unseen * (least - found.low), found.high + unseen * (1 - found.high)
    return Estimate(found.value, low, high)


def unseen_share(trials: int) -> float:
    """Return the largest share of trials that may have gone unseen, at 95 %: 3/n."""
    return min(1.0, 3.0 / trials)


def median(values: np.ndarray) -> Estimate:
    """Return the median with an interval of order statistics, valid for any law.

    Fewer than `k` values lie below the median with a probability of less than 2.5 %.
    With five values or less there is no such k, and so no interval.
    """
    ordered, n = np.sort(values), len(values)
    k = math.ceil(bdtrik(0.025, n, 0.5)) if n > 5 else 0
    low, high = (ordered[k - 1], ordered[n - k]) if k else (-math.inf, math.inf)
    return Estimate(float(np.median(values)), float(low), float(high))


def share(happened: np.ndarray) -> Estimate:
    """Return the share of trials in which something happened, with Wilson's interval.

    That interval also tells how certain a share of 0 is.

    >>> estimate = share(np.zeros(1000, bool))
    >>> estimate.value, round(estimate.high, 4)
    (0.0, 0.0038)
    """
    n, p = len(happened), float(happened.mean())
    centre = (p + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    reach = Z95 / (1 + Z95**2 / n) * math.sqrt(p * (1 - p) / n + Z95**2 / (4 * n * n))
    return Estimate(p, max(0.0, min(p, centre - reach)), min(1.0, max(p, centre + reach)))


def measured_exponent(
    rounds: np.ndarray, regret: np.ndarray, span: float = 10, largest: float | None = None
) -> Estimate:
    """Return the exponent a of mean regret that grows as A + B T^a near the horizon.

    It is 0 for logarithmic growth and 1 for linear. Each time the rounds grow
    `span`-fold, a logarithm adds the same amount, and a power adds `span`^a times the
    amount before. So a is the logarithm to the base `span` of the ratio of what the
    last two such stretches added. `regret` has one row per trial. A mean that does not
    grow counts as 0. Theory's exact exponent is `ironarm.theory.growth_exponent`.

    With the `largest` regret possible, the upper end allows for losses in the last
    stretch that no trial showed; see `mean_loss`.

    >>> T = np.array([1, 10, 100, 1000])
    >>> (
    ...     round(measured_exponent(T, np.array([5.0 * T, 7.0 * T])).value, 6),
    ...     abs(round(measured_exponent(T, np.log([T, T])).value, 6)),
    ... )
    (1.0, 0.0)
    """
    ends = regret[:, _stretch_ends(rounds, span)]
    found = resampled(ends, lambda curve: _exponent(curve, span))
    if largest is None:
        return found
    worse = ends.mean(axis=0, keepdims=True)
    worse[:, -1] += _unseen(ends[:, -1], largest)
    more = float(_exponent(worse, span)[0])
    return found if math.isnan(more) else replace(found, high=max(found.high, more))


def quantile_exponent(
    rounds: np.ndarray, regret: np.ndarray, quantile: float, span: float = 10
) -> Estimate:
    """Return the exponent of a quantile of the regret; see `measured_exponent`.

    If all of n trials may well lie below the quantile, as 20 do below the one of 95 %
    with probability 0.36, nothing is known of how large it is: no upper end.
    """
    at = _stretch_ends(rounds, span)
    n, ends = len(regret), regret[:, at].T
    rng, size = np.random.default_rng(0), max(1, AT_ONCE // n)
    resamples = [
        np.quantile(
            ends[:, rng.integers(n, size=(min(size, RESAMPLED_QUANTILES - done), n))],
            quantile,
            axis=2,
        )
        for done in range(0, RESAMPLED_QUANTILES, size)
    ]
    whole = _exponent(np.quantile(ends, quantile, axis=1)[None], span)
    found = _with_interval(float(whole[0]), _exponent(np.concatenate(resamples, axis=1).T, span))
    return replace(found, high=math.inf) if quantile**n > 0.05 else found


def _stretch_ends(rounds: np.ndarray, span: float) -> list[int]:
    """Return where the last two `span`-fold stretches of the rounds begin and end."""
    powers = (span * span, span, 1)
    return [int(np.abs(np.log(rounds * power / rounds[-1])).argmin()) for power in powers]


def _exponent(curve: np.ndarray, span: float) -> np.ndarray:
    earlier, later = curve[:, 1] - curve[:, 0], curve[:, 2] - curve[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.log(later / earlier) / np.log(span)
    # a mean that does not grow counts as 0; one that begins to grow, as any power
    return np.where(later <= 0, 0.0, np.where(earlier <= 0, np.inf, exponent))


def fitted_slope(rounds: np.ndarray, regret: np.ndarray, offset: np.ndarray) -> Estimate:
    """Return the least-squares slope of log(mean regret - offset) against log T.

    Rounds where the mean does not exceed the offset are left out.
    """
    x = np.log(rounds)

    def slope(curves: np.ndarray) -> np.ndarray:
        excess = curves - offset
        weight = excess > 0
        y = np.log(np.where(weight, excess, 1.0))
        n = weight.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mx, my = (weight * x).sum(axis=1) / n, (weight * y).sum(axis=1) / n
            dx = weight * (x - mx[:, None])
            found = (dx * (y - my[:, None])).sum(axis=1) / (dx**2).sum(axis=1)
        return np.where(np.abs(found) < 1e-9, 0.0, found)  # rounding, of a constant

    return resampled(regret, slope)


def resampled(rows: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> Estimate:
    """Return a statistic of the mean row, with a bootstrap interval over rows (trials).

    The seed is fixed.
    """
    value = float(statistic(rows.mean(axis=0, keepdims=True))[0])
    spread = np.concatenate(
        [statistic(weights @ rows) for weights in resampling_weights(len(rows))]
    )
    return _with_interval(value, spread)


def _with_interval(value: float, spread: np.ndarray) -> Estimate:
    """Return a value with the central 95 % of what resampling gave."""
    spread = spread[~np.isnan(spread)]
    if len(spread) == 0 or not math.isfinite(value):
        return Estimate(value, -math.inf, math.inf)
    # of these values themselves, because some may be infinite
    low, high = np.quantile(spread, [0.025, 0.975], method="inverted_cdf")
    return Estimate(value, float(min(low, value)), float(max(high, value)))


def interval(estimate: Estimate, form: str = "", unit: str = "") -> str:
    """Return a number with its interval as text, all three with as many decimals.

    >>> (
    ...     interval(Estimate(0.4, 0.3, 0.6), ".2f"),
    ...     interval(Estimate(-0.001, -0.39, 0.01), ".2f", "dB"),
    ... )
    ('0.40 (0.30 to 0.60)', '0.00 dB (−0.39 to 0.01)')
    >>> interval(Estimate(-1090.6, -1954.2, -88.24))
    '−1,091 (−1,954 to −88)'
    >>> (
    ...     interval(Estimate(0.1, 0.1, 0.1)),
    ...     interval(Estimate(0.1, 0.099, 0.102), ".1f"),
    ... )
    ('0.1 (the same in all trials)', '0.1 (0.1 to 0.1)')
    """
    largest = max(map(abs, (estimate.value, estimate.low, estimate.high)))
    if not form and 100 <= largest < 1e8:
        form = ",.0f"
    value, low, high = (
        _signed(format(x, form) if form else short(x))
        for x in (estimate.value, estimate.low, estimate.high)
    )
    same = math.isclose(estimate.low, estimate.high, rel_tol=1e-9, abs_tol=1e-9)
    bounds = "the same in all trials" if same and low == high else f"{low} to {high}"
    return f"{value}{' ' if unit else ''}{unit} ({bounds})"


def percent(estimate: Estimate) -> str:
    """Return a share with its interval, in percent."""
    return interval(
        Estimate(100 * estimate.value, 100 * estimate.low, 100 * estimate.high), ".1f", "%"
    )


def _signed(number: str) -> str:
    """Return a number's text with a true minus sign, and none before a zero."""
    number = number.replace("inf", "∞")
    return number.replace("-", "−" if any(digit in number for digit in "123456789∞") else "")
