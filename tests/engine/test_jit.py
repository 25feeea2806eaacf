"""The fast way of compiling is the one in use, on whatever Numba is installed."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ironarm import hot
from ironarm.engine import jit, kept, linking

compiled = pytest.mark.skipif(
    jit.DISABLED or jit.PUBLIC_ONLY, reason="nothing is compiled, or not in the fast way"
)


@hot
def inner(values, k):
    """Numba would count references where an array goes through several calls."""
    return values[k] + values[0]


@hot
def outer(values):
    """Calls a function for each value."""
    total = 0.0
    for k in range(len(values)):
        total += inner(values, k)
    return total


@compiled
def test_compiled_code_counts_no_references(monkeypatch):
    """That carries the speed: counting makes a loop 19 times slower."""
    monkeypatch.setattr(kept, "place_for", lambda function: None)
    call = linking.Linker().entry(outer, "outer")
    assert call(np.array([1.0, 2.0])) == 5.0
    machine_code = call.inspect_asm(call.signatures[0])
    assert "NRT_incref" not in machine_code


@compiled
def test_the_absence_of_the_fast_way_is_announced_once():
    """Nobody should have to find out that code is 15 times slower than it could be."""
    code = """if True:
    import ironarm as ia
    from ironarm.engine import jit
    del jit._COMMON["_nrt"]
    for policy in (ia.UCB(), ia.EpsilonGreedy()):
        ia.simulate(policy, ia.GaussianBandit([0, 1]), horizon=10, trials=1, seed=1)
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("SlowNumba:") == 1
    assert "about 15 times slower" in done.stderr
