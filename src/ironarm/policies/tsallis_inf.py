"""Tsallis-INF: near-optimal for adversarial and for random rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import hot
from ..random import uniform
from ..rules.reward_range import RangedPolicy, share_of_range
from ..validation import choice

CLOSE = 1e-8  # relative; after a Newton step of this size the error is its square


@hot
def distance(estimate, top, age, start):
    """Return the y > 0 at which the weights age / (top - estimate_a + y)^2 sum to 1.

    The age is 1 / eta_t^2. The sum is convex in y, so Newton's method climbs to the
    root from the left, and a step from the right lands on its left. At y = sqrt(age)
    the best arm alone has the weight 1, so the root is not below. `start` is the root
    of an earlier round, or 0.
    """
    floor = math.sqrt(age)
    y = max(start, floor)
    step = math.inf
    while abs(step) > CLOSE * y:
        total = 0.0
        slope = 0.0
        for a in range(len(estimate)):
            r = 1.0 / (top - estimate[a] + y)
            total += r * r
            slope += r * r * r
        step = max((age * total - 1.0) / (2.0 * age * slope), floor - y)
        y += step
    return y


@hot
def highest(estimate):
    """Return the largest estimate."""
    top = estimate[0]
    for a in range(1, len(estimate)):
        top = max(top, estimate[a])
    return top


@hot
def weight(s, top, age, a):
    """Return w_a, the probability of an arm."""
    r = 1.0 / (top - s.estimate[a] + s.root[0])
    return age * (r * r)


@dataclass(frozen=True)
class TsallisINF(RangedPolicy):
    """Tsallis-INF with alpha = 1/2: weights that fall with the square of an arm's loss.

    It is optimal up to a constant for adversarial and for random rewards, without
    knowing which it faces.

    A reward is mapped to y in [0, 1] by `reward_range` and clipped; its loss is 1 - y.
    L_a is the sum of the losses of arm a, each divided by the probability of its
    decision. Round t pulls arm a with probability

        w_a = (eta_t (L_a - x))^-2,   eta_t = 1 / sqrt(t),

    where x < min L makes the sum of the probabilities 1. The regret is O(sqrt(K T)) for
    any rewards, and O(log T) for random ones, or if an attack changes only a bounded
    sum of them. `variance="reduced"` centres the losses, and has the same bounds with
    smaller constants. docs/policies.md has its formulas.

    **Not for unbounded attacks.** The guarantee compares with the best arm *as
    corrupted*: clipping lets an attacker show the best arm as 0 and the others as 1 in
    a share rho of all rounds, which is not a bounded sum.

    Behind an agent, `estimates` are -L_a.

    Parameters
    ----------
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.
    variance : "plain" for the losses as they are, or "reduced".

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> result = ia.simulate(
    ...     ia.TsallisINF(), bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> bool(0.98 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Zimmert and Seldin, An optimal algorithm for stochastic and adversarial bandits,
    AISTATS 2019; Tsallis-INF, Journal of Machine Learning Research 22, 2021.
    """

    reward_range: tuple[float, float] = (0.0, 1.0)
    variance: str = "plain"

    needs = {"reward_range": "range"}
    family = "drawn from probabilities", "weighted rewards in a known range"
    use_when = (
        "rewards lie in a known range and follow no fixed law, or one that is disturbed now and "
        'then; `variance="reduced"` has the same bounds with smaller constants'
    )

    # s.estimate holds -L; `root` is the last round's y = min L - x. The root is saved,
    # not a cache: from another start Newton's method ends at another last bit. L is
    # chaotic (it grows by 1/w, which grows with it), so within some hundred rounds the
    # choices would differ
    fields = {"root": "float[1]", "last_round": "int[1]"}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(variance=choice("variance", self.variance, ("plain", "reduced")))

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        return {
            "speed": 4.0 if self.variance == "reduced" else 1.0,
            **super().constants(arms, horizon),
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        top = highest(s.estimate)
        age = t / s.speed
        y = distance(s.estimate, top, age, s.root[0])
        s.root[0] = y
        s.last_round[0] = t
        u = uniform(g)
        arm = 0
        reached = 0.0
        for a in range(s.arms - 1):
            reached += weight(s, top, age, a)
            arm += reached <= u
        s.chance[0] = weight(s, top, age, arm)
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        loss = 1.0 - share_of_range(s, x)
        if s.speed > 1.0:
            top = highest(s.estimate)
            age = s.last_round[0] / s.speed
            for k in range(s.arms):
                if weight(s, top, age, k) >= 4.0 / age:
                    if k == a:
                        loss -= 0.5
                    s.estimate[k] -= 0.5
        s.estimate[a] -= loss / s.chance[0]

    @staticmethod
    @hot
    def welcome(s, a):
        # a newcomer enters with the mean weight of the others, hence with about 1/K of
        # the choices
        age = max(s.last_round[0], 1) / s.speed
        s.estimate[a] = -math.inf
        top = highest(s.estimate)
        s.estimate[a] = top + distance(s.estimate, top, age, 0.0) - math.sqrt(age * (s.arms - 1.0))
