"""An attack that observes is told of every round, and no other attack pays for it."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import ironarm as ia
from ironarm.attacks import ATTACKS, make
from ironarm.engine.adversary import Adversary
from ironarm.engine.machine import machine_for
from ironarm.simulation.cells import Cell, compile_cells
from tests.attacks.recording import BANDIT, ROUNDS, coin_rounds, player, seen

RHO = 0.2


@ia.extend.hot
def lower(e, a, x, u, v):
    return x - 10.0 * u


@ia.extend.hot
def keep_all(e, a, x, shown):
    """Write round after round what there is to know."""
    i = 4 * (e.t - 1)
    e.memory[i] = a
    e.memory[i + 1] = x
    e.memory[i + 2] = shown
    e.memory[i + 3] = e.pulls[a]


def in_python(function):
    """Return the function without its mark."""
    return lambda *arguments: function(*arguments)


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "Python"])
def test_it_is_told_of_every_round_once(plain):
    """The arm, the clean reward, what the policy was shown, across stretches."""
    corrupt, observe = map(in_python, (lower, keep_all)) if plain else (lower, keep_all)
    attack = ia.CustomAttack(RHO, corrupt, observe=observe, cells=4 * ROUNDS)
    played = player(attack)
    arm, clean, shown, pulls = played._memory.reshape(-1, 4).T
    expected = np.arange(ROUNDS) % BANDIT.arms
    assert np.array_equal(arm, expected)
    assert np.array_equal(pulls, np.arange(ROUNDS) // BANDIT.arms + 1)
    assert np.array_equal(clean, seen(ia.NoAttack()))
    assert np.array_equal(shown, played.state.view.seen)
    assert np.array_equal(shown != clean, coin_rounds(RHO))


@ia.extend.hot
def remember(e, a, x, shown):
    """For each arm, the sum of clean rewards and that of shown ones; the last shown."""
    e.memory[1 + 2 * a] += x
    e.memory[2 + 2 * a] += shown
    e.memory[0] = shown


@ia.extend.hot
def from_memory(e, a, x, u, v):
    """Depends on everything that `remember` keeps, and keeps something itself."""
    e.memory[0] *= 0.5
    mean = e.memory[1 + 2 * e.best] / e.t
    return x + u * e.strength * mean - v * e.memory[2 + 2 * a] / e.pulls[a] + e.memory[0]


BANDITS = {"normal": BANDIT, "0/1, by columns": ia.BernoulliBandit([0.3, 0.5, 0.45])}


@pytest.mark.parametrize("bandit", BANDITS)
def test_compiled_python_mixed_and_in_threads_agree(bandit):
    """At every round; two of the policies let their memory grow on the way."""
    results = [
        ia.simulate(
            [ia.RUCB(), ia.UCB(), ia.MedEpsilonGreedy(c=2)],
            BANDITS[bandit],
            ia.CustomAttack(
                0.3, corrupt, {"strength": 3}, cells=1, observe=observe, cells_per_arm=2
            ),
            horizon=1500,
            trials=4,
            seed=6,
            workers=workers,
            checkpoints=range(1, 1501),
        )
        for corrupt in (from_memory, in_python(from_memory))
        for observe in (remember, in_python(remember))
        for workers in (1, 3)
    ]
    first, *others = results
    assert all(np.array_equal(first.regret, other.regret) for other in others)
    without = ia.simulate(
        ia.UCB(),
        BANDITS[bandit],
        ia.CustomAttack(0.3, from_memory, {"strength": 3}, cells=1, cells_per_arm=2),
        horizon=1500,
        trials=4,
        seed=6,
    )
    assert not np.array_equal(first.pulls[1], without.pulls[0])  # it does use what it is told


PLAIN = """
import ironarm as ia

@ia.extend.hot
def remember(e, a, x, shown):
    e.memory[a] += x - shown

@ia.extend.hot
def corrupt(e, a, x, u, v):
    return x - 3 * u + e.memory[e.best] * v

attacks = [
    ia.CustomAttack(0.3, corrupt, observe=remember, cells_per_arm=1),
    ia.CustomAttack(0.3, corrupt, observe=lambda *all: remember(*all), cells_per_arm=1),
    ia.attacks.Overtake(rho=0.3),
]
for attack in attacks:
    result = ia.simulate(
        [ia.UCB(), ia.RUCB()], ia.GaussianBandit([0, 1, 2]), attack, horizon=400, trials=2, seed=1
    )
    print(result.pulls.tolist())
