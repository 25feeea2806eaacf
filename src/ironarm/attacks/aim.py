"""For attacks that want the policy to pull one arm, the target, not the best."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidInput
from ..marks import hot
from ..validation import choice, whole

if TYPE_CHECKING:
    from ..bandits import Bandit


def checked_target(target: object) -> str | int:
    """Return the target as it is stored: "runner_up", "worst", or an arm's number."""
    return (
        whole("target", target)
        if isinstance(target, (Integral, float))
        else choice("target", target, ["runner_up", "worst"])
    )


def target_arm(target: str | int, bandit: Bandit) -> int:
    """Return the target's number in a bandit; the best arm only if it is alone.

    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit([3, 1, 2])
    >>> (
    ...     target_arm("runner_up", bandit),
    ...     target_arm("worst", bandit),
    ...     target_arm(1, bandit),
    ... )
    (2, 1, 1)
    """
    arm = {"runner_up": bandit.runner_up, "worst": int(np.argmin(bandit.means))}.get(
        str(target), target
    )
    if not isinstance(arm, int) or arm >= bandit.arms:
        raise InvalidInput(f"target must be one of the arms 0 to {bandit.arms - 1}, got {arm}.")
    if arm == bandit.best and bandit.arms > 1:
        raise InvalidInput(
            f"target must not be the best arm, got arm {arm}, which is. Choose another one, or "
            "'runner_up'."
        )
    return arm


@hot
def width(n, arms, sigma, delta):
    """Return beta(n) = sqrt(2 sigma^2/n log(pi^2 K n^2/(3 delta))).

    All arms' means lie within it at all times with probability 1 - delta.
    """
    return sigma * math.sqrt(2.0 / n * math.log(math.pi * math.pi * arms * n * n / (3.0 * delta)))
