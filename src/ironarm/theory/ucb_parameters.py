"""Which s and xi to use in Theorems 1 and 2, and so which b and omega.

Assumption 1 holds with many pairs (s, xi). Each gives the smallest parameters that the
theorem allows with it: omega = factor/l^2, with l the density that s and xi leave, and
b = max(omega/xi^2, 2/(s - rho)^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..policies.med_e_ucb import smallest_block
from .arms import Arms
from .assumptions import density_floor

Objective = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""What to make small: a function of s, b and omega."""


@dataclass(frozen=True)
class Choice:
    """A pair (s, xi), and the smallest b and omega that the theorem allows with it."""

    s: float
    xi: float
    b: float
    omega: float


@dataclass(frozen=True, eq=False)
class Choices:
    """All pairs (s, xi) with rho < s < s_max, for one theorem.

    `factor` is how large it wants omega l^2 to be.
    """

    arms: Arms
    rho: float
    s_max: float
    factor: float

    def block(self, choice: Choice) -> float:
        """Return the smallest block that fits the choice's b."""
        return (
            float(smallest_block(self.arms.count, choice.b, 2))
            if math.isfinite(choice.b)
            else math.inf
        )

    @cached_property
    def least_b(self) -> Choice:
        """The choice with the smallest b, and so with the shortest blocks."""
        return self.smallest(lambda s, b, omega: b)

    def smallest(self, objective: Objective, at_most_b: float = math.inf) -> Choice:
        """Return the choice with the smallest objective among those with such a b.

        It searches over s, and for each s over xi, on grids refined around their best
        point.
        """
        from scipy.optimize import minimize_scalar

        def value(s: float, xi: np.ndarray) -> np.ndarray:
            b, omega = self._parameters(s, xi)
            with np.errstate(over="ignore", invalid="ignore"):
                values = np.nan_to_num(objective(s, b, omega), nan=math.inf)
            return np.where(b <= at_most_b, values, math.inf)

        widths = self.arms.spread * np.geomspace(1e-3, 10, 160)

        def best_xi(s: float, refine: bool = True) -> tuple[float, float]:
            values = value(s, widths)
            i = int(np.argmin(values))
            if not refine:
                return float(widths[i]), float(values[i])
            around = np.log(widths[max(0, i - 1)]), np.log(widths[min(len(widths) - 1, i + 1)])
            fine = minimize_scalar(
                lambda x: float(value(s, np.array(math.exp(x)))),
                bounds=around,
                method="bounded",
                options={"xatol": 1e-7},
            )
            return (
                (math.exp(fine.x), float(fine.fun))
                if fine.fun <= values[i]
                else (float(widths[i]), float(values[i]))
            )

        rho, s_max = self.rho, self.s_max
        shares = rho + (s_max - rho) * np.linspace(0.02, 0.98, 49)
        values = [best_xi(s, refine=False)[1] for s in shares]
        i = int(np.argmin(values))
        low = shares[i - 1] if i > 0 else rho + 1e-9 * (s_max - rho)
        high = shares[i + 1] if i + 1 < len(shares) else s_max - 1e-9 * (s_max - rho)
        with np.errstate(invalid="ignore"):  # beyond at_most_b the objective is infinite
            fine = minimize_scalar(
                lambda s: best_xi(s)[1],
                bounds=(low, high),
                method="bounded",
                options={"xatol": 1e-7},
            )
            s = float(fine.x) if fine.fun <= values[i] else float(shares[i])
            xi = best_xi(s)[0]
        b, omega = (float(x) for x in self._parameters(s, np.array(xi)))
        return Choice(s, xi, b, omega)

    def _parameters(self, s: float, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(divide="ignore", over="ignore"):
            omega = self.factor / density_floor(self.arms, s, xi) ** 2
            return np.maximum(omega / xi**2, 2 / (s - self.rho) ** 2), omega


def shortest(choices: Choices, objective: Objective, T: int) -> Choice:
    """Return the choice with the smallest objective whose blocks are shorter than T.

    If no choice has such blocks, return the one with the smallest objective.
    """
    best = choices.smallest(objective)
    if choices.block(best) < T:
        return best
    if choices.block(choices.least_b) >= T:
        return best
    # the longest block that is allowed has m pulls of each arm, and b log(K m) <= m
    m = (T - 1) // choices.arms.count
    largest = m / math.log(choices.arms.count * m) * (1 - 1e-12)
    within = choices.smallest(objective, at_most_b=largest)
    return within if choices.block(within) < T else choices.least_b
