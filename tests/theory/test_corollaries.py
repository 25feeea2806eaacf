"""Corollaries 1 and 2: what they ask for, and where they do not apply."""

import math

import pytest

from ironarm.theory import corollary_1, corollary_2


@pytest.mark.parametrize(
    ("gap", "rho", "threshold", "omega", "b"),
    [
        (2, 0.125, 0.1915, 119, 453),
        (2, 0.3, 0.1915, math.inf, math.inf),
        (4, 0.125, 0.3413, 686, 686),
        (4, 0.3, 0.3413, 686, 1170),
    ],
)
def test_corollary_1_in_the_papers_settings(gap, rho, threshold, omega, b):
    """Omega and b, to the digits of the reference."""
    found = corollary_1(gap, 1.0, rho)
    assert found.threshold == pytest.approx(threshold, abs=5e-5)
    assert found.omega == pytest.approx(omega, rel=2e-3)
    assert found.b == pytest.approx(b, rel=2e-3)
    assert [unmet.short for unmet in found.why_not] == (["rho >= 0.1915"] if math.isinf(b) else [])


def test_corollary_2_has_constants_of_its_own():
    """As printed, and what the theorems ask for with its s."""
    found = corollary_2(2, 1, 0.125)
    share = (found.threshold - 0.125) ** -2
    assert found.c == pytest.approx(share)
    assert found.c_theorem_3 == pytest.approx(2 * share)
    assert found.c_theorem_4 == pytest.approx(share)
    assert corollary_2(2, 1, 0.3).c == math.inf
    assert "below Phi(gap/4 sigma) - 1/2 = 0.1915" in corollary_2(2, 1, 0.3).why_not[0].sentence


def test_corollary_2_asks_for_the_impossible_if_gaps_are_huge():
    """Its c grows without limit with the gap, to infinity where digits end."""
    assert corollary_2(1000, 1, 0.1).c == math.inf
    assert corollary_2(1000, 1, 0.1).why_not[0].short == "gap too large"
