"""Thompson sampling for rewards of 0 and 1, or in a known range."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import hot
from ..random import beta, uniform
from ..rules.reward_range import MeanOfRange, share_of_range


@dataclass(frozen=True)
class ThompsonBeta(MeanOfRange):
    """Thompson sampling with a Beta belief: draw a rate for every arm, pull the best.

    Round t pulls the arm with the largest

        theta_a ~ Beta(1 + wins_a, 1 + losses_a),

    drawn afresh for every arm in every round: with a uniform prior, the belief about
    the rate of an arm that has paid 1 in `wins` and 0 in `losses` cases. So an arm is
    pulled as often as it is believed to be the best. Its regret is asymptotically the
    least possible for rewards of 0 and 1. Rewards in another range are mapped to y in
    [0, 1] by `reward_range` and clipped; such a reward counts as a win with probability
    y. That keeps the mean, and the guarantee O(log T).

    **Under attack** it behaves like `KLUCB`: it finds the best arm for rho < gap/(1 +
    gap); beyond that, no policy does. **Not for rewards without a range**: use
    `CountIMED` or `MedEUCB`. It draws two gamma numbers for every arm in every round;
    with many arms `BernoulliIMED` is faster.

    Parameters
    ----------
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.1, 0.05, 0.02])
    >>> result = ia.simulate(
    ...     [ia.policies.ThompsonBeta(), ia.UCB(sigma=0.5)],
    ...     bandit,
    ...     horizon=10_000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> [round(row.mean) for row in result.summary().rows]
    [20, 129]

    References
    ----------
    Agrawal and Goyal, Analysis of Thompson sampling for the multi-armed bandit problem,
    COLT 2012; the coin is their Algorithm 2. Kaufmann, Korda, Munos, Thompson sampling:
    an asymptotically optimal finite-time analysis, ALT 2012.
    """

    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"reward_range": "range"}
    family = "drawn from a belief", "mean in a known range"
    use_when = "as for `KLUCB`, and decisions should not be predictable"

    fields = {"wins": "int[arms]"}

    @staticmethod
    @hot
    def choose(s, t, g):
        best = 0
        highest = -math.inf
        for a in range(s.arms):
            drawn = beta(g, 1.0 + s.wins[a], 1.0 + (s.rewards[a] - s.wins[a]))
            if drawn > highest:
                highest = drawn
                best = a
        return best

    @staticmethod
    @hot
    def update(s, a, x):
        y = share_of_range(s, x)
        # a share of 0 or 1 needs no coin
        if y >= 1.0 or (y > 0.0 and uniform(s.stream) < y):
            s.wins[a] += 1
