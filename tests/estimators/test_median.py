"""The running medians against sorting."""

import random
from bisect import insort

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from tests.estimators.feed import INF, SMALL, Fed, few, long_runs, many, rewards
from tests.naive import lower_median, upper_median

MEDIANS = pytest.mark.parametrize(
    ("policy", "median"),
    [(ia.RUCB(), lower_median), (ia.RUCB(median="upper"), upper_median)],
    ids=["lower", "upper"],
)


def check(policy, median, values, live=False):
    fed = Fed(policy, live=live)
    ordered = []
    for n, x in enumerate(values, start=1):
        insort(ordered, x)
        expected = median(ordered)
        actual = fed.add(x)
        assert expected == actual, f"after {n} rewards"
    assert ordered == sorted(fed.held())


@MEDIANS
@many
@given(values=st.lists(rewards, min_size=1, max_size=150), live=st.booleans())
def test_median_of_any_values(policy, median, values, live):
    """After every reward the median is that of the sorted list.

    Infinities and duplicates included; every reward is held.
    """
    check(policy, median, values, live)


@MEDIANS
@few
@given(values=long_runs)
def test_median_of_long_runs(policy, median, values):
    """The same holds for thousands of rewards in hostile orders.

    They rise, fall, are equal, move away from the median, or towards it.
    """
    check(policy, median, values)


@MEDIANS
def test_median_of_a_few_values_in_all_proportions(policy, median):
    """The median stays exact when the rank crosses long blocks of equal values."""
    draw = random.Random(1)
    values = (
        [float(draw.choice([0, 1])) for _ in range(200)]
        + [1.0] * 300
        + [0.0] * 700
        + [INF] * 300
        + [-INF] * 900
    )
    check(policy, median, values[:: 5 if SMALL else 1])


@MEDIANS
@few
@given(values=st.lists(st.tuples(st.integers(0, 2), rewards), min_size=1, max_size=400))
def test_arms_share_the_pool(policy, median, values):
    """Rewards of several arms do not mix, though they share a pool that is repacked."""
    fed = Fed(policy, arms=3)
    ordered = [[], [], []]
    for arm, x in values:
        insort(ordered[arm], x)
        expected = median(ordered[arm])
        actual = fed.add(x, arm)
        assert expected == actual
    assert ordered == [sorted(fed.held(arm)) for arm in range(3)]
