"""The relative entropy of two coins, and the rate that it bounds from above."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from ironarm.rules.bernoulli_kl import kl_plus, kl_upper, may_exceed

often = settings(deadline=None, derandomize=True, max_examples=300)
rates = st.floats(0, 1) | st.floats(0, 1e-3) | st.integers(0, 20).map(lambda i: i / 20)
evidence = st.floats(1e-3, 50) | st.floats(1e-9, 1e-3)  # with less, kl is all rounding


def plain_upper(p, nats):
    """By bisection, to the last bit."""
    low, high = p, 1.0
    while low < (q := (low + high) / 2) < high:
        low, high = (q, high) if kl_plus(p, q) <= nats else (low, q)
    return low


@often
@given(rates, rates)
def test_relative_entropy(p, q):
    """That of scipy where p < q, else 0."""
    expected = rel_entr(p, q) + rel_entr(1 - p, 1 - q) if p < q else 0.0
    assert kl_plus(p, q) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@often
@given(rates, evidence)
@example(0.83, 5.0)
@example(1 - 2**-53, 1e-9)
@example(5e-324, 50.0)
def test_the_upper_rate_is_that_of_a_bisection(p, nats):
    """Within what the rounding of kl, near p, and of q, near 1, leaves open."""
    upper = kl_upper(p, nats)
    assert p <= upper <= 1
    assert (upper < 1) == (p < 1)
    assert upper == pytest.approx(plain_upper(p, nats), abs=1e-11)
    assert kl_upper(p, 0.0) == p


@pytest.mark.parametrize(
    ("p", "nats", "expected"),
    [
        (0.1, 0.2, 0.378391),
        (0.5, 0.2, 0.787088),
        (0.9, 0.2, 0.994489),
        (0.1, 0.4, 0.519475),
        (0.1, 0.9, 0.734714),
        (0.5, 0.4, 0.871035),
        (0.5, 0.9, 0.956809),
        (0.9, 0.4, 0.999285),
        (0.9, 0.9, 0.999995),
    ],
)
def test_published_rates(p, nats, expected):
    """Those in the documentation of SMPyBandits, cut to six digits."""
    assert math.floor(kl_upper(p, nats) * 1e6) in (round(expected * 1e6), round(expected * 1e6) + 1)


@often
@given(rates, evidence, rates)
def test_what_cannot_exceed_does_not(p, nats, q):
    """May_exceed errs on one side only."""
    if not may_exceed(p, nats, q):
        assert kl_upper(p, nats) <= q
