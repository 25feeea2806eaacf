"""A look at an agent's first rewards, for mistakes that raise no error.

For example a median on 0/1 rewards, or a scale that does not fit.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from ..estimators import LowerMedian
from ..policies import (
    UCB,
    CatoniUCB,
    MedianOfMeansUCB,
    Policy,
    ThompsonGaussian,
)
from ..which_policy import for_rewards

LOOK_AT = (60, 250, 1000)
ENOUGH = 20
TIED_SHARE = 0.4
SPREAD_FACTOR = 3.0
OUTSIDE_SHARE = 0.25
TOO_LARGE = 1e100  # its square and its fourth power must be numbers


class RewardWarning(UserWarning):
    """The rewards do not look like what the policy is made for."""


class Watch:
    """Collects rewards until it has warned, or has seen enough of them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._rewards: dict[int, list[float]] = {}
        self._seen = 0
        self._on_median = policy.estimator is not None and issubclass(policy.estimator, LowerMedian)

    def saw(self, arm: int, reward: float) -> bool:
        """Take note of a reward; True when there is nothing more to watch for."""
        self._seen += 1
        if math.isfinite(reward):
            self._rewards.setdefault(arm, []).append(reward)
        if self._seen not in LOOK_AT:
            return False
        message = self._complaint()
        if message:
            warn(message)
        return message is not None or self._seen == LOOK_AT[-1]

    def _complaint(self) -> str | None:
        arms = [rewards for rewards in self._rewards.values() if len(rewards) >= ENOUGH]
        if not arms:
            return None
        name = type(self._policy).__name__
        if self._on_median:
            values = {x for rewards in arms for x in rewards}
            if values <= {0.0, 1.0}:
                return (
                    f"all rewards so far are 0 or 1, and {name} compares medians, which cannot "
                    f"tell such arms apart. Use {for_rewards('0 or 1')} or EpsilonGreedy, or feed "
                    "sums of many rewards at a time."
                )
            tied = np.median(
                [Counter(rewards).most_common(1)[0][1] / len(rewards) for rewards in arms]
            )
            if tied >= TIED_SHARE:
                return (
                    f"{100 * tied:.0f} % of an arm's rewards have the same value, and {name} "
                    "compares medians, which ties make blunt. Use TrimmedUCB or UCB, or feed "
                    "sums of many rewards at a time."
                )
        if hasattr(self._policy, "reward_range"):
            low, high = self._policy.reward_range
            outside = np.mean([not low <= x <= high for rewards in arms for x in rewards])
            if outside > OUTSIDE_SHARE:
                return (
                    f"{100 * outside:.0f} % of the rewards lie outside reward_range=({low:g}, "
                    f"{high:g}) and are clipped. Give {name} the range of your clean rewards."
                )
        expected = self._policy.expected_spread
        if expected is not None:
            # 1.4826 MAD is the standard deviation of normal rewards, and outliers
            # hardly move it
            with np.errstate(all="ignore"):
                spread = float(
                    np.median(
                        [
                            1.4826 * np.median(np.abs(np.array(rewards) - np.median(rewards)))
                            for rewards in arms
                        ]
                    )
                )
            if not spread < TOO_LARGE:
                return (
                    f"rewards of an arm spread by {spread:.3g}, which is too large to compute "
                    f"with. Give {name} rewards in other units."
                )
            if spread > 0 and not expected / SPREAD_FACTOR <= spread <= expected * SPREAD_FACTOR:
                return (
                    f"rewards of an arm spread by about {spread:.3g}, but {name}'s parameters are "
                    f"made for {expected:.3g}. Use {_better(self._policy, spread)}."
                )
        return None


def warn(message: str) -> None:
    """Warn at the line of the user's own code: the first frame outside this package."""
    package = str(Path(__file__).parents[1])
    level = 2  # 1 would be this function
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    warnings.warn(message, RewardWarning, stacklevel=level)


def _better(policy: Policy, spread: float) -> str:
    """Return the parameter that would fit, as code."""
    name = type(policy).__name__
    if isinstance(policy, (UCB, ThompsonGaussian)):
        return f"{name}(sigma={_two_digits(spread)})"
    if isinstance(policy, CatoniUCB):
        return f"{name}(variance={_two_digits(spread**2)})"
    if isinstance(policy, MedianOfMeansUCB):
        return (
            f"{name}(v={_two_digits(spread ** (1 + policy.epsilon))}, epsilon={policy.epsilon:g})"
        )
    if hasattr(policy, "sigma"):
        return f"{name} with sigma={_two_digits(spread)}"
    return (
        f"{name} with omega={_two_digits(4 * spread**2)}"
        if hasattr(policy, "omega")
        else "parameters that fit"
    )


def _two_digits(x: float) -> str:
    """Return a number with two digits, and an exponent only where people write one."""
    return f"{float(f'{x:.2g}'):g}"
