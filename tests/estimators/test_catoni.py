"""Catoni's estimator: the root against a plain solver, the model against its bound."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.engine.loop import SETTLE
from ironarm.estimators.catoni import (
    COEFFICIENTS,
    ROUNDING,
    add_terms,
    anchor,
    exact_root,
    model_error,
    model_slope,
    model_value,
    psi,
    psi_slope,
)
from tests.estimators.feed import SMALL, Fed, few, long_runs, many
from tests.naive import catoni_alpha, catoni_root

rewards = st.floats(-10, 10) | st.sampled_from([0.0, 1.0, 1e3, -1e6, 1e12, -1e12])
samples = st.lists(rewards, min_size=1, max_size=40)
scales = st.floats(0.01, 10)
shifts = st.floats(-0.499, 0.499)


def coefficients(values, theta, alpha):
    model = np.zeros(COEFFICIENTS + 2).tolist()
    anchor(values, 0, len(values), model, 1, theta, alpha)
    return model


def exact_total(values, m, alpha):
    return math.fsum(psi(alpha * (x - m)) for x in values)


@many
@given(st.floats(-1e12, 1e12))
def test_psi(y):
    """Psi is sign(y) log(1 + |y| + y^2/2), and the slope is its derivative."""
    expected = math.copysign(math.log(1 + abs(y) + y * y / 2), y)
    assert expected == pytest.approx(psi(y), rel=1e-14, abs=1e-15)
    step = 1e-4 * (1 + abs(y))
    assert (psi(y + step) - psi(y - step)) / (2 * step) == pytest.approx(psi_slope(y), rel=1e-3)


@many
@given(
    samples | st.lists(st.integers(0, 1000).map(float), min_size=1, max_size=8),
    scales,
    st.floats(-20, 20),
)
# Newton's steps alone go to and fro between two points for ever
@example([0.0, 454.0, 1.0, 270.0, 789.0], 0.5, 0.0)
@example([10000.0, 685.0, 834.0, 281.0], 0.5, 10000.0)
def test_exact_root(values, alpha, guess):
    """The root is where the sum changes its sign, from any guess.

    The sum is not negative slightly below and not positive slightly above.
    """
    root = exact_root(values, 0, len(values), alpha, guess)
    hair = 1e-12 * (1 + abs(root))
    rounding = 1e-13 * len(values)
    assert exact_total(values, root - hair, alpha) >= -rounding
    assert exact_total(values, root + hair, alpha) <= rounding


@many
@given(samples, st.floats(-10, 10), scales, shifts, shifts)
def test_the_certificate_holds(values, theta, alpha, h, b):
    """For any rewards the cubic differs from the true sum by at most its certificate.

    The sum is taken at scale alpha (1 + h) and point theta + b / scale.
    """
    model = coefficients(values, theta, alpha)
    scale = alpha * (1 + h)
    # the arguments as the model has them, (1 + h) y - b: near 1e12 a point computed
    # from b would not be the same one
    expected = math.fsum(psi((1 + h) * (alpha * (x - theta)) - b) for x in values)
    assert expected == pytest.approx(exact_total(values, theta + b / scale, scale), abs=1e-2)
    assert abs(model_value(model, 1, h, b) - expected) <= model_error(
        model, 1, h, b
    ) + ROUNDING * len(values)


@many
@given(samples, st.floats(-10, 10), scales, shifts, shifts)
def test_slope_of_the_model(values, theta, alpha, h, b):
    """The model's slope is the derivative of its value in b, by exact differences."""
    model = coefficients(values, theta, alpha)

    def value(at):
        return model_value(model, 1, h, at)

    step = 0.25
    expected = (
        8 * (value(b + step) - value(b - step)) - (value(b + 2 * step) - value(b - 2 * step))
    ) / (12 * step)
    assert expected == pytest.approx(model_slope(model, 1, h, b), rel=1e-9, abs=1e-9)


def test_no_certificate_far_from_the_anchor():
    """Half a unit away in either direction the certificate promises nothing."""
    model = coefficients([1.0, 2.0], 1.0, 1.0)
    assert [math.inf] * 4 == [
        model_error(model, 1, h, b) for h, b in [(0.5, 0), (-0.5, 0), (0, 0.5), (0, -0.5)]
    ]


@many
@given(samples, st.floats(-10, 10), scales)
def test_one_more_reward_adds_its_terms(values, theta, alpha):
    """Adding rewards one by one gives the coefficients of anchoring with all of them.

    It touches nothing else.
    """
    model = np.zeros(COEFFICIENTS + 2).tolist()
    model[COEFFICIENTS] = math.inf  # the smallest |y| of none
    for x in values:
        add_terms(model, 1, alpha * (x - theta))
    assert coefficients(values, theta, alpha) == model
    assert model[0] == model[-1] == 0.0


@few
@given(values=long_runs, variance=st.sampled_from([0.1, 1.0, 9.0]), share=st.floats(0.05, 1))
def test_settled_estimate(values, variance, share):
    """Once settled, the estimate is the root of all rewards for the round's scale.

    It is exact to 1e-9 of its size, and to the rounding of the largest reward: if as
    many rewards are huge on either side, the root is that uncertain. Rewards are held
    in order, clipped to 1e12.
    """
    fed = Fed(ia.CatoniUCB(variance=variance))
    for x in values:
        fed.add(x)
    n = len(values)
    t = int(math.exp(share * n / 8)) if share * n < 160 else 10**8
    assume(t >= 2 and n > 8 * math.log(t))
    fed.state.view.rounds[0] = t
    fed.state.adjust(SETTLE)
    expected = catoni_root(values, catoni_alpha(n, t, variance))
    actual = float(fed.state.view.estimate[0])
    clipped = np.clip(values, -1e12, 1e12)
    rounding = 1e-13 * float(np.abs(clipped).max())
    assert expected == pytest.approx(actual, rel=1e-9, abs=1e-9 + rounding)
    assert clipped.tolist() == fed.held()


@pytest.mark.parametrize("x", [2.5, -1e12, 1e12])
def test_equal_rewards(x):
    """The estimate of equal rewards is their value."""
    fed = Fed(ia.CatoniUCB())
    actual = [fed.add(x) for _ in range(20 if SMALL else 200)]
    assert [x] * len(actual) == actual
