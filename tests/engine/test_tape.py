"""The compiled tape against the published generator and scipy's inverse normal."""

import os

import numpy as np
import pytest
from scipy.special import ndtri

from ironarm.engine.streams import streams
from ironarm.engine.tape import Tape
from tests.test_random import taken

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")

ROUNDS = 200 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 2000


def open_uniforms(state, count):
    return np.array([((word >> 12) + 0.5) * 2.0**-52 for word in taken(state, count)])


@pytest.mark.parametrize("normal", [True, False])
@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_numbers_of_a_tape(normal, rho):
    """A round takes one number of the noise stream and three of the attack's, the
    first of which is the coin; stretches of any length join without a seam.
    """
    noise_stream, attack_stream, _ = streams(5, 3)
    expected_noise = open_uniforms(noise_stream.tolist(), ROUNDS)
    expected_draws = open_uniforms(attack_stream.tolist(), 3 * ROUNDS)
    tape = Tape(ROUNDS, rho, normal)
    tape.rewind(noise_stream, attack_stream)
    stretches = [
        [part.copy() for part in tape.next(rounds)]
        for rounds in (1, 7, ROUNDS // 2, ROUNDS - ROUNDS // 2 - 8)
    ]
    noise, coin, numbers = (np.concatenate(parts) for parts in zip(*stretches, strict=True))
    if normal:
        np.testing.assert_allclose(noise, ndtri(expected_noise), rtol=2e-15)
    else:
        assert expected_noise.tolist() == noise.tolist()
    assert (expected_draws[::3] < rho).tolist() == coin.astype(bool).tolist()
    if rho > 0:
        assert expected_draws.tolist() == numbers.tolist()


def test_streams_differ():
    """The streams of a trial, and those of different trials and seeds, have no word in
    common; the same seed and trial give the same ones.
    """
    states = [
        tuple(state.tolist())
        for seed in (1, 2)
        for trial in (0, 1)
        for state in streams(seed, trial)
    ]
    assert len(states) == 12
    assert len({word for state in states for word in state}) == 12 * 4
    assert states[:3] == [tuple(state.tolist()) for state in streams(1, 0)]
