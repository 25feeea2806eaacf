"""D-UCB: upper confidence bounds on rewards that fade."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..rules.highest_index import first_unrewarded
from ..rules.reward_range import RangedPolicy
from ..validation import number


@cold
def highest_discounted(s):
    """Return the arm with the highest discounted index; every arm has a reward."""
    total = 0.0
    for a in range(s.arms):
        total += s.weight[a]
    level = 2.0 * (s.high - s.low) * math.sqrt(s.xi * max(math.log(total), 0.0))
    best = 0
    highest = -math.inf
    for a in range(s.arms):
        # live, an open decision counts as a reward of now
        weight = s.weight[a] + (s.n[a] - s.rewards[a])
        index = s.estimate[a] + level / math.sqrt(weight) if weight > 0.0 else math.inf
        if index > highest:
            highest = index
            best = a
    return best


@dataclass(frozen=True)
class DiscountedUCB(RangedPolicy):
    """D-UCB of Garivier and Moulines: for bounded rewards whose laws change.

    A reward that is s rounds old has the weight discount^s. Let N_a be the sum of the
    weights of arm a, mean_a its weighted mean, N the sum of all N_a, and B the width of
    the range. Every arm is pulled once, then the one with the largest

        mean_a + 2 B sqrt(xi log N / N_a).

    The paper's discount for T rounds with U changes is 1 - sqrt(U / T) / (4 B).

    **Not under attack**: a share rho of corrupt rewards moves a mean by rho B. Use
    `SlidingMedUCB` or `RestartingIMED`. A round costs O(K). Behind an agent, age counts
    rewards instead of rounds, and a late reward starts to age when it arrives.

    Parameters
    ----------
    discount : the weight of a reward that is one round old (the paper's gamma), 0 <
        discount < 1.
    xi : exploration, > 0; the paper's theorem needs more than 1/2.
    reward_range : (low, high), the range of the rewards; others are clipped to it.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> policy = ia.policies.DiscountedUCB(discount=0.9995)
    >>> result = ia.simulate(
    ...     policy, bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> bool(0.9 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Kocsis and Szepesvari, Discounted UCB, 2nd PASCAL challenges workshop, 2006.
    Garivier and Moulines, On upper-confidence bound policies for switching bandit
    problems, ALT 2011.
    """

    discount: float
    xi: float = 0.6
    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"reward_range": "range"}
    family = "upper confidence, for arms that change", "mean in a known range"
    use_when = (
        "nobody corrupts the rewards, which lie in a known range, and arms change; kept for "
        "comparison"
    )

    weighs_by_chance = False
    fields = {"weight": "float[arms]", "weighted": "float[arms]"}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            discount=number("discount", self.discount, above=0, below=1),
            xi=number("xi", self.xi, above=0),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        low, high = self.reward_range
        return {"discount": self.discount, "xi": self.xi, "low": low, "high": high}

    @staticmethod
    @hot
    def choose(s, t, g):
        if s.unrewarded[0] > 0:
            return first_unrewarded(s.n, s.rewards, s.fresh)
        return highest_discounted(s)

    @staticmethod
    @hot
    def update(s, a, x):
        for k in range(s.arms):
            s.weight[k] *= s.discount
            s.weighted[k] *= s.discount
        s.weight[a] += 1.0
        s.weighted[a] += min(max(x, s.low), s.high)
        s.estimate[a] = s.weighted[a] / s.weight[a]
