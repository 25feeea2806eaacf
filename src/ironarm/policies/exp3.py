"""EXP3: exponential weights for adversarial rewards in a known range."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..draws import uniform
from ..errors import InvalidInput
from ..marks import cold, hot
from ..validation import number, whole
from .base import Policy

REBASE_AT = 500.0


@cold
def rebase(estimate, weight, reference):
    """Recompute all weights relative to the largest log-weight, and their sum."""
    top = estimate[0]
    for a in range(1, len(estimate)):
        top = max(top, estimate[a])
    total = 0.0
    for a in range(len(estimate)):
        weight[a] = math.exp(estimate[a] - top)
        total += weight[a]
    reference[0] = top
    reference[1] = total


@dataclass(frozen=True)
class EXP3(Policy):
    """EXP3: weights that grow exponentially with importance-weighted rewards; made for rewards chosen by an adversary, but inside a known range.

    Round t pulls arm a with probability p_a = (1 - gamma) w_a / sum(w) + gamma / K, then multiplies w_a by exp(gamma y / (p_a K)), where y is the reward mapped to [0, 1] by
    `reward_range` and clipped. gamma = min(1, sqrt(K ln K / ((e - 1) T))) for a horizon T. The weights are kept as logarithms, so no reward overflows them.

    **Not for unbounded attacks.** Its guarantee compares with the best arm *as corrupted*, and clipping lets an attacker show the best arm as 0 and the others as 1.

    Parameters
    ----------
    horizon : rounds T that gamma is made for. None: a simulation supplies its own; an agent needs `horizon` or `gamma`.
    gamma : the share of uniform exploration, 0 < gamma <= 1. None: from the horizon.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> result = ia.simulate(ia.EXP3(), bandit, horizon=5000, trials=20, seed=1, progress=False)
    >>> bool(0.9 < result.optimal[0, :, -1].mean() < 1)
    True

    References
    ----------
    Auer, Cesa-Bianchi, Freund, Schapire, The nonstochastic multiarmed bandit problem, SIAM Journal on Computing 32, 2002, Corollary 3.2.
    """

    horizon: int | None = None
    gamma: float | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)

    # s.estimate holds the log-weights; the weights are their exponentials relative to reference[0], reference[1] their sum; 0: not computed yet
    weighs_by_chance = True
    fields = {"weight": "cache float[arms]", "reference": "cache float[2]"}

    def __post_init__(self) -> None:
        if self.horizon is not None:
            self._set(horizon=whole("horizon", self.horizon, at_least=1))
        if self.gamma is not None:
            self._set(gamma=number("gamma", self.gamma, above=0, at_most=1))
        try:
            low, high = self.reward_range
        except (TypeError, ValueError):
            raise InvalidInput(f"reward_range must be a pair (low, high), got {self.reward_range!r}.") from None
        low = number("reward_range's low end", low)
        self._set(reward_range=(low, number("reward_range's high end", high, above=low)))

    @property
    def estimator(self) -> None:
        return None

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        gamma = self.gamma
        if gamma is None:
            rounds = self.horizon or horizon
            if rounds is None:
                raise InvalidInput("EXP3 must know how long it will run: give EXP3(horizon=...), the number of decisions, or EXP3(gamma=...).")
            gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * rounds)))
        return {
            "gamma": gamma,
            "floor": gamma / arms,
            "stretch": 1 / (1 - gamma) if gamma < 1 else 0.0,
            "low": self.reward_range[0],
            "per_width": 1 / (self.reward_range[1] - self.reward_range[0]),
        }

    def mirrored(self) -> EXP3:
        low, high = self.reward_range
        return replace(self, reward_range=(-high, -low))

    @staticmethod
    @hot
    def choose(s, t, g):
        if s.reference[1] == 0.0:
            rebase(s.estimate, s.weight, s.reference)
        u = uniform(g)
        arm = 0
        if u < s.gamma:
            arm = min(int(u / s.gamma * s.arms), s.arms - 1)
        else:
            target = (u - s.gamma) * s.stretch * s.reference[1]
            reached = 0.0
            for a in range(s.arms - 1):  # counting, not searching: there is no branch to guess wrong
                reached += s.weight[a]
                arm += reached <= target
        s.chance[0] = (1.0 - s.gamma) * s.weight[arm] / s.reference[1] + s.floor
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        y = min(max((x - s.low) * s.per_width, 0.0), 1.0)
        s.estimate[a] += s.floor * y / s.chance[0]
        exponent = s.estimate[a] - s.reference[0]
        if exponent > REBASE_AT or s.reference[1] == 0.0:
            rebase(s.estimate, s.weight, s.reference)
        else:
            old = s.weight[a]
            s.weight[a] = math.exp(exponent)
            s.reference[1] += s.weight[a] - old

    @staticmethod
    @hot
    def welcome(s, a):
        # a newcomer enters with the mean weight, hence with about 1/K of the choices
        others = s.arms - 1
        top = -math.inf
        for i in range(s.arms):
            if i != a:
                top = max(top, s.estimate[i])
        total = 0.0
        for i in range(s.arms):
            if i != a:
                total += math.exp(s.estimate[i] - top)
        s.estimate[a] = top + math.log(total / others)
        s.reference[1] = 0.0
