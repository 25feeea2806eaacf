"""The paper's attack with small values most of the time, large ones now and then."""

from __future__ import annotations

from dataclasses import dataclass

from ..marks import hot
from ..validation import number
from .base import Attack


@dataclass(frozen=True)
class SometimesLarge(Attack):
    """Shifts as of `OppositeUniform`, of which only a share is large.

    A number is subtracted from the reward of the best arm, and added to that of any
    other: with probability `share` it is uniform on (0, scale), otherwise on (0,
    small). It stays within the model. The paper says that known policies fail "even
    when attack values are not substantially large all the time"; this is such an
    attack.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    scale : the largest of the large shifts, in units of reward, > 0.
    small : the largest of the small shifts, in units of reward, > 0.
    share : how many of the attacks are large, 0 to 1.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> for attack in (ia.OppositeUniform(0.3), ia.attacks.SometimesLarge(0.3)):
    ...     result = ia.simulate(
    ...         ia.RUCB(),
    ...         bandit,
    ...         attack,
    ...         horizon=2000,
    ...         trials=200,
    ...         seed=1,
    ...         progress=False,
    ...     )
    ...     print(f"{result.stuck.mean():.1%} of trials are stuck")
    66.5% of trials are stuck
    9.0% of trials are stuck
    """

    rho: float
    scale: float = 1800.0
    small: float = 5.0
    share: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            scale=number("scale", self.scale, above=0),
            small=number("small", self.small, above=0),
            share=number("share", self.share, at_least=0, at_most=1),
        )

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        shift = (e.scale if v < e.share else e.small) * u
        return x - shift if a == e.best else x + shift
