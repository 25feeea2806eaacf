"""The paper's three lemmas in its own settings: bound, measured probability, ratio."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from ..show.text import short, text_table, wrapped
from .arms import Normal
from .lemma_measured import DRAWS, UNTIL, Side, measured_quantile, measured_share
from .lemmas import attacked_share_rounds
from .limits import thresholds
from .paper import DELTA, RATES, SETTINGS
from .wording import at_most

B = 4
"""The paper's b: every arm has about b log T forced pulls."""
INFORMATIVE = 0.05
"""The bound that the rows with more rewards reach."""
ARMS = len(SETTINGS["synthetic"][0])
P = 0.4
LAW = Normal(0, 1)

LEMMA_HEAD = ("lemma", "setting", "n", "s", "a", "bound", "measured", "bound / measured")
LEMMA_NOTES = (
    "Lemmas 1 and 3: n normal rewards with sigma = 1, of which floor(s n) are attacked. Low is the "
    "event that their p-quantile is at most q(p - s) - a, high that it is at least q(p + s) + a, "
    "where q is the quantile function of clean rewards. p is 1/2, the median, in Lemma 1 and "
    f"{P:g} in these rows of Lemma 3. Measured is the malicious adversary: it sees all n rewards, "
    "and for low it turns the largest into -infinity, for high the smallest into +infinity.",
    "Midpoint and half gap are low, for the best arm. s lies halfway between rho and the most that "
    "the theorems allow. At the midpoint, a leads from q(1/2 - s) to the middle between the best "
    "arm and the next; half gap is half of the gap between them. n = 47 and 31 are the "
    "experiments' forced pulls, b log T with b = 4, rounded up; the larger n at the midpoint is "
    f"the least for which the bound is {INFORMATIVE:g}.",
    f"Lemma 2: for one of {ARMS} arms at least, more than a share s = rho + e of its first m "
    "rewards is attacked, at some m from n on. Each reward is attacked with probability rho, and n "
    f"is the lemma's N for delta = {DELTA:g}. Measured is m up to {UNTIL} n; what may happen "
    f"later, at most {ARMS} exp(-{2 * UNTIL} e^2 n)/(2 e^2), is part of the interval.",
    f"Every probability is measured in up to {DRAWS:,} draws with a fixed seed; ± is its 95 % "
    "interval, in percent of the number. Rare events are drawn more often than they happen, and "
    "weighted down.",
)
"""What a reader of the table must know."""


@dataclass(frozen=True)
class LemmaRow:
    """One line of the table: an event, its bound, and how often it happens.

    `event` says what happens, `where` in which of the paper's settings. `parameters`
    are the lemma's: n, s, a and p, or for Lemma 2 n (its N), s (rho + excess), arms,
    rho, excess and delta. `low` and `high` are the 95 % interval of `measured`.
    """

    lemma: int
    event: str
    where: str
    parameters: dict[str, float]
    bound: float
    measured: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """How many times larger the bound is than what is measured."""
        return self.bound / self.measured

    def shown(self) -> tuple[str, ...]:
        """Return the cells as text, in the order of `LEMMA_HEAD`."""
        within = 50 * (self.high - self.low) / self.measured
        return (
            f"{self.lemma}, {self.event}",
            self.where,
            f"{self.parameters['n']:,}",
            f"{self.parameters['s']:.3g}",
            f"{round(self.parameters['a'], 3):g}" if "a" in self.parameters else "-",
            at_most(self.bound),
            f"{self.measured:#.2g} ± {within:.0f} %",
            short(float(f"{self.ratio:.2g}")),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "ratio": self.ratio}


def lemma_table() -> list[LemmaRow]:
    """Return the lemmas in the paper's settings; `LEMMA_NOTES` says how to read them.

    It takes about a second, because the probabilities are measured.

    Examples
    --------
    >>> row = lemma_table()[0]
    >>> row.lemma, row.event, row.where, row.parameters["n"]
    (1, 'midpoint', 'synthetic 0.125', 47)
    >>> round(row.bound, 2), round(row.measured, 3)
    (0.31, 0.012)
    """
    return [*_lemma_1(), *_lemma_2(), *_lemma_3()]


def lemma_text() -> str:
    """Return the table as text, with its notes."""
    table = text_table(LEMMA_HEAD, [row.shown() for row in lemma_table()], words=(1,))
    return "\n".join([table, "", *map(wrapped, LEMMA_NOTES)])


def _lemma_1() -> Iterator[LemmaRow]:
    for name, rho in product(SETTINGS, RATES):
        s = _share(name, rho)
        yield _quantile(1, "midpoint", f"{name} {rho:g}", _forced(name), s, _room(name, s))
    name = "synthetic"
    for rho in RATES:
        s = _share(name, rho)
        n = math.ceil(math.log(1 / INFORMATIVE) / (2 * (_most(name) - s) ** 2))
        yield _quantile(1, "midpoint", f"{name} {rho:g}", n, s, _room(name, s))
    for rho in RATES:
        n, s = _forced(name), _share(name, rho)
        yield _quantile(1, "half gap", f"{name} {rho:g}", n, s, _gap(name) / 2)
    yield _quantile(1, "low", "example", 40, 0.2, 0.3)
    yield _quantile(1, "high", "example", 40, 0.2, 0.3, side="above")


def _lemma_2() -> Iterator[LemmaRow]:
    # the last excess is nearly all that the theorems leave at rho = 0.3
    for rho, excess in ((RATES[0], 0.1), (RATES[1], 0.1), (RATES[1], 0.04)):
        n, s = attacked_share_rounds(ARMS, excess, DELTA), round(rho + excess, 9)
        yield LemmaRow(
            2,
            "share",
            f"synthetic {rho:g}",
            {"n": n, "s": s, "arms": ARMS, "rho": rho, "excess": excess, "delta": DELTA},
            *measured_share(ARMS, rho, excess, DELTA),
        )


def _lemma_3() -> Iterator[LemmaRow]:
    name = "synthetic"
    sides: tuple[tuple[Side, str], ...] = (("below", "low"), ("above", "high"))
    for rho, (side, word) in product(RATES, sides):
        n, s, margin = _forced(name), _share(name, rho), _gap(name) / 4
        yield _quantile(3, word, f"{name} {rho:g}", n, s, margin, P, side)


def _quantile(
    lemma: int,
    event: str,
    where: str,
    n: int,
    s: float,
    a: float,
    p: float = 0.5,
    side: Side = "below",
) -> LemmaRow:
    measured = measured_quantile(LAW, n, s, a, p, side)
    return LemmaRow(lemma, event, where, {"n": n, "s": s, "a": a, "p": p}, *measured)


def _gap(name: str) -> float:
    """Return the smallest gap of a setting, in units of sigma."""
    next_best, best = sorted(SETTINGS[name][0])[-2:]
    return float(best - next_best)


def _forced(name: str) -> int:
    return math.ceil(B * math.log(SETTINGS[name][1]))


def _most(name: str) -> float:
    """Return the share s up to which the theorems can tell the two best arms apart."""
    return thresholds(_gap(name)).malicious


def _share(name: str, rho: float) -> float:
    return round((rho + _most(name)) / 2, 2)


def _room(name: str, s: float) -> float:
    """Return the margin from q(1/2 - s) of the best arm to the midpoint of the gap."""
    return _gap(name) / 2 - float(LAW.ppf(0.5 + s))
