"""The fast way of compiling is the one in use, on whatever Numba is installed."""

import os
import subprocess
import sys

import pytest

import ironarm as ia
from ironarm.engine import switches
from ironarm.engine.loop import LEARNT
from ironarm.engine.state import State

compiled = pytest.mark.skipif(
    switches.DISABLED or switches.PUBLIC_ONLY, reason="nothing is compiled, or not in the fast way"
)


@compiled
def test_compiled_code_counts_no_references(monkeypatch):
    """That carries the speed: counting makes a loop 19 times slower. Nor is there
    anything else of Numba's in it, or of Python's beyond its stable ABI.
    """
    from llvmlite import binding

    from ironarm.engine import emit, objects

    needed = []
    monkeypatch.setattr(
        emit, "asked_from_outside", lambda module: needed.extend(f.name for f in module.functions)
    )
    state = State(ia.UCB(), 3)
    code = state.machine.entry_point("observe").compiled("observe")
    binding.ObjectFileRef.from_data(code)
    assert any(name.startswith("Py") for name in needed)
    assert not [name for name in needed if name.startswith(("NRT_", "numba"))]
    call = objects.callable_at(objects.address_in(code, "observe"), "observe")
    assert call(state.handle, 0, 1.0, 1.0, -1, 0, 0) == LEARNT


@compiled
def test_the_absence_of_the_fast_way_is_announced_once():
    """Nobody should have to find out that code is 15 times slower than it could be."""
    code = """if True:
    import ironarm as ia
    from ironarm.engine import jit
    for options in (jit._COMMON, jit._COLD, jit._HOT):
        del options["_nrt"]
    for policy in (ia.UCB(), ia.EpsilonGreedy()):
        ia.simulate(policy, ia.GaussianBandit([0, 1]), horizon=10, trials=1, seed=1)
    """
    environment = {**os.environ, "IRONARM_CACHE_DIR": "/dev/null/none", "IRONARM_SHIPPED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("SlowNumba:") == 1
    assert "up to 15 times slower" in done.stderr
