"""The certified bounds by which Catoni UCB chooses, against the exact root."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from ironarm.estimators.catoni import COEFFICIENTS, anchor
from ironarm.policies.catoni_ucb import (
    catoni_scale,
    certified_root,
    surely_above,
    upper_until_later,
)
from tests.naive import catoni_alpha, catoni_root

often = settings(deadline=None, derandomize=True, max_examples=100)

bulk = st.lists(st.floats(-3, 3) | st.integers(-2, 2).map(float), min_size=30, max_size=80)
outliers = st.lists(st.sampled_from([5.0, -20.0, 60.0, -100.0, 1e4]), max_size=8)
rewards = st.tuples(bulk, outliers).map(lambda parts: parts[0] + parts[1])
variances = st.sampled_from([0.1, 1.0, 25.0])
scale_errors = st.floats(-0.3, 0.3)


class Arm:
    """The state of one arm whose model is anchored near the root."""

    def __init__(self, values, variance, part, off):
        self.values, self.variance, self.n = values, variance, len(values)
        self.pool, self.slot_start, self.rewards = values, [0], [self.n]
        self.t = max(2, int(math.exp(part * self.n / 8)))
        self.alpha = catoni_scale(self.n, self.t, variance)
        self.root = self.root_at(self.t)
        self.model, self.anchor_at, self.anchor_scale = (
            [0.0] * COEFFICIENTS,
            [self.root + 0.2 * off / self.alpha],
            [self.alpha * (1 + off)],
        )
        anchor(values, 0, self.n, self.model, 0, self.anchor_at[0], self.anchor_scale[0])

    def root_at(self, t):
        return catoni_root(self.values, catoni_alpha(self.n, t, self.variance))


arms = st.builds(Arm, rewards, variances, st.floats(0.3, 0.95), scale_errors)


@often
@given(arms)
def test_scale(arm):
    """The scale is the published one.

    alpha = sqrt(2L / (n (v + 2vL / (n - 2L)))) with L = log(t^2).
    """
    expected = catoni_alpha(arm.n, arm.t, arm.variance)
    assert math.isclose(expected, arm.alpha, rel_tol=1e-13)


@often
@given(arms, st.sampled_from([1e-2, 1e-4, 1e-7, 1e-10]))
def test_certified_root(arm, width):
    """Wherever its model was anchored, the estimate is within the width asked for."""
    actual = certified_root(arm, 0, arm.alpha, width)
    assert abs(arm.root - actual) <= width + 1e-13 * (1 + abs(arm.root))


@often
@given(arms, st.floats(-3, 3), st.sampled_from([1.0, 1e-2, 1e-4, 1e-8]))
def test_surely_above(arm, offset, size):
    """What is surely above a threshold is above it.

    A threshold clearly below a well-anchored estimate is recognised.
    """
    theta = arm.root + offset * size
    answer = surely_above(arm, 0, arm.alpha, theta)
    assert not answer or theta < arm.root + 1e-12 * (1 + abs(arm.root))
    anchor(arm.values, 0, arm.n, arm.model, 0, arm.root, arm.alpha)
    arm.anchor_at, arm.anchor_scale = [arm.root], [arm.alpha]
    assert surely_above(arm, 0, arm.alpha, arm.root - 1e-6 / arm.alpha)


@often
@given(arms, st.integers(0, 40))
def test_upper_bound_holds_until_later(arm, percent):
    """Without a new reward, the estimate stays below its bound in every round given."""
    until = min(arm.t + arm.t * percent // 100, int(math.exp(arm.n / 8)))
    bound = upper_until_later(arm, 0, arm.t, until)
    assert all(arm.root_at(t) <= bound for t in {arm.t, (arm.t + until) // 2, until})
