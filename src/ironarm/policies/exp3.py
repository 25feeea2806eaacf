"""EXP3: exponential weights for adversarial rewards in a known range."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..random import uniform
from ..rules.reward_range import RangedPolicy, newcomer_estimate, share_of_range
from ..validation import number, optional, whole

REBASE_AT = 500.0
REBASE_EVERY = 65_536  # rounds; keeps the rounding errors of the updates below 1e-11
LARGE_STEP = 0.125


@cold
def rebase(s):
    """Recompute all weights relative to the largest log-weight, and their sums."""
    s.base[0] = s.estimate[0]
    for a in range(1, s.arms):
        s.base[0] = max(s.base[0], s.estimate[a])
    for a in range(s.arms):
        s.weight[a] = math.exp(s.estimate[a] - s.base[0])
    add_up(s, 0.0)


@cold
def add_up(s, target):
    """Compute the sums of the weights before each arm and of all.

    Return the arm at which their running sum passes the target.
    """
    arm = -1
    sum_before = 0.0
    for a in range(s.arms):
        s.reached[a] = sum_before
        arm += sum_before <= target
        sum_before += s.weight[a]
    s.reached[0] = -math.inf  # nothing lies before the first arm or behind the last
    s.reached[s.arms] = math.inf
    s.total[0] = sum_before
    s.total[1] = sum_before
    return arm


@hot
def arm_at(s, share):
    """Return the arm at which the running sum of the weights passes this share.

    The sums in `reached` are some rounds old. Weights only grow, so each sum has grown
    since by at most what the total has. If that leaves a doubt about the arm, about
    once in ten rounds, the sums are computed anew. So the arm is nearly always known
    before the last round's weight is, and the processor, which predicts the comparison
    below, does not wait for it.
    """
    arm = 0
    for a in range(1, s.arms):  # counts instead of searching: no branch to mispredict
        arm += s.reached[a] <= share * s.total[1]
    target = share * s.total[0]
    if s.reached[arm + 1] <= target or s.reached[arm] + (s.total[0] - s.total[1]) > target:
        return add_up(s, target)
    return arm


@hot
def chance_of(s, a):
    """Return the probability with which arm a is chosen."""
    return s.weight[a] / s.total[0] * (1.0 - s.gamma) + s.floor


@cold
def exact_growth(s, a):
    """Return what to add to the weight of arm a after its log-weight has changed.

    It is exact where multiplication is not: a weight of nearly 0 cannot grow by it.
    """
    if s.estimate[a] - s.base[0] > REBASE_AT:
        rebase(s)
    return math.exp(s.estimate[a] - s.base[0]) - s.weight[a]


@hot
def growth(weight, z):
    """Return weight * (exp(z) - 1) for 0 <= z <= 1/8, to a relative error of 1e-16.

    Ten terms of the series, in an order with few steps that must wait for another.
    """
    z2 = z * z
    z4 = z2 * z2
    first = (1.0 + z * (1 / 2)) + z2 * (1 / 6 + z * (1 / 24))
    middle = (1 / 120 + z * (1 / 720)) + z2 * (1 / 5040 + z * (1 / 40320))
    last = 1 / 362880 + z * (1 / 3628800)
    return weight * z * ((first + z4 * z4 * last) + z4 * middle)


@dataclass(frozen=True)
class EXP3(RangedPolicy):
    """EXP3: exponential weights, for adversarial rewards in a known range.

    Round t pulls arm a with probability p_a = (1 - gamma) w_a / sum(w) + gamma / K,
    then multiplies w_a by exp(gamma y / (p_a K)), where y is the reward mapped to [0,
    1] by `reward_range` and clipped. gamma = min(1, sqrt(K ln K / ((e - 1) T))) for a
    horizon T. The weights are kept as logarithms, so no reward overflows them.

    **Not for unbounded attacks.** Its guarantee compares with the best arm *as
    corrupted*, and clipping lets an attacker show the best arm as 0 and the others as
    1.

    Parameters
    ----------
    horizon : rounds T that gamma is computed for. None: a simulation uses its own; an
        agent needs `horizon` or `gamma`.
    gamma : the share of uniform exploration, 0 < gamma <= 1. None: from the horizon.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> result = ia.simulate(
    ...     ia.EXP3(), bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> bool(0.9 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Auer, Cesa-Bianchi, Freund, Schapire, The nonstochastic multiarmed bandit problem,
    SIAM Journal on Computing 32, 2002, Corollary 3.2.
    """

    horizon: int | None = None
    gamma: float | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)

    needs = {"horizon": "horizon", "reward_range": "range"}
    family = "drawn from probabilities", "weighted rewards in a known range"
    use_when = "as for `TsallisINF`; kept for comparison"

    # s.estimate holds the log-weights; `weight` their exponentials relative to `base`;
    # `total` their sum now and when `reached` was computed; 0: not computed yet
    fields = {
        "weight": "cache float[arms]",
        "reached": "cache float[arms*2]",
        "base": "cache float[1]",
        "total": "cache float[2]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            horizon=optional(whole, "horizon", self.horizon, at_least=1),
            gamma=optional(number, "gamma", self.gamma, above=0, at_most=1),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        gamma = self.gamma
        if gamma is None:
            rounds = self._rounds(horizon, ", or EXP3(gamma=...)")
            gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * rounds)))
        return {
            "gamma": gamma,
            "floor": gamma / arms,
            "odds": (1 - gamma) * arms / gamma if gamma > 0 else math.inf,
            "stretch": 1 / (1 - gamma) if gamma < 1 else 0.0,
            **super().constants(arms, horizon),
        }

    @staticmethod
    @hot
    def choose(s, t, g):
        if s.total[0] == 0.0 or t % REBASE_EVERY == 0:
            rebase(s)
        u = uniform(g)
        if u < s.gamma:
            arm = min(int(u / s.gamma * s.arms), s.arms - 1)
        else:
            arm = arm_at(s, (u - s.gamma) * s.stretch)
        if s.live != 0:
            s.chance[0] = chance_of(s, arm)
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        y = share_of_range(s, x)
        # in a simulation the reward follows at once, so the chance is still that of the
        # weights
        if s.live == 0 or s.chance[0] == chance_of(s, a):
            # the same number as below, with one division instead of two to wait for
            step = y * s.total[0] / (s.total[0] + s.odds * s.weight[a])
        else:
            if s.total[0] == 0.0:
                rebase(s)
            step = s.floor * y / s.chance[0]
        s.estimate[a] += step
        exponent = s.estimate[a] - s.base[0]
        if step > LARGE_STEP or abs(exponent) > REBASE_AT:
            more = exact_growth(s, a)
        else:
            more = growth(s.weight[a], step)
        s.weight[a] += more
        s.total[0] += more

    @staticmethod
    @hot
    def welcome(s, a):
        s.estimate[a] = newcomer_estimate(s.estimate, a, 1.0)
        s.total[0] = 0.0
