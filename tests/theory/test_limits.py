"""Limits: reference values, agreement with integration, and limiting cases."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq

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
    unknown_share_floor,
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


PAPER = ia.GaussianBandit(range(2, 21, 2))
SHARES = [(0, 0.05), (0, 0.4), (0.125, 0.125), (0.125, 0.4), (0.3, 0.3), (0.3, 0.4), (0.01, 0.49)]


def integrated(m, rho, cap):
    """The relative entropy of P to Q from their definitions, outliers far away."""
    y = np.linspace(-12, m + 12, 100_001)
    seen, alternative = (1 - rho) * stats.norm.pdf(y), (1 - cap) * stats.norm.pdf(y - m)

    def mass(c):
        return np.trapezoid(np.maximum(alternative, c * seen), y) + c * rho

    c = brentq(lambda c: mass(c) - 1, cap / 2, 1, xtol=1e-14)
    entropy = np.trapezoid(seen * np.log(seen / np.maximum(alternative, c * seen)), y)
    return entropy + rho * math.log(1 / c)


@pytest.mark.parametrize(("rho", "cap"), SHARES)
def test_an_unknown_share_in_closed_form_and_by_integration(rho, cap):
    """For a small and a large gap; the alternatives further off tell more."""
    for gap in (1, 4):
        least = min(integrated(gap + more, rho, cap) for more in (0, 0.1, 0.5, 2))
        assert observed_kl(gap, rho, cap=cap) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize(("rho", "cap"), SHARES)
def test_no_explanation_of_the_rewards_comes_nearer(rho, cap):
    """The definition, as a search over all H' on a grid.

    Each step multiplies H' by P/Q, which raises the likelihood of Q; after k steps it
    is within log(cells)/k of the best one, here 6e-4.
    """
    y = np.linspace(-7, 11, 301)
    seen = np.append((1 - rho) * stats.norm.pdf(y) * (y[1] - y[0]), rho)
    alternative = np.append((1 - cap) * stats.norm.pdf(y - 4) * (y[1] - y[0]), 0)
    if rho == 0:
        seen, alternative = seen[:-1], alternative[:-1]
    attacks = np.full(len(seen), 1 / len(seen))
    for _ in range(10_000):
        attacks *= seen / (alternative + cap * attacks)
        attacks /= attacks.sum()
    entropy = float(np.sum(seen * np.log(seen / (alternative + cap * attacks))))
    assert observed_kl(4, rho, cap=cap) == pytest.approx(entropy, abs=2e-3)


@pytest.mark.parametrize(("rho", "cap"), SHARES[1:])
def test_an_unknown_share_under_a_given_attack(rho, cap):
    """Outliers far away as a law; without outliers no law matters."""
    assert observed_kl(2, rho, cap=cap) == pytest.approx(
        observed_kl(2, rho, attacked=stats.norm(1e6, 1), cap=cap), rel=1e-5
    )
    assert observed_kl(6, rho, sigma=3, cap=cap) == pytest.approx(observed_kl(2, rho, cap=cap))


@pytest.mark.parametrize(
    ("cap", "floors"),
    [
        (0.01, [236]),
        (0.05, [360, 359]),
        (0.125, [516, 516, 514]),
        (0.2, [667, 666, 665, 663]),
        (0.3, [893, 892, 890, 888, 885]),
        (0.4, [1176, 1174, 1172, 1169, 1166]),
        (0.49, [1516]),
    ],
)
def test_the_price_of_an_unknown_share_in_the_papers_setting(cap, floors):
    """To the unit, at rho = 0, 0.05, 0.125, 0.2 and 0.3."""
    found = [
        regret_floor(PAPER, rho, 100_000, far=True, cap=cap)
        for rho in (0, 0.05, 0.125, 0.2, 0.3)[: len(floors)]
    ]
    assert found == pytest.approx(floors, abs=0.6)


def test_what_a_clean_reward_tells_if_the_share_is_unknown():
    """To two digits for gaps of 2, 4 and 18; and never more than log(1/cap)."""
    for cap, two, four, eighteen in [
        (0.01, 1.60, 3.93, 4.61),
        (0.05, 1.20, 2.65, 3.00),
        (0.125, 0.87, 1.86, 2.08),
        (0.3, 0.49, 1.08, 1.20),
        (0.4, 0.36, 0.82, 0.92),
        (0.49, 0.27, 0.63, 0.71),
    ]:
        told = [observed_kl(gap, 0, cap=cap) for gap in (2, 4, 18)]
        assert [round(x, 2) for x in told] == [two, four, eighteen]
    for cap in (1e-20, 1e-6, 0.05, 0.4):
        assert observed_kl(1e4, 0, cap=cap) == pytest.approx(math.log(1 / cap))


@FEW
@given(st.floats(0.01, 20), st.floats(0, 0.49), st.floats(0, 0.49), st.floats(0, 0.49))
def test_a_larger_share_to_stand_tells_no_more(gap, one, two, three):
    """Nor does a reward tell more than its plain relative entropy, or log(1/cap)."""
    rho, less, more = sorted((one, two, three))
    known, near, far = (observed_kl(gap, rho, cap=cap) for cap in (rho, less, more))
    assert 0 <= far <= near + 1e-12
    assert near <= known + 1e-12
    assert far <= gap**2 / 2 + 1e-12
    assert more == 0 or far <= math.log(1 / more) + 1e-12
    assert observed_kl(gap, rho) == observed_kl(gap, rho, cap=rho)


def test_gaps_that_an_unknown_share_hides():
    """Such an arm tells next to nothing; a policy without rho is then hopeless."""
    assert observed_kl(1e-3, 0, cap=0.4) == 0
    assert regret_floor(ia.GaussianBandit([0, 1e-3]), 0, 100, far=True, cap=0.4) == math.inf
    edge = smallest_gap(0.4, sigma=3)
    assert unknown_share_floor(ia.GaussianBandit([0, 0.999 * edge], 3), 0.1, 100) == math.inf
    wider = ia.GaussianBandit([0, 1.001 * edge], 3)
    assert unknown_share_floor(wider, 0.1, 100) == regret_floor(wider, 0.1, 100, far=True, cap=0.4)
    many = ia.GaussianBandit([0, 6])
    assert unknown_share_floor(many, 0.45, 100) == regret_floor(many, 0.45, 100, far=True)


def test_a_share_to_stand_is_checked():
    """It is no less than rho, below a half, and goes with a given attack."""
    for cap in (0.2, 0.5, "much"):
        with pytest.raises(ia.InvalidInput, match="cap must be"):
            observed_kl(2, 0.3, cap=cap)
    with pytest.raises(ia.InvalidInput, match="add far=True"):
        regret_floor(PAPER, 0.1, 100, cap=0.4)
    with pytest.raises(ia.InvalidInput, match="share one sigma"):
        unknown_share_floor(ia.GaussianBandit([0, 1], [1, 2]), 0.1, 100)


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
