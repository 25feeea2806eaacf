"""Limits: reference values, agreement with integration, and limiting cases."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

import ironarm as ia
from ironarm.rules.corrupted_kl import clipping
from ironarm.theory import (
    corrupted_kl,
    corrupted_kl_limit,
    median_threshold,
    observed_kl,
    regret_floor,
    smallest_gap,
    thresholds,
)

FEW = settings(max_examples=40, derandomize=True, deadline=None)
RATIOS = (0.5, 1, 2, 3, 4, 6)


def test_the_thresholds_table():
    """Corollaries, malicious adversary and independent coin, to four digits."""
    found = [thresholds(3 * ratio, 3) for ratio in RATIOS]
    assert [round(t.corollaries, 4) for t in found] == [
        0.0497,
        0.0987,
        0.1915,
        0.2734,
        0.3413,
        0.4332,
    ]
    assert [round(t.malicious, 4) for t in found] == [
        0.0987,
        0.1915,
        0.3413,
        0.4332,
        0.4772,
        0.4987,
    ]
    assert [round(t.coin, 4) for t in found] == [0.1649, 0.2769, 0.4057, 0.4642, 0.4884, 0.4993]


@pytest.mark.parametrize(
    ("rho", "one", "two", "four", "infinite"),
    [
        (0.05, 0.2558, 1.0146, 2.3340, 2.6500),
        (0.125, 0.0998, 0.5369, 1.2907, 1.4594),
        (0.3, 0.0, 0.0654, 0.2860, 0.3389),
    ],
)
def test_the_corrupted_kl_table(rho, one, two, four, infinite):
    """To four digits, for gaps of 1, 2, 4 and an infinite number of sigmas."""
    assert [round(corrupted_kl(gap, rho), 4) for gap in (1, 2, 4)] == [one, two, four]
    assert round(corrupted_kl_limit(rho), 4) == infinite
    assert corrupted_kl(60, rho) == pytest.approx(corrupted_kl_limit(rho), rel=1e-6)


def least_favourable(gap, rho):
    """Huber's pair as densities, from the clipping constant."""
    lc = clipping(gap, rho)
    c = math.exp(-lc)
    upper = gap / 2 + lc / gap

    def low(y):
        return (1 - rho) * (stats.norm.pdf(y) if y <= upper else c * stats.norm.pdf(y - gap))

    return low, lambda y: low(gap - y), upper


@pytest.mark.parametrize(
    ("gap", "rho"), [(1, 0.05), (2, 0.125), (4, 0.125), (2, 0.3), (6, 0.3), (0.5, 0.01)]
)
def test_the_corrupted_kl_is_that_of_the_least_favourable_pair(gap, rho):
    """By numerical integration of both densities and of their relative entropy."""
    low, high, upper = least_favourable(gap, rho)
    parts = [-15, gap - upper, upper, gap + 15] if upper > gap / 2 else [-15, gap + 15]

    def integral(f):
        return sum(
            quad(f, a, b, epsabs=1e-12, epsrel=1e-10, limit=200)[0] for a, b in pairwise(parts)
        )

    assert integral(low) == pytest.approx(1, abs=1e-8)
    assert integral(lambda y: low(y) * math.log(low(y) / high(y))) == pytest.approx(
        corrupted_kl(gap, rho), abs=1e-8
    )


class LeastFavourableAttack:
    """The attack on the worse arm that makes the least favourable pair.

    Its density is (q - (1 - rho) phi)/rho, above the clipping point.
    """

    def __init__(self, gap, rho):
        lc = clipping(gap, rho)
        self.y = np.linspace(gap / 2 + lc / gap, gap + 15, 20_001)
        self.density = (
            (1 - rho)
            / rho
            * (math.exp(-lc) * stats.norm.pdf(self.y - gap) - stats.norm.pdf(self.y))
        )
        self.share = np.concatenate(
            [[0], np.cumsum(np.diff(self.y) * (self.density[1:] + self.density[:-1]) / 2)]
        )

    def pdf(self, y):
        return np.interp(y, self.y, self.density, left=0.0, right=0.0)

    def cdf(self, y):
        return np.interp(y, self.y, self.share, left=0.0, right=1.0)


def test_the_worst_attack_leaves_the_corrupted_kl():
    """Under Huber's own attack the observed entropy is the smallest possible."""
    worst = observed_kl(2, 0.125, attacked=LeastFavourableAttack(2, 0.125))
    assert worst == pytest.approx(corrupted_kl(2, 0.125), rel=1e-3)
    assert observed_kl(2, 0.125, attacked=stats.norm(2, 1)) > worst
    assert observed_kl(2, 0.125) > worst


