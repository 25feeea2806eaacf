"""Checks of how regret grows: one function each, marked with `@growth_check`.

Each looks at one horizon; `checking.py` says how horizons are put together. At a single
horizon a slow start of a linear growth looks like a power, and rare trials that are
stuck for good are not seen at all. So each check goes by a quantity that keeps its
value under one law of growth and loses it under the others.
"""

from __future__ import annotations

import numpy as np

from ...show.text import counted, short
from ...theory.wording import at_most
from ..kit import statistics
from ..kit.evidence import Evidence
from ..kit.statistics import Estimate, interval, percent
from .checking import (
    CANNOT_TELL,
    Measured,
    Policies,
    Share,
    Since,
    Span,
    above,
    below,
    growth_check,
    together,
)

FEWEST_RARE = 10
"""With fewer trials apart from the others, there is nothing to fit a growth to."""

NEAR_THE_MEDIAN = 1.5
"""A certificate says how the mean grows if it is at most this many times the median."""


@growth_check
def linear(evidence: Evidence, policies: Policies, share: Share) -> list[Measured]:
    """More than this share of the last tenth's pulls is wrong, on average.

    Regret lies between the smallest and the largest gap times the number of wrong
    pulls, so both grow by the same law. Under a linear law the share of wrong pulls
    stays; under any slower law it goes to 0.
    """
    found = []
    for name in policies:
        wrong = statistics.mean_share(1 - evidence.last_tenth(name))
        stuck = statistics.share(evidence.stuck(name))
        text = (
            f"{name}: {percent(wrong)} of the last tenth's pulls are wrong, {percent(stuck)} of "
            "trials are stuck"
        )
        found.append(
            Measured(f"wrong pulls of {name}", wrong, above(wrong, share), text, policy=name)
        )
    return found


@growth_check
def not_logarithmic(
    evidence: Evidence, policies: Policies, than: Share, span: Span
) -> list[Measured]:
    """Mean regret grows with an exponent above `than`: 0 is logarithmic, 1 linear.

    See `statistics.measured_exponent`. To disagree, it also allows for losses at the
    end that no trial showed.
    """
    found = []
    for name in policies:
        curves = evidence.curves(name)
        exponent = statistics.measured_exponent(
            evidence.rounds(name), curves, span, evidence.largest
        )
        stuck = statistics.share(evidence.stuck(name))
        text = (
            f"{name}: exponent {interval(exponent, '.2f')}; mean "
            f"{short(curves[:, -1].mean(), evidence.unit)}, {percent(stuck)} of trials stuck"
        )
        found.append(
            Measured(
                f"growth exponent of {name}", exponent, above(exponent, than), text, policy=name
            )
        )
    return found


@growth_check
def quantile_logarithmic(
    evidence: Evidence, policies: Policies, quantile: Share, than: Share, span: Span
) -> list[Measured]:
    """A quantile of the regret grows with an exponent below `than`."""
    found = []
    for name in policies:
        exponent = statistics.quantile_exponent(
            evidence.rounds(name), evidence.curves(name), quantile, span
        )
        what = f"growth exponent of the {100 * quantile:g} % quantile of {name}"
        text = f"{name}: exponent {interval(exponent, '.2f')}"
        found.append(Measured(what, exponent, below(exponent, than), text, policy=name))
    return found


@growth_check
def logarithmic(
    evidence: Evidence, policies: Policies, than: Share, since: Since
) -> list[Measured]:
    """Mean regret grows with an exponent below `than`: 0 is logarithmic, 1 linear.

    The median trial and what the mean has above it are looked at apart. Few trials
    cause the latter: those that end with more than twice the median. Where a
    certificate bounds the mean near the median, and says that it stays there, the
    median settles it. Elsewhere the excess is fitted from round `since` on. With fewer
    than ten such trials there is too little to fit, and what none of n trials shows may
    still happen in 3/n of them: then the check cannot tell.
    """
    return [_logarithmic(evidence, name, than, since) for name in policies]


def _logarithmic(evidence: Evidence, name: str, than: float, since: int) -> Measured:
    rounds, curves = evidence.rounds(name), evidence.curves(name)
    median = np.median(curves, axis=0)
    typical = statistics.quantile_exponent(rounds, curves, 0.5, 10)
    means = (
        f"{name}: mean regret {interval(evidence.mean_regret(name), unit=evidence.unit)}, median "
        f"{short(median[-1], evidence.unit)}"
    )
    proven = evidence.proven(name)
    if (
        proven is not None
        and proven.exponent < than
        and proven.bound <= NEAR_THE_MEDIAN * median[-1]
    ):
        text = (
            f"{means}; certificate: at most {at_most(proven.bound)}"
            f"{' ' if evidence.unit else ''}{evidence.unit} on average under any attack of the "
            f"model; exponent of the median {interval(typical, '.2f')}"
        )
        what = f"growth exponent of the median, {name}"
        return Measured(what, typical, below(typical, than), text, policy=name)
    rare = evidence.regret(name) > 2 * median[-1]
    seen = f"{rare.sum()} of {counted(len(rare), 'trial')}" if rare.any() else "no trial"
    if rare.sum() < FEWEST_RARE:
        share = statistics.share(rare)
        if not rare.any():
            share = Estimate(0.0, 0.0, statistics.unseen_share(len(rare)))
        text = (
            f"{means}; {seen} ended with more than twice the median (with 95 % confidence at "
            f"most {100 * share.high:.2g} % do): too few to fit how their regret grows"
        )
        what = f"share of trials far above the median, {name}"
        return Measured(what, share, CANNOT_TELL, text, policy=name)
    late = rounds >= since
    excess = statistics.fitted_slope(rounds[late], curves[:, late], median[late])
    text = (
        f"{means}; {seen} ended with more than twice the median; what the mean has above the "
        f"median grows with the exponent {interval(excess, '.2f')}"
    )
    judgement = together([below(excess, than), below(typical, than)])
    what = f"exponent of the mean's excess over the median, {name}"
    return Measured(what, excess, judgement, text, policy=name)
