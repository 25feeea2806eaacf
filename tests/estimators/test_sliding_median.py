"""The sliding median against sorting the window, and the balance of its trees."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from tests.estimators.feed import INF, SMALL, Fed, few, long_runs, many, rewards
from tests.naive import lower_median

WINDOWS = st.sampled_from([2, 3, 5, 16, 60])


def check(values, window, arms=3):
    """Feed (arm, reward) pairs; every arm's estimate is that of the sorted window."""
    fed = Fed(ia.policies.SlidingMedUCB(window=window), arms=arms)
    view = fed.state.view
    for n, (arm, x) in enumerate(values, start=1):
        fed.add(x, arm)
        recent = values[max(0, n - window) : n]
        for k in range(arms):
            inside = sorted(x for arm, x in recent if arm == k)
            assert view.held[k] == len(inside), f"after {n} rewards"
            expected = lower_median(inside) if inside else -INF
            assert view.estimate[k] == expected, f"arm {k} after {n} rewards"
    return fed


def depth(view, node):
    """The longest way down from a node; also checks the counts and the links."""
    if node == 0:
        return 0, 0
    sides = []
    count = 1
    for side in range(2):
        child = int(view.child[2 * node + side])
        assert child == 0 or view.parent[child] == node
        longest, nodes = depth(view, child)
        sides.append(longest)
        count += nodes
    assert view.nodes[node] == count
    return 1 + max(sides), count


@many
@given(
    values=st.lists(st.tuples(st.integers(0, 2), rewards), min_size=1, max_size=150),
    window=WINDOWS,
)
def test_median_of_any_values(values, window):
    """After every reward every arm's median is that of its part of the window.

    Equal and infinite values included; an arm may drop out of the window.
    """
    check(values, window)


@few
@given(values=long_runs, window=st.sampled_from([7, 60]), seed=st.integers(0, 9))
def test_median_of_long_runs(values, window, seed):
    """The same in hostile orders, with long absences of an arm."""
    draw = random.Random(seed)
    arm, pairs = 0, []
    for x in values[: 100 if SMALL else 500]:
        arm = draw.randrange(3) if draw.random() < 0.05 else arm
        pairs.append((arm, x))
    check(pairs, window)


ORDERS = {
    "random": lambda i, n: math.sin(12.9898 * i) * 43758.5453 % 1.0,
    "rising": lambda i, n: float(i),
    "falling": lambda i, n: -float(i),
    "equal": lambda i, n: 1.0,
    "to and fro": lambda i, n: float(i if i // 300 % 2 else -i),
    "outwards": lambda i, n: float(i if i % 2 else -i),
    "inwards": lambda i, n: float(n - i if i % 2 else i - n),
    "infinite": lambda i, n: (INF, -INF, 0.0)[i % 3],
}


@pytest.mark.parametrize("order", ORDERS)
def test_no_order_makes_a_tree_deep(order):
    """A weight-balanced tree of n nodes is at most log(n + 1)/log(4/3) deep."""
    n = 300 if SMALL else 6000
    window = n // 3
    fed = Fed(ia.policies.SlidingMedUCB(window=window))
    for i in range(n):
        fed.add(ORDERS[order](i, n))
    view = fed.state.view
    longest, nodes = depth(view, int(view.root[0]))
    assert nodes == window
    assert longest <= math.log(window + 1) / math.log(4 / 3)


def test_a_large_window():
    """It is exact there, too, at the end of three windows' worth of rewards."""
    window = 1000 if SMALL else 250_000
    g = np.random.default_rng(1)
    values, arms = g.normal(size=3 * window), (g.random(3 * window) < 0.2).astype(int)
    fed = Fed(ia.policies.SlidingMedUCB(window=window), arms=2)
    for x, arm in zip(values.tolist(), arms.tolist(), strict=True):
        fed.add(x, arm)
    for arm in range(2):
        inside = np.sort(values[-window:][arms[-window:] == arm])
        assert fed.state.view.estimate[arm] == lower_median(inside)


def test_arms_that_leave_take_their_rewards_along():
    """The others keep theirs, and a newcomer has none."""
    agent = ia.Agent(ia.policies.SlidingMedUCB(window=8), arms=["a", "b", "c"], seed=1)
    for arm, x in [("a", 1.0), ("b", 2.0), ("c", 3.0), ("c", 5.0), ("b", 4.0)]:
        agent.update(arm, x)
    agent.remove_arm("a")
    agent.add_arm("d")
    assert {arm: agent.estimates[arm] for arm in "bc"} == {"b": 2.0, "c": 3.0}
    agent.update("d", 9.0)
    agent.update("c", 6.0)
    assert agent.estimates == {"b": 2.0, "c": 5.0, "d": 9.0}
    for _ in range(6):  # the first six rewards of all leave: a, b, c, c, b, d
        agent.update("b", 7.0)
    assert {arm: agent.estimates[arm] for arm in "bc"} == {"b": 7.0, "c": 6.0}
    agent.update("b", 7.0)
    agent.update("b", 7.0)
    assert agent.estimates["d"] == -INF
