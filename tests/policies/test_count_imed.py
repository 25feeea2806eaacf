"""Count-IMED: its parameters, evidence and cost; and the corrupted divergence."""

import os

import numpy as np
import pytest

import ironarm as ia
from ironarm.rules.corrupted_kl import (
    POINTS,
    corrupted_kl,
    smallest_gap,
    tabulated_kl,
)
from tests.naive import corrupted_kl_table

PAPER = ia.GaussianBandit(means=range(2, 21, 2))


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        (0.05, [0.2558, 1.0146, 2.3340, 2.6500]),
        (0.125, [0.0998, 0.5369, 1.2907, 1.4594]),
        (0.3, [0.0, 0.0654, 0.2860, 0.3389]),
    ],
)
def test_corrupted_divergence(epsilon, expected):
    """kl_eps has the published digits for gaps of 1, 2, 4 and many sigma."""
    assert [round(corrupted_kl(D, epsilon), 4) for D in (1.0, 2.0, 4.0, 20.0)] == expected


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_table_of_the_corrupted_divergence(epsilon):
    """The table is that of an independent root finder.

    Between its points it gives the function up to 1e-4.
    """
    table = np.zeros(POINTS)
    least = smallest_gap(epsilon)
    tabulated = [tabulated_kl(table, 0.01 * k, epsilon, least) for k in range(0, POINTS, 40)]
    np.testing.assert_allclose(tabulated, corrupted_kl_table(epsilon)[::40], rtol=1e-9, atol=1e-13)
    for excess in (0.013, 0.505, 3.217):
        assert tabulated_kl(table, excess, epsilon, least) == pytest.approx(
            corrupted_kl(least + excess, epsilon), abs=1e-4
        )
    assert tabulated_kl(table, np.inf, epsilon, least) == pytest.approx(
        (1 - 2 * epsilon) * np.log((1 - epsilon) / epsilon)
    )


@pytest.mark.parametrize("make", [ia.policies.CRIMEDStar, ia.policies.CRIMED, ia.CountIMED])
@pytest.mark.parametrize("epsilon", [0.5, -0.1, float("nan"), "a"])
def test_bad_epsilon(make, epsilon):
    """An impossible share is refused."""
    with pytest.raises(ia.InvalidInput, match="epsilon"):
        make(epsilon=epsilon)


def test_other_bad_parameters():
    """A zero scale, a bad shift, a hidden gap and bounded memory are refused."""
    with pytest.raises(ia.InvalidInput, match="sigma"):
        ia.IMED(sigma=0)
    with pytest.raises(ia.InvalidInput, match="shift"):
        ia.CountIMED(epsilon=0.1, shift=0.5)
    with pytest.raises(ia.InvalidInput, match="can hide a gap"):
        ia.CountIMED.for_rho(0.3, gap=1)
    with pytest.raises(ia.InvalidInput, match="all rewards"):
        ia.Agent(ia.CountIMED(epsilon=0.1), arms=2, memory="bounded")
    with pytest.raises(ia.InvalidInput, match="how long"):
        ia.Agent(ia.policies.CRIMED(epsilon=0.1), arms=2)


def test_forced_pulls_for_rho():
    """`MedEUCB.for_rho` has a twentieth more than the sharp condition.

    It refuses half of the rewards or more.
    """
    assert ia.MedEUCB.for_rho(0.3).b == pytest.approx(1.05 * 11.47, abs=0.01)
    assert ia.MedEUCB.for_rho(0).b == ia.MedEUCB.for_rho(1e-9).b == 0.5
    with pytest.raises(ia.InvalidInput, match="rho"):
        ia.MedEUCB.for_rho(0.5)


@pytest.mark.statistical
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="ten million rounds")
@pytest.mark.parametrize(
    ("knows", "rho", "low", "high"),
    [
        (True, 0.125, 665, 765),
        (True, 0.3, 950, 1700),
        (False, 0.125, 550, 620),
        (False, 0.3, 975, 1140),
    ],
)
def test_regret_on_the_papers_arms(knows, rho, low, high):
    """With or without rho, the mean regret is what 2,000 trials have shown.

    It is within 4 standard errors of 100 trials, and no trial is stuck (false alarm
    below 1e-4 each; the seed is fixed).
    """
    policy = ia.CountIMED.for_rho(rho) if knows else ia.CoherentIMED()
    result = ia.simulate(
        policy,
        PAPER,
        ia.OppositeUniform(rho=rho, scale=1800),
        horizon=100_000,
        trials=100,
        seed=3,
        progress=False,
    )
    assert low < result.regret[0, :, -1].mean() < high
    assert not result.stuck.any()


def test_scale_of_the_rewards_does_not_matter_to_the_policy_without_parameters():
    """Rewards times 1024 give the same choices: nothing depends on units."""
    attack = {scale: ia.OppositeUniform(rho=0.25, scale=1800 * scale) for scale in (1, 1024)}
    pulls = [
        ia.simulate(
            ia.CoherentIMED(),
            ia.GaussianBandit([scale * m for m in (0, 1, 4)], sigma=scale),
            attack[scale],
            horizon=500,
            trials=2,
            seed=1,
            progress=False,
        ).pulls
        for scale in (1, 1024)
    ]
    np.testing.assert_array_equal(*pulls)


@pytest.mark.filterwarnings("ignore::ironarm.RewardWarning")
def test_equal_and_infinite_rewards_leave_the_policy_without_parameters_at_work():
    """Rewards without spread, one in four infinite, still lead to the best arm."""
    agent = ia.Agent(ia.CoherentIMED(), arms=["low", "high"], seed=1)
    for t in range(400):
        arm = agent.select()
        reward = {"low": 1.0, "high": 2.0}[arm]
        if t % 4 == 1:
            reward = float("inf") if arm == "low" else float("-inf")
        agent.update(arm, reward)
    assert agent.best() == "high"


def test_an_arm_whose_rewards_never_come_is_not_waited_for():
    """The leader always pays the same, so sigma is to be learnt from the other arm."""
    agent = ia.Agent(ia.CoherentIMED(), arms=["same", "silent"], seed=1)
    world, heard, same = np.random.default_rng(1), 0, 0
    for _ in range(1000):
        decision = agent.decide()
        if decision.arm == "same":
            agent.learn(decision.id, 10.0)
            same += 1
        elif heard < 5:
            agent.learn(decision.id, float(world.normal()))
            heard += 1
    assert same > 800


@pytest.mark.filterwarnings("ignore::ironarm.RewardWarning")
def test_looks_go_on_when_the_leader_always_pays_the_same():
    """If none of the other arms has enough rewards, the next look comes later."""
    agent = ia.Agent(ia.CoherentIMED(), arms=6, seed=0)
    world = np.random.default_rng(0)
    for _ in range(2000):
        arm = agent.select()
        agent.update(arm, 10.0 if arm == 0 else float(world.normal()))
    assert agent.best() == 0
    assert agent._core.state.view.next_look[0] >= 2000
