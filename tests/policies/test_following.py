"""A log is followed: a state that is told a choice becomes the state that made it."""

import os

import numpy as np
import pytest

from ironarm.engine.state import State
from tests.every_policy import EVERY_POLICY

PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
KINDS = ("CoherentIMED", "EXP3", "TrustThompson")
POLICIES = [policy for policy in EVERY_POLICY if PLAIN or type(policy).__name__ in KINDS]
"""All of them as plain Python. Compiled, a few: each takes Numba some seconds."""

# without the JIT, NumPy's scalars warn where compiled integers wrap round
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")


def learn(state, arm, x, chance):
    state.observe(arm, x, chance)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_following_a_choice_leaves_the_state_of_making_it(policy):
    """Whatever else the policy keeps, after every decision, by the same chance."""
    world = np.random.default_rng(3)
    made, told = State(policy, 3, live=True), State(policy, 3, live=True)
    for _ in range(120):
        stream = world.integers(0, 2**63, 4).astype(np.uint64)
        made.view.stream[:] = told.view.stream[:] = stream
        arm = made.select()
        assert told.select(arm) == arm
        assert repr(made.dump()) == repr(told.dump())
        if world.random() < 0.8:  # some rewards never come
            x, chance = arm + world.normal(), float(made.view.chance[0])
            learn(made, arm, x, chance)
            learn(told, arm, x, chance)
