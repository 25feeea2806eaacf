"""MedianOfMeansUCB pulls an arm until its bound holds."""

import math

import numpy as np

import ironarm as ia


def test_every_arm_is_pulled_until_the_lemma_holds():
    """Two arms that differ by far have 2k rewards each before the better one leads."""
    horizon = 4096
    result = ia.simulate(
        ia.policies.MedianOfMeansUCB(v=0.01),
        ia.GaussianBandit([0.0, 50.0], sigma=0.1),
        horizon=horizon,
        trials=1,
        seed=1,
        progress=False,
    )
    needed = 2 * math.floor(8 * (2 * math.log(horizon) + 1 / 8))
    assert result.pulls[0, 0].tolist() == [needed, horizon - needed]


def test_why_fewer_rewards_are_not_enough():
    """With two rewards of a hostile law the bound fails in 2.6e-4 of all cases.

    It may fail in 1e-8 of them, at t = 10,000. The law has two values, mean 0 and
    variance 1, and the estimate is the mean of one block of two rewards: one low reward
    takes it below minus the radius.
    """
    radius = math.sqrt(12 * 16 * (2 * math.log(10_000) + 1 / 8) / 2)
    p = 1 / (1 + (2.07 * radius) ** 2)
    low, high = -math.sqrt((1 - p) / p), math.sqrt(p / (1 - p))
    assert np.isclose(p * low + (1 - p) * high, 0)
    assert np.isclose(p * low**2 + (1 - p) * high**2, 1)
    assert (low + high) / 2 + radius < 0
    assert 1 - (1 - p) ** 2 > 2.6e-4
