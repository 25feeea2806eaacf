"""All the force on the first pulls of each arm."""

from __future__ import annotations

from dataclasses import dataclass

from ..marks import hot
from ..validation import number, whole
from .base import Attack


@dataclass(frozen=True)
class FrontLoaded(Attack):
    """The paper's shifts, but only while an arm has at most `pulls` pulls.

    It breaks policies that trust their first impression.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    pulls : how many of the first pulls of each arm can be attacked.
    scale : the largest shift, in units of reward, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> ia.attacks.FrontLoaded(rho=0.3, pulls=10)
    FrontLoaded(rho=0.3, pulls=10, scale=1800.0)
    """

    rho: float
    pulls: int = 20
    scale: float = 1800.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            pulls=whole("pulls", self.pulls, at_least=1), scale=number("scale", self.scale, above=0)
        )

    def constants(self) -> dict[str, float]:
        return {"first": float(self.pulls), "scale": self.scale}

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        if e.pulls[a] > e.first:
            return x
        return x - e.scale * u if a == e.best else x + e.scale * u
