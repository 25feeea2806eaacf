"""The alarm of `RestartingIMED`: false alarms are rare, and changes are found."""

import os

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine.state import State

SMALL = os.environ.get("NUMBA_DISABLE_JIT") == "1"
ROUNDS = 400 if SMALL else 4000

ATTACKS = {
    # what an attacked reward of an arm with this mean, best or not, becomes
    "far": lambda x, mean, best, u: -1800 * u if best else 1800 * u,
    "fakes a fall": lambda x, mean, best, u: mean - 2.5 if best else x,
    "fakes a rise": lambda x, mean, best, u: mean + 2.5,
    "to and fro": lambda x, mean, best, u: mean + (3.0 if u < 0.5 else -3.0),
    "infinite": lambda x, mean, best, u: -np.inf if best else np.inf,
}


def restarts(policy, means_at, rounds, attack=None, rho=0.0, seed=1):
    """Play a trial by hand; return the rounds in which the policy started anew."""
    g = np.random.default_rng(seed)
    noise, coin, u = g.normal(size=rounds), g.random(rounds) < rho, g.random(rounds)
    state = State(policy, len(means_at(1)), rounds)
    found = []
    for t in range(1, rounds + 1):
        means = means_at(t)
        arm = state.select()
        x = means[arm] + float(noise[t - 1])
        if coin[t - 1]:
            x = float(attack(x, means[arm], means[arm] == max(means), u[t - 1]))
        before = int(state.view.restarts[0])
        state.observe(arm, x)
        if state.view.restarts[0] > before:
            found.append(t)
    return found


@pytest.mark.parametrize("rho", [0.0, 0.14])
@pytest.mark.parametrize("attack", ATTACKS)
def test_false_alarms_are_not_more_than_stated(attack, rho):
    """At most a share `alarm_rate` of all rounds, whatever the corrupt rewards are.

    The alarm is set to one in 200, and may ring 20 times in the mean. It is Poisson at
    the worst: 45 or more would be a false alarm of this test, with a chance below 1e-6.
    """
    policy = ia.RestartingIMED(alarm_rate=1 / 200)
    found = restarts(policy, lambda t: [0.0, 2.0, 4.0], ROUNDS, ATTACKS[attack], rho, seed=3)
    assert len(found) < 45


@pytest.mark.parametrize("seed", range(1 if SMALL else 5))
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_fall_of_the_leader_is_found(attack, seed):
    """By four sigma, at rho = 0.125, within 150 rounds, and nothing else is."""
    change = ROUNDS // 2

    def means_at(t):
        return [0.0, 2.0, 4.0] if t < change else [0.0, 2.0, 0.0]

    found = restarts(ia.RestartingIMED(), means_at, ROUNDS, ATTACKS[attack], 0.125, seed)
    assert len(found) == 1
    assert change < found[0] < change + 150


def test_a_rise_of_another_arm_is_found_by_probes_only():
    """Without probes it stays unseen, with one round in ten it is found."""
    change = ROUNDS // 4

    def means_at(t):
        return [0.0, 2.0, 4.0] if t < change else [8.0, 2.0, 4.0]

    assert restarts(ia.RestartingIMED(), means_at, ROUNDS) == []
    found = restarts(ia.RestartingIMED(probes=0.2 if SMALL else 0.1), means_at, ROUNDS)
    assert len(found) == 1 or SMALL
    assert all(t > change for t in found)


def test_a_fall_of_another_arm_is_no_alarm():
    """Nor is a rise that stays below the leader."""
    change = ROUNDS // 4

    def means_at(t):
        return [0.0, 2.0, 9.0] if t < change else [5.0, -6.0, 9.0]

    assert restarts(ia.RestartingIMED(probes=0.1), means_at, ROUNDS) == []


def test_where_nothing_changes_it_is_its_parent():
    """Not one choice differs in 20 trials of 10,000 rounds under the paper's attack."""
    result = ia.simulate(
        [ia.CoherentIMED(), ia.RestartingIMED()],
        ia.GaussianBandit(range(2, 21, 2)),
        ia.OppositeUniform(rho=0.3),
        horizon=ROUNDS if SMALL else 10_000,
        trials=2 if SMALL else 20,
        seed=5,
        progress=False,
    )
    assert (result.regret[0] == result.regret[1]).all()
