"""Decisions among some of the arms."""

import copy
import random

import pytest

import ironarm as ia
from tests.every_policy import EVERY_POLICY

# the rewards are not those that every policy is made for
pytestmark = pytest.mark.filterwarnings("ignore::ironarm.RewardWarning")

ARMS = ["a", "b", "c", "d", "e"]
every_policy = pytest.mark.parametrize("policy", EVERY_POLICY, ids=lambda p: type(p).__name__)


def reward(world, arm):
    return min(max(world.gauss(0.4 * ARMS.index(arm), 0.3), 0.0), 3.0)


def some_arms(world):
    return world.sample(ARMS, world.randint(1, len(ARMS)))


def played(policy, world, rounds):
    """Return an agent that has decided among all arms and among some, in turns."""
    agent = ia.Agent(policy, arms=ARMS, seed=world.randrange(1000))
    for i in range(rounds):
        decision = agent.decide(some_arms(world) if i % 2 else None)
        if world.random() < 0.9:
            agent.learn(decision.id, reward(world, decision.arm))
    return agent


@every_policy
def test_it_chooses_as_if_the_other_arms_were_removed(policy):
    """A copy from which the other arms are removed decides the same, with the same
    probability.
    """
    world = random.Random(5)
    for rounds in (0, 3, 40, 150):
        agent = played(policy, world, rounds)
        for _ in range(12):
            usable = some_arms(world)
            twin = copy.copy(agent)
            for arm in set(ARMS) - set(usable):
                twin.remove_arm(arm)
            expected, decision = twin.decide(), agent.decide(among=usable)
            assert decision.arm == expected.arm
            chance = agent._core.open.tickets[decision.id].chance
            assert chance == pytest.approx(twin._core.open.tickets[expected.id].chance, rel=1e-9)
            agent.learn(decision.id, reward(world, decision.arm))


@every_policy
def test_looking_at_some_arms_leaves_no_trace(policy):
    """Afterwards the state is, to the last bit, that of an agent that was told which
    arm to take.
    """
    world = random.Random(6)
    begun = played(policy, world, 120)
    agent, twin = copy.copy(begun), copy.copy(begun)  # heaps are made anew, in both alike
    for _ in range(60):
        usable = some_arms(world)
        decision = agent.decide(among=usable)
        assert decision.arm in usable
        index = ARMS.index(decision.arm)
        twin._core.follow(index)
        x = reward(world, decision.arm)
        chance = agent._core.open.tickets[decision.id].chance
        agent.learn(decision.id, x)
        twin._core.take(index, x, None, chance, 1)
    assert agent._core.state.dump() == twin._core.state.dump()


def test_all_of_them_is_the_same_as_nothing_said():
    """In any order, and with a name twice."""
    agent, twin = (ia.Agent(ia.EXP3(gamma=0.3), arms=ARMS, seed=3) for _ in range(2))
    for _ in range(50):
        decision = agent.decide(among=[*reversed(ARMS), "a"])
        assert decision == twin.decide()
        agent.learn(decision.id, 0.5)
        twin.learn(decision.id, 0.5)


def test_what_cannot_be_used_is_never_chosen_and_the_rest_is_learnt():
    """The best arm is away half of the time; then the second best is used."""
    agent = ia.Agent(arms=ARMS, seed=1)
    world = random.Random(7)
    away = []
    for i in range(3000):
        decision = agent.decide(among=ARMS[:-1] if i % 2 else None)
        away += [decision.arm] if i % 2 else []
        agent.learn(decision.id, reward(world, decision.arm))
    assert "e" not in away
    assert away.count("d") > 0.9 * len(away)
    assert agent.decisions == 3000
    assert sum(agent.rewards.values()) == 3000


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize(
    ("among", "message"),
    [([], "empty"), (["z"], "unknown arm"), ("ab", "must be a list"), (["a", None], "unknown arm")],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(durable, among, message, tmp_path):
    """No arm, an unknown arm, a text in the place of a list."""
    where = [tmp_path / "a.db"] * durable
    agent = (ia.DurableAgent if durable else ia.Agent)(*where, ia.UCB(), arms=["a", "b"], seed=1)
    with pytest.raises((ia.InvalidInput, ia.errors.UnknownArm), match=message):
        agent.decide(among=among)
    assert agent.decisions == 0
    assert agent.open_decisions == []


@pytest.mark.parametrize(
    "policy", [ia.CoherentIMED(), ia.EXP3(gamma=0.3), ia.EpsilonGreedy(c=1)], ids=lambda p: p.label
)
def test_a_durable_agent_comes_to_the_same_state_again(policy, tmp_path):
    """Whoever reads its log, decisions among some arms included."""
    world = random.Random(8)
    path = tmp_path / "agent.db"
    with ia.DurableAgent(path, policy, arms=ARMS, seed=1) as agent:
        for i in range(150):
            usable = some_arms(world)
            decision = agent.decide(among=iter(usable) if i % 2 else None)
            assert i % 2 == 0 or decision.arm in usable
            if world.random() < 0.8:
                agent.learn(decision.id, reward(world, decision.arm))
        known, fields = agent.summary(), agent._shared.replay.core.state
        fields.refresh()
        with ia.DurableAgent(path) as again:
            assert again.summary() == known
            again._shared.replay.core.state.refresh()
            assert again._shared.replay.core.state.dump() == fields.dump()
