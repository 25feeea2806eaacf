"""No attack: the policy sees the clean rewards."""

from __future__ import annotations

from dataclasses import dataclass

from ..marks import hot
from .base import Attack


@dataclass(frozen=True)
class NoAttack(Attack):
    """No attack: every reward is clean.

    Parameters
    ----------
    rho : of no effect; 0 unless you give another.

    Examples
    --------
    >>> import ironarm as ia
    >>> ia.NoAttack().rho
    0.0
    """

    rho: float = 0.0

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return x
