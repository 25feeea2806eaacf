"""Warnings about rewards that do not fit the policy."""

import math

import numpy as np
import pytest

import ironarm as ia


@pytest.mark.parametrize(
    ("policy", "draw", "message"),
    [
        (ia.MedEUCB(), lambda g: float(g.integers(2)), "0 or 1"),
        (ia.MedEpsilonGreedy(), lambda g: float(min(2, g.poisson(0.5))), "same value"),
        (ia.MedEUCB(), lambda g: 1000 * g.normal(), "omega"),
        (ia.UCB(), lambda g: 0.01 * g.normal(), r"UCB\(sigma=0\.0"),
        (ia.CatoniUCB(), lambda g: 50 * g.normal(), "variance"),
        (ia.EXP3(horizon=1000), lambda g: 20 + g.normal(), "Give EXP3 the range"),
        (ia.TsallisINF(), lambda g: 20 + g.normal(), "Give TsallisINF the range"),
        (ia.CRUCB(alpha=0.2), lambda g: 0.01 * g.normal(), r"CRUCB with sigma=0\.0"),
        (
            ia.MedianOfMeansUCB(),
            lambda g: 50 * g.normal(),
            r"MedianOfMeansUCB\(v=2[0-9]00, epsilon=1\)",
        ),
        (ia.ThompsonGaussian(), lambda g: 0.01 * g.normal(), r"ThompsonGaussian\(sigma=0\.0"),
    ],
)
def test_rewards_that_do_not_fit_the_policy_are_warned_about_once(policy, draw, message):
    """One warning that names what to use instead."""
    generator = np.random.default_rng(0)
    agent = ia.Agent(policy, arms=2, seed=1)
    with pytest.warns(ia.RewardWarning, match=message) as caught:
        for _ in range(1500):
            agent.update(agent.select(), draw(generator))
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_fitting_rewards_raise_no_warning():
    """Normal rewards with outliers, mean policies on 0/1 rewards: silence (warnings
    are errors here).
    """
    generator = np.random.default_rng(0)
    for policy, draw in (
        (ia.MedEUCB(), lambda: float(generator.normal() if generator.random() > 0.3 else 1e6)),
        (ia.UCB(sigma=0.5), lambda: float(generator.integers(2))),
    ):
        agent = ia.Agent(policy, arms=3, seed=1)
        for _ in range(1500):
            agent.update(agent.select(), draw())


@pytest.mark.parametrize("policy", [ia.MedEUCB(), ia.MedianOfMeansUCB(), ia.CRUCB(alpha=0.2)])
@pytest.mark.parametrize("scale", [1e160, 1e308])
def test_rewards_too_large_to_compute_with_get_a_warning_and_no_error(policy, scale):
    """The reward is learnt; the advice names no parameter that would overflow."""
    agent = ia.Agent(policy, arms=2, seed=1)
    with pytest.warns(ia.RewardWarning, match="other units"):
        for k in range(300):
            agent.update(agent.select(), scale * math.sin(k))
