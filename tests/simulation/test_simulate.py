"""A simulation depends on its seed alone, keeps what its result shows, ends cleanly."""

import math
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import ironarm as ia
from ironarm.simulation import trial
from ironarm.simulation.simulate import checkpoint_rounds

PAPER = ia.GaussianBandit(means=range(2, 21, 2))
ATTACK = ia.OppositeUniform(rho=0.3)
SOME = [
    ia.MedEUCB(),
    ia.MedEpsilonGreedy(),
    ia.UCB(),
    ia.EXP3(reward_range=(0, 22)),
    ia.TrimmedUCB(alpha=0.3),
]


def same(first, second, i, j):
    return all(
        np.array_equal(getattr(first, name)[i], getattr(second, name)[j])
        for name in ("regret", "optimal", "pulls", "last_tenth")
    )


def test_workers_company_and_order_change_no_bit():
    """One worker or three, alone or with others, in any order: identical arrays."""
    together = ia.simulate(SOME, PAPER, ATTACK, horizon=3000, trials=7, seed=11, workers=1)
    threads = ia.simulate(SOME[::-1], PAPER, ATTACK, horizon=3000, trials=7, seed=11, workers=3)
    for i, policy in enumerate(SOME):
        alone = ia.simulate(policy, PAPER, ATTACK, horizon=3000, trials=7, seed=11, workers=2)
        assert same(together, threads, i, len(SOME) - 1 - i)
        assert same(together, alone, i, 0)


@pytest.mark.parametrize(
    "attack",
    [ATTACK, ia.attacks.ACE(rho=0.2), ia.attacks.Bursts(rho=0.2, length=20)],
    ids=["memoryless", "with a memory", "a coin with a memory"],
)
def test_a_trial_remembers_nothing_of_the_one_before(attack):
    """Trials are played in memory that is used again.

    The same trial after another one, after one that was stopped half way, and in fresh
    memory is the same.
    """
    setting = trial.Simulation(
        (*SOME, ia.CountIMED(epsilon=0.35), ia.CoherentIMED()),
        PAPER,
        attack,
        20_000,
        5,
        np.array([100, 20_000, 0]),
    )
    used, fresh = trial.Trials(setting), trial.Trials(setting)
    used.play(0, lambda: False)
    used.play(1, iter([False, True]).__next__)
    used.play(2, lambda: False)
    fresh.play(2, lambda: False)
    for before, after in zip(used.players, fresh.players, strict=True):
        assert np.array_equal(before.regret, after.regret)
        assert np.array_equal(before.pulls, after.pulls)
        assert all(
            np.array_equal(getattr(before.state.view, name), getattr(after.state.view, name))
            for name in ("n", "rewards", "estimate")
        )


@pytest.mark.parametrize(
    "bandit", [PAPER, ia.BernoulliBandit([0.2, 0.5, 0.6])], ids=["gaussian", "bernoulli"]
)
def test_the_length_of_a_stretch_changes_no_bit(bandit, monkeypatch):
    """Rounds are played in stretches; any length gives the same result."""
    whole = ia.simulate(SOME, bandit, ATTACK, horizon=2000, trials=2, seed=1)
    monkeypatch.setattr(trial, "STRETCH_ROUNDS", 77)
    pieces = ia.simulate(SOME, bandit, ATTACK, horizon=2000, trials=2, seed=1)
    assert all(same(whole, pieces, i, i) for i in range(len(SOME)))


def test_fewer_trials_or_rounds_are_the_beginning_of_more():
    """Trials and rounds have their own streams.

    The first of many are the same as alone.
    """
    many = ia.simulate(
        ia.MedEUCB(), PAPER, ATTACK, horizon=2000, trials=6, seed=5, checkpoints=[1000]
    )
    few = ia.simulate(ia.MedEUCB(), PAPER, ATTACK, horizon=1000, trials=2, seed=5)
    assert np.array_equal(many.regret[:, :2, 0], few.regret[:, :, -1])


def test_other_seeds_give_other_noise():
    """No two of a hundred seeds show the same first reward."""
    first = []
    attack = ia.CustomAttack(0.99, lambda e, a, x, u, v: first.append((x, u, v)) or x)
    for seed in range(100):
        ia.simulate(ia.UCB(), PAPER, attack, horizon=1, trials=1, seed=seed, workers=1)
    assert len(set(first)) == len(first) > 80


