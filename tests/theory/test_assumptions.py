"""Assumptions 1 and 2 hold up to the right s, for normal laws and for others."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ironarm as ia
from ironarm.theory import (
    Arms,
    density_floor,
    quantile_gaps,
    separation,
)
from ironarm.theory.assumptions import top

FEW = settings(max_examples=40, derandomize=True, deadline=None)


class Disguised:
    """A normal law that is not recognised as one."""

    def __init__(self, mean, sigma):
        self.law = stats.norm(mean, sigma)
        self.cdf, self.ppf, self.pdf, self.mean = (
            self.law.cdf,
            self.law.ppf,
            self.law.pdf,
            self.law.mean,
        )


@pytest.mark.parametrize(
    ("means", "sigmas"),
    [([0, 2], [1, 1]), ([0, 1, 5, 4.5], [1, 2, 0.5, 3]), ([41, 37, 35], [1, 1, 4])],
)
def test_the_search_finds_the_closed_form(means, sigmas):
    """The same s_max and x0 for normal laws, recognised or not."""
    closed = separation(ia.GaussianBandit(means, sigmas))
    found = separation(Arms.of([Disguised(m, s) for m, s in zip(means, sigmas, strict=True)]))
    assert found.s_max == pytest.approx(closed.s_max, abs=1e-9)
    assert found.x0 == pytest.approx(closed.x0, abs=1e-6)


def test_s_max_is_where_the_quantiles_meet():
    """Assumption 1's and Assumption 2's limits are the same for laws with densities."""
    arms = Arms.of([stats.gamma(3), stats.gamma(6), stats.lognorm(0.5, scale=9)])
    room = separation(arms)
    assert (
        quantile_gaps(arms, room.s_max - 1e-6).min()
        > 0
        > quantile_gaps(arms, room.s_max + 1e-6).min()
    )
    assert top(arms, room.x0) == pytest.approx(room.s_max, abs=1e-9)
    assert all(top(arms, x) <= room.s_max + 1e-12 for x in np.linspace(0, 15, 400))


def test_discrete_laws_satisfy_assumption_2_only():
    """For binomials 0.9 and 0.8 of ten, x0 = 8 separates the laws.

    It does so by the smaller of 1/2 - 0.2639 and 0.6242 - 1/2.
    """
    room = separation(ia.ScipyBandit([stats.binom(10, 0.9), stats.binom(10, 0.8)]))
    assert room.s_max == pytest.approx(0.12419, abs=1e-5)
    assert room.assumption_2(0.1)
    assert not room.assumption_1(0.1)
    assert not room.assumption_2(0.13)


def test_zero_one_rewards_on_both_sides_of_one_half():
    """Means 0.9 and 0.2 leave min(0.4, 0.3)."""
    assert separation(ia.BernoulliBandit([0.9, 0.2])).s_max == pytest.approx(0.3)
    assert separation(ia.BernoulliBandit([0.9, 0.6])).s_max == 0.0


def test_the_density_floor_is_at_the_far_end_for_normal_laws():
    """The minimum over points and the closed form agree."""
    by_points = density_floor(
        Arms.of([Disguised(0, 1), Disguised(4, 1)]), 0.2, np.array([0.3, 1.0])
    )
    closed = density_floor(ia.GaussianBandit([0, 4]), 0.2, np.array([0.3, 1.0]))
    np.testing.assert_allclose(by_points, closed, rtol=1e-12)
    assert closed[1] == pytest.approx(stats.norm.pdf(stats.norm.ppf(0.7) + 1), rel=1e-12)


def test_the_density_floor_sees_a_dip_inside_the_interval():
    """A triangular density that falls on both sides of its mode.

    The smaller end counts.
    """
    low, high = stats.triang(0.9, loc=0, scale=10), stats.triang(0.9, loc=10, scale=10)
    floor = float(density_floor(Arms.of([low, high]), 0.1, 2.0))
    ends = [
        low.pdf(low.ppf(0.6)),
        low.pdf(low.ppf(0.6) + 2),
        high.pdf(high.ppf(0.4)),
        high.pdf(high.ppf(0.4) - 2),
    ]
    assert floor == pytest.approx(min(ends), rel=1e-3)


@FEW
@given(
    st.floats(0.01, 8),
    st.floats(0.01, 8),
    st.floats(0.1, 5),
    st.floats(0.1, 5),
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
)
def test_a_larger_gap_separates_more_and_units_do_not_matter(gap, more, sigma, other, scale, shift):
    """s_max grows with the gap, and is the same after scaling and shifting all laws."""
    here = separation(ia.GaussianBandit([0, gap], [sigma, other])).s_max
    assert separation(ia.GaussianBandit([0, gap + more], [sigma, other])).s_max >= here
    moved = separation(
        ia.GaussianBandit([shift, shift + scale * gap], [scale * sigma, scale * other])
    ).s_max
    assert moved == pytest.approx(here, abs=1e-6)
    assert 0 <= here < 0.5 or math.isclose(here, 0.5)
