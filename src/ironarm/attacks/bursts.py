"""Attacks that come in bursts: outside the model, to see what that changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import InvalidInput
from ..marks import hot
from ..validation import number
from .base import Attack


@dataclass(frozen=True)
class Bursts(Attack):
    """**Outside the model**: the paper's shifts, but attacked rounds come in runs.

    The long-run share is rho, but the coin is not independent from round to round. It
    is a chain of two states. An attacked round is followed by another with probability
    1 - 1/length, so runs have `length` rounds on average. Between them lie length (1 -
    rho)/rho clean rounds on average. With an independent coin, runs have 1/(1 - rho)
    rounds.

    Every theorem, and every policy that relies on a share of at most rho in a sample of
    moderate size, needs an independent coin: `within_model` is False. Use this attack
    to learn how much depends on that, for instance if your outages last. It breaks
    policies that pull an arm many times in a row and then decide, since a burst can
    fill most of such a sample.

    Parameters
    ----------
    rho : the long-run share of attacked rounds, and the probability that the first is
        attacked, 0 <= rho < 1.
    length : the mean length of a run of attacked rounds, >= 1 and >= rho/(1 - rho).
    scale : the largest shift, in units of reward, > 0: subtracted from rewards of the
        best arm, added to those of any other, as in `OppositeUniform`.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> for attack in (
    ...     ia.OppositeUniform(rho=0.125),
    ...     ia.attacks.Bursts(rho=0.125, length=30),
    ... ):
    ...     result = ia.simulate(
    ...         ia.MedEUCB(),
    ...         bandit,
    ...         attack,
    ...         horizon=5000,
    ...         trials=20,
    ...         seed=1,
    ...         progress=False,
    ...     )
    ...     print(attack.within_model, round(result.summary().rows[0].mean))
    True 3150
    False 6452
    """

    within_model: ClassVar[bool] = False

    rho: float
    length: float = 30.0
    scale: float = 1800.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            length=number("length", self.length, at_least=1),
            scale=number("scale", self.scale, above=0),
        )
        if self.length < self.rho / (1 - self.rho):
            raise InvalidInput(
                f"length must be at least rho/(1 - rho), which is {self.rho / (1 - self.rho):g} "
                f"for a rho of {self.rho:g}, got {self.length:g}."
            )

    @property
    def burst(self) -> float:  # type: ignore[override]
        return self.length

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return x - e.scale * u if a == e.best else x + e.scale * u
