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


SHARES, WIDTHS = 10**6, 10**7
"""How fine the lattices of s and xi are: steps of a millionth.

The best point of a lattice does not depend on rounding, and so not on the processor:
its neighbours' objectives differ by far more than rounding does. A search among all
numbers ends anywhere on the flat ground around the optimum.
"""


def lowest(
    values: Callable[[np.ndarray], np.ndarray], first: int, last: int, step: int, finest: int = 1
) -> tuple[int, float]:
    """Return the whole number with the lowest value, and that value.

    It looks at every `step`-th number, then more and more finely around the best.

    >>> lowest(lambda i: (i - 271_828.3) ** 2, 0, 10**6, 10**5)[0]
    271828
    """
    while True:
        at = np.arange(first, last + 1, step)
        found = values(at)
        i = int(np.argmin(found))
        if step <= finest:
            return int(at[i]), float(found[i])
        first, last = max(first, int(at[i]) - step), min(last, int(at[i]) + step)
        step = max(finest, step // 8)


@dataclass(frozen=True)
class ParameterPair:
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

    def block(self, choice: ParameterPair) -> float:
        """Return the smallest block that fits the choice's b."""
        return (
            float(smallest_block(self.arms.count, choice.b, 2))
            if math.isfinite(choice.b)
            else math.inf
        )

    @cached_property
    def least_b(self) -> ParameterPair:
        """The choice with the smallest b, and so with the shortest blocks."""
        return self.smallest(lambda s, b, omega: b)

    def smallest(self, objective: Objective, at_most_b: float = math.inf) -> ParameterPair:
        """Return the choice with the smallest objective among those with such a b.

        It searches the lattice of s, and for each s that of xi.
        """

        def values(s: float, xi: np.ndarray) -> np.ndarray:
            b, omega = self._parameters(s, xi)
            with np.errstate(over="ignore", invalid="ignore"):
                found = np.nan_to_num(objective(s, b, omega), nan=math.inf)
            return np.where(b <= at_most_b, found, math.inf)

        def share(i: int) -> float:
            return self.rho + (self.s_max - self.rho) * i / SHARES

        def best_width(s: float, coarse: bool = False) -> tuple[int, float]:
            step = WIDTHS // 160
            return lowest(
                lambda at: values(s, self._widths(at)), 0, WIDTHS, step, step if coarse else 1
            )

        def over_widths(coarse: bool) -> Callable[[np.ndarray], np.ndarray]:
            return lambda at: np.array([best_width(share(i), coarse)[1] for i in at.tolist()])

        # a coarse look at xi is enough to find the right neighbourhood of s
        step = SHARES // 50
        near, _ = lowest(over_widths(coarse=True), step, SHARES - step, step, step)
        i, _ = lowest(
            over_widths(coarse=False),
            max(1, near - step),
            min(SHARES - 1, near + step),
            max(1, step // 8),
        )
        s = share(i)
        xi = float(self._widths(np.array(best_width(s)[0])))
        b, omega = (float(x) for x in self._parameters(s, np.array(xi)))
        return ParameterPair(s, xi, b, omega)

    def _widths(self, at: np.ndarray) -> np.ndarray:
        """Return the xi of these points of the lattice: 0.001 to 10 spreads."""
        return self.arms.spread * 10.0 ** (4 * at / WIDTHS - 3)

    def _parameters(self, s: float, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(divide="ignore", over="ignore"):
            omega = self.factor / density_floor(self.arms, s, xi) ** 2
            return np.maximum(omega / xi**2, 2 / (s - self.rho) ** 2), omega


def shortest(choices: Choices, objective: Objective, T: int) -> ParameterPair:
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
