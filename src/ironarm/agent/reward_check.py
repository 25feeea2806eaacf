"""A look at an agent's first rewards, for mistakes that raise no error.

For example a median on 0/1 rewards, or a scale that does not fit.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..estimators import Estimator, LowerMedian, Shorth, TrimmedMean
from ..policies import Policy
from ..which_policy import for_rewards

LOOK_AT = (60, 250, 1000)
ENOUGH = 20
TIED_SHARE = 0.4
SPREAD_FACTOR = 3.0
OUTSIDE_SHARE = 0.25
BLUNT: dict[tuple[type[Estimator], ...], str] = {
    (LowerMedian,): "medians",
    (TrimmedMean, Shorth): "trimmed means",
}
"""Estimators that cannot see a rare reward, and what they are called."""
TOO_LARGE = 1e100  # its square and its fourth power must be numbers


class RewardWarning(UserWarning):
    """The rewards do not look like those the policy is made for."""


class Watch:
    """Collects rewards until it has warned, or has seen enough of them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._rewards: dict[int | str, list[float]] = {}
        self._seen = 0
        self.signed = False
        """Whether a reward has said who sent it."""

    def saw(self, arm: int | str, reward: float) -> bool:
        """Take note of a reward; True when there is nothing more to watch for.

        The arm is given by name: its number changes when others go.
        """
        self._seen += 1
        if math.isfinite(reward):
            self._rewards.setdefault(arm, []).append(reward)
        if self._seen not in LOOK_AT:
            return False
        message = complaint(self._policy, list(self._rewards.values()), self.signed)
        if message:
            warn(message)
        return bool(message) or self._seen == LOOK_AT[-1]


def complaint(policy: Policy, rewards: Sequence[Sequence[float]], signed: bool) -> str:
    """Return why a policy does not suit the arms' finite rewards; empty if it does.

    `signed` says whether a reward has a source.
    """
    arms = [list(of_arm) for of_arm in rewards if len(of_arm) >= ENOUGH]
    if not arms:
        return ""
    name = type(policy).__name__
    if policy.reads_source and not signed:
        return (
            f"{name} judges rewards by who sent them, and no reward has a source; without "
            "sources it has no defence. Give each reward its source, or use another policy."
        )
    message = _ties(policy, arms, signed)
    if message:
        return message
    if hasattr(policy, "reward_range"):
        low, high = policy.reward_range
        outside = np.mean([not low <= x <= high for of_arm in arms for x in of_arm])
        if outside > OUTSIDE_SHARE:
            return (
                f"{100 * outside:.0f} % of the rewards lie outside reward_range=({low:g}, "
                f"{high:g}) and are clipped. Give {name} the range of your clean rewards."
            )
    expected = policy.expected_spread
    if expected is not None:
        # 1.4826 MAD is the standard deviation of normal rewards, and outliers
        # hardly move it
        with np.errstate(all="ignore"):
            spread = float(
                np.median(
                    [
                        1.4826 * np.median(np.abs(np.array(of_arm) - np.median(of_arm)))
                        for of_arm in arms
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
                f"rewards of an arm spread by about {spread:.3g}, but {name}'s parameters "
                f"assume {expected:.3g}. Use {_better(policy, spread)}."
            )
    return ""


def _ties(policy: Policy, arms: list[list[float]], signed: bool) -> str:
    """Return a complaint if the policy is blind because most rewards are equal."""
    if policy.estimator is None:
        return ""
    what = next((what for kinds, what in BLUNT.items() if issubclass(policy.estimator, kinds)), "")
    if not what:
        return ""
    compares = f"{type(policy).__name__} compares {what}"
    values = {x for rewards in arms for x in rewards}
    common = [Counter(rewards).most_common(1)[0] for rewards in arms]
    tied = np.median(
        [count / len(rewards) for (_, count), rewards in zip(common, arms, strict=True)]
    )
    if tied < 1 - getattr(policy, "alpha", 1.0):
        return ""  # enough of the others is left after trimming
    if values <= {0.0, 1.0}:
        use = for_rewards("with a known source" if signed else "0 or 1")
        return (
            f"all rewards so far are 0 or 1, and {compares}, which cannot tell such arms "
            f"apart. Use {use}. Sums of many rewards help if attacks come in "
            "bursts or from few senders, not if each reward is attacked on its own."
        )
    if tied < TIED_SHARE:
        return ""
    low, high = min(values), max(values)
    if low == high:
        return ""  # one value is no range, and says nothing of other arms
    if low == 0 and all(value == 0 for value, _ in common):
        return (
            f"{100 * tied:.0f} % of an arm's rewards are 0, and {compares}, which are then 0 "
            f"for every arm. Use KLUCB(reward_range=(0, {high:.3g})), with your largest clean "
            "reward as the second number, or feed 1 for a reward above 0 and use KLUCB()."
        )
    return (
        f"{100 * tied:.0f} % of an arm's rewards have the same value, and {compares}, which "
        f"such ties make useless. Use KLUCB(reward_range=({low:.3g}, {high:.3g})), with the "
        "range of your clean rewards."
    )


def warn(message: str) -> None:
    """Warn at the line of the user's own code: the first frame outside this package."""
    package = str(Path(__file__).parents[1])
    level = 2  # 1 would be this function
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    warnings.warn(message, RewardWarning, stacklevel=level)


def warn_of_lost(arm: int | str) -> None:
    """Warn that a bounded memory is no longer exact."""
    warn(
        f"the median of {arm!r} has left its window, so its estimate is no longer exact: the "
        "rewards drift. Use memory='exact', or a new agent once the drift is over."
    )


def _better(policy: Policy, spread: float) -> str:
    """Return the parameter that would fit, as code."""
    from ..policies import UCB, CatoniUCB, MedianOfMeansUCB, ThompsonGaussian

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