"""


def test_it_means_the_same_without_the_jit():
    """The same pulls, of attacks of one's own and of a built-in one."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PLAIN],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        for more in ({"NUMBA_DISABLE_JIT": "0"}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0][0] == outputs[0][1] != outputs[0][2]


def test_the_policy_has_learnt_the_reward_by_then():
    """UCB's estimate is the mean of all that was shown, and pulls count it."""
    shown_of = {arm: [] for arm in range(BANDIT.arms)}

    def observe(e, a, x, shown):
        shown_of[a].append(shown)
        assert e.pulls[a] == len(shown_of[a])
        assert e.estimate[a] == pytest.approx(np.mean(shown_of[a]))

    attack = ia.CustomAttack(RHO, lower, observe=observe)
    ia.simulate(ia.UCB(), BANDIT, attack, horizon=300, trials=1, seed=1)
    assert sum(map(len, shown_of.values())) == 300


def test_nan_is_told_as_what_the_policy_sees():
    """Minus infinity."""
    told = []
    attack = ia.CustomAttack(
        0.5,
        lambda e, a, x, u, v: math.nan,
        observe=lambda e, a, x, shown: told.append((x, shown)),
    )
    ia.simulate(ia.MedEpsilonGreedy(), BANDIT, attack, horizon=100, trials=1, seed=1)
    assert len(told) == 100
    assert {shown for x, shown in told if shown != x} == {-math.inf}


def test_a_jammer_can_observe():
    """In a jammed round the reward is that of the jammed channel, as for `corrupt`."""

    class Listening(ia.attacks.Jammer):
        memory = 2

        @staticmethod
        @ia.extend.hot
        def observe(e, a, x, shown):
            e.memory[0] += 1
            e.memory[1] += x == shown and x < 20

    played = player(Listening(RHO), ia.RadioBandit("analytic"))
    assert played._memory.tolist() == [ROUNDS, coin_rounds(RHO).sum()]


def test_only_attacks_that_observe_have_the_longer_loop():
    """The others run the loop that knows nothing of it."""
    bandit = ia.RadioBandit("analytic")
    loops = {
        name: Adversary(make(name, {"rho": 0} if name == "NoAttack" else {"rho": 0.1}), bandit)
        for name in ATTACKS
        if name != "LeastFavourable"
    }
    observing = {name for name, adversary in loops.items() if adversary.entry == "run_observed"}
    assert observing == {"Overtake"}
    assert all((a.targets[1] != 0) == (name in observing) for name, a in loops.items())


def test_cells_compile_both_loops_beforehand():
    """Where some of their attacks observe: a worker must not wait for the compiler."""
    cells = [
        Cell(ia.UCB(), BANDIT, attack, horizon=50, trials=1, seed=1, checkpoints=(50,))
        for attack in (ia.Infinite(rho=0.1), ia.attacks.Overtake(rho=0.1))
    ]
    machine = machine_for(ia.UCB(), ia.UCB().constants(BANDIT.arms, 50))
    machine._calls.clear()
    compile_cells(cells, lambda text: None)
    assert {"run", "run_observed"} <= set(machine._calls)


def test_memory_can_be_per_arm():
    """So many numbers, and so many for each arm; zero at the start of each trial."""
    attack = ia.CustomAttack(0.1, lower, cells=2, cells_per_arm=3)
    assert Adversary(attack, BANDIT).start.tolist() == [0.0] * (2 + 3 * BANDIT.arms)


def test_the_description_names_both_functions():
    """A result says what it was made with."""
    attack = ia.CustomAttack(0.1, lower, observe=remember)
    assert attack.to_dict()["parameters"] == {
        "rho": 0.1,
        "function": "lower",
        "observe": "remember",
    }
    assert "observe" not in ia.CustomAttack(0.1, lower).to_dict()["parameters"]


@ia.extend.hot
def opens_a_file(e, a, x, shown):
    e.memory[0] = open("file")  # noqa: SIM115


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"observe": 5}, ia.InvalidInput, "observe must be callable as observe"),
        ({"cells_per_arm": -1}, ia.InvalidInput, "cells_per_arm must be"),
        ({"observe": lower}, ia.errors.PolicyFault, r"observe must take \(e, a, x, shown\), got"),
        ({"observe": opens_a_file}, ia.errors.PolicyFault, "opens_a_file cannot be compiled"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(given, error, message):
    """When the attack is made, or when it meets the bandit."""
    with pytest.raises(error, match=message):
        ia.simulate(
            ia.UCB(), BANDIT, ia.CustomAttack(0.1, lower, **given), horizon=10, trials=1, seed=1
        )
