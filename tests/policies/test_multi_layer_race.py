"""The multi-layer race: what a layer learns, whom it eliminates, and live use."""

import math

import numpy as np
import pytest

import ironarm as ia
from ironarm.policies.multi_layer_race import LAYERS, drawn_layer, layer_of


def race(**parameters):
    """An agent with three arms, two layers, and widths that a few rewards narrow."""
    policy = ia.policies.MultiLayerRace(horizon=4, scale=0.01, **parameters)
    return ia.Agent(policy, arms=["a", "b", "c"], seed=1)


def state_of(agent):
    return agent._core.state.view


def learn(agent, arm, layer, reward):
    """Let an agent learn a reward of an arm that this layer has asked for."""
    agent._core.take(agent.arms.index(arm), reward, None, 0.75 if layer == 1 else 0.25)


def counted(agent, layer):
    """The rewards of each arm that a layer has learnt."""
    return state_of(agent).pulls.reshape(-1, LAYERS)[:, layer - 1].tolist()


def test_a_layer_has_its_probability():
    """2^-l, and layer 1 also what remains; exact on an even grid of numbers."""
    grid = (np.arange(1024) + 0.5) / 1024
    for layers in (1, 2, 3, 7):
        drawn = np.bincount([drawn_layer(u, layers) for u in grid], minlength=layers + 1)[1:]
        chances = [0.5**layer for layer in range(1, layers + 1)]
        chances[0] += 0.5**layers
        assert drawn.tolist() == [1024 * chance for chance in chances]
        assert [layer_of(chance, layers) for chance in chances] == list(range(1, layers + 1))


@pytest.mark.parametrize("chance", [0.0, -1.0, math.nan, 1e-300, 1.0, 7.0])
def test_any_number_names_a_layer(chance):
    """A damaged log can hold any number, and compiled code does not check bounds."""
    assert 1 <= layer_of(chance, 5) <= 5


def test_elimination_goes_down_and_not_up():
    """An arm that leaves layer 2 leaves layer 1; one that leaves layer 1 stays in 2."""
    agent = race()
    for _ in range(20):
        learn(agent, "a", 1, 1.0)
        learn(agent, "b", 1, 0.0)
    assert state_of(agent).left.tolist() == [0, 1, 0]
    for _ in range(20):
        learn(agent, "b", 2, 1.0)
        learn(agent, "c", 2, 0.0)
    assert state_of(agent).left.tolist() == [0, 1, 2]


def test_a_layer_learns_nothing_of_an_arm_that_has_left_it():
    """Nor, then, in a round in which no arm of its own is left."""
    agent = race()
    for _ in range(20):
        learn(agent, "a", 1, 1.0)
        learn(agent, "b", 1, 0.0)
    before = counted(agent, 1)
    learn(agent, "b", 1, 1.0)
    assert counted(agent, 1) == before
    learn(agent, "b", 2, 1.0)
    assert counted(agent, 2) == [0, 1, 0]


def test_an_empty_layer_asks_the_next_above():
    """Layer 1 has eliminated two arms, then layer 2 the third: the first of those left
    in layer 2 is pulled in rounds of layer 1.
    """
    agent = race()
    for _ in range(20):
        learn(agent, "a", 1, 1.0)
        learn(agent, "b", 1, 0.0)
        learn(agent, "c", 1, 0.0)
    for _ in range(20):
        learn(agent, "b", 2, 1.0)
        learn(agent, "c", 2, 1.0)
        learn(agent, "a", 2, 0.0)
    assert state_of(agent).left.tolist() == [2, 1, 1]
    chosen = set()
    for _ in range(100):
        decision = agent.decide()
        chosen.add((decision.arm, agent._core.open.tickets[decision.id].chance))
        agent.learn(decision.id, 1.0)
    assert chosen == {("b", 0.75), ("b", 0.25), ("c", 0.25)}


def test_a_late_reward_is_learnt_by_the_layer_of_its_decision():
    """Whatever has been decided since."""
    agent = race()
    decisions = [agent.decide() for _ in range(60)]
    layers = [1 if agent._core.open.tickets[d.id].chance > 0.5 else 2 for d in decisions]
    for decision in reversed(decisions):
        agent.learn(decision.id, 0.5)
    for layer in (1, 2):
        assert sum(counted(agent, layer)) == layers.count(layer) > 0
    assert state_of(agent).n.tolist() == [20, 20, 20]


def test_decisions_that_wait_are_spread_again_once_they_are_cancelled():
    """They count while they are open, and no longer."""
    agent = race()
    for decision in [agent.decide() for _ in range(30)]:
        if decision.arm == "b":
            agent.cancel(decision.id)
    assert [agent.decide().arm for _ in range(10)] == ["b"] * 10


def test_the_race_opens_again_if_all_that_are_left_are_taken_away():
    """Arms that are clearly worse leave at once, by what the layers know of them."""
    agent = race()
    for layer in (1, 2):
        for arm, reward in (("c", 0.0), ("b", 0.5), ("a", 1.0)):
            for _ in range(20):
                learn(agent, arm, layer, reward)
    assert state_of(agent).left.tolist() == [0, 2, 2]
    assert {agent.decide(among=["b", "c"]).arm for _ in range(20)} == {"b"}
    assert state_of(agent).left.tolist() == [0, 2, 2]
    agent.remove_arm("a")
    assert {agent.decide().arm for _ in range(20)} == {"b"}
    assert state_of(agent).left.tolist() == [0, 2]


def test_an_arm_that_joins_is_active_in_all_layers():
    """It catches up unless a layer eliminates it."""
    agent = race()
    for layer in (1, 2):
        for _ in range(20):
            learn(agent, "a", layer, 1.0)
            learn(agent, "b", layer, 0.0)
            learn(agent, "c", layer, 0.0)
    agent.add_arm("d")
    for _ in range(40):
        decision = agent.decide()
        agent.learn(decision.id, 0.0 if decision.arm == "d" else 1.0)
    assert state_of(agent).left.tolist() == [0, 2, 2, 2]


def test_a_horizon_is_needed_and_bounded():
    """An agent has none of its own, and there are places for 40 layers."""
    with pytest.raises(ia.InvalidInput, match="give MultiLayerRace"):
        ia.Agent(ia.policies.MultiLayerRace(), arms=["a", "b"])
    with pytest.raises(ia.InvalidInput, match=r"horizon must be a whole number below 1e\+12"):
        ia.policies.MultiLayerRace(horizon=10**12)
    largest = ia.policies.MultiLayerRace(horizon=10**12 - 1)
    assert largest.constants(2, None)["layers"] == LAYERS


def test_higher_layers_put_right_what_corruption_of_the_first_has_broken():
    """Rewards that are shown upside down for the first 300 rounds eliminate the best
    arm from layer 1 in every trial, but not from all layers: it wins in the end.
    """
    policy = ia.policies.MultiLayerRace(scale=0.1)
    bandit = ia.BernoulliBandit([0.1, 0.9])
    attack = ia.CustomAttack(0.999, lambda e, a, x, u, v: 1.0 - x if e.t <= 300 else x)
    result = ia.simulate(policy, bandit, attack, horizon=20_000, trials=5, seed=3, progress=False)
    assert result.last_tenth.min() > 0.9
