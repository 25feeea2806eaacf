"""What theory says for the paper's own two settings, beside its experiments."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..bandits import GaussianBandit
from .arms import Arms
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
from .theorems_greedy import theorem_3, theorem_4
from .theorems_ucb import corollary_1, theorem_1, theorem_2

SETTINGS = {
    "synthetic": (tuple(range(2, 21, 2)), 100_000, 1000),
    "radio": ((41, 37, 35, 31, 28), 2000, 200),
}
RATES = (0.125, 0.3)
DELTA = 0.05


@dataclass(frozen=True)
class PaperRow:
    """One line of the table: a quantity, and its value in each of four columns.

    They are `synthetic 0.125`, `synthetic 0.3`, `radio 0.125` and `radio 0.3`.
    """

    quantity: str
    values: dict[str, float]


def paper_table() -> list[PaperRow]:
    """Return the table for the paper's two settings at rho = 0.125 and 0.3.

    The synthetic arms are N(2i, 1) with T = 100,000; the radio's are SINR means 41, 37,
    35, 31, 28 with sigma 1 and T = 2000.

    The experiments use b = 4, omega = 4, c = 10: 6 to 500 times below what the theorems
    ask for. "needs" is the smallest value that a theorem or condition allows; bounds
    are on the regret at T, those with high probability for delta = 0.05; a bound above
    the largest possible regret is vacuous.

    Examples
    --------
    >>> row = next(
    ...     row for row in paper_table() if row.quantity == "Theorem 1 needs b"
    ... )
    >>> for column, value in row.values.items():
    ...     print(column, round(value, 1))
    synthetic 0.125 155.5
    synthetic 0.3 2007.9
    radio 0.125 154.5
    radio 0.3 580.0
    """
    columns = {
        f"{name} {rho:g}": _column(*setting, rho)
        for name, setting in SETTINGS.items()
        for rho in RATES
    }
    quantities = next(iter(columns.values()))
    return [
        PaperRow(quantity, {name: column[quantity] for name, column in columns.items()})
        for quantity in quantities
    ]


def paper_text() -> str:
    """Return the table as text."""
    rows = paper_table()
    columns = list(rows[0].values)
    cells = [
        ["", *columns],
        *([row.quantity, *(shown(row.values[column]) for column in columns)] for row in rows),
    ]
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _column(means: tuple[int, ...], T: int, block: int, rho: float) -> dict[str, float]:
    arms = Arms.of(GaussianBandit(means))
    gap = arms.smallest_gap
    limit = thresholds(gap)
    one, two, three, four = (
        theorem_1(arms, rho, T),
        theorem_2(arms, rho, T, DELTA),
        theorem_3(arms, rho, T),
        theorem_4(arms, rho, T, DELTA),
    )
    gaussian = corollary_1(gap, 1.0, rho)
    return {
        "limit on rho: corollaries": limit.corollaries,
        "limit on rho: theorems, malicious adversary": limit.malicious,
        "limit on rho: independent coin": limit.coin,
        "largest possible regret": T * arms.largest_gap,
        "Corollary 1 needs omega": gaussian.omega,
        "Corollary 1 needs b": gaussian.b,
        "Theorem 1 uses s": one.s,
        "Theorem 1 uses xi": one.xi,
        "Theorem 1 needs omega": one.omega,
        "Theorem 1 needs b": one.b,
        "Theorem 1 needs blocks of": one.block,
        "Theorem 1 bound": one.printed,
        "Theorem 2 bound": two.printed,
        "Theorem 2 bound, union bound": theorem_2(arms, rho, T, DELTA, printed=False).proved,
        "Theorem 3 needs c": three.c_needed,
        "Theorem 3 bound": three.printed,
        "Theorem 3 bound, repaired": three.proved,
        "Theorem 4 needs c": four.c_needed,
        "Theorem 4 bound": four.printed,
        "Theorem 4 bound, repaired": four.proved,
        "sharp b, outliers far away": sharp_b(rho),
        "sharp b, worst attack": needed_b(arms, rho),
        "sharp c, outliers far away": sharp_c(rho),
        "sharp c, worst attack": needed_c(arms, rho),
        "growth exponent at b = 4, outliers far away": growth_exponent(rho, b=4),
        "growth exponent at b = 4, worst attack": exponent_on(arms, rho, b=4, omega=4),
        "growth exponent at c = 10, outliers far away": growth_exponent(rho, c=10),
        "growth exponent at c = 10, worst attack": exponent_on(arms, rho, c=10),
        "ironarm's bound at b = 4, omega = 4": med_e_ucb_bound(
            arms, rho, T, b=4, omega=4, block=block
        ).total,
        "ironarm's bound at c = 10": med_epsilon_greedy_bound(arms, rho, T, c=10).total,
    }


def shown(x: float) -> str:
    """Return a number of the table as text."""
    if math.isinf(x):
        return "none"
    if abs(x) >= 1e6:
        return f"{x:.3g}"
    return f"{x:,.0f}" if abs(x) >= 10_000 else f"{x:.4g}"
