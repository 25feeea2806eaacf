"""Rewards for estimators, and an estimator behind the compiled calls of a policy."""

import os
import random

from hypothesis import settings
from hypothesis import strategies as st

from ironarm.engine.loop import NOTHING_OPEN
from ironarm.engine.state import State

SMALL = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LONGEST = 60 if SMALL else 800  # rewards in one run of `runs`, of which there are up to four

few = settings(deadline=None, derandomize=True, max_examples=10 if SMALL else 60)
many = settings(deadline=None, derandomize=True, max_examples=30 if SMALL else 150)

INF = float("inf")
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    INF,
    -INF,
    5e-324,
    -5e-324,
    2.2e-308,
    1e15,
    -1e15,
    1e300,
    -1e300,
    1.7976931348623157e308,
    -1.7976931348623157e308,
]

rewards = st.floats(allow_nan=False) | st.sampled_from(SPECIAL) | st.integers(-3, 3).map(float)
finite_rewards = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([x for x in SPECIAL if abs(x) < INF])
    | st.integers(-3, 3).map(float)
)

SHAPES = {
    "random": lambda n, draw: [draw.gauss(0, 1) for _ in range(n)],
    "rising": lambda n, draw: [float(i) for i in range(n)],
    "falling": lambda n, draw: [-float(i) for i in range(n)],
    "equal": lambda n, draw: [0.5] * n,
    "few values": lambda n, draw: [float(draw.randrange(3)) for _ in range(n)],
    "outwards": lambda n, draw: [float(i if i % 2 else -i) for i in range(n)],
    "inwards": lambda n, draw: [float(n - i if i % 2 else i - n) for i in range(n)],
    "huge": lambda n, draw: [draw.uniform(-1, 1) * 10.0 ** draw.randrange(308) for _ in range(n)],
    "tiny": lambda n, draw: [
        draw.uniform(-1, 1) * 10.0 ** -draw.randrange(300, 324) for _ in range(n)
    ],
    "attacked": lambda n, draw: [
        draw.choice([1e15, 1e300, -1e300]) if draw.random() < 0.4 else draw.gauss(0, 1)
        for _ in range(n)
    ],
}
INFINITE_SHAPES = {
    "infinite": lambda n, draw: [draw.choice([INF, -INF]) for _ in range(n)],
    "often infinite": lambda n, draw: [
        draw.choice([INF, -INF, 0.0, draw.gauss(0, 1)]) for _ in range(n)
    ],
}


def runs(shapes):
    """Up to four runs of rewards, each of one shape.

    The joints are where a window has to follow.
    """
    one = st.builds(
        lambda shape, n, seed: shapes[shape](n, random.Random(seed)),
        st.sampled_from(sorted(shapes)),
        st.integers(1, LONGEST),
        st.integers(0, 999),
    )
    return st.lists(one, min_size=1, max_size=4).map(
        lambda parts: [x for part in parts for x in part]
    )


long_runs = runs({**SHAPES, **INFINITE_SHAPES})
finite_long_runs = runs(SHAPES)


class Fed:
    """A policy's state whose arms get rewards; `add` returns the arm's new estimate."""

    def __init__(self, policy, arms=1, live=False):
        self.state = State(policy, arms, live=live)
        self._estimate = self.state.view.estimate

    def add(self, x, arm=0):
        self.state.observe(arm, x, opened=NOTHING_OPEN)
        return float(self._estimate[arm])

    def held(self, arm=0):
        """The rewards that the estimator holds."""
        return self.state.machine.estimator.samples(self.state.view, arm).tolist()
