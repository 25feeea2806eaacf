"""The shorth mean against sorting and trying every interval."""

import math
from bisect import insort

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.estimators.shorth import shorth_mean
from tests.estimators.feed import INF, SMALL, Fed, few, long_runs, many, rewards

ALPHAS = st.sampled_from([0.0, 0.05, 0.125, 0.3, 1 / 3, 0.49999])


def obvious(ordered, alpha):
    """The mean of the shortest interval, sums from the smallest up, NaN as -inf."""
    m = max(1, math.floor((1 - alpha) * len(ordered)))
    runs = [ordered[i : i + m] for i in range(len(ordered) - m + 1)]
    shortest = min(runs, key=lambda run: 0.0 if run[0] == run[-1] else run[-1] - run[0])
    total = 0.0
    for x in shortest:
        total += x
    return -INF if math.isnan(total) else total / m


def check(alpha, values):
    fed = Fed(ia.policies.CRUCB(alpha=alpha, mean="shorth"))
    ordered, last, expected = [], 0, None
    for n, x in enumerate(values, start=1):
        insort(ordered, x)
        if n >= last + max(1, last // 16):
            expected, last = obvious(ordered, alpha), n
        assert expected == fed.add(x), (n, alpha)
    assert ordered == sorted(fed.held())


@many
@given(ALPHAS, st.lists(rewards, min_size=1, max_size=80))
def test_any_values(alpha, values):
    """At every look the estimate is bit for bit that of the obvious search.

    It stays in between, and every reward is held.
    """
    check(alpha, values)


@few
@given(ALPHAS, long_runs)
def test_long_runs(alpha, values):
    """The same holds for hundreds of rewards in hostile orders."""
    check(alpha, values[:400])


@many
@given(st.lists(rewards, min_size=1, max_size=60).map(sorted), ALPHAS)
def test_the_interval_of_sorted_values(ordered, alpha):
    """The scan finds the first of the shortest intervals, anywhere in the pool."""
    with np.errstate(all="ignore"):
        actual = shorth_mean(np.array([9.0, *ordered, 9.0]), 1, len(ordered), 1.0 - alpha)
    assert obvious(ordered, alpha) == (-INF if math.isnan(actual) else actual)


@pytest.mark.parametrize("sign", [1, -1])
def test_outliers_are_left_out(sign):
    """A third of outliers, some infinite, does not change the mean of the others."""
    clean, far = (
        [0.25, 0.5, 0.75] * (8 if SMALL else 80),
        [sign * INF, sign * 1e308, sign * 50.0] * (4 if SMALL else 40),
    )
    fed = Fed(ia.policies.CRUCB(alpha=1 / 3, mean="shorth"))
    mixed = [x for group in zip(clean[::2], clean[1::2], far, strict=True) for x in group]
    estimates = [fed.add(x) for x in mixed]
    assert 0.25 <= estimates[-1] <= 0.75
