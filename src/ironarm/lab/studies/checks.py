"""Checks of results: one function each, marked with `@check`; see `checking.py`.

A check knows nothing about what the paper says. Claims name it in `claims.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

from ...show.text import counted, short
from ..kit import statistics
from ..kit.evidence import Evidence
from ..kit.statistics import Estimate, interval, percent
from .checking import (
    CANNOT_TELL,
    Measured,
    Number,
    Policies,
    PoliciesOrNone,
    Positive,
    Share,
    Since,
    Span,
    above,
    below,
    check,
    near,
)

FEWEST_RARE = 10
"""With fewer trials apart from the others, there is nothing to fit a growth to."""


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


def _difference(
    evidence: Evidence, one: str, other: str, verdict: Callable[[Estimate], str]
) -> Measured:
    """Return the mean difference between two policies' final regrets."""
    difference = statistics.mean(evidence.regret(one) - evidence.regret(other))
    means = "; ".join(
        f"{name}: {short(evidence.regret(name).mean(), evidence.unit)}" for name in (one, other)
    )
    return Measured(
        f"{one} minus {other}",
        difference,
        verdict(difference),
        f"{means}; difference {interval(difference, unit=evidence.unit)}",
    )


@check
def lower_median_regret(
    evidence: Evidence, policies: Policies, against: Policies
) -> list[Measured]:
    """In a typical trial, each policy has less final regret than each of the others.

    The median of the paired differences is below 0.
    """
    found = []
    for one, other in product(policies, against):
        difference = statistics.median(evidence.regret(one) - evidence.regret(other))
        medians = "; ".join(
            f"{name}: {short(np.median(evidence.regret(name)), evidence.unit)}"
            for name in (one, other)
        )
        text = (
            f"{medians} in the median trial; difference in the median pair "
            f"{interval(difference, unit=evidence.unit)}"
        )
        found.append(
            Measured(f"median of {one} minus {other}", difference, below(difference, 0.0), text)
        )
    return found


@check
def grows_slower(
    evidence: Evidence, policies: Policies, than: Number, span: Span
) -> list[Measured]:
    """Mean regret grows with an exponent below `than`: 0 is logarithmic, 1 linear.

    See `statistics.measured_exponent`.
    """
    return [_growth(evidence, name, than, span, below) for name in policies]


@check
def grows_faster(
    evidence: Evidence, policies: Policies, than: Number, span: Span
) -> list[Measured]:
    """Mean regret grows with an exponent above `than`: 0 is logarithmic, 1 linear."""
    return [_growth(evidence, name, than, span, above) for name in policies]


def _growth(
    evidence: Evidence,
    name: str,
    bound: float,
    span: float,
    verdict: Callable[[Estimate, float], str],
) -> Measured:
    exponent = statistics.measured_exponent(evidence.rounds(name), evidence.curves(name), span)
    return Measured(
        f"growth exponent of {name}",
        exponent,
        verdict(exponent, bound),
        f"{name}: exponent {interval(exponent, '.2f')}",
    )


@check
def quantile_grows_slower(
    evidence: Evidence, policies: Policies, quantile: Share, than: Number, span: Span
) -> list[Measured]:
    """A quantile of the regret grows with an exponent below `than`."""
    found = []
    for name in policies:
        exponent = statistics.quantile_exponent(
            evidence.rounds(name), evidence.curves(name), quantile, span
        )
        what = f"growth exponent of the {100 * quantile:g} % quantile of {name}"
        text = f"{name}: exponent {interval(exponent, '.2f')}"
        found.append(Measured(what, exponent, below(exponent, than), text))
    return found


@check
def excess_grows_slower(
    evidence: Evidence, policies: Policies, than: Number, since: Since
) -> list[Measured]:
    """Mean minus median regret grows with an exponent below `than`.

    It is fitted from round `since` on. Few trials cause this excess: those that end
    with more than twice the median. With fewer than ten of them there is too little
    to fit, and what none of n trials shows may still happen in 3/n of them. Then the
    check cannot tell.
    """
    return [_excess(evidence, name, than, since) for name in policies]


