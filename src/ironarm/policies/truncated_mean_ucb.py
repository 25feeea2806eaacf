"""Robust UCB with the truncated mean."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import TruncatedMean
from ..estimators.truncated_mean import truncated_sum
from ..marks import cold, hot
from ..rules.doubling_epochs import (
    EpochPolicy,
    coefficient_for,
    highest_in_epoch,
    start_epoch,
)
from ..validation import number


@cold
def truncate_anew(s, t):
    """Start an epoch at round t: truncate every arm's rewards for its confidence."""
    start_epoch(s, t)
    s.coefficient[0] = coefficient_for(s.radius * s.level[0] ** s.exponent, s.tau[0])
    s.truncation[0] = s.u / s.level[0]
    for a in range(s.arms):
        n = s.slot_size[a]
        if n > 0:
            s.kept_sum[a] = truncated_sum(s.pool, s.slot_start[a], n, s.truncation[0], s.order)
            s.estimate[a] = s.kept_sum[a] / n


@dataclass(frozen=True)
class TruncatedMeanUCB(EpochPolicy):
    """Robust UCB with the truncated mean, for heavy-tailed rewards.

    It needs a bound u on E|X|^(1 + epsilon). With L = log(1/delta), the estimate of arm
    a is the mean of X_i 1{|X_i| <= (u i / L)^(1/(1 + epsilon))} over its n_a rewards;
    truncated rewards count as zero. Every arm is pulled once. Then round t pulls the
    arm with the largest

        truncated_mean_a + 4 u^(1/(1 + epsilon)) (L / n_a)^(epsilon/(1 + epsilon)).

    The paper has delta = t^-2. Here delta = tau^-2, tau the smallest power of two that
    is at least t and at least 2. docs/policies.md says why, and where the constants
    come from. The paper's regret constants do not carry over. Infinite rewards are
    truncated like all large ones.

    **Not for an attacker.** The threshold grows with the number of rewards, so a
    constant share of outliers gets through sooner or later, each in full. **Not for
    rewards far from zero:** u bounds the raw moment, so with a mean of 20 the radius is
    at least 80 sqrt(L / n). Subtract a typical reward first.

    Parameters
    ----------
    u : an upper bound on E|X|^(1 + epsilon) of every arm, > 0; with epsilon = 1 it is
        the variance plus the squared mean, in squared units of reward.
    epsilon : rewards have a finite moment of order 1 + epsilon, 0 < epsilon <= 1.

    Examples
    --------
    >>> import ironarm as ia
    >>> from scipy.stats import t as student
    >>> bandit = ia.ScipyBandit([student(df=3, loc=0), student(df=3, loc=4)])
    >>> result = ia.simulate(
    ...     ia.policies.TruncatedMeanUCB(u=19),
    ...     bandit,
    ...     horizon=20_000,
    ...     trials=10,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> bool(result.optimal[0, :, -1].mean() > 0.9)
    True

    References
    ----------
    Bubeck, Cesa-Bianchi, Lugosi, Bandits with heavy tail, IEEE Transactions on
    Information Theory 59, 2013.
    """

    u: float
    epsilon: float = 1.0

    needs = {"u": "bound on a moment"}
    family = "upper confidence", "truncated mean"
    use_when = "as `CatoniUCB`; kept for comparison"

    estimator = TruncatedMean
    fields = {**EpochPolicy.fields, "truncation": "cache float[1]"}

    def __post_init__(self) -> None:
        self._set(u=number("u", self.u, above=0, at_most=1e100))
        super().__post_init__()

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        radius = 4 * self.u ** (1 / (1 + self.epsilon))
        return {**super().constants(arms, horizon), "radius": radius}

    @staticmethod
    @hot
    def choose(s, t, g):
        if t > s.tau[0]:
            truncate_anew(s, t)
        return highest_in_epoch(s)

    @staticmethod
    @hot
    def settle(s, t):
        if t > s.tau[0]:
            truncate_anew(s, t)
