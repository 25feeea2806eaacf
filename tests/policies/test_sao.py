"""SAO: when arms are deactivated, when Exp3.P takes over, and live use."""

import math
import os
from types import SimpleNamespace

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine.state import State
from ironarm.engine.streams import streams
from ironarm.policies.sao import disagrees
from tests.naive import twin_of

SMALL = os.environ.get("NUMBA_DISABLE_JIT") == "1"

# without the JIT, NumPy's scalars warn where compiled integers wrap round
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")


def sao(**parameters):
    return ia.policies.SAO(horizon=5000, beta=10, **parameters)


def played(policy, means_at, rounds):
    """Play a policy and its twin on normal rewards, whose means may change.

    Return the state that it ends in, and the choices.
    """
    world = np.random.default_rng(5)
    arms = len(means_at(1))
    stream = streams(5, 0)[2]
    twin = twin_of(policy, arms, rounds, stream)
    state = State(policy, arms, rounds)
    state.renew(stream)
    choices = []
    for t in range(1, rounds + 1):
        arm = state.select()
        assert arm == twin.select(t)
        x = float(world.normal(means_at(t)[arm], 0.1))
        state.observe(arm, x, float(state.view.chance[0]))
        twin.update(arm, x)
        choices.append(arm)
    return state.view, choices


def agent_of(policy):
    return ia.Agent(policy, arms=["a", "b", "c"], seed=1)


def view_of(agent):
    return agent._core.state.view


def deactivate(agent, *arms):
    """Make it as if these arms had been deactivated in round 8, of 10."""
    view = view_of(agent)
    for _ in range(10):
        agent.learn(agent.decide().id, 0.5)
    for arm in arms:
        view.tau[agent.arms.index(arm)], view.q[agent.arms.index(arm)] = 8, 1 / 3
    view.planned_for[0] = 0


@pytest.mark.skipif(SMALL, reason="needs thousands of rounds")
def test_an_arm_that_is_worse_is_deactivated_and_fades():
    """Its probability is then q tau / (t + 1), and Exp3.P does not start."""
    view, choices = played(sao(), lambda t: (0.1, 0.9), 5000)
    assert view.left[0] == 0
    assert view.tau[1] == 0
    assert 144 * 2 * math.log(10) / 0.8**2 < view.tau[0] < 2500
    assert view.p[0] == view.q[0] * view.tau[0] / 5001 == pytest.approx(1 - view.p[1], abs=1e-12)
    assert view.q[0] == 0.5
    assert np.mean(choices[-1000:]) > 0.85


@pytest.mark.skipif(SMALL, reason="needs thousands of rounds")
def test_exp3p_takes_over_when_the_arms_have_changed():
    """An arm that was deactivated becomes the best one, which a fixed law excludes."""
    swapped = (0.9, 0.1, 0.4), (0.1, 0.9, 0.4)
    view, choices = played(sao(), lambda t: swapped[t <= 2000], 5000)
    assert view.tau.tolist().count(0) == 2  # the first arm was deactivated
    assert 0 < view.left[0] < 3000
    chances = view.p.tolist()
    assert chances.index(max(chances)) == 0
    assert np.mean(np.array(choices[-500:]) == 0) > 0.6


@pytest.mark.skipif(SMALL, reason="needs thousands of rounds")
def test_exp3p_takes_over_when_an_arm_has_become_far_worse():
    """Its gap grows beyond what it was deactivated for."""
    policy = ia.policies.SAO(horizon=20_000, beta=4)
    means = (0.0, 1.0), (0.6, 1.0)
    view, _ = played(policy, lambda t: means[t <= 4000], 20_000)
    assert view.tau[0] > 0
    assert view.tau[1] == 0
    assert 0 < view.left[0] < 16_000


@pytest.mark.skipif(SMALL, reason="needs thousands of rounds")
def test_random_rewards_do_not_start_exp3p():
    """With the paper's beta that has a probability of at most 1/T."""
    for seed in range(20):
        state = State(ia.policies.SAO(), 3, 5000)
        state.renew(streams(seed, 0)[2])
        world = np.random.default_rng(seed)
        for _ in range(5000):
            arm = state.select()
            x = float(world.random() < (0.2, 0.5, 0.8)[arm])
            state.observe(arm, x, float(state.view.chance[0]))
        assert state.view.left[0] == 0


