"""What can be done with rewards of 0 and 1, or in a range: limits and lower bounds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import lambertw
from scipy.stats import randint

import ironarm as ia
from ironarm.theory import Arms, attacked_rates, bounded_rewards, kl, limit_on_rho, rate_floor

often = settings(deadline=None, derandomize=True, max_examples=100)
shares = st.floats(0, 1)


def can_look_alike(first, second, rho):
    """Whether (1 - rho) F + rho H = (1 - rho) G + rho H' has a solution.

    F and G are laws on a few points; a linear program finds H and H', or none.
    """
    k = len(first)
    equal = np.hstack([rho * np.eye(k), -rho * np.eye(k)])
    sums = np.repeat(np.eye(2), k, axis=1)
    found = linprog(
        np.zeros(2 * k),
        A_eq=np.vstack([equal, sums]),
        b_eq=np.concatenate([(1 - rho) * (np.array(second) - first), [1, 1]]),
    )
    return found.status == 0


@often
@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
    st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
)
def test_the_limit_is_that_of_the_linear_program(first, second):
    """Two laws can be made to look alike from the limit of their distance on.

    Of Bernoulli laws the distance is the gap, of laws that are mostly 0 it is at most
    the larger share of the others.
    """
    F, G = (np.array(law) / sum(law) for law in (first, second))
    limit = limit_on_rho(abs(F - G).sum() / 2)
    if limit > 0.01:
        assert not can_look_alike(F, G, limit * 0.99)
    assert can_look_alike(F, G, min(limit * 1.01 + 1e-6, 0.99))
    assert limit <= limit_on_rho(max(1 - F[0], 1 - G[0])) + 1e-12


@often
@given(shares, shares, st.floats(0.001, 0.49))
def test_the_worst_attack_swaps_two_rates_exactly_beyond_the_limit(p, q, rho):
    """Below it the order survives, beyond it it is reversed."""
    if abs(p - q) < 1e-6 or abs(rho - limit_on_rho(abs(p - q))) < 1e-9:
        return
    shown = attacked_rates([p, q], rho)
    survives = (shown[0] > shown[1]) == (p > q)
    assert survives == (rho < limit_on_rho(abs(p - q)))
    assert math.isfinite(rate_floor([p, q], rho, 1000)) == survives


def test_the_lower_bound_without_an_attack_is_that_of_lai_and_robbins():
    """log T sum gap / kl, written out; an attack only raises it."""
    p = np.array([0.1, 0.05, 0.02])
    kl = p[1:] * np.log(p[1:] / 0.1) + (1 - p[1:]) * np.log((1 - p[1:]) / 0.9)
    assert rate_floor(p.tolist(), 0, 1000) == pytest.approx(
        math.log(1000) * ((0.1 - p[1:]) / kl).sum()
    )
    floors = [rate_floor(ia.BernoulliBandit(p), rho, 1000) for rho in (0, 0.01, 0.03, 0.045)]
    assert floors == sorted(floors)
    assert rate_floor(p.tolist(), 0.05, 1000) == math.inf
    with pytest.raises(ia.InvalidInput, match="rewards of 0 and 1"):
        rate_floor(ia.GaussianBandit([0, 1]), 0.1, 1000)
    with pytest.raises(ia.InvalidInput, match="one best"):
        rate_floor([0.5, 0.5], 0.1, 1000)


@pytest.mark.statistical
def test_regret_under_attack_is_near_the_floor_of_the_attacked_rates():
    """Rates 0.4, 0.3, 0.2 at rho = 0.05, where 0.091 is the limit, 100,000 rounds.

    kl-UCB pulls an arm while n kl <= log T, as the floor counts, so it is near the
    floor. IMED pulls it while n kl + log n <= log T, which at this horizon is 0.42 of
    the floor; Thompson sampling is alike. Measured are 0.81, 0.99 and 1.00 of these. A
    bound is at least 3.5 standard errors away (a false alarm in 5e-4), and the floor
    for the clean rates, a quarter of the other, is out of reach.
    """
    bandit = ia.BernoulliBandit([0.4, 0.3, 0.2])
    shown = attacked_rates(bandit, 0.05)
    tells = np.array([kl(q, shown[0]) for q in shown[1:]])
    floor, clean = (rate_floor(bandit, rho, 100_000) for rho in (0.05, 0))
    early = float((bandit.gaps[1:] * lambertw(100_000 * tells).real / tells).sum())
    result = ia.simulate(
        [ia.KLUCB(), ia.policies.BernoulliIMED(), ia.policies.ThompsonBeta()],
        bandit,
        ia.attacks.FakeClicks(0.05),
        horizon=100_000,
        trials=60,
        seed=5,
        workers=1,
        progress=False,
    )
    regret = result.regret[:, :, -1]
    error = regret.std(axis=1, ddof=1) / math.sqrt(60)
    for mean, se, expected in zip(regret.mean(axis=1), error, (floor, early, early), strict=True):
        assert 0.7 * expected < mean - 2 * se
        assert mean + 2 * se < 1.4 * expected
        assert clean < mean - 5 * se


def test_which_laws_are_compared_by_means():
    """0/1 laws, laws that are mostly 0, ties in a range; not normal ones."""
    from scipy import stats

    def kind(*laws):
        found = bounded_rewards(Arms.of(ia.ScipyBandit(list(laws))))
        return None if found is None else found.kind

    assert kind(stats.bernoulli(0.2), stats.bernoulli(0.3)) == "0 or 1"
    assert kind(stats.binom(3, 0.02), stats.binom(3, 0.1)) == "mostly 0"
    assert kind(stats.binom(10, 0.9), stats.binom(10, 0.5)) == "in a range"
    assert kind(stats.uniform(0, 1), stats.uniform(1, 1)) is None
    assert kind(stats.norm(0, 1), stats.norm(1, 1)) is None


@pytest.mark.parametrize("kind", [ia.KLUCB, ia.policies.BernoulliIMED, ia.policies.ThompsonBeta])
def test_a_policy_for_another_range_is_not_said_to_find_the_best_arm(kind):
    """One that clips the rewards; one whose range is so wide that rho is too much."""
    stars = ia.ScipyBandit([randint(1, 4), randint(3, 6)])
    assert "finds the best arm" in ia.certify(stars, 0.1, kind(reward_range=(1, 5))).why_not
    assert "Give it reward_range=(1, 5)" in ia.certify(stars, 0.1, kind()).why_not
    clicks = ia.BernoulliBandit([0.2, 0.4])
    assert "finds the best arm" in ia.certify(clicks, 0.1, kind()).why_not
    wide = ia.certify(clicks, 0.1, kind(reward_range=(0, 2))).why_not
    assert f"{0.2 / 2.2:.4f} with reward_range=(0, 2)" in wide


def test_a_rate_of_one_half_is_no_case_for_medians():
    """The least attack moves its median."""
    certificate = ia.certify(ia.BernoulliBandit([0.5, 0.9]), rho=0.05)
    assert not certificate.suitability.suited
    assert "here they do" not in str(certificate)
