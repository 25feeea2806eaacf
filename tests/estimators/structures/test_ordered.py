"""The rewards of a rank tracker in order, against sorting."""

from bisect import bisect_left, insort

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.estimators.structures.ordered import (
    nth_reward,
    rewards_below,
    sort_falling,
    sort_rewards,
)
from tests.estimators.feed import Fed, few, long_runs, many, rewards
from tests.naive import lower_median


@many
@given(values=st.lists(rewards, max_size=200))
def test_sorting_in_place(values):
    """Any array falls after sorting, what lies beside it stays."""
    pool = np.array([7.0, *values, 7.0])
    sort_falling(pool, 1, len(values))
    assert pool.tolist() == [7.0, *sorted(values, reverse=True), 7.0]


@few
@given(values=long_runs, every=st.sampled_from([1, 7, 100]))
def test_rewards_in_order_and_the_median_after_it(values, every):
    """However often the rewards are sorted, each rank holds what the sorted list holds.

    The running median stays exact.
    """
    fed = Fed(ia.CountIMED(epsilon=0.1))
    ordered = []
    for n, x in enumerate(values[:250], start=1):
        insort(ordered, x)
        assert fed.add(x) == lower_median(ordered)
        if n % every == 0:
            s = fed.state.view
            sort_rewards(s, 0)
            if n % 50 == 0 or n < 40:
                assert [nth_reward(s, 0, i) for i in range(n)] == ordered
            assert rewards_below(s, 0, n, x) == bisect_left(ordered, x)