@pytest.mark.parametrize("tau", [0, 40, 100])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_two_estimates_of_an_arm_may_differ_by_as_much_as_the_paper_says(tau, side):
    """Its test (18), just below its bound and just above."""
    K, t, T, q, log_beta, plain = 3, 100, 17, 0.25, 2.5, 0.4
    until = min(tau or 5000, t)
    later = (t - until) / (q * tau * t) if tau else 0
    bound = math.sqrt(2 * log_beta / T) + math.sqrt(
        4 * (K * until / t**2 + later) * log_beta + 5 * (K * log_beta / until) ** 2
    )
    for factor, expected in ((1 - 1e-9, False), (1 + 1e-9, True)):
        weighted = t * (plain + side * factor * bound)
        s = SimpleNamespace(
            arms=K, log_beta=log_beta, tau=[tau], q=[q], pulls=[T], gathered=[plain * T]
        )
        s.weighted = [weighted]
        gap = 3.0 if tau else 0.0  # between the bounds of the other tests
        assert disagrees(s, 0, t, gap) == expected


def test_a_late_reward_counts_by_the_chance_of_its_decision():
    """The clock of the tests is the number of rewards, so those that are still out do
    not make an arm look worse.
    """
    agent = agent_of(sao())
    decisions = [agent.decide() for _ in range(30)]
    assert view_of(agent).age[0] == 0
    for decision in reversed(decisions):
        agent.learn(decision.id, 0.5)
    view = view_of(agent)
    assert view.age[0] == 30 == view.pulls.sum()
    np.testing.assert_allclose(view.weighted, 0.5 * 3 * view.pulls, rtol=1e-12)


def test_a_reward_from_before_the_start_of_exp3p_does_not_swamp_the_others():
    """It counts with at least the smallest chance that Exp3.P gives."""
    agent = agent_of(sao())
    view = view_of(agent)
    agent.decide()
    view.left[0], view.planned_for[0] = 1000, 0
    agent._core.take(0, 1.0, None, 1e-6)
    gamma = 1.05 * math.sqrt(3 * math.log(3) / 1000)
    bonus = math.sqrt(math.log(10) / 3000)
    np.testing.assert_allclose(
        view.weighted, [(1 + bonus) / (gamma / 3), 3 * bonus, 3 * bonus], rtol=1e-12
    )


def test_an_arm_that_joins_begins_the_exploration_again():
    """All arms are active, with equal chances; what was known for the tests is gone."""
    agent = agent_of(sao())
    deactivate(agent, "a", "b")
    agent.add_arm("d")
    agent.decide()
    view = view_of(agent)
    assert view.tau.tolist() == [0, 0, 0, 0]
    assert view.age[0] == 0
    assert view.p.tolist() == [0.25] * 4


def test_removing_an_arm_keeps_the_others_as_they_are():
    """If one of them is active; else the exploration begins again."""
    agent = agent_of(sao())
    deactivate(agent, "a", "b")
    faded = 8 / 3 / 11
    agent.decide()
    np.testing.assert_allclose(view_of(agent).p, [faded, faded, 1 - 2 * faded])
    assert {agent.decide(among=["a", "b"]).arm for _ in range(40)} == {"a", "b"}
    agent.remove_arm("a")
    agent.decide()
    np.testing.assert_allclose(view_of(agent).p, [faded, 1 - faded])
    agent.remove_arm("c")
    agent.add_arm("c")
    agent.remove_arm("b")
    agent.decide()
    assert view_of(agent).tau.tolist() == [0]


def test_a_late_reward_after_all_active_arms_were_removed_starts_nothing():
    """There is no best active arm to compare with, which is no sign of an adversary."""
    agent = agent_of(sao())
    deactivate(agent, "a", "b")
    late = next(d for d in iter(agent.decide, None) if d.arm == "a")
    agent.remove_arm("c")
    agent.learn(late.id, 1.0)
    view = view_of(agent)
    assert view.left[0] == 0
    assert view.tau.tolist() == [0, 0]


def test_after_the_start_of_exp3p_arms_come_and_go():
    """A newcomer gets the mean weight of the others; chances sum to 1."""
    agent = agent_of(sao())
    agent.decide()
    view_of(agent).left[0] = 1000
    for _ in range(200):
        decision = agent.decide()
        agent.learn(decision.id, float(decision.arm == "b"))
    agent.add_arm("d")
    agent.decide()
    view = view_of(agent)
    assert view.p.sum() == pytest.approx(1, rel=1e-12)
    assert view.p[3] == pytest.approx(0.25, abs=0.01)
    agent.remove_arm("b")
    agent.decide()
    assert view_of(agent).p.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("beta", [1, 0.5, -3, math.inf])
def test_beta_is_above_one(beta):
    """Else its logarithm, and with it every width, would not be positive."""
    with pytest.raises(ia.InvalidInput, match="beta must be"):
        ia.policies.SAO(beta=beta)


def test_an_agent_needs_the_horizon():
    """It is what beta and the parameters of Exp3.P are computed from."""
    with pytest.raises(ia.InvalidInput, match="give SAO"):
        ia.Agent(ia.policies.SAO(beta=10), arms=["a", "b"])
