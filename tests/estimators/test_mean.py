"""The mean against left-to-right addition."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from tests.estimators.feed import INF, Fed, few, long_runs, many, rewards

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")


def check(values):
    fed = Fed(ia.UCB())
    actual = [fed.add(x) for x in values]
    means = [total / n for n, total in enumerate(itertools.accumulate(values), start=1)]
    expected = [-INF if math.isnan(mean) else mean for mean in means]
    assert expected == actual


@many
@given(st.lists(rewards, min_size=1, max_size=50))
def test_mean_of_any_values(values):
    """After every reward the mean is the sum in order over the count; NaN is -inf."""
    check(values)


@few
@given(long_runs)
def test_mean_of_long_runs(values):
    """The same holds for thousands of rewards in hostile orders."""
    check(values)


def test_arms_have_their_own_means():
    """A reward changes the mean of its own arm only."""
    fed = Fed(ia.UCB(), arms=3)
    expected = [1.0, 5.0, 3.0, INF, 5.5]
    actual = [fed.add(x, arm) for x, arm in [(1.0, 0), (5.0, 2), (5.0, 0), (INF, 1), (6.0, 2)]]
    assert expected == actual
    assert fed.state.view.estimate.tolist() == [3.0, INF, 5.5]
