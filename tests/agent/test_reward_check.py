"""Warnings about rewards that do not fit the policy."""

import math
import warnings

import numpy as np
import pytest

import ironarm as ia


@pytest.mark.parametrize(
    ("policy", "draw", "message"),
    [
        (ia.MedEUCB(), lambda g: float(g.integers(2)), "0 or 1"),
        (ia.MedEUCB(), lambda g: float(g.integers(2)), r"Use KLUCB\(\)\. Sums of many"),
        (ia.TrimmedUCB(alpha=0.2), lambda g: float(g.random() < 0.1), "compares trimmed means"),
        (
            ia.MedEpsilonGreedy(),
            lambda g: float(min(2, g.poisson(0.5))),
            r"are 0, .* KLUCB\(reward_range=\(0, 2\)\)",
        ),
        (
            ia.TrimmedUCB(alpha=0.2),
            lambda g: float(round(g.uniform(5, 50))) if g.random() < 0.03 else 0.0,
            "feed 1 for a reward above 0",
        ),
        (
            ia.MedEpsilonGreedy(),
            lambda g: float(g.choice([1, 3, 5, 5, 5])),
            r"same value, .* KLUCB\(reward_range=\(1, 5\)\)",
        ),
        (ia.MedEUCB(), lambda g: 1000 * g.normal(), "omega"),
        (ia.UCB(), lambda g: 0.01 * g.normal(), r"UCB\(sigma=0\.0"),
        (ia.CatoniUCB(), lambda g: 50 * g.normal(), "variance"),
        (ia.EXP3(horizon=1000), lambda g: 20 + g.normal(), "Give EXP3 the range"),
        (ia.TsallisINF(), lambda g: 20 + g.normal(), "Give TsallisINF the range"),
        (ia.policies.CRUCB(alpha=0.2), lambda g: 0.01 * g.normal(), r"CRUCB with sigma=0\.0"),
        (
            ia.policies.MedianOfMeansUCB(),
            lambda g: 50 * g.normal(),
            r"MedianOfMeansUCB\(v=2[0-9]00, epsilon=1\)",
        ),
        (
            ia.policies.ThompsonGaussian(),
            lambda g: 0.01 * g.normal(),
            r"ThompsonGaussian\(sigma=0\.0",
        ),
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
        (ia.TrimmedUCB(alpha=0.1), lambda: float(generator.integers(2))),  # trims too little
        (ia.KLUCB(), lambda: float(generator.random() < 0.03)),
        (ia.policies.ThompsonBeta(), lambda: float(generator.random() < 0.03)),
    ):
        agent = ia.Agent(policy, arms=3, seed=1)
        for _ in range(1500):
            agent.update(agent.select(), draw())


@pytest.mark.parametrize(
    "policy", [ia.MedEUCB(), ia.policies.MedianOfMeansUCB(), ia.policies.CRUCB(alpha=0.2)]
)
@pytest.mark.parametrize("scale", [1e160, 1e308])
def test_rewards_too_large_to_compute_with_get_a_warning_and_no_error(policy, scale):
    """The reward is learnt; the advice names no parameter that would overflow."""
    agent = ia.Agent(policy, arms=2, seed=1)
    with pytest.warns(ia.RewardWarning, match="other units"):
        for k in range(300):
            agent.update(agent.select(), scale * math.sin(k))


@pytest.mark.parametrize("durable", [False, True])
def test_a_policy_by_source_without_sources_warns(durable, tmp_path):
    """It has no defence then; with one reward that says who sent it, it is quiet."""
    for source in (None, "user 1"):
        policy = ia.TrustThompson(slots=32)
        agent = (
            ia.DurableAgent(tmp_path / f"{source}.db", policy, arms=2, seed=1)
            if durable
            else ia.Agent(policy, arms=2, seed=1)
        )
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for i in range(60):
                agent.update(agent.select(), float(i % 3), source=source)
        told = [str(each.message) for each in seen]
        assert any("no reward has a source" in text for text in told) == (source is None)


def test_a_batch_of_a_durable_agent_is_watched_whole(tmp_path):
    """Not only the last reward of each arm."""
    agent = ia.DurableAgent(tmp_path / "a.db", arms=2, seed=1)
    decisions = [agent.decide() for _ in range(60)]
    with pytest.warns(ia.RewardWarning, match=r"Use TrustThompson\(\)"):
        agent.learn_batch([(each, float(i % 2), "user 1") for i, each in enumerate(decisions)])


def test_clicks_with_a_sender_get_the_advice_for_it():
    """Not that for clicks of unknown senders."""
    agent = ia.Agent(ia.RUCB(), arms=2, seed=1)
    with pytest.warns(ia.RewardWarning, match=r"Use TrustThompson\(\)"):
        for i in range(60):
            agent.update(agent.select(), float(i % 2), source=f"user {i % 5}")


def test_arms_that_go_leave_the_others_rewards_apart():
    """Arms far from each other, of which two go: no spread is made up from them."""
    g = np.random.default_rng(1)
    agent = ia.Agent(ia.UCB(), arms=["low", "middle", "high"], seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for arm, mean in (("low", 0.0), ("middle", 1000.0), ("high", 2000.0)):
            for x in g.normal(size=30).tolist():
                agent.update(arm, mean + x)
        for arm in ("low", "middle"):
            agent.remove_arm(arm)
            for x in g.normal(size=100).tolist():
                agent.update("high", 2000.0 + x)


def test_one_value_alone_is_no_range(recwarn):
    """An arm that always pays the same is no reason for a range without a width."""
    agent = ia.Agent(arms=["same", "other"], seed=1)
    for _ in range(100):
        agent.update("same", 10.0)
    assert not recwarn.list