def test_the_record_is_consistent():
    """At the horizon, regret is gaps times pulls, and shares are pulls over rounds."""
    result = ia.simulate(SOME, PAPER, ATTACK, horizon=5000, trials=3, seed=2)
    assert np.array_equal(result.pulls @ PAPER.gaps, result.regret[:, :, -1])
    assert np.array_equal(result.pulls[:, :, 9] / 5000, result.optimal[:, :, -1])
    assert (result.pulls.sum(axis=2) == 5000).all()
    assert (np.diff(result.regret, axis=2) >= 0).all()
    assert result.rounds[-1] == 5000


def test_stuck_is_judged_by_the_last_tenth():
    """By the share of optimal pulls there: below one half is stuck."""
    result = ia.simulate(
        SOME, PAPER, ATTACK, horizon=1000, trials=5, seed=2, checkpoints=range(1, 1001)
    )
    best = result.optimal * result.rounds
    expected = (best[:, :, -1] - best[:, :, 899]) / 100
    assert expected == pytest.approx(result.last_tenth, abs=1e-12)
    assert np.array_equal(expected < 0.5, result.stuck)


@pytest.mark.parametrize("horizon", [1, 2, 9, 10, 11])
def test_tiny_horizons_work(horizon):
    """Down to one round."""
    result = ia.simulate(SOME, PAPER, ATTACK, horizon=horizon, trials=1, seed=1)
    assert result.rounds[-1] == horizon
    assert (result.pulls.sum(axis=2) == horizon).all()
    assert ((result.last_tenth >= 0) & (result.last_tenth <= 1)).all()


def test_checkpoints_are_log_spaced_by_default_and_settable():
    """Twenty to a decade, the powers of ten among them; the horizon is the last."""
    rounds = checkpoint_rounds(25_000).tolist()
    assert {1, 10, 100, 1000, 10_000, 25_000} <= set(rounds)
    assert rounds == sorted(set(rounds))
    assert len([t for t in rounds if 1000 <= t < 10_000]) == 20
    assert [1] == checkpoint_rounds(1).tolist()
    assert [5, 7, 50] == checkpoint_rounds(50, [7, 5]).tolist()
    assert [50] == checkpoint_rounds(50, []).tolist()


def test_several_best_arms_all_count_as_optimal():
    """Arms that share the best mean have no gap."""
    result = ia.simulate(ia.UCB(), ia.GaussianBandit([1, 3, 3]), horizon=500, trials=2, seed=1)
    assert np.array_equal(result.pulls[:, :, 1:].sum(axis=2) / 500, result.optimal[:, :, -1])


def test_memory_does_not_grow_with_trials_times_horizon():
    """Ten times the trials at fixed checkpoints.

    The result grows, nothing else does (a policy's rewards would be 8 MB for each
    trial).
    """

    def peak(trials):
        tracemalloc.start()
        ia.simulate(
            ia.UCB(), PAPER, horizon=20_000, trials=trials, seed=1, workers=1, checkpoints=[100]
        )
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(2)
    assert peak(200) - peak(20) < 180 * (2 * 2 * 8 + 11 * 8 + 64)


def test_the_coin_has_its_share_and_nests_in_rho():
    """An attack acts in a share rho of the rounds; a larger rho adds rounds.

    The false-alarm probability is under 1e-6, at five standard deviations.
    """
    seen = {}
    for rho in (0.1, 0.3):
        hits = []
        attack = ia.CustomAttack(rho, lambda e, a, x, u, v, hits=hits: hits.append(e.t) or x)
        ia.simulate(ia.UCB(), PAPER, attack, horizon=20_000, trials=1, seed=4)
        seen[rho] = set(hits)
        assert abs(len(hits) - 20_000 * rho) < 5 * math.sqrt(20_000 * rho * (1 - rho))
    assert seen[0.1] < seen[0.3]


