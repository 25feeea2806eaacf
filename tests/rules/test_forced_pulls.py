"""Which arm is pulled because it lacks rewards."""

import math

import numpy as np
import pytest

from ironarm.rules.forced_pulls import arm_below, too_few


@pytest.mark.parametrize(
    ("n", "rewards", "expected"),
    [
        ([5, 5, 5], [5, 5, 5], -1),
        ([5, 4, 3], [5, 4, 3], 1),  # the lowest number, not the fewest
        ([0, 5, 5], [0, 5, 5], 0),
        ([5, 5, 5], [5, 4, 5], 1),  # enough decisions, a reward is still open
        ([9, 6, 5], [4, 4, 5], 1),  # of two such arms the one with fewer decisions
        ([6, 9, 5], [4, 0, 5], 1),  # but first the one without any reward
        ([9, 9, 4], [0, 0, 4], 2),  # an arm with too few decisions comes before all
    ],
)
def test_arm_below(n, rewards, expected):
    """For a need of five rewards."""
    assert arm_below(np.array(n), np.array(rewards), 5.0) == expected


def test_nothing_is_needed_but_one_reward():
    """At t = 1 the logarithm is 0, yet an arm without a reward is pulled."""
    assert arm_below(np.array([1, 0]), np.array([1, 0]), 0.0) == 1


@pytest.mark.parametrize("each", [0.5, 4.0, 8.0])
def test_until_when_there_is_enough(each):
    """Up to the round written down no arm lacks rewards; soon after it one does."""
    rewards = np.array([20, 17, 40])
    until = np.zeros(1, np.int64)
    assert too_few(rewards, rewards, until, 2, each) == -1
    last = min(int(until[0]), 10**15)
    assert too_few(rewards, rewards, np.zeros(1, np.int64), last, each) == -1
    if last < 10**15:
        assert 17 < each * math.log(1.001 * last + 2)
        assert too_few(rewards, rewards, until, int(1.001 * last) + 2, each) == 1
