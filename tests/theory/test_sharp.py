"""Sharp conditions: reference values, large gaps, and the effect of gap and poison."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ironarm as ia
from ironarm.theory import (
    clean_majority,
    exponent_on,
    growth_exponent,
    kl,
    needed_b,
    needed_c,
    sharp_b,
    sharp_c,
    smallest_gap,
)

FEW = settings(max_examples=40, derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("rho", "b", "c"),
    [
        (0.05, 1.20, 1.77),
        (0.125, 2.42, 2.95),
        (0.2, 4.48, 5.00),
        (0.3, 11.47, 11.98),
        (0.4, 49.0, 49.49),
    ],
)
def test_reference_values(rho, b, c):
    """1/kl(1/2, rho) and 1/(sqrt(1 - rho) - sqrt(rho))^2."""
    assert sharp_b(rho) == pytest.approx(b, abs=0.02)
    assert sharp_c(rho) == pytest.approx(c, abs=0.02)
    assert kl(0.5, rho) == pytest.approx(0.5 * math.log(1 / (4 * rho * (1 - rho))))


def test_growth_exponents_of_the_papers_parameters():
    """0.65 for b = 4 and 0.17 for c = 10 at rho = 0.3, logarithmic at 0.125."""
    assert growth_exponent(0.3, b=4) == pytest.approx(0.65, abs=0.005)
    assert growth_exponent(0.3, c=10) == pytest.approx(0.17, abs=0.005)
    assert growth_exponent(0.125, b=4) == growth_exponent(0.125, c=10) == 0.0


def test_finite_gaps_are_the_formula():
    """It is kl(1/2, (1 - rho) Phi((Delta - beta + sqrt(omega/b))/sigma)).

    beta is the other arm's bias.
    """
    rho, gap, sigma, b, omega = 0.2, 1.7, 0.8, 9.0, 3.0
    beta = sigma * stats.norm.ppf(1 / (2 * (1 - rho)))
    share = (1 - rho) * stats.norm.cdf((gap - beta + math.sqrt(omega / b)) / sigma)
    bandit = ia.GaussianBandit([0, gap], sigma)
    assert exponent_on(bandit, rho, b=b, omega=omega) == pytest.approx(
        max(0, 1 - b * kl(0.5, share))
    )
    assert clean_majority(bandit, rho) == pytest.approx(
        (1 - rho) * stats.norm.cdf((gap - beta) / sigma)
    )


def test_the_needed_b_is_where_the_exponent_reaches_zero():
    """A little less is too little."""
    bandit = ia.GaussianBandit(range(2, 21, 2))
    b, c = needed_b(bandit, 0.3), needed_c(bandit, 0.3)
    assert exponent_on(bandit, 0.3, b=b * 1.001) == 0.0 < exponent_on(bandit, 0.3, b=b * 0.99)
    assert exponent_on(bandit, 0.3, c=c * 1.001) == 0.0 < exponent_on(bandit, 0.3, c=c * 0.99)


@FEW
@given(
    st.floats(0.01, 0.45),
    st.floats(0.0, 0.04),
    st.floats(0.1, 6),
    st.floats(0.0, 6),
    st.floats(0.01, 100),
)
def test_gap_poison_and_units(rho, more, gap, wider, scale):
    """A larger gap never raises b or c, more poison never lowers them.

    Large gaps reach the far-away limit from above; scaling rewards, and omega with
    them, changes nothing.
    """
    here = ia.GaussianBandit([0, gap])
    for needed, far in ((needed_b, sharp_b(rho)), (needed_c, sharp_c(rho))):
        assert needed(ia.GaussianBandit([0, gap + wider]), rho) <= needed(here, rho) * (1 + 1e-9)
        assert needed(here, rho + more) >= needed(here, rho) * (1 - 1e-9)
        assert needed(here, rho) >= far * (1 - 1e-9)
        assert needed(ia.GaussianBandit([0, 1e4]), rho) == pytest.approx(far)
        assert (needed(here, rho) == math.inf) == (
            gap <= smallest_gap(rho)
        ) or gap == pytest.approx(smallest_gap(rho), rel=1e-3)
    scaled = needed_b(ia.GaussianBandit([0, scale * gap], scale), rho, omega=4 * scale**2)
    assert scaled == pytest.approx(needed_b(here, rho), rel=1e-6) or scaled > 1e6


def test_bad_input_gets_a_sentence():
    """Half of the rewards or more cannot be the attacker's."""
    with pytest.raises(ia.InvalidInput, match="no policy can tell the arms apart"):
        sharp_b(0.5)
    with pytest.raises(ia.InvalidInput, match="rho must be"):
        sharp_c(-0.1)
    with pytest.raises(ia.InvalidInput, match="b must be above 0"):
        growth_exponent(0.1, b=0)