def test_noise_is_standard_normal():
    """Rewards of a normal arm pass a Kolmogorov-Smirnov test with a fixed seed.

    A correct generator has p above 1e-4 except once in 10,000 seeds.
    """
    seen = []
    attack = ia.CustomAttack(0.999, lambda e, a, x, u, v: seen.append(x) or x)
    ia.simulate(
        ia.UCB(), ia.GaussianBandit([5.0], sigma=2.0), attack, horizon=20_000, trials=1, seed=8
    )
    assert stats.kstest((np.array(seen) - 5) / 2, "norm").pvalue > 1e-4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(policies=[]), "empty"),
        (dict(policies="UCB"), "expected a policy.* got the text 'UCB'"),
        (dict(policies=ia.UCB), "expected a policy.* got the class UCB; write UCB\\(...\\)"),
        (dict(policies=[ia.UCB]), "got the class UCB"),
        (dict(policies=PAPER, bandit=[ia.UCB()]), "got GaussianBandit.*policies, bandit, attack"),
        (dict(bandit=ia.NoAttack(), attack=PAPER), "expected a bandit.*policies, bandit, attack"),
        (dict(bandit=ia.GaussianBandit), "got the class GaussianBandit"),
        (dict(attack=ia.Mimic), "got the class Mimic"),
        (dict(policies=[ia.UCB(), ia.UCB()]), "twice"),
        (dict(bandit=[1, 2]), "expected a bandit"),
        (dict(attack=0.3), "expected an attack or None"),
        (dict(horizon=0), "horizon must be a whole number of at least 1, got 0"),
        (dict(horizon=2.5), "horizon"),
        (dict(trials=0), "trials"),
        (dict(seed=-1), "seed"),
        (dict(seed="x"), "seed"),
        (dict(workers=0), "workers"),
        (dict(checkpoints=[0]), "checkpoint"),
        (dict(checkpoints=[2000]), "beyond the horizon"),
        (dict(policies=ia.MedEUCB(block=100)), "block=100 is too small for 10 arms"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, message):
    """What, expected, got."""
    given = {"policies": ia.UCB(), "bandit": PAPER, "attack": None, "horizon": 1000, **arguments}
    with pytest.raises(ia.InvalidInput, match=message):
        ia.simulate(given.pop("policies"), given.pop("bandit"), given.pop("attack"), **given)


INTERRUPTED = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
import ironarm as ia
bandit = ia.GaussianBandit(means=range(2, 21, 2))
ia.simulate(ia.UCB(), bandit, horizon=10, trials=2, seed=1)
print("ready", flush=True)
try:
    ia.simulate(ia.UCB(), bandit, horizon=10**6, trials=10**5, seed=1, workers=2)
except KeyboardInterrupt:
    print([t.name for t in threading.enumerate() if t.name.startswith("ironarm")], flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupt_ends_the_simulation_and_leaves_no_thread():
    """A real SIGINT: KeyboardInterrupt within seconds, all workers gone."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    threading.Timer(1.0, process.send_signal, [signal.SIGINT]).start()
    try:
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert output == "[]\n"
    assert process.returncode == 0


def test_an_error_in_a_trial_reaches_the_caller():
    """An attack that fails ends the simulation with its own error."""

    def broken(e, a, x, u, v):
        raise ZeroDivisionError("broken attack")

    with pytest.raises(ZeroDivisionError, match="broken attack"):
        ia.simulate(ia.UCB(), PAPER, ia.CustomAttack(0.5, broken), horizon=100, trials=4, seed=1)


@dataclass(frozen=True)
class Wrong(ia.extend.Policy):
    """Returns an arm that does not exist in one round."""

    round: int = 50

    def constants(self, arms, horizon):
        return {"wrong": self.round}

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return -3 if t == s.wrong else t % s.arms


@pytest.mark.parametrize("delay", [None, ia.Delay(mean=3)])
@pytest.mark.parametrize("wrong", [1, 50, 20_000])
def test_an_arm_that_does_not_exist_is_named_with_its_round(wrong, delay):
    """Also in the first round, beyond the first stretch, and while rewards are late."""
    message = rf"Wrong\.choose returned arm -3 in round {wrong}; arms are numbered 0 to 9\."
    with pytest.raises(ia.errors.PolicyFault, match=message):
        ia.simulate(Wrong(round=wrong), PAPER, horizon=30_000, trials=1, seed=1, delay=delay)
