"""The checks by which claims are settled.

Each compares a measurement, with its interval, with the bound that the claim needs, and
knows nothing of what the paper says.

A check answers agree if the whole 95 % interval lies on the claim's side of the bound,
disagree if it lies wholly on the other side, and cannot tell if it covers the bound. A
claim about several policies agrees only if all of its parts do, and disagrees if one of
them does. A new check is one function here; claims name it in `claims.toml`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..simulation import Result
from . import statistics
from .statistics import Estimate

AGREE, DISAGREE, CANNOT_TELL = "agree", "disagree", "cannot tell"


@dataclass(frozen=True)
class Measured:
    """One part of a check: what was measured, and what it says of the claim."""

    what: str
    estimate: Estimate
    verdict: str
    text: str


class Evidence:
    """The results of one run at one rho, cut to the first so many trials; `unit` is
    that of their regret.
    """

    def __init__(self, results: dict[str, Result], trials: int, unit: str = "") -> None:
        self.unit = unit
        self._results, self.trials = (
            results,
            min([trials, *(result.regret.shape[1] for result in results.values())]),
        )

    def rounds(self, name: str) -> np.ndarray:
        """The checkpoints."""
        return self._results[name].rounds

    def curves(self, name: str) -> np.ndarray:
        """Regret, array (trial, checkpoint)."""
        return self._results[name].regret[0, : self.trials]

    def optimal_curves(self, name: str) -> np.ndarray:
        """Share of optimal pulls so far, array (trial, checkpoint)."""
        return self._results[name].optimal[0, : self.trials]

    def regret(self, name: str) -> np.ndarray:
        """Final regret of each trial."""
        return self.curves(name)[:, -1]

    def last_tenth(self, name: str) -> np.ndarray:
        """Share of optimal pulls in the last tenth of the rounds, of each trial."""
        return self._results[name].last_tenth[0, : self.trials]

    def stuck(self, name: str) -> np.ndarray:
        """Whether less than half of the last tenth went to the best arm, in each
        trial.
        """
        return self.last_tenth(name) < 0.5


def below(estimate: Estimate, bound: float) -> str:
    """Return the verdict on "it is below the bound"."""
    return (
        AGREE
        if estimate.wholly_below(bound)
        else DISAGREE
        if estimate.low >= bound
        else CANNOT_TELL
    )


def above(estimate: Estimate, bound: float) -> str:
    """Return the verdict on "it is above the bound"."""
    return (
        AGREE
        if estimate.wholly_above(bound)
        else DISAGREE
        if estimate.high <= bound
        else CANNOT_TELL
    )


def together(verdicts: Iterable[str]) -> str:
    """Return the verdict on several parts: one disagreement settles it, one doubt
    leaves it open.

    >>> together([AGREE, CANNOT_TELL]), together([AGREE, DISAGREE, CANNOT_TELL])
    ('cannot tell', 'disagree')
    """
    found = set(verdicts)
    return DISAGREE if DISAGREE in found else CANNOT_TELL if CANNOT_TELL in found else AGREE


def lower_mean_regret(
    evidence: Evidence, policies: Sequence[str], against: Sequence[str]
) -> list[Measured]:
    """Each of the policies has a smaller mean final regret than each of the others,
    trial by trial.
    """
    found = []
    for one in policies:
        for other in against:
            difference = statistics.mean(evidence.regret(one) - evidence.regret(other))
            text = _compared(evidence, one, other, difference)
            found.append(Measured(f"{one} minus {other}", difference, below(difference, 0.0), text))
    return found


def lower_median_regret(
    evidence: Evidence, policies: Sequence[str], against: Sequence[str]
) -> list[Measured]:
    """In a typical trial, each of the policies has a smaller final regret than each
    of the others: the median of the paired differences is below 0.
    """
    found = []
    for one in policies:
        for other in against:
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


def same_mean_regret(
    evidence: Evidence, policies: Sequence[str], against: Sequence[str], within: float
) -> list[Measured]:
    """The mean final regrets differ by at most a share `within` of the first."""
    found = []
    for one in policies:
        for other in against:
            size = within * float(evidence.regret(one).mean())
            difference = statistics.mean(evidence.regret(one) - evidence.regret(other))
            inside, outside = (
                difference.wholly_above(-size) and difference.wholly_below(size),
                difference.wholly_above(size) or difference.wholly_below(-size),
            )
            text = _compared(evidence, one, other, difference)
            found.append(
                Measured(
                    f"{one} minus {other}",
                    difference,
                    AGREE if inside else DISAGREE if outside else CANNOT_TELL,
                    text,
                )
            )
    return found


def _compared(evidence: Evidence, one: str, other: str, difference: Estimate) -> str:
    """Return two mean regrets and their difference as text."""
    means = "; ".join(
        f"{name}: {short(evidence.regret(name).mean(), evidence.unit)}" for name in (one, other)
    )
    return f"{means}; difference {interval(difference, unit=evidence.unit)}"


def grows_slower(
    evidence: Evidence, policies: Sequence[str], than: float, span: float
) -> list[Measured]:
    """Mean regret grows with an exponent below `than`; 0 is logarithmic, 1 linear
    (see `statistics.growth_exponent`).
    """
    return [_growth(evidence, name, than, span, below) for name in policies]


def grows_faster(
    evidence: Evidence, policies: Sequence[str], than: float, span: float
) -> list[Measured]:
    """Mean regret grows with an exponent above `than`; 0 is logarithmic, 1 linear."""
    return [_growth(evidence, name, than, span, above) for name in policies]


def _growth(
    evidence: Evidence,
    name: str,
    bound: float,
    span: float,
    verdict: Callable[[Estimate, float], str],
) -> Measured:
    exponent = statistics.growth_exponent(evidence.rounds(name), evidence.curves(name), span)
    return Measured(
        f"growth exponent of {name}",
        exponent,
        verdict(exponent, bound),
        f"{name}: exponent {interval(exponent, '.2f')}",
    )


def excess_grows_slower(
    evidence: Evidence, policies: Sequence[str], than: float, since: int
) -> list[Measured]:
    """What the mean regret has above the median trial, the part that few trials
    make, grows from round `since` on with an exponent below `than`; or it is under 1
    % of the mean.
    """
    found = []
    for name in policies:
        late = evidence.rounds(name) >= since
        rounds, curves = evidence.rounds(name)[late], evidence.curves(name)[:, late]
        mean, median = float(curves[:, -1].mean()), np.median(curves, axis=0)
        much = mean - median[-1] > 0.01 * mean
        exponent = (
            statistics.fitted_slope(rounds, curves, median) if much else Estimate(0.0, 0.0, 0.0)
        )
        growth = (
            f"exponent of the excess {interval(exponent, '.2f')}"
            if much
            else "no excess to speak of (under 1 % of the mean)"
        )
        text = (
            f"{name}: mean {short(mean, evidence.unit)}, median "
            f"{short(median[-1], evidence.unit)}; {growth}"
        )
        found.append(
            Measured(
                f"exponent of the mean's excess over the median, {name}",
                exponent,
                below(exponent, than),
                text,
            )
        )
    return found


def nearly_always_optimal(
    evidence: Evidence, policies: Sequence[str], against: Sequence[str], share: float
) -> list[Measured]:
    """In the last tenth of the rounds, the policies pull the best arm in more than
    this share of rounds on average, and the others do not.
    """
    found = []
    for names, verdict in ((policies, above), (against, below)):
        for name in names:
            optimal = statistics.mean(evidence.last_tenth(name))
            found.append(
                Measured(
                    f"optimal pulls of {name}",
                    optimal,
                    verdict(optimal, share),
                    f"{name}: {percent(optimal)} optimal pulls",
                )
            )
    return found


def fails(
    evidence: Evidence, policies: Sequence[str], against: Sequence[str], share: float
) -> list[Measured]:
    """The policies are stuck at the end in more than this share of trials, and the
    others in less.
    """
    found = []
    for names, verdict in ((policies, above), (against, below)):
        for name in names:
            stuck = statistics.share(evidence.stuck(name))
            found.append(
                Measured(
                    f"share of trials stuck, {name}",
                    stuck,
                    verdict(stuck, share),
                    f"{name}: {percent(stuck)} stuck",
                )
            )
    return found


def less_often_stuck(
    evidence: Evidence, policies: Sequence[str], against: Sequence[str]
) -> list[Measured]:
    """Each of the policies is stuck in fewer trials than each of the others."""
    found = []
    for one in policies:
        for other in against:
            mine, theirs = evidence.stuck(one), evidence.stuck(other)
            difference = statistics.mean(mine.astype(float) - theirs.astype(float))
            text = (
                f"{one}: {100 * mine.mean():.1f} % stuck; {other}: {100 * theirs.mean():.1f} %; "
                f"difference {percent(difference)}"
            )
            found.append(
                Measured(
                    f"share stuck, {one} minus {other}", difference, below(difference, 0.0), text
                )
            )
    return found


CHECKS: dict[str, Callable[..., list[Measured]]] = {
    check.__name__: check
    for check in (
        lower_mean_regret,
        lower_median_regret,
        same_mean_regret,
        grows_slower,
        grows_faster,
        excess_grows_slower,
        nearly_always_optimal,
        fails,
        less_often_stuck,
    )
}


def short(x: Any, unit: str = "") -> str:
    """Return a number as people read it, with its unit if it has one."""
    number = f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"
    return f"{number} {unit}" if unit else number


def interval(estimate: Estimate, form: str = "", unit: str = "") -> str:
    """Return a number with its interval as text.

    >>> (
    ...     interval(Estimate(0.4, 0.3, 0.6), ".2f"),
    ...     interval(Estimate(-0.001, -0.39, 0.01), ".2f", "dB"),
    ... )
    ('0.40 (0.30 to 0.60)', '0.00 dB (−0.39 to 0.01)')
    >>> (
    ...     interval(Estimate(0.1, 0.1, 0.1)),
    ...     interval(Estimate(0.1, 0.099, 0.102), ".1f"),
    ... )
    ('0.1 (no spread)', '0.1 (interval below the last digit)')
    """
    value, low, high = (
        _signed(format(x, form) if form else short(x))
        for x in (estimate.value, estimate.low, estimate.high)
    )
    bounds = (
        f"{low} to {high}"
        if low != high
        else "no spread"
        if math.isclose(estimate.low, estimate.high, rel_tol=1e-9, abs_tol=1e-9)
        else "interval below the last digit"
    )
    return f"{value}{' ' if unit else ''}{unit} ({bounds})"


def percent(estimate: Estimate) -> str:
    """Return a share with its interval, in percent."""
    return interval(
        Estimate(100 * estimate.value, 100 * estimate.low, 100 * estimate.high), ".1f", "%"
    )


def _signed(number: str) -> str:
    """Return a number's text with a true minus sign, and none before a zero."""
    return number.replace("-", "−" if any(digit in number for digit in "123456789") else "")
