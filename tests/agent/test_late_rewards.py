"""Rewards that come late, in any order, or never."""

import math

import numpy as np
import pytest

import ironarm as ia
from tests.agent.playing import NAMES


def test_late_rewards_in_any_order_give_the_same_estimates_as_at_once():
    """Estimates count rewards, whenever they come."""
    agent = ia.Agent(ia.RUCB(), arms=NAMES, seed=1)
    decisions = [agent.decide() for _ in range(40)]
    values = {d.id: float(i % 7) for i, d in enumerate(decisions)}
    for decision in decisions[::-1]:
        agent.learn(decision.id, values[decision.id])
    for name in NAMES:
        own = sorted(values[d.id] for d in decisions if d.arm == name)
        assert own[(len(own) - 1) // 2] == agent.estimates[name]
    assert agent.open_decisions == []


def test_an_arm_without_a_reward_comes_first_fewest_open_first():
    """While rewards are late, arms are tried in turn; a reward for one leaves the
    others first.
    """
    agent = ia.Agent(ia.UCB(), arms=["a", "b", "c"], seed=1)
    assert ["a", "b", "c", "a", "b"] == [agent.select() for _ in range(5)]
    agent.update("a", 1.0)
    assert ["c", "b", "c"] == [agent.select() for _ in range(3)]


def test_update_closes_the_oldest_open_decision_or_is_an_extra_observation():
    """The count for the bonus is rewards plus open decisions."""
    agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)
    first = agent.decide()
    agent.update("a", 1.0)
    with pytest.raises(ia.errors.UnknownDecision, match="closed"):
        agent.learn(first.id, 2.0)
    agent.update("a", 3.0)
    assert {"a": 2, "b": 0} == agent.rewards
    assert agent.estimates["a"] == 2.0
    assert [2, 0] == agent._core.state.view.n.tolist()


def test_cancel_and_expire_take_open_decisions_back():
    """A cancelled decision counts as a round but not for the bonus."""
    agent = ia.Agent(ia.UCB(), arms=["a", "b"], seed=1)
    decision = agent.decide()
    agent.cancel(decision.id)
    assert agent.decisions == 1
    assert [0, 0] == agent._core.state.view.n.tolist()
    assert agent.select() == "a"
    agent.decide()
    assert agent.expire(older_than=3600) == 0
    assert agent.expire(older_than=0) == 2
    assert [0, 0] == agent._core.state.view.n.tolist()
    agent.decide()
    agent.select()
    agent.decide()
    assert agent.expire(older_than=0) == 3  # tickets and others, in whatever order they stand
    assert [0, 0] == agent._core.state.view.n.tolist()
    agent.update("a", 1.0)  # nothing open: an extra observation
    assert [1, 0] == agent._core.state.view.n.tolist()


def test_exp3_weighs_a_late_reward_by_the_chance_of_its_decision():
    """The log-weight grows by gamma y / (p K) with the p at the time of the
    decision.
    """
    agent = ia.Agent(ia.EXP3(gamma=0.5), arms=["a", "b"], seed=2)
    early = agent.decide()
    for _ in range(30):
        agent.learn(agent.decide().id, 1.0)
    before = agent._core.state.view.estimate.copy()
    agent.learn(early.id, 1.0)
    grown = agent._core.state.view.estimate - before
    assert grown[agent.arms.index(early.arm)] == pytest.approx(0.5 / (0.5 * 2), rel=1e-12)
    with pytest.raises(ia.InvalidInput, match="probability"):
        ia.Agent(ia.EXP3(gamma=0.5), arms=["a", "b"]).update("a", 1.0)
    with pytest.raises(ia.InvalidInput, match="horizon"):
        ia.Agent(ia.EXP3(), arms=["a", "b"])


def chances_of(policy, estimates, late):
    """The probabilities of two arms with these estimates at round `late`, the
    losses' plain means being 0.
    """
    if isinstance(policy, ia.policies.BARBAR):
        return [0.5, 0.5]
    losses = -estimates
    if isinstance(policy, ia.policies.EXP3PlusPlus):
        eta = 0.5 * math.sqrt(math.log(2) / (2 * late))
        weights = np.exp(-eta * (losses - losses.min()))
        explore = min(0.25, eta)
        return (1 - 2 * explore) * weights / weights.sum() + explore
    low, high = losses.min() - 2 * math.sqrt(2 * late), losses.min() - math.sqrt(late) / 2
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if (late * (losses - x) ** -2.0).sum() < 1 else (low, x)
    return late * (losses - x) ** -2.0


@pytest.mark.parametrize(
    "policy",
    [ia.TsallisINF(), ia.policies.EXP3PlusPlus(), ia.policies.BARBAR(horizon=100)],
    ids=lambda p: p.label,
)
def test_a_late_reward_counts_by_the_chance_of_its_decision(policy):
    """What an arm has gathered changes by y / p, or its loss, with the p at the time
    of the decision, whatever p is when the reward comes.
    """
    agent = ia.Agent(policy, arms=["a", "b"], seed=2)
    field = "gathered" if isinstance(policy, ia.policies.BARBAR) else "estimate"
    first = agent.decide()  # both arms alike: p = 1/2
    for _ in range(10):
        agent.learn(agent.decide().id, 0.5)
    known = agent._core.state.view.estimate.copy()
    second = agent.decide()
    for _ in range(30):
        agent.learn(agent.decide().id, 0.25)
    for decision, chances in ((first, [0.5, 0.5]), (second, chances_of(policy, known, 12))):
        before = getattr(agent._core.state.view, field).copy()
        agent.learn(decision.id, 0.5)
        changed = getattr(agent._core.state.view, field) - before
        arm = agent.arms.index(decision.arm)
        assert abs(changed[arm]) == pytest.approx(0.5 / chances[arm], rel=1e-9)
        assert changed[1 - arm] == 0
    with pytest.raises(ia.InvalidInput, match="probability"):
        agent.warm_start([("a", 1.0)])


def test_memory_does_not_grow_with_decisions_that_are_closed():
    """A decision that is never closed does not keep the ids of all that follow."""
    agent = ia.Agent(ia.UCB(), arms=["a"], seed=1)
    agent.decide()
    for _ in range(1000):
        agent.learn(agent.decide().id, 1.0)
    assert len(agent._core.open.ids[0]) < 200


def test_a_decision_can_be_given_as_such():
    """In the place of its id: to learn, in a batch, and to cancel."""
    agents = [ia.Agent(ia.RUCB(), arms=NAMES, seed=3) for _ in range(2)]
    for agent, given in zip(agents, (lambda late: late, lambda late: late.id), strict=True):
        late = [agent.decide() for _ in range(5)]
        agent.learn(given(late[3]), 1.0)
        agent.learn_batch([(given(late[0]), 2.0), (given(late[4]), 3)])
        agent.cancel(given(late[1]))
        assert agent.open_decisions == [late[2]]
    assert repr(agents[0]) == repr(agents[1])


def test_a_decision_of_another_agent_is_refused():
    """If its arm shows it."""
    one, two = (ia.Agent(ia.RUCB(), arms=arms, seed=1) for arms in (["a"], ["b"]))
    late = one.decide()
    two.decide()
    with pytest.raises(ia.InvalidInput, match="is for 'b', got one for 'a'"):
        two.learn(late, 1.0)
    assert len(two.open_decisions) == 1
