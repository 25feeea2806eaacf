"""What theory says for the paper's own two settings, beside its experiments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..bandits import GaussianBandit
from ..policies.med_e_ucb import smallest_block
from ..show.text import text_table, wrapped
from .arms import Arms
from .certificate import plain
from .corollaries import corollary_1, corollary_2
from .finite_time import med_e_ucb_bound, med_epsilon_greedy_bound
from .limits import thresholds
from .sharp import (
    exponent_on,
    growth_exponent,
    needed_b,
    needed_c,
    sharp_b,
    sharp_c,
)
from .theorem_part import TheoremBound, of_ucb, printed, repaired
from .theorems_greedy import theorem_3, theorem_4
from .theorems_ucb import (
    THEOREM_2_PRINTED,
    UcbGuarantee,
    least_b,
    theorem_1,
    theorem_2,
)
from .unmet import Unmet, does_not_apply
from .wording import figures

SETTINGS = {
    "synthetic": (tuple(range(2, 21, 2)), 100_000, 1000),
    "radio": ((41, 37, 35, 31, 28), 2000, 200),
}
RATES = (0.125, 0.3)
DELTA = 0.05

PAPER_NOTES = (
    "The experiments use b = 4, omega = 4 and c = 10. No theorem applies to these: the rows of "
    "Theorems 1 to 4 are for the parameters that the theorems ask for.",
    "Theorems 1 and 2 need a horizon T longer than a block of G rounds, and G grows with b. Their "
    "bounds are the smallest over all b and omega that they allow.",
    "Bounds are on the regret at T, those of Theorems 2 and 4 with probability 0.95. A vacuous "
    "bound exceeds the largest possible regret, T times the largest gap.",
    "Why the printed bounds of Theorems 3 and 4 are not proved: docs/paper-notes.md, numbers 25 to "
    "27. What is called ironarm's is not in the paper, nor are the sharp conditions.",
)
"""What a reader of the table must know."""


@dataclass(frozen=True)
class PaperRow:
    """One line of the table: a quantity, and its value in each of four columns.

    The columns are `synthetic 0.125`, `synthetic 0.3`, `radio 0.125` and `radio 0.3`.
    `remarks` explains the number, for the columns that need it. Where a theorem does
    not apply, the value is NaN and the remark says why. A `bound` on the regret is
    shown rounded up.
    """

    quantity: str
    values: dict[str, float]
    remarks: dict[str, str]
    bound: bool = False

    def shown(self, column: str) -> str:
        """Return a cell as text: the number, its remark, or both."""
        remark = self.remarks.get(column, "")
        numbers = figures(list(self.values.values()), self.bound)
        number = numbers[list(self.values).index(column)]
        return f"{number} ({remark})" if number and remark else number or remark

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; None where a theorem does not apply."""
        return {"quantity": self.quantity, **plain(self.values), "remarks": self.remarks}


def paper_table() -> list[PaperRow]:
    """Return the table for the paper's two settings at rho = 0.125 and 0.3.

    The synthetic arms are N(2i, 1) with T = 100,000; the radio's are SINR means 41, 37,
    35, 31, 28 with sigma 1 and T = 2000. `PAPER_NOTES` says how to read it.

    Examples
    --------
    >>> row = next(
    ...     row for row in paper_table() if row.quantity == "Theorem 1 bound"
    ... )
    >>> for column in row.values:
    ...     print(column, row.shown(column))
    synthetic 0.125 188,201
    synthetic 0.3 does not apply: T <= G
    radio 0.125 does not apply: T <= G
    radio 0.3 does not apply: T <= G
    """
    columns = {
        f"{name} {rho:g}": _column(*setting, rho)
        for name, setting in SETTINGS.items()
        for rho in RATES
    }
    return [
        PaperRow(
            quantity,
            {name: column[quantity].value for name, column in columns.items()},
            {
                name: column[quantity].remark
                for name, column in columns.items()
                if column[quantity].remark
            },
            any(column[quantity].bound for column in columns.values()),
        )
        for quantity in next(iter(columns.values()))
    ]


def paper_text() -> str:
    """Return the table as text, with its notes."""
    rows = paper_table()
    columns = list(rows[0].values)
    table = text_table(
        ("", *columns),
        [(row.quantity, *map(row.shown, columns)) for row in rows],
        words=range(1, len(columns) + 1),
    )
    return "\n".join([table, "", *map(wrapped, PAPER_NOTES)])


class PaperValue(NamedTuple):
    """A value of the table, its remark, and whether it bounds the regret."""

    value: float
    remark: str = ""
    bound: bool = False


