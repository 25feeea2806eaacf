"""A policy of your own in one file: med-E-UCB without blocks.

`docs/own-policy.md` explains it line by line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ironarm.extend import (
    IndexPolicy,
    LowerMedian,
    cold,
    highest_index,
    hot,
    index_moved,
    number,
)

# rounding may cost one more look at the counts, but never a pull
SLIGHTLY_EARLY = 1.0 - 1e-12
FAR_AWAY = 1e18


@cold
def short_of_pulls(s, t):
    """Return the arm with the fewest pulls if it has fewer than b log t, else -1.

    In the second case `enough_until` is set to the last round for which that is sure.
    """
    fewest = 0
    for a in range(1, s.arms):
        if s.n[a] < s.n[fewest]:
            fewest = a
    if s.n[fewest] < s.b * math.log(t):
        return fewest
    s.enough_until[0] = int(min(math.exp(s.n[fewest] / s.b * SLIGHTLY_EARLY), FAR_AWAY))
    return -1


@dataclass(frozen=True)
class SteadyMedUCB(IndexPolicy):
    """med-E-UCB without blocks.

    An arm with fewer than b log t pulls is pulled at once, the fewest first.
    All other rounds pull the arm with the largest

        median_a + sqrt(omega log t / n_a)

    with the lower median. The forced pulls come one by one instead of in windows, so
    there is no block length to choose.

    **Not for 0/1 rewards** or heavy ties, where all medians are equal.

    Parameters
    ----------
    b : forced pulls of each arm per unit of log t, > 0.
    omega : exploration, in squared units of reward, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> attack = ia.OppositeUniform(rho=0.125, scale=1800)
    >>> result = ia.simulate(
    ...     SteadyMedUCB(),
    ...     bandit,
    ...     attack,
    ...     horizon=10_000,
    ...     trials=3,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.regret[0, :, -1].tolist()
    [3330.0, 3330.0, 3330.0]
    """

    b: float = 4.0
    omega: float = 4.0

    estimator = LowerMedian
    needs = {"omega": "sigma"}  # omega is to be chosen for the rewards' sigma
    fields = {**IndexPolicy.fields, "enough_until": "cache int[1]"}

    def __post_init__(self) -> None:
        self._set(b=number("b", self.b, above=0), omega=number("omega", self.omega, above=0))

    @staticmethod
    @hot
    def choose(s, t, g):
        """Return the arm for round t."""
        if t > s.enough_until[0]:
            arm = short_of_pulls(s, t)
            if arm >= 0:
                return arm
        return highest_index(s, t, s.coefficient)

    @staticmethod
    @hot
    def recount(s, a):
        """Take note that a live decision for arm a was made or cancelled."""
        index_moved(s, a)
        s.enough_until[0] = 0  # a cancelled one may leave the arm short
