"""The inverse normal distribution function against scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from ironarm.normal import CENTRE, fill_normal, inverse_normal

probabilities = (
    st.floats(2.0**-53, 1 - 2.0**-53)
    | st.integers(1, 2**53 - 1).map(lambda k: k * 2.0**-53)
    | st.floats(1e-300, 1e-3)
)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(probabilities)
def test_inverse_normal(p):
    """It is within a relative 2e-15 of scipy's, from 1e-300 to the largest below 1."""
    expected = float(ndtri(p))
    assert expected == pytest.approx(inverse_normal(p), rel=2e-15, abs=1e-16)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.integers(1, 2**52 - 1).map(lambda k: k * 2.0**-53))
def test_symmetry(p):
    """The upper half mirrors the lower one exactly."""
    assert inverse_normal(1 - p) == -inverse_normal(p)


def test_joints():
    """It neither jumps nor falls at the joints.

    The centre meets the tails there, and one tail's formula the next.
    """
    for joint in (0.5 - CENTRE, 0.5 + CENTRE, float(np.exp(-25.0))):
        around = joint * (1 + np.arange(-50, 51) * 1e-14)
        values = np.array([inverse_normal(float(p)) for p in around])
        np.testing.assert_allclose(values, ndtri(around), rtol=2e-15)


def test_filling_an_array_is_the_same():
    """A filled array has, bit for bit, the numbers computed one by one."""
    uniforms = (np.arange(2000) + 0.5) / 2000
    uniforms[:4] = 1e-300, 1e-12, 3e-11, 1 - 1e-13  # far tails
    actual, scratch = np.empty(2000), np.empty(4000)
    fill_normal(uniforms, actual, scratch)
    expected = [inverse_normal(p) for p in uniforms.tolist()]
    assert expected == actual.tolist()
