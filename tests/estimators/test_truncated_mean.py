"""The truncated mean against its formula."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.engine.loop import SETTLE
from tests.estimators.feed import INF, Fed, few, long_runs, many, rewards

ROUNDS = st.lists(st.tuples(st.integers(1, 200), st.integers(1, 10**6)), min_size=1, max_size=6)


def truncated_mean(values, u, epsilon, t):
    """Return the mean for delta = tau^-2.

    tau is the smallest power of two that is at least t and at least 2.
    """
    level = 2 * math.log(2 ** max(1, math.ceil(math.log2(t))))
    return math.fsum(
        x for i, x in enumerate(values, start=1) if abs(x) <= (u * i / level) ** (1 / (1 + epsilon))
    ) / len(values)


def check(values, u, epsilon, looks):
    """Compare after each look, and reward by reward for a while after it.

    A look is the number of further rewards and of further rounds.
    """
    fed = Fed(ia.policies.TruncatedMeanUCB(u=u, epsilon=epsilon))
    n = t = 0
    for more, rounds in looks:
        t += rounds
        more = min(more, len(values) - n)
        for x in values[n : n + more]:
            fed.add(x)
        n += more
        fed.state.view.rounds[0] = t
        fed.state.adjust(SETTLE)
        assert truncated_mean(values[:n], u, epsilon, t) == pytest.approx(
            float(fed.state.view.estimate[0]), rel=1e-12, abs=1e-12
        )
        for x in values[n : n + 10]:
            n += 1
            assert truncated_mean(values[:n], u, epsilon, t) == pytest.approx(
                fed.add(x), rel=1e-12, abs=1e-12
            )
    assert values[:n] == fed.held()


@many
@given(
    st.lists(rewards, min_size=1, max_size=120),
    st.sampled_from([0.01, 1.0, 400.0]),
    st.sampled_from([1.0, 0.5, 0.1]),
    ROUNDS,
)
def test_any_values(values, u, epsilon, looks):
    """For any rewards and rounds the estimate is that of the formula.

    Rewards are held in the order of arrival.
    """
    check(values, u, epsilon, looks)


@few
@given(long_runs, st.sampled_from([0.1, 100.0]), st.sampled_from([1.0, 0.7]), ROUNDS)
def test_long_runs(values, u, epsilon, looks):
    """The same holds for hundreds of rewards in hostile orders, some infinite."""
    check(values, u, epsilon, looks)


def test_infinite_rewards_count_as_zero():
    """Infinite rewards are truncated, whatever the round."""
    fed = Fed(ia.policies.TruncatedMeanUCB(u=1e100))
    fed.state.adjust(SETTLE)
    assert [fed.add(x) for x in [INF, -INF, 3.0]] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("t", [1, 2, 3, 4, 5, 8, 9, 16, 17])
def test_the_confidence_changes_after_each_power_of_two(t):
    """A round that is a power of two has the confidence of the rounds before it."""
    check([0.1 * i for i in range(60)], 0.5, 1.0, [(40, t)])