def _excess(evidence: Evidence, name: str, than: float, since: int) -> Measured:
    late = evidence.rounds(name) >= since
    rounds, curves = evidence.rounds(name)[late], evidence.curves(name)[:, late]
    median = np.median(curves, axis=0)
    means = (
        f"{name}: mean {short(curves[:, -1].mean(), evidence.unit)}, median "
        f"{short(median[-1], evidence.unit)}"
    )
    rare = evidence.regret(name) > 2 * median[-1]
    if rare.sum() < FEWEST_RARE:
        share = statistics.share(rare)
        if not rare.any():
            share = Estimate(0.0, 0.0, statistics.unseen_share(evidence.trials))
        seen = f"{rare.sum()} of {counted(evidence.trials, 'trial')}" if rare.any() else "no trial"
        text = (
            f"{means}; {seen} ended with more than twice the median (with 95 % confidence at "
            f"most {100 * share.high:.2g} % do): too few to fit how their regret grows"
        )
        return Measured(f"share of trials far above the median, {name}", share, CANNOT_TELL, text)
    exponent = statistics.fitted_slope(rounds, curves, median)
    return Measured(
        f"exponent of the mean's excess over the median, {name}",
        exponent,
        below(exponent, than),
        f"{means}; exponent of the excess {interval(exponent, '.2f')}",
    )


@check
def nearly_always_optimal(
    evidence: Evidence, policies: Policies, against: PoliciesOrNone, share: Share
) -> list[Measured]:
    """More than this share of the last tenth's pulls is optimal, on average.

    For the policies in `against` it is less.
    """
    found = []
    for name, verdict in [*((one, above) for one in policies), *((one, below) for one in against)]:
        optimal = statistics.mean_share(evidence.last_tenth(name))
        text = f"{name}: {percent(optimal)} optimal pulls"
        found.append(Measured(f"optimal pulls of {name}", optimal, verdict(optimal, share), text))
    return found


@check
def more_optimal_pulls(evidence: Evidence, policies: Policies, against: Policies) -> list[Measured]:
    """Each policy pulls the best arm more often than each of the others, in pairs.

    That is the mean share of optimal pulls over all rounds.
    """
    found = []
    for one, other in product(policies, against):
        mine, theirs = (100 * evidence.optimal_curves(name)[:, -1] for name in (one, other))
        difference = statistics.mean(mine - theirs)
        text = (
            f"{one}: {mine.mean():.2f} % optimal pulls; {other}: {theirs.mean():.2f} %; "
            f"difference {interval(difference, '.2f', '%')}"
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


@check
def fails(
    evidence: Evidence, policies: Policies, against: PoliciesOrNone, share: Share
) -> list[Measured]:
    """The policies are stuck at the end in more than this share of trials.

    Those in `against` are stuck in less.
    """
    found = []
    for name, verdict in [*((one, above) for one in policies), *((one, below) for one in against)]:
        stuck = statistics.share(evidence.stuck(name))
        text = f"{name}: {percent(stuck)} stuck"
        found.append(Measured(f"share of trials stuck, {name}", stuck, verdict(stuck, share), text))
    return found


@check
def less_often_stuck(evidence: Evidence, policies: Policies, against: Policies) -> list[Measured]:
    """Each of the policies is stuck in fewer trials than each of the others."""
    found = []
    for one, other in product(policies, against):
        mine, theirs = evidence.stuck(one), evidence.stuck(other)
        difference = statistics.mean_share(mine.astype(float) - theirs.astype(float), least=-1.0)
        text = (
            f"{one}: {100 * mine.mean():.1f} % stuck; {other}: {100 * theirs.mean():.1f} %; "
            f"difference {percent(difference)}"
        )
        found.append(
            Measured(f"share stuck, {one} minus {other}", difference, below(difference, 0.0), text)
        )
    return found
