"""What policies for rewards in a known range share: they map rewards to [0, 1].

Those that draw arms from probabilities also weigh each reward by the probability of
its decision.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

from ..errors import InvalidInput
from ..estimators import ClippedMean, Estimator
from ..marks import cold, hot
from ..policy import Policy
from ..validation import number


class RangedPolicy(Policy):
    """The base of policies with a parameter `reward_range`, the rewards for 0 and 1.

    Such a policy keeps `s.estimate` itself, sets `s.chance[0]` in `choose`, and maps a
    reward to [0, 1] with `share_of_range`; see `TsallisINF`. One on means does neither:
    see `MeanOfRange`.
    """

    reward_range: tuple[float, float]

    estimator: ClassVar[type[Estimator] | None] = None
    weighs_by_chance = True

    def __post_init__(self) -> None:
        self._set(reward_range=checked_range(self.reward_range))

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        low, high = self.reward_range
        return {"low": low, "high": high, "per_width": 1 / (high - low)}

    def mirrored(self) -> Policy:
        low, high = self.reward_range
        mirrored: Any = replace(self, reward_range=(-high, -low))  # type: ignore[type-var]
        return mirrored


class MeanOfRange(RangedPolicy):
    """The base of policies on means of rewards in a known range; see `KLUCB`.

    `s.estimate` is the mean of the clipped rewards, in units of reward; `rate(s, a)` is
    the same mapped to [0, 1].
    """

    estimator = ClippedMean
    weighs_by_chance = False


def checked_range(value: tuple[float, float]) -> tuple[float, float]:
    """Return (low, high) as finite numbers with low < high; refuse anything else."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise InvalidInput(f"reward_range must be a pair (low, high), got {value!r}.") from None
    low = number("reward_range's low end", low)
    high = number("reward_range's high end", high, above=low)
    if not (math.isfinite(high - low) and math.isfinite(1 / (high - low))):
        raise InvalidInput(
            f"reward_range is too {'narrow' if high - low < 1 else 'wide'} to compute with, got "
            f"{value!r}; scale the rewards."
        )
    return low, high


@hot
def share_of_range(s, x):
    """Return the reward mapped to [0, 1] and clipped, also if it is infinite."""
    return min(max((x - s.low) * s.per_width, 0.0), 1.0)


@hot
def rate(s, a):
    """Return the mean of arm a mapped to [0, 1], the range's ends exactly."""
    return min(max((s.estimate[a] - s.low) / (s.high - s.low), 0.0), 1.0)


@cold
def newcomer_estimate(estimate, a, eta):
    """Return the estimate that gives arm a the mean weight of the others.

    The weight is exp(eta estimate), so a newcomer gets about 1/K of the choices.
    """
    top = -math.inf
    for i in range(len(estimate)):
        if i != a:
            top = max(top, estimate[i])
    total = 0.0
    for i in range(len(estimate)):
        if i != a:
            total += math.exp(eta * (estimate[i] - top))
    return top + math.log(total / (len(estimate) - 1)) / eta
