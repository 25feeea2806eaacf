"""The fast way of compiling is the one in use, on whatever Numba is installed."""

import os
import subprocess
import sys

import pytest

import ironarm as ia
from ironarm.engine import jit, kept, loop
from ironarm.engine.state import State

compiled = pytest.mark.skipif(
    jit.DISABLED or jit.PUBLIC_ONLY, reason="nothing is compiled, or not in the fast way"
)


@compiled
def test_compiled_code_counts_no_references(monkeypatch):
    """That carries the speed: counting makes a loop 19 times slower."""
    monkeypatch.setattr(kept, "place_for", lambda function: None)  # compile, do not load
    state = State(ia.UCB(), 3)
    call = state.machine._linker.entry(loop.observe, "observe")
    assert call(state.handle, 0, 1.0, 1.0, 0)
    assert "NRT_" not in call.inspect_asm(call.signatures[0])


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
