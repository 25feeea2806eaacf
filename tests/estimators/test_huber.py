"""Huber's estimator: the root against bisection, the steps against their formula."""

import math
from bisect import insort

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.estimators.huber import count_below, count_up_to, huber_root
from tests.estimators.feed import INF, SMALL, Fed, few, long_runs, many, rewards

BETAS = st.sampled_from([0.1, 0.5, 1.0, 1.345, 4.0, 1e6])
clipped = rewards.map(lambda x: min(max(x, -1e12), 1e12))


def psi_sum(values, m, beta):
    return math.fsum(min(max(x - m, -beta), beta) for x in values)


def smallest_root(ordered, beta):
    """Return the smallest root by its definition.

    Half of the values are beta or more below it and half above, or else by bisection.
    """
    half, odd = divmod(len(ordered), 2)
    if not odd and ordered[half] - ordered[half - 1] >= 2 * beta:
        return ordered[half - 1] + beta
    low, high = ordered[0], ordered[-1]
    while low < 0.5 * (low + high) < high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if psi_sum(ordered, middle, beta) > 0 else (low, middle)
    return high


@many
@given(st.lists(clipped, min_size=1, max_size=60).map(sorted), BETAS)
def test_root(ordered, beta):
    """The root of any sorted values, anywhere in the pool, is that of bisection."""
    actual = huber_root([9e9, *ordered, -9e9], 1, len(ordered), beta)
    assert smallest_root(ordered, beta) == pytest.approx(actual, rel=1e-12, abs=1e-12)


@many
@given(st.lists(clipped, min_size=1, max_size=30).map(sorted), clipped)
def test_counts(ordered, y):
    """Sorted values below a number, and up to it, are counted anywhere in the pool."""
    pool = [y, *ordered, y]
    assert sum(x < y for x in ordered) == count_below(pool, 1, len(ordered), y)
    assert sum(x <= y for x in ordered) == count_up_to(pool, 1, len(ordered), y)


@pytest.mark.parametrize("beta", [0.7, 3.0])
def test_root_of_many_values(beta):
    """The root is found among thousands of values with a fifth of far outliers."""
    values = np.random.default_rng(1).standard_t(2, size=500 if SMALL else 20_000)
    values[: len(values) // 5] = 1e12
    root = huber_root(np.sort(values), 0, len(values), beta)
    assert abs(psi_sum(values.tolist(), root, beta)) < 1e-7
    assert 0 < root < 2


@few
@given(long_runs, BETAS)
def test_running_estimate(values, beta):
    """At every look the estimate is the root, between looks a Newton step from it.

    Rewards are held, clipped to 1e12.
    """
    fed = Fed(ia.policies.HuberUCB(epsilon=0, sigma=beta, beta=beta, p=1))
    ordered, newer, last, root = [], [], 0, 0.0
    for n, x in enumerate(values[:400], start=1):
        x = min(max(x, -1e12), 1e12)
        actual = fed.add(values[n - 1])
        insort(ordered, x)
        newer.append(x)
        if n >= last + max(1, last // 16):
            assert actual == huber_root(ordered, 0, n, beta)
            newer, last, root = [], n, actual
        else:
            near = sum(root - beta <= x <= root + beta for x in ordered)
            assert actual == pytest.approx(
                root + psi_sum(newer, root, beta) / near if near else root, rel=1e-12, abs=1e-9
            )
    assert ordered == sorted(fed.held())


def test_the_middle_of_a_wide_gap():
    """With as many values on either side of a wide gap, the smallest root is taken.

    It lies beta above the lower side.
    """
    fed = Fed(ia.policies.HuberUCB(epsilon=0, beta=1.5, p=1))
    assert [fed.add(x) for x in [10.0, -INF, 0.0, INF]] == [10.0, -1e12 + 1.5, 0.0, 1.5]
