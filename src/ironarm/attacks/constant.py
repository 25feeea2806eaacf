"""A constant in place of the reward."""

from __future__ import annotations

from dataclasses import dataclass

from ..marks import hot
from ..validation import number
from .base import Attack


@dataclass(frozen=True)
class Constant(Attack):
    """The same value every time: -value on the best arm, +value on any other.

    A stuck sensor, or an attacker who wants to stay within limits.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    value : the size, in units of reward.

    Examples
    --------
    >>> import ironarm as ia
    >>> ia.Constant(rho=0.1, value=50)
    Constant(rho=0.1, value=50.0)
    """

    rho: float
    value: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(value=number("value", self.value))

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return -e.value if a == e.best else e.value
