"""Bursts: its coin against a naive one, its share, its runs, and its mark."""

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine.streams import streams
from ironarm.engine.tape import Tape

RHO, LENGTH, ROUNDS = 0.2, 25.0, 400_000


def coins(rho, length, stretches):
    """The tape's coins, and the numbers they are made from."""
    tape = Tape(max(stretches), rho, True, length)
    tape.rewind(*streams(7, 0)[:2])
    parts = [[part.copy() for part in tape.next(rounds)] for rounds in stretches]
    return np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])[
        ::3
    ]


def test_the_coin_is_the_chain_written_plainly():
    """Across the seams of stretches."""
    coin, numbers = coins(RHO, LENGTH, [1, 9, 500, 1490])
    attacked, expected = numbers[0] < RHO, []
    for i, u in enumerate(numbers):
        if i > 0:
            attacked = u < 1 - 1 / LENGTH if attacked else u < RHO / ((1 - RHO) * LENGTH)
        expected.append(int(attacked))
    assert coin.tolist() == expected


def test_the_long_run_share_is_rho_and_runs_have_the_length():
    """Within 4.9 standard deviations each, a false alarm in 1e-6 of seeds.

    The share's variance is rho (1 - rho)/n times (1 + r)/(1 - r), r the correlation of
    neighbours.
    """
    coin, _ = coins(RHO, LENGTH, [ROUNDS])
    r = 1 - 1 / LENGTH - RHO / ((1 - RHO) * LENGTH)
    assert abs(coin.mean() - RHO) < 4.9 * np.sqrt(RHO * (1 - RHO) / ROUNDS * (1 + r) / (1 - r))
    runs = np.count_nonzero(np.diff(coin.astype(int)) == -1)
    mean = coin.sum() / runs
    assert abs(mean - LENGTH) < 4.9 * np.sqrt(LENGTH * (LENGTH - 1) / runs)


def test_every_trial_begins_anew():
    """The first round is attacked with probability rho, however the last trial ended.

    4.9 standard deviations: a false alarm in 1e-6 of seeds.
    """
    first = []
    attack = ia.CustomAttack(0.5, lambda e, a, x, u, v: first.append(e.t) or x)
    object.__setattr__(attack, "burst", 1000.0)
    ia.simulate(
        ia.UCB(), ia.GaussianBandit([0, 1]), attack, horizon=3, trials=2000, seed=1, workers=1
    )
    assert abs(first.count(1) - 1000) < 4.9 * np.sqrt(500)
    # a run of 1000 rounds seldom ends or begins in three
    assert abs(first.count(1) - first.count(3)) < 20


def test_it_is_labelled_and_alone():
    """With Suppress it is outside the model; its length must be possible."""
    from ironarm.attacks import ATTACKS

    outside = [name for name, attack in ATTACKS.items() if not attack.within_model]
    assert outside == ["Bursts", "Suppress"]
    with pytest.raises(
        ia.InvalidInput, match=r"length must be at least rho/\(1 - rho\), which is 4"
    ):
        ia.attacks.Bursts(rho=0.8, length=2)
    with pytest.raises(ia.InvalidInput, match="length must be at least 1"):
        ia.attacks.Bursts(rho=0.1, length=0.5)
