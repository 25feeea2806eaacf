"""Thompson sampling for normal rewards: pull an arm as often as it may be the best."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import hot
from ..policy import Policy
from ..random import normal
from ..rules.highest_index import first_unrewarded
from ..validation import number


@hot
def spread_moved(s, a):
    """Take note that the number of rewards of arm a may have changed."""
    s.spread[a] = s.sigma / math.sqrt(s.rewards[a]) if s.rewards[a] > 0 else 0.0


@dataclass(frozen=True)
class ThompsonGaussian(Policy):
    """Gaussian Thompson sampling: draw a mean for every arm, and pull the largest draw.

    Every arm is pulled once. Then, with a flat prior on the means and rewards of a
    known standard deviation sigma, the belief about arm a after n_a rewards is normal,
    and round t pulls the arm with the largest

        theta_a ~ N(mean_a, sigma^2 / n_a),

    drawn afresh for every arm in every round. So an arm is pulled as often as it is
    believed to be the best. The regret is 2 sigma^2 log T / gap for each arm,
    asymptotically the least possible. The prior is flat so that units and offsets of
    the rewards do not matter; the first pull of each arm makes the belief proper.

    **Not for corrupted rewards.** One reward can move the mean anywhere, and the belief
    narrows as fast as if all rewards were clean. An infinite reward makes an arm's
    draws infinite for ever; infinite rewards of both signs make them -inf, as for all
    policies that use means. Among equals the lowest arm wins. Use `CountIMED` or
    `MedEUCB`.

    Parameters
    ----------
    sigma : the rewards' standard deviation, in units of reward, > 0; 0.5 is an upper
        bound for rewards in [0, 1]. Larger values explore more.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> result = ia.simulate(
    ...     ia.policies.ThompsonGaussian(),
    ...     bandit,
    ...     horizon=1000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool(result.regret[0, :, -1].mean() < 25)
    True

    References
    ----------
    Agrawal and Goyal, Near-optimal regret bounds for Thompson sampling, Journal of the
    ACM 64, 2017. Korda, Kaufmann, Munos, Thompson sampling for 1-dimensional
    exponential family bandits, NIPS 2013: optimal with Jeffreys' prior, which is flat
    for a normal mean.
    """

    sigma: float = 1.0

    needs = {"sigma": "sigma"}
    family = "drawn from a belief", "mean"
    use_when = (
        "nobody corrupts the rewards, which are normal, and decisions should not be predictable"
    )

    fields = {"spread": "cache float[arms]"}

    def __post_init__(self) -> None:
        self._set(sigma=number("sigma", self.sigma, above=0))

    @staticmethod
    @hot
    def choose(s, t, g):
        if s.unrewarded[0] > 0:
            return first_unrewarded(s.n, s.rewards, s.fresh)
        best = 0
        highest = -math.inf
        for a in range(s.arms):
            drawn = s.estimate[a] + s.spread[a] * normal(g)
            if drawn > highest:
                highest = drawn
                best = a
        return best

    @staticmethod
    @hot
    def update(s, a, x):
        spread_moved(s, a)

    @staticmethod
    @hot
    def recount(s, a):
        spread_moved(s, a)
