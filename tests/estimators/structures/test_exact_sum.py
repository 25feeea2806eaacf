"""The exact sum against fractions."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ironarm.estimators.structures.exact_sum import BINS, exact_add, exact_mean
from tests.estimators.feed import few, finite_rewards, many

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")

WHOLE = 1 << 1074  # every finite double is a whole number of such parts
LARGEST = 1.7976931348623157e308


class Sum:
    """The sum of arm 1 of 3, beside neighbours that must stay as they are."""

    def __init__(self):
        self.sums = np.zeros(3 * 2 * BINS)
        self.counts = np.zeros(3 * BINS, np.int64)
        self.used = np.zeros(3 * 2, np.int64)

    def add(self, x, sign=1):
        exact_add(self.sums, self.counts, self.used, 1, x, sign)

    def over(self, count):
        return float(exact_mean(self.sums, self.used, 1, count))


def near(values, count, actual):
    """What holds for the sum of `values` over `count`.

    It is within four roundings of itself, plus 1e-28 of the largest value (four
    roundings of the largest from 2^513 on, where large bins are added without their
    rounding errors), plus half of the smallest double where it is subnormal.
    """
    expected = Fraction(sum(int(Fraction(x) * WHOLE) for x in values), count * WHOLE)
    largest = Fraction(max(map(abs, values), default=0.0))
    allowed = (
        abs(expected) / 2**51
        + largest / (10**28 if largest < 2**513 else 2**51)
        + Fraction(5e-324) / 2
    )
    return abs(Fraction(actual) - expected) <= allowed


@many
@given(st.lists(finite_rewards, min_size=1, max_size=60), st.booleans())
@example([LARGEST, LARGEST, -5e-324], False)
@example([1e300, 1.0, -1e300], False)
@example([-1.0, 2.0**-40, -(2.0**-1040)], True)
@example([1e16, 1.0, 1e-16, -1e16], True)
@example([2.0**493, -(2.0**492), -(2.0**492 - 2.0**439)], True)
def test_sum_of_any_values(values, query_between):
    """The sum over the count is that of exact fractions, at any time."""
    total = Sum()
    for n, x in enumerate(values, start=1):
        total.add(x)
        if query_between:
            assert near(values[:n], len(values), total.over(len(values)))
    assert near(values, len(values), total.over(len(values)))


@many
@given(st.lists(st.tuples(finite_rewards, st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_what_leaves_has_no_effect(values):
    """Values that are added and later removed leave the sum of those that stay."""
    total = Sum()
    count = 1 + len(values)
    for x, _, query in values:
        total.add(x)
        if query:
            total.over(count)
    for x, leaves, query in reversed(values):
        if leaves:
            total.add(x, -1)
        if query:
            total.over(count)
    assert near([x for x, leaves, _ in values if not leaves], count, total.over(count))


@few
@given(st.integers(0, 10**6), st.sampled_from([1e-300, 1e-5, 1.0, 1e15, 1e300]))
def test_what_leaves_as_a_whole_leaves_zero(seed, scale):
    """When all values have left, in another order, the sum is exactly zero."""
    draw = random.Random(seed)
    values = [scale * draw.lognormvariate(0, 3) for _ in range(100)]
    total = Sum()
    for x in values:
        total.add(x)
    for x in sorted(values):
        total.add(x, -1)
    assert total.over(1) == 0.0
    assert not total.sums.any()


@many
@given(st.lists(finite_rewards, max_size=20))
def test_neighbours_are_left_alone(values):
    """The sums of other arms do not change."""
    total = Sum()
    for x in values:
        total.add(x)
        total.over(3)
    for array in (total.sums, total.counts, total.used):
        third = len(array) // 3
        assert not array[:third].any()
        assert not array[2 * third :].any()


def test_an_empty_sum_is_zero():
    """Without values, and with zeros only, the sum is zero."""
    total = Sum()
    assert total.over(1) == 0.0
    total.add(0.0)
    total.add(-0.0)
    assert total.over(2) == 0.0