def _column(means: tuple[int, ...], T: int, block: int, rho: float) -> dict[str, PaperValue]:
    arms = Arms.of(GaussianBandit(means))
    largest = T * arms.largest_gap
    one, two = theorem_1(arms, rho, T), theorem_2(arms, rho, T, DELTA)
    union = theorem_2(arms, rho, T, DELTA, printed=False)
    three, four = theorem_3(arms, rho, T), theorem_4(arms, rho, T, DELTA)
    least_1, least_2 = least_b(arms, rho), least_b(arms, rho, THEOREM_2_PRINTED)
    ucb: dict[str, float | PaperValue | TheoremBound] = {
        "Theorem 1 needs b of at least": least_1,
        "Theorem 1 needs T above": _block(arms, least_1),
        "Theorem 1 bound": of_ucb(one, one.printed, largest),
        "Theorem 1 bound is for s": _where(one, one.s),
        "Theorem 1 bound is for xi": _where(one, one.xi),
        "Theorem 1 bound is for omega": _where(one, one.omega),
        "Theorem 1 bound is for b": _where(one, one.b),
        "Theorem 2 needs b of at least": least_2,
        "Theorem 2 needs T above": _block(arms, least_2),
        "Theorem 2 bound": of_ucb(two, two.printed, largest),
        "Theorem 2 bound is for omega": _where(two, two.omega),
        "Theorem 2 bound is for b": _where(two, two.b),
        "ironarm's union bound for Theorem 2": of_ucb(union, union.proved, largest),
        "ironarm's union bound is for omega": _where(union, union.omega),
        "ironarm's union bound is for b": _where(union, union.b),
    }
    greedy: dict[str, float | PaperValue | TheoremBound] = {
        "Theorem 3 needs c above": three.c_needed,
        "Theorem 3 bound": printed(three, largest),
        "Theorem 3 bound, ironarm's repair": repaired(three, largest),
        "Theorem 4 needs c above": four.c_needed,
        "Theorem 4 bound": printed(four, largest),
        "Theorem 4 bound, ironarm's repair": repaired(four, largest),
    }
    sharp: dict[str, float | PaperValue | TheoremBound] = {
        "sharp b, far outliers": sharp_b(rho),
        "sharp b, worst attack": needed_b(arms, rho),
        "sharp c, far outliers": sharp_c(rho),
        "sharp c, worst attack": needed_c(arms, rho),
        "growth exponent, b = 4, far outliers": growth_exponent(rho, b=4),
        "growth exponent, b = 4, worst attack": exponent_on(arms, rho, b=4, omega=4),
        "growth exponent, c = 10, far outliers": growth_exponent(rho, c=10),
        "growth exponent, c = 10, worst attack": exponent_on(arms, rho, c=10),
        "ironarm's bound at b = 4, omega = 4": PaperValue(
            med_e_ucb_bound(arms, rho, T, b=4, omega=4, block=block).total, bound=True
        ),
        "ironarm's bound at c = 10": PaperValue(
            med_epsilon_greedy_bound(arms, rho, T, c=10).total, bound=True
        ),
    }
    rows: dict[str, float | PaperValue | TheoremBound] = {
        "horizon T": T,
        "largest possible regret": largest,
        **_corollaries(arms, rho),
        **ucb,
        **greedy,
        **sharp,
    }
    return {quantity: _cell(value) for quantity, value in rows.items()}


def _corollaries(arms: Arms, rho: float) -> dict[str, float | PaperValue]:
    gap = arms.smallest_gap
    limit, one, two = thresholds(gap), corollary_1(gap, 1.0, rho), corollary_2(gap, 1.0, rho)
    return {
        "limit on rho: corollaries": limit.corollaries,
        "limit on rho: theorems": limit.malicious,
        "limit on rho: independent coin": limit.coin,
        "Corollary 1 needs omega of at least": _asked(one.omega, one.why_not),
        "Corollary 1 needs b of at least": _asked(one.b, one.why_not),
        "Corollary 1 needs T above": _asked(_block(arms, one.b), one.why_not),
        "Corollary 2 needs c above": _asked(two.c, two.why_not),
        "Corollary 2 with Theorem 3's constants": _asked(two.c_theorem_3, two.why_not),
        "Corollary 2 with Theorem 4's constants": _asked(two.c_theorem_4, two.why_not),
    }


def _cell(value: float | PaperValue | TheoremBound) -> PaperValue:
    if isinstance(value, TheoremBound):
        return PaperValue(value.value if value.applies else math.nan, value.remark, bound=True)
    return value if isinstance(value, PaperValue) else PaperValue(float(value))


def _asked(value: float, why_not: tuple[Unmet, ...]) -> PaperValue:
    return PaperValue(math.nan, does_not_apply(why_not)) if why_not else PaperValue(value)


def _where(g: UcbGuarantee, parameter: float) -> PaperValue:
    """Return a parameter of a bound, if there is a bound."""
    return PaperValue(parameter) if g.holds else PaperValue(math.nan, "-")


def _block(arms: Arms, b: float) -> float:
    return float(smallest_block(arms.count, b, 2)) if math.isfinite(b) else math.inf