def test_far_outliers_leave_log_one_over_rho_for_large_gaps():
    """And the plain relative entropy without poison."""
    assert observed_kl(50, 0.125) == pytest.approx(math.log(8), rel=1e-6)
    assert observed_kl(3, 0.0) == corrupted_kl(3, 0.0) == 4.5
    assert observed_kl(2000, 0.3, sigma=1000) == pytest.approx(observed_kl(2, 0.3))


@pytest.mark.parametrize(("gap", "rho"), [(0.5, 0.1), (2, 0.125), (6, 0.3)])
def test_far_outliers_in_closed_form_and_by_integration(gap, rho):
    """Attacked rewards are a million sigmas off; the paper's uniform ones tell less."""
    assert observed_kl(gap, rho) == pytest.approx(
        observed_kl(gap, rho, attacked=stats.norm(1e6, 1)), rel=1e-6
    )
    assert observed_kl(gap, rho, attacked=stats.uniform(0, 1800)) < observed_kl(gap, rho)


@pytest.mark.parametrize(
    ("bandit", "T", "rho", "worst", "far"),
    [
        (ia.GaussianBandit(range(2, 21, 2)), 100_000, 0.0, 32.6, 32.6),
        (ia.GaussianBandit(range(2, 21, 2)), 100_000, 0.05, 408, 359),
        (ia.GaussianBandit(range(2, 21, 2)), 100_000, 0.125, 742, 514.5),
        (ia.GaussianBandit(range(2, 21, 2)), 100_000, 0.3, 3369, 885),
        (ia.GaussianBandit([41, 37, 35, 31, 28]), 2000, 0.0, 9, 9),
        (ia.GaussianBandit([41, 37, 35, 31, 28]), 2000, 0.125, 175, 122),
        (ia.GaussianBandit([41, 37, 35, 31, 28]), 2000, 0.3, 758, 211),
    ],
)
def test_lower_bounds_of_the_papers_settings(bandit, T, rho, worst, far):
    """Rounded as in the reference."""
    digits = 0.5 if worst > 40 or worst == 9 else 0.05
    assert regret_floor(bandit, rho, T) == pytest.approx(worst, abs=digits)
    assert regret_floor(bandit, rho, T, far=True) == pytest.approx(far, abs=digits)


def test_arms_that_cannot_be_told_apart_have_no_finite_bound():
    """One sigma apart at rho = 0.3."""
    assert regret_floor(ia.GaussianBandit([0, 1]), 0.3, 100) == math.inf
    with pytest.raises(ia.InvalidInput, match="share one sigma"):
        regret_floor(ia.GaussianBandit([0, 1], [1, 2]), 0.1, 100)


@FEW
@given(
    st.floats(0.001, 0.49),
    st.floats(0.0, 0.3),
    st.floats(0.05, 10),
    st.floats(0, 5),
    st.floats(0.01, 100),
)
def test_gap_poison_and_units(rho, more, gap, wider, scale):
    """A larger gap lowers no threshold and tells no less; more poison tells no more.

    Units do not matter.
    """
    near, far = thresholds(gap), thresholds(gap + wider)
    assert near.corollaries < near.malicious < near.coin < 0.5 or gap > 9
    assert (far.corollaries, far.malicious, far.coin) >= (
        near.corollaries,
        near.malicious,
        near.coin,
    )
    assert thresholds(scale * gap, scale).coin == pytest.approx(near.coin, abs=1e-12)
    assert median_threshold(ia.GaussianBandit([0, gap])) == pytest.approx(near.coin, abs=1e-12)
    assert corrupted_kl(gap + wider, rho) >= corrupted_kl(gap, rho) - 1e-12
    assert corrupted_kl(gap, min(0.499, rho + more)) <= corrupted_kl(gap, rho) + 1e-12
    assert corrupted_kl(scale * gap, rho, scale) == pytest.approx(
        corrupted_kl(gap, rho), rel=1e-6, abs=1e-12
    )
    assert corrupted_kl(gap, rho) <= min(gap**2 / 2, corrupted_kl_limit(rho)) + 1e-12
    # the limit on rho and the smallest gap are inverse to each other
    assert thresholds(smallest_gap(rho)).coin == pytest.approx(rho, abs=1e-9)
