"""Checks of the rewards themselves, before any policy: clean ones and attacked ones.

They are for bandits whose arms have a second law under attack, such as `RadioBandit`.
Each is one function marked with `@check`; see `checking.py`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from ...bandits import Bandit
from ...show.text import short
from ..kit.statistics import Z95, Estimate, interval
from .checking import Means, Measured, Number, Positive, below, check, near

EACH = 4000
"""Rewards drawn from each law."""

NORMAL_DISTANCE = 0.05
"""Distribution functions that are nowhere further apart than this count as the same."""


class Rewards:
    """Rewards of each arm, clean and attacked, drawn from a seed.

    `arm` is what the study calls an arm, `unit` is the unit of the rewards.
    """

    def __init__(self, bandit: Bandit, seed: int, arm: str = "arm", unit: str = "") -> None:
        self._bandit, self._seed, self.arm, self.unit = bandit, seed, arm, unit
        self.set_means: tuple[float, ...] = tuple(
            float(mean)
            for mean in (*bandit.means, *bandit.jammed)  # type: ignore[attr-defined]
        )
        self.arms = bandit.arms
        self.wander: tuple[float, ...] = tuple(
            map(float, getattr(bandit, "wander_db", [0.0] * bandit.arms))
        )
        """By how much the level of a packet varies, as a standard deviation."""

    @lru_cache(maxsize=64)  # noqa: B019  (lives as long as one report)
    def clean(self, arm: int) -> np.ndarray:
        """Return rewards of an arm."""
        return self._bandit.rewards(arm, np.random.default_rng([self._seed, arm]).random(EACH))

    def attacked(self, arm: int) -> np.ndarray:
        """Return rewards of an arm under attack."""
        return self.clean(int(self._bandit.jammed_laws[arm]))  # type: ignore[attr-defined]


def can_be_checked(bandit: Bandit) -> bool:
    """Say whether a bandit has attacked laws to look at."""
    return hasattr(bandit, "jammed_laws") and hasattr(bandit, "jammed")


@check
def clean_means(rewards: Rewards, means: Means, within: Positive) -> list[Measured]:
    """Clean rewards have these means, plus or minus `within`."""
    found = []
    for arm, target in enumerate(means):
        mean, name = _mean(rewards.clean(arm)), f"{rewards.arm} {arm}"
        text = f"{name}: mean {interval(mean, '.2f', rewards.unit)}"
        found.append(Measured(f"mean of {name}", mean, near(mean, target, within), text))
    return found


@check
def constant_level(rewards: Rewards, within: Positive) -> list[Measured]:
    """What is sent has one level, but for a standard deviation below `within`.

    This is how the testbed is set, so there is nothing to estimate.
    """
    found = []
    for arm, wander in enumerate(rewards.wander):
        level, name = Estimate(wander, wander, wander), f"{rewards.arm} {arm}"
        text = f"{name}: levels vary by {short(wander, rewards.unit)}"
        found.append(
            Measured(f"variation of the level in {name}", level, below(level, within), text)
        )
    return found


@check
def clean_rewards(
    rewards: Rewards, means: Means, spread: Positive, within: Positive
) -> list[Measured]:
    """Clean rewards are normal with these means and this standard deviation.

    Means and deviation may be off by `within`, distribution functions by 0.05.
    """
    found = []
    for arm, mean in enumerate(clean_means(rewards, means, within)):
        x, name = rewards.clean(arm), f"{rewards.arm} {arm}"
        deviation, distance = _deviation(x), _distance_to_normal(x)
        found += [
            mean,
            Measured(
                f"standard deviation of {name}",
                deviation,
                near(deviation, spread, within),
                f"{name}: standard deviation {interval(deviation, '.2f', rewards.unit)}",
            ),
            Measured(
                f"distance of {name} to a normal law",
                distance,
                below(distance, NORMAL_DISTANCE),
                f"{name}: distance to a normal law {interval(distance, '.3f')}",
            ),
        ]
    return found


@check
def attacked_rewards(
    rewards: Rewards, low: Number, high: Number, within: Positive
) -> list[Measured]:
    """In each arm, the mean attacked reward lies between `low` and `high`.

    It may be outside by `within`.
    """
    found = []
    for arm in range(rewards.arms):
        mean, name = _mean(rewards.attacked(arm)), f"{rewards.arm} {arm}"
        judgement = near(mean, (low + high) / 2, (high - low) / 2 + within)
        found.append(
            Measured(
                f"attacked mean of {name}",
                mean,
                judgement,
                f"{name}: attacked mean {interval(mean, '.2f', rewards.unit)}",
            )
        )
    return found


@check
def attack_takes(rewards: Rewards, drop: Number, within: Positive) -> list[Measured]:
    """An attack lowers each arm's mean reward by `drop`, plus or minus `within`."""
    found = []
    for arm in range(rewards.arms):
        fall, name = _mean(rewards.clean(arm) - rewards.attacked(arm)), f"{rewards.arm} {arm}"
        found.append(
            Measured(
                f"what an attack takes from {name}",
                fall,
                near(fall, drop, within),
                f"{name}: falls by {interval(fall, '.2f', rewards.unit)}",
            )
        )
    return found


@check
def reads_linearly(rewards: Rewards, within: Positive) -> list[Measured]:
    """The mean reward is the level that was set, clean or attacked.

    The line has slope 1 within 1 %, and no level is further off than `within`.
    """
    laws = [rewards.clean(law) for law in range(2 * rewards.arms)]
    levels = np.array(rewards.set_means)
    centred = levels - levels.mean()
    slope = _mean(
        sum(weight * x for weight, x in zip(centred / (centred @ centred), laws, strict=True))
    )
    found = [
        Measured(
            "slope",
            slope,
            near(slope, 1.0, 0.01),
            f"slope {interval(slope, '.4f')} over {short(levels.min(), rewards.unit)} to "
            f"{short(levels.max(), rewards.unit)}",
        )
    ]
    for level, x in zip(levels, laws, strict=True):
        error = _mean(x - level)
        found.append(
            Measured(
                f"error at {level:g}",
                error,
                near(error, 0.0, within),
                f"set to {short(level, rewards.unit)}: read "
                f"{interval(error, '.3f', rewards.unit)} off",
            )
        )
    return found


def _mean(x: np.ndarray) -> Estimate:
    """Return the mean; with 4,000 rewards its normal interval is good enough."""
    mean, reach = float(x.mean()), Z95 * float(x.std(ddof=1)) / math.sqrt(len(x))
    return Estimate(mean, mean - reach, mean + reach)


def _deviation(x: np.ndarray) -> Estimate:
    """Return the standard deviation.

    Its interval is that of the mean square, valid for any law with a fourth moment.
    """
    square = _mean((x - x.mean()) ** 2)
    return Estimate(*(math.sqrt(value) for value in (square.value, square.low, square.high)))


def _distance_to_normal(x: np.ndarray) -> Estimate:
    """Return the largest distance to the normal distribution function.

    That is the one with the same mean and deviation. The interval is by Dvoretzky,
    Kiefer and Wolfowitz.
    """
    z = np.sort((x - x.mean()) / x.std())
    normal, steps = ndtr(z), np.arange(len(z) + 1) / len(z)
    distance = float(max(np.max(steps[1:] - normal), np.max(normal - steps[:-1])))
    reach = math.sqrt(math.log(2 / 0.05) / (2 * len(z)))
    return Estimate(distance, max(0.0, distance - reach), distance + reach)
