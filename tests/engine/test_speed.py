"""The fast engine is the one in use, on whatever Numba is installed."""

import os
import time

import pytest

import ironarm as ia

SLOW_ON_PURPOSE = any(
    os.environ.get(name) == "1"
    for name in ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "IRONARM_PUBLIC_NUMBA")
)


@pytest.mark.skipif(SLOW_ON_PURPOSE, reason="slow on purpose")
def test_a_round_takes_nanoseconds():
    """Some 50, and ten to twenty times as many without Numba's private options. The
    best of ten runs of milliseconds counts, so that a busy machine does not matter.
    """
    rounds, times = 50_000, []
    bandit, attack = ia.GaussianBandit([0.0, 0.5, 1.0]), ia.OppositeUniform(rho=0.1, scale=20)
    for seed in range(10):
        started = time.perf_counter()
        ia.simulate(ia.MedEUCB(), bandit, attack, horizon=rounds, trials=1, seed=seed, workers=1)
        times.append(time.perf_counter() - started)
    assert min(times) / rounds < 300e-9
