"""The trimmed mean against sorting and exact fractions."""

import math
from bisect import insort

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from tests.estimators.feed import INF, SMALL, Fed, few, finite_long_runs, long_runs, many, rewards
from tests.estimators.structures.test_exact_sum import near

ALPHAS = st.sampled_from([0.0, 0.05, 0.125, 0.25, 0.3, 1 / 3, 0.45, 0.49999])
KINDS = st.sampled_from([ia.TrimmedUCB, ia.policies.CRUCB])


def cut_of(policy, n):
    """Return how many rewards are dropped at each end.

    floor(alpha n); for crUCB ceil(alpha n), if that leaves something.
    """
    return (
        min(math.ceil(policy.alpha * n), (n - 1) // 2)
        if isinstance(policy, ia.policies.CRUCB)
        else int(policy.alpha * n)
    )


def is_trimmed_mean(ordered, cut, actual):
    """Say whether this is the trimmed mean.

    It must be exact if infinite, else have the precision of the exact sum, see `near`.
    """
    kept = ordered[cut : len(ordered) - cut]
    if kept[0] == -INF:
        return actual == -INF  # with +inf too there is no mean, which counts as -inf
    if kept[-1] == INF:
        return actual == INF
    return near(kept, len(kept), actual)


def check(policy, values, every):
    fed = Fed(policy)
    ordered = []
    for n, x in enumerate(values, start=1):
        insort(ordered, x)
        actual = fed.add(x)
        if n % every == 0 or n == len(values):
            assert is_trimmed_mean(ordered, cut_of(policy, n), actual), (n, policy, actual)
    assert ordered == sorted(fed.held())


@many
@given(policy=KINDS, alpha=ALPHAS, values=st.lists(rewards, min_size=1, max_size=120))
def test_trimmed_mean_of_any_values(policy, alpha, values):
    """The estimate is always the mean of what is kept, and every reward is held."""
    check(policy(alpha=alpha), values, every=1)


@few
@given(policy=KINDS, alpha=ALPHAS, values=long_runs | finite_long_runs)
def test_trimmed_mean_of_long_runs(policy, alpha, values):
    """The same holds for thousands of rewards in hostile orders."""
    check(policy(alpha=alpha), values, every=97)


@pytest.mark.parametrize("huge", [1e15, 1e300, 1.7976931348623157e308])
@pytest.mark.parametrize("sign", [1, -1])
def test_huge_values_that_pass_through_leave_nothing_behind(huge, sign):
    """Unbounded rewards that are trimmed later take all of their effect with them."""
    fed = Fed(ia.TrimmedUCB(alpha=0.25))
    attacked = [sign * huge] * 40 + [sign * huge / 3] * 40
    clean = [0.1 * (i % 7) for i in range(400)]
    passed_through = [fed.add(x) for x in attacked]
    assert all(abs(estimate) > huge / 4 for estimate in passed_through)
    actual = [fed.add(x) for x in clean][-1]
    assert is_trimmed_mean(sorted(attacked + clean), 120, actual)
    assert 0.1 < actual < 0.6


def test_infinities_that_pass_through_leave_nothing_behind():
    """A kept infinite reward makes the mean infinite, both signs make it -inf.

    Once they are trimmed the mean is finite again.
    """
    fed = Fed(ia.TrimmedUCB(alpha=0.25))
    expected = [INF, INF, INF, 2.5, 2.0, -INF, -INF, 2.5]
    actual = [fed.add(x) for x in [INF, 1.0, 2.0, 3.0, -INF, -INF, INF, 4.0]]
    assert expected == actual


@few
@given(
    values=st.lists(
        st.tuples(st.integers(0, 2), rewards), min_size=1, max_size=60 if SMALL else 300
    )
)
def test_arms_share_the_pool(values):
    """Rewards of several arms in any order do not mix."""
    fed = Fed(ia.TrimmedUCB(alpha=0.2), arms=3)
    ordered = [[], [], []]
    for arm, x in values:
        insort(ordered[arm], x)
        assert is_trimmed_mean(ordered[arm], int(0.2 * len(ordered[arm])), fed.add(x, arm))
    assert ordered == [sorted(fed.held(arm)) for arm in range(3)]
