"""Arms that come and go while an agent works."""

import math

import pytest

import ironarm as ia
from tests.agent.playing import play, rewards


@pytest.mark.parametrize(
    "policy", [ia.TsallisINF(), ia.policies.EXP3PlusPlus()], ids=lambda p: p.label
)
def test_a_newcomer_among_weighted_arms_gets_about_its_share(policy):
    """Joining after a thousand rounds, an arm is chosen with a probability of about
    1/4 at once.
    """
    agent = ia.Agent(policy, arms=["a", "b", "c"], seed=1)
    for _ in range(1000):
        arm = agent.select()
        agent.update(arm, {"a": 0.3, "b": 0.5, "c": 0.6}[arm])
    agent.add_arm("d")
    while (decision := agent.decide()).arm != "d":  # no reward comes, so nothing changes but t
        assert agent.decisions < 1100
    assert 0.2 < agent._core.open.tickets[decision.id][2] < 0.3


def test_barbar_needs_a_horizon_and_begins_an_epoch_again_when_arms_change():
    """Live, it has no horizon but its own; with other arms the plan is made anew,
    the gaps known so far stay.
    """
    with pytest.raises(ia.InvalidInput, match="horizon"):
        ia.Agent(ia.policies.BARBAR(), arms=["a", "b"])
    agent = ia.Agent(ia.policies.BARBAR(horizon=1000, scale=0.5), arms=["a", "b", "c"], seed=1)
    for _ in range(200):
        arm = agent.select()
        agent.update(arm, {"a": 0.0, "b": 0.5, "c": 1.0}[arm])
    gaps = agent._core.state.view.gap.tolist()
    assert gaps[0] > gaps[1] > gaps[2] > 0
    for change, expected in (
        (lambda: agent.remove_arm("b"), [gaps[0], gaps[2]]),
        (lambda: agent.add_arm("b"), [gaps[0], gaps[2], 1.0]),
    ):
        change()
        agent.select()
        view = agent._core.state.view
        assert view.gap.tolist() == expected
        assert view.gathered.sum() == 0
        assert view.until[0] == agent.decisions - 1 + math.ceil(view.planned.sum())


@pytest.mark.parametrize(
    "policy",
    [ia.MedEUCB(b=2, block=100), ia.MedEpsilonGreedy(c=7), ia.TrimmedEpsilonGreedy(alpha=0.1, c=7)],
    ids=lambda p: p.label,
)
def test_a_newcomer_gets_the_forced_pulls_it_has_missed(policy):
    """It is pulled as often as the schedule would have pulled it by now, before
    anything else.
    """
    agent = ia.Agent(policy, arms=["a", "b", "c"], seed=1)
    values = rewards(4, 950)
    play(agent, values)
    agent.add_arm("d")
    k = agent.decisions // 100
    owed = math.ceil(2 * math.log((k + 1) * 100)) if isinstance(policy, ia.MedEUCB) else 7
    assert ["d"] * owed == play(agent, values[:owed])[:owed]


def test_every_arm_keeps_the_forced_pulls_when_arms_come_and_go_in_a_window():
    """At every index round after a change, each arm has at least b log t rewards."""
    policy = ia.MedEUCB(b=3, block=60)
    for change_at in (5, 37, 59, 60, 61, 62, 65, 70, 121, 123, 181, 300):
        agent = ia.Agent(policy, arms=["a", "b", "c"], seed=1)
        values = iter(rewards(change_at, 3000))
        for _ in range(change_at):
            agent.update(agent.select(), next(values))
        agent.remove_arm("b")
        agent.add_arm("e")
        for _ in range(700):
            agent.update(agent.select(), next(values))
            view = agent._core.state.view
            forced = view.owing_arms[0] > 0 or agent.decisions <= view.plan[2]
            if not forced and agent.decisions % 60:
                assert view.n.min() >= 3 * math.log(agent.decisions), (change_at, agent.decisions)


def test_a_removed_arm_takes_its_decisions_with_it_and_starts_afresh():
    """A late reward for it is refused, the others keep what they know, the last arm
    stays.
    """
    agent = ia.Agent(ia.RUCB(), arms=["a", "b", "c"], seed=1)
    play(agent, [1.0] * 30)
    open_b = [d for d in (agent.decide() for _ in range(12)) if d.arm == "c"]
    kept = agent.estimates["a"], agent.rewards["a"]
    agent.remove_arm("c")
    with pytest.raises(ia.errors.UnknownDecision, match="removed"):
        agent.learn(open_b[0].id, 1.0)
    assert kept == (agent.estimates["a"], agent.rewards["a"])
    agent.add_arm("c")
    assert agent.rewards["c"] == 0
    agent.remove_arm("a")
    agent.remove_arm("b")
    with pytest.raises(ia.InvalidInput, match="last arm"):
        agent.remove_arm("c")


def test_an_explicit_block_that_more_arms_outgrow_is_refused_and_nothing_changes():
    """The schedule would not fit."""
    agent = ia.Agent(ia.MedEUCB(b=4, block=60), arms=["a", "b", "c"], seed=1)
    with pytest.raises(ia.InvalidInput, match="block=60 is too small for 4 arms"):
        agent.add_arm("d")
    assert agent.arms == ("a", "b", "c")
    assert agent.select() == "a"


@pytest.mark.parametrize("policy", [ia.TrustThompson(), ia.TsallisINF(reward_range=(0, 200))])
def test_a_newcomer_without_a_reward_is_not_the_best(policy):
    """Policies that keep their own estimates start them at 0, which may look best."""
    agent = ia.Agent(policy, arms=["a", "b"], seed=7, minimize=True)
    for _ in range(20):
        arm = agent.select()
        agent.update(arm, 100.0 if arm == "a" else 120.0)
    agent.add_arm("c")
    assert agent.best() == "a"
