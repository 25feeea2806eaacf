"""The paper's attack: a large uniform number, minus on the best arm, plus on others."""

from __future__ import annotations

from dataclasses import dataclass

from ..marks import hot
from ..validation import number
from .base import Attack


@dataclass(frozen=True)
class OppositeUniform(Attack):
    """The paper's attack: a large shift, down on the best arm and up on the others.

    A number uniform on (0, scale) is subtracted from the reward of the best arm, and
    added to that of any other.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    scale : the largest shift, in units of reward, > 0. The paper uses 1800 for means of
        2 to 20.

    Examples
    --------
    >>> import ironarm as ia
    >>> ia.OppositeUniform(rho=0.3, scale=1800)
    OppositeUniform(rho=0.3, scale=1800.0)
    """

    rho: float
    scale: float = 1800.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(scale=number("scale", self.scale, above=0))

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return x - e.scale * u if a == e.best else x + e.scale * u
