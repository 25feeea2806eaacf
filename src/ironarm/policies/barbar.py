"""BARBAR: epochs whose pulls only the epochs before decide."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..marks import cold, hot
from ..random import uniform
from ..rules.reward_range import RangedPolicy, share_of_range
from ..validation import number, optional, whole


@cold
def end_epoch(s):
    """Estimate the gaps anew from what the epoch has gathered, and go to the next."""
    best = -math.inf
    for a in range(s.arms):
        best = max(best, s.gathered[a] / s.length[0] - s.gap[a] / 16.0)
    for a in range(s.arms):
        s.gap[a] = max(2.0 ** -s.epoch[0], best - s.gathered[a] / s.length[0])
    s.epoch[0] += 1


@cold
def begin_epoch(s, t):
    """Plan an epoch that begins at round t.

    An arm without a gap is new and gets the largest gap.
    """
    s.epoch[0] = max(s.epoch[0], 1)
    s.length[0] = 0.0
    for a in range(s.arms):
        if s.gap[a] == 0.0:
            s.gap[a] = 1.0
        s.planned[a] = s.factor / (s.gap[a] * s.gap[a])
        s.length[0] += s.planned[a]
        s.gathered[a] = 0.0
    s.until[0] = t - 1 + math.ceil(s.length[0])
    s.planned_for[0] = s.arms


@dataclass(frozen=True)
class BARBAR(RangedPolicy):
    """BARBAR, for an attacker who may change rewards by C in total.

    You need not know C. The attack adds only O(K C) to the regret. Gaps Delta_a start
    at 1. Epoch m = 1, 2, ... takes N = sum(n) rounds, n_a = lambda / Delta_a^2, and
    pulls arm a in each of them with probability n_a / N. It ends with
    r_a = (sum of its rewards) / n_a and

        Delta_a = max(2^-m, r* - r_a),   r* = max(r_a - Delta_a / 16),
        lambda = 1024 ln(8 K log2(T) / delta).

    Rewards are mapped to [0, 1] by `reward_range` and clipped. No arm is ever dropped,
    and the probabilities are fixed for an epoch. So the attacker can spoil an estimate
    only at a cost in proportion to the harm.

    **Useless at T = 100,000.** The first epoch, of uniform exploration, has about
    lambda K rounds, and lambda is more than 10,000: with ten arms it does not end.
    `scale` can shorten it, but then the guarantee is lost. **Not for a share rho of
    corrupt rewards**: C then grows with T, and so does the regret.

    Behind an agent: see docs/policies.md.

    Parameters
    ----------
    horizon : rounds T that lambda is computed for. None: a simulation uses its own; an
        agent needs one.
    delta : the probability that the regret exceeds the guarantee, 0 < delta < 1.
    reward_range : (low, high), the rewards that map to 0 and 1; others are clipped.
    scale : the factor 1024 in lambda, > 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.2, 0.8])
    >>> policies = [ia.policies.BARBAR(), ia.policies.BARBAR(scale=4)]
    >>> result = ia.simulate(
    ...     policies, bandit, horizon=5000, trials=20, seed=1, progress=False
    ... )
    >>> result.optimal[:, :, -1].mean(axis=1).round(1).tolist()
    [0.5, 0.9]

    References
    ----------
    Gupta, Koren, Talwar, Better algorithms for stochastic bandits with adversarial
    corruptions, COLT 2019.
    """

    horizon: int | None = None
    delta: float = 0.05
    reward_range: tuple[float, float] = (0.0, 1.0)
    scale: float = 1024.0

    needs = {"horizon": "horizon", "reward_range": "range"}
    family = "drawn from probabilities", "weighted rewards in a known range"
    use_when = "kept for comparison: its first epoch is longer than 100,000 rounds with ten arms"

    # `gathered` sums y N / n_a = y / chance, so r_a is gathered / N. `planned_for` is
    # the number of arms of the epoch's plan; another number needs a new plan
    fields = {
        "gap": "float[arms]",
        "planned": "float[arms]",
        "gathered": "float[arms]",
        "length": "float[1]",
        "epoch": "int[1]",
        "until": "int[1]",
        "planned_for": "int[1]",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            horizon=optional(whole, "horizon", self.horizon, at_least=1),
            delta=number("delta", self.delta, above=0, below=1),
            scale=number("scale", self.scale, above=0),
        )

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        rounds = max(self._rounds(horizon), 2)
        factor = self.scale * math.log(8 * arms * math.log2(rounds) / self.delta)
        return {**super().constants(arms, horizon), "factor": factor}

    @staticmethod
    @hot
    def choose(s, t, g):
        if t > s.until[0] or s.planned_for[0] != s.arms:
            if s.planned_for[0] == s.arms:
                end_epoch(s)
            begin_epoch(s, t)
        target = uniform(g) * s.length[0]
        arm = 0
        reached = 0.0
        for a in range(s.arms - 1):
            reached += s.planned[a]
            arm += reached <= target
        s.chance[0] = s.planned[arm] / s.length[0]
        return arm

    @staticmethod
    @hot
    def update(s, a, x):
        s.gathered[a] += share_of_range(s, x) / s.chance[0]
        s.estimate[a] += (min(max(x, s.low), s.high) - s.estimate[a]) / s.rewards[a]

    @staticmethod
    @hot
    def welcome(s, a):
        s.planned_for[0] = 0
