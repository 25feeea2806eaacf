"""Checks of results: one function each, marked with `@check`; see `checking.py`.

A check knows nothing about what the paper says. Claims name it in `claims.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from ...show.text import short
from ..kit import statistics
from ..kit.evidence import Evidence
from ..kit.statistics import Estimate, interval, percent
from .checking import (
    CANNOT_TELL,
    Measured,
    Policies,
    PoliciesOrNone,
    Positive,
    Share,
    above,
    below,
    check,
    near,
)

NOTHING_KNOWN = Estimate(np.nan, -np.inf, np.inf)


@check
def lower_mean_regret(evidence: Evidence, policies: Policies, against: Policies) -> list[Measured]:
    """Each policy has a smaller mean final regret than each of the others, in pairs."""
    return [
        _difference(evidence, one, other, partial(below, bound=0.0))
        for one, other in product(policies, against)
    ]


@check
def same_mean_regret(
    evidence: Evidence, policies: Policies, against: Policies, within: Positive
) -> list[Measured]:
    """The mean final regrets differ by at most a share `within` of the first."""
    found = []
    for one, other in product(policies, against):
        size = within * float(evidence.regret(one).mean())
        found.append(_difference(evidence, one, other, partial(near, target=0.0, within=size)))
    return found


@check
def same_median_regret(
    evidence: Evidence, policies: Policies, against: Policies, within: Positive
) -> list[Measured]:
    """In a typical trial the final regrets differ by at most a share of the first.

    That is the median of the paired differences. Unlike a mean, it does not depend on
    what happens in one trial of a thousand.
    """
    found = []
    for one, other in product(policies, against):
        size = within * float(np.median(evidence.regret(one)))
        found.append(
            _median_difference(evidence, one, other, partial(near, target=0.0, within=size))
        )
    return found


def _difference(
    evidence: Evidence, one: str, other: str, judgement: Callable[[Estimate], str]
) -> Measured:
    """Return the mean difference between two policies' final regrets."""
    difference = evidence.difference(one, other)
    means = "; ".join(
        f"{name}: {short(evidence.regret(name).mean(), evidence.unit)}" for name in (one, other)
    )
    return Measured(
        f"{one} minus {other}",
        difference,
        judgement(difference),
        f"{means}; difference {interval(difference, unit=evidence.unit)}",
    )


@check
def lower_median_regret(
    evidence: Evidence, policies: Policies, against: Policies
) -> list[Measured]:
    """In a typical trial, each policy has less final regret than each of the others.

    The median of the paired differences is below 0.
    """
    return [
        _median_difference(evidence, one, other, partial(below, bound=0.0))
        for one, other in product(policies, against)
    ]


def _median_difference(
    evidence: Evidence, one: str, other: str, judgement: Callable[[Estimate], str]
) -> Measured:
    """Return the median difference between two policies' final regrets."""
    difference = statistics.median(_paired(evidence.regret(one), evidence.regret(other)))
    medians = "; ".join(
        f"{name}: {short(np.median(evidence.regret(name)), evidence.unit)}" for name in (one, other)
    )
    return Measured(
        f"median of {one} minus {other}",
        difference,
        judgement(difference),
        f"{medians} in the median trial; difference in the median pair "
        f"{interval(difference, unit=evidence.unit)}",
    )


