"""Tsallis-INF: near-optimal for rewards chosen by an adversary and for independent ones alike, in a known range."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..draws import uniform
from ..marks import hot
from .base import Policy
from .reward_range import checked_range, mirrored_range, range_constants, share_of_range

CLOSE = 1e-8  # relative; the error after a Newton step of this size is its square, the last bit


@hot
def distance(estimate, top, t, start):
    """Return the y > 0 at which the weights t / (top - estimate_a + y)^2 sum to 1.

    The sum is convex in y, so Newton's method climbs to the root from the left, and a step from the right lands on the left of it. At y = sqrt(t) the best arm alone has the weight
    1, so the root is not below. `start` is the root of some earlier round, or 0.
    """
    floor = math.sqrt(t)
    y = max(start, floor)
    step = math.inf
    while abs(step) > CLOSE * y:
        total = 0.0
        slope = 0.0
        for a in range(len(estimate)):
            r = 1.0 / (top - estimate[a] + y)
            total += r * r
            slope += r * r * r
        step = max((t * total - 1.0) / (2.0 * t * slope), floor - y)
        y += step
    return y


@hot
def highest(estimate):
    """Return the largest estimate."""
    top = estimate[0]
    for a in range(1, len(estimate)):
        top = max(top, estimate[a])
    return top


@dataclass(frozen=True)
class TsallisINF(Policy):
    """Tsallis-INF with alpha = 1/2: weights that fall with the square of an arm's loss. Without being told, it is optimal up to a constant for adversarial and for random rewards.

    A reward is mapped to y in [0, 1] by `reward_range` and clipped; its loss is 1 - y. L_a is the sum of the losses of arm a, each divided by the probability of its decision.
    Round t pulls arm a with probability

        w_a = (eta_t (L_a - x))^-2,   eta_t = 1 / sqrt(t),

    where x < min L makes the sum of the probabilities 1. It is found by Newton's method, which begins at the last round's answer and needs about two steps. (With the factor 4
    in front of the bracket that some versions of the paper have, eta_t is 2 / sqrt(t): the same weights.) The regret is O(sqrt(K T)) whatever the rewards, and O(log T) for random
    ones, or if an attack changes only a bounded sum of them.

    **Not for unbounded attacks.** The guarantee compares with the best arm *as corrupted*: clipping lets an attacker show the best arm as 0 and the others as 1 in a share rho of
    all rounds, which is not a bounded sum.

    Parameters
    ----------
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Behind an agent, `estimates` are -L_a.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> result = ia.simulate(ia.TsallisINF(), bandit, horizon=5000, trials=20, seed=1, progress=False)
    >>> bool(0.98 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Zimmert and Seldin, An optimal algorithm for stochastic and adversarial bandits, AISTATS 2019; Tsallis-INF, Journal of Machine Learning Research 22, 2021.
    """

    reward_range: tuple[float, float] = (0.0, 1.0)

    # s.estimate holds -L; `root` the last round's y = min L - x; `last_round` serves newcomers only. The root is saved, not a cache: from another start Newton's method ends at
    # another last bit, and L is chaotic (it grows by 1/w, which grows with it), so within some hundred rounds that would be another choice
    weighs_by_chance = True
    fields = {"root": "float[1]", "last_round": "int[1]"}

    def __post_init__(self) -> None:
        self._set(reward_range=checked_range(self.reward_range))

    @property
    def estimator(self) -> None:
        return None

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return range_constants(self.reward_range)

    def mirrored(self) -> TsallisINF:
        return replace(self, reward_range=mirrored_range(self.reward_range))

    @staticmethod
    @hot
    def choose(s, t, g):
        top = highest(s.estimate)
        y = distance(s.estimate, top, t, s.root[0])
        s.root[0] = y
        s.last_round[0] = t
        u = uniform(g)
        arm = 0
        reached = 0.0
        for a in range(s.arms - 1):
            r = 1.0 / (top - s.estimate[a] + y)
            reached += t * (r * r)
            arm += reached <= u
        r = 1.0 / (top - s.estimate[arm] + y)
        s.chance[0] = t * (r * r)
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        s.estimate[a] -= (1.0 - share_of_range(s, x)) / s.chance[0]

    @staticmethod
    @hot
    def welcome(s, a):
        # a newcomer enters with the mean weight of the others, hence with about 1/K of the choices
        t = max(s.last_round[0], 1)
        s.estimate[a] = -math.inf
        top = highest(s.estimate)
        s.estimate[a] = top + distance(s.estimate, top, t, 0.0) - math.sqrt(t * (s.arms - 1.0))
