"""Rewards that look as if the arms had changed."""

from __future__ import annotations

from dataclasses import dataclass

from ..marks import hot
from ..validation import number, whole
from .base import Attack


@dataclass(frozen=True)
class FakeChange(Attack):
    """Fakes a change of the laws, to make a policy forget.

    For `quiet` rounds it does nothing, so that a policy learns what the arms are like.
    Then, for as many rounds, it shifts every attacked reward of the best arm down by
    `shift`, and of any other arm up by `shift`, so that all arms seem to have changed
    at once. Then it is quiet again. A policy that restarts because of it learns the
    same arms again each time.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1. It counts quiet rounds too,
        in which an attack leaves the reward as it is.
    quiet : rounds of each phase, >= 1.
    shift : how far rewards are moved, in units of reward, > 0. A few standard
        deviations look most like a change.

    Examples
    --------
    >>> import ironarm as ia
    >>> ia.attacks.FakeChange(rho=0.2)
    FakeChange(rho=0.2, quiet=2000, shift=3.0)
    """

    rho: float
    quiet: int = 2000
    shift: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            quiet=whole("quiet", self.quiet, at_least=1),
            shift=number("shift", self.shift, above=0),
        )

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        if (e.t - 1) // int(e.quiet) % 2 == 0:
            return x
        return x - e.shift if a == e.best else x + e.shift