def _paired(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the differences in the trials that both have."""
    trials = min(len(one), len(other))
    return one[:trials] - other[:trials]


@check
def near_lower_bound(evidence: Evidence, policies: Policies, times: Positive) -> list[Measured]:
    """Mean final regret is less than `times` the least possible.

    That is the certificate's lower bound for any policy that does well on all normal
    arms; without attacks it is the one of Lai and Robbins. It is asymptotic.
    """
    found = []
    for name in policies:
        proven, what = evidence.proven(name), f"regret over the lower bound, {name}"
        if proven is None or not proven.floor:
            text = f"{name}: no lower bound is known here"
            found.append(Measured(what, NOTHING_KNOWN, CANNOT_TELL, text))
            continue
        mean, floor = evidence.mean_regret(name), proven.floor
        ratio = Estimate(mean.value / floor, mean.low / floor, mean.high / floor)
        text = (
            f"{name}: {short(mean.value, evidence.unit)}, {interval(ratio, '.0f')} times the "
            f"least possible, {short(floor, evidence.unit)}"
        )
        found.append(Measured(what, ratio, below(ratio, times), text))
    return found


@check
def exploration_costs_little(
    evidence: Evidence, policies: Policies, share: Share
) -> list[Measured]:
    """Forced and random pulls cause less than this share of the mean final regret."""
    found = []
    for name in policies:
        proven, what = evidence.proven(name), f"share of forced pulls, {name}"
        if proven is None:
            text = f"{name}: its forced pulls are not known"
            found.append(Measured(what, NOTHING_KNOWN, CANNOT_TELL, text))
            continue
        mean, forced = evidence.mean_regret(name), proven.forced
        part = Estimate(*(min(1.0, forced / x) for x in (mean.value, mean.high, mean.low)))
        text = (
            f"exploration costs {short(forced, evidence.unit)} of {name}'s mean regret of "
            f"{short(mean.value, evidence.unit)}, which is {percent(part)}"
        )
        found.append(Measured(what, part, below(part, share), text))
    return found


@check
def nearly_always_optimal(
    evidence: Evidence, policies: Policies, against: PoliciesOrNone, share: Share
) -> list[Measured]:
    """More than this share of the last tenth's pulls is optimal, on average.

    For the policies in `against` it is less.
    """
    found = []
    for name, judgement in [
        *((one, above) for one in policies),
        *((one, below) for one in against),
    ]:
        optimal = statistics.mean_share(evidence.last_tenth(name))
        text = f"{name}: {percent(optimal)} optimal pulls"
        found.append(Measured(f"optimal pulls of {name}", optimal, judgement(optimal, share), text))
    return found


@check
def more_optimal_pulls(evidence: Evidence, policies: Policies, against: Policies) -> list[Measured]:
    """Each policy pulls the best arm more often than each of the others, in pairs.

    That is the mean share of optimal pulls over all rounds.
    """
    found = []
    for one, other in product(policies, against):
        mine, theirs = (100 * evidence.optimal_curves(name)[:, -1] for name in (one, other))
        difference = _with_unseen(statistics.mean(_paired(mine, theirs)), len(mine), len(theirs))
        text = (
            f"{one}: {mine.mean():.2f} % optimal pulls; {other}: {theirs.mean():.2f} %; "
            f"difference {interval(difference, '.2f', 'percentage points')}"
        )
        found.append(
            Measured(
                f"optimal pulls in percent, {one} minus {other}",
                difference,
                above(difference, 0.0),
                text,
            )
        )
    return found


def _with_unseen(difference: Estimate, *trials: int) -> Estimate:
    """Return a difference in percent that allows for trials that were not seen."""
    room = 100 * statistics.unseen_share(min(trials))
    return replace(
        difference,
        low=max(-100.0, difference.low - room),
        high=min(100.0, difference.high + room),
    )


@check
def fails(
    evidence: Evidence, policies: Policies, against: PoliciesOrNone, share: Share
) -> list[Measured]:
    """The policies are stuck at the end in more than this share of trials.

    Those in `against` are stuck in less.
    """
    found = []
    for name, judgement in [
        *((one, above) for one in policies),
        *((one, below) for one in against),
    ]:
        stuck = statistics.share(evidence.stuck(name))
        text = f"{name}: {percent(stuck)} stuck"
        found.append(
            Measured(f"share of trials stuck, {name}", stuck, judgement(stuck, share), text)
        )
    return found


@check
def less_often_stuck(evidence: Evidence, policies: Policies, against: Policies) -> list[Measured]:
    """Each of the policies is stuck in fewer trials than each of the others."""
    found = []
    for one, other in product(policies, against):
        mine, theirs = evidence.stuck(one), evidence.stuck(other)
        difference = statistics.mean_share(
            _paired(mine.astype(float), theirs.astype(float)), least=-1.0
        )
        text = (
            f"{one}: {100 * mine.mean():.1f} % stuck; {other}: {100 * theirs.mean():.1f} %; "
            f"difference {percent(difference)}"
        )
        found.append(
            Measured(f"share stuck, {one} minus {other}", difference, below(difference, 0.0), text)
        )
    return found
