"""The median of means against its definition."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.engine.loop import SETTLE
from ironarm.estimators.median_of_means import MOST_BLOCKS, block_length_for
from tests.estimators.feed import INF, SMALL, Fed, few, long_runs, many, rewards
from tests.naive import lower_median

ROUNDS = st.lists(
    st.tuples(st.integers(1, 300), st.sampled_from([1, 5, 300, 10**6, 10**12])),
    min_size=1,
    max_size=6,
)


def block_means(values, t):
    """Return the sorted means of the blocks, summed in order; NaN is -inf."""
    level = 2 * math.log(2 ** max(1, math.ceil(math.log2(t))))
    n, k = len(values), math.floor(8 * level + 1)
    length = 1 if n == 1 else 2 ** math.floor(math.log2(max(2, n / k)))
    sums = []
    for b in range(n // length):
        total = 0.0
        for x in values[b * length : (b + 1) * length]:
            total += x
        sums.append(total)
    return sorted(-INF if math.isnan(total) else total / length for total in sums)


def check(values, looks):
    """Compare after each look, and reward by reward for a while after it.

    A look is the number of further rewards and of further rounds.
    """
    fed = Fed(ia.policies.MedianOfMeansUCB())
    n = t = 0
    for more, rounds in looks:
        t += rounds
        more = min(more, len(values) - n)
        for x in values[n : n + more]:
            fed.add(x)
        n += more
        fed.state.view.rounds[0] = t
        fed.state.adjust(SETTLE)
        assert lower_median(block_means(values[:n], t)) == float(fed.state.view.estimate[0])
        for x in values[n : n + 50]:
            n += 1
            assert lower_median(block_means(values[:n], t)) == fed.add(x)
    assert values[:n] == fed.held()


@many
@given(st.lists(rewards, min_size=1, max_size=120), ROUNDS)
def test_any_values(values, looks):
    """For any rewards and rounds the estimate is bit for bit that of the definition.

    Rewards are held in the order of arrival.
    """
    check(values, looks)


@few
@given(long_runs, ROUNDS)
def test_long_runs(values, looks):
    """The same holds for hundreds of rewards in hostile orders, some infinite."""
    check(values, looks)


def test_blocks_that_double_and_shrink():
    """With thousands of rewards, blocks grow to eight and more rewards.

    When the round grows, they must shrink again.
    """
    values = [math.sin(i * i) for i in range(300 if SMALL else 3000)]
    check(values, [(len(values) - 100, 30), (1, 10**6), (1, 10**15)])


@given(st.integers(2, 10**9), st.integers(1, 62))
def test_number_of_blocks(n, j):
    """There are enough blocks for the confidence, each long enough for the radius.

    There are never more than fit.
    """
    k = math.floor(16 * math.log(2**j) + 1)
    length = block_length_for(n, k)
    assert n // length >= min(k, n // 2)
    assert length > n / (2 * k)
    assert n // length < MOST_BLOCKS


@pytest.mark.parametrize(
    ("pair", "expected"), [([INF, 1.0], INF), ([-INF, 1.0], -INF), ([INF, -INF], -INF)]
)
def test_blocks_with_infinite_rewards(pair, expected):
    """A block with an infinite reward has an infinite mean, with both signs -inf."""
    fed = Fed(ia.policies.MedianOfMeansUCB())
    fed.state.adjust(SETTLE)
    assert [fed.add(x) for x in pair][-1] == expected
