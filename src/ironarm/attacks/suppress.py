"""Missing feedback: what contradicts the attacker comes late, or never."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import hot
from ..validation import optional, whole
from .base import Attack


@dataclass(frozen=True)
class Suppress(Attack):
    """Hold up the rewards that tell the truth; replace none.

    In an attacked round, a reward of the best arm that lies above its mean is held up,
    and so is a reward of any other arm that lies below its own. The remaining rewards
    make the best arm look worse, and the others better. With clicks, the best arm loses
    clicks, and the others lose rounds without a click.

    No value is ever forged, so it hurts a mean far less than an outlier does, and a
    median about half as much as a forged value. But a policy that waits for its rewards
    waits for ever, and every guarantee assumes that they arrive: this attack is outside
    the model. The decisions stay open unless the simulation lets them expire
    (`ia.Delay(expire=...)`).

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    rounds : by how many rounds a reward is held up; None: for ever.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> result = ia.simulate(
    ...     ia.MedEUCB(),
    ...     bandit,
    ...     ia.attacks.Suppress(rho=0.2),
    ...     horizon=2000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.summary().rows[0].stuck
    0.0
    """

    rho: float
    rounds: int | None = None

    within_model = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(rounds=optional(whole, "rounds", self.rounds, at_least=1, below=10**7))

    def constants(self) -> dict[str, float]:
        return {"rounds": math.inf if self.rounds is None else float(self.rounds)}

    @property
    def longest_hold(self) -> int:
        return self.rounds or 0

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return x

    @staticmethod
    @hot
    def hold(e, a, x, u, v):
        contradicts = x > e.means[a] if a == e.best else x < e.means[a]
        return e.rounds if contradicts else 0.0
