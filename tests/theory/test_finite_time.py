"""Bounds that hold at any horizon.

Exact pieces against simulation, the whole against every attack, and what changes with
poison and units.
"""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ironarm as ia
from ironarm.theory import med_e_ucb_bound, med_epsilon_greedy_bound
from ironarm.theory.finite_time import _schedule, ever_at_least_half

PAPER = ia.GaussianBandit(range(2, 21, 2))
SMALL = ia.GaussianBandit([1, 0.5, 0.5, 0.5, 0.5])
FEW = settings(max_examples=15, derandomize=True, deadline=None)


@pytest.mark.parametrize(("n", "p"), [(1, 0.2), (7, 0.3), (20, 0.4), (46, 0.3)])
def test_the_reflected_walk_is_exact(n, p):
    """It agrees with 20,000 walks of 2,000 steps within four standard errors.

    It is P(at least half of the coins up at some time from n on). A false alarm comes
    once in 15,000.
    """
    trials = 20_000
    generator = np.random.default_rng(9)
    ever = np.concatenate(
        [
            ((2 * np.cumsum(generator.random((1000, 2000)) < p, axis=1) - np.arange(1, 2001)) >= 0)[
                :, n - 1 :
            ].any(axis=1)
            for _ in range(trials // 1000)
        ]
    )
    exact = float(ever_at_least_half(np.array(n), np.array(p)))
    assert ever.mean() == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / trials))
    assert exact <= (4 * p * (1 - p)) ** (n / 2)


def test_the_schedule_promises_no_more_pulls_than_the_policy_makes():
    """In every round that is not forced, each arm has had at least its group's count.

    The groups cover all rounds after the start.
    """
    K, b, G, T = 3, 2.5, 50, 4000
    first = math.ceil(b * math.log(G))
    counts, starts, rounds = _schedule(K, b, G, first, T)
    assert starts[0] == K * first + 1
    assert rounds.sum() == T - K * first
    for t in range(K * first + 1, T + 1):
        k = (t - 1) // G
        had = math.ceil(b * math.log((k + 1) * G))
        promised = counts[np.flatnonzero(starts <= t)[-1]]
        assert promised <= had


@cache
def bound_of(policy, bandit, rho, T):
    """The same for every attack."""
    if isinstance(policy, ia.MedEUCB):
        return med_e_ucb_bound(bandit, rho, T, b=policy.b, omega=policy.omega)
    return med_epsilon_greedy_bound(bandit, rho, T, c=policy.c)


ATTACKS = [ia.OppositeUniform, ia.Infinite, ia.Mimic, ia.attacks.MedianChaser]


@pytest.mark.statistical
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.__name__)
@pytest.mark.parametrize("rho", [0.05, 0.125, 0.3])
def test_measured_regret_stays_below_the_bound(attack, rho):
    """On the paper's arms and on small gaps, for both policies.

    The mean may exceed the bound by four standard errors: once in 30,000, if a bound
    were tight.
    """
    T = 20_000
    policies = [ia.MedEUCB(), ia.MedEUCB(b=12), ia.MedEpsilonGreedy(), ia.MedEpsilonGreedy(c=40)]
    for bandit in (PAPER, SMALL):
        result = ia.simulate(
            policies,
            bandit,
            attack(rho=rho),
            horizon=T,
            trials=30,
            seed=21,
            checkpoints=[],
            progress=False,
        ).regret[:, :, -1]
        for policy, regret in zip(policies, result, strict=True):
            bound = bound_of(policy, bandit, rho, T)
            assert regret.mean() - 4 * regret.std(ddof=1) / math.sqrt(30) <= bound.total, (
                policy,
                bandit,
            )


def test_the_bound_is_near_the_truth_on_the_papers_arms():
    """4,230 is measured at rho = 0.125 and 11,979 with b = 11.5 at rho = 0.3.

    The bounds are within one and seven percent. With b = 4 at 0.3 the mean is 5,323,
    below the bound.
    """
    assert 4230 < med_e_ucb_bound(PAPER, 0.125, 100_000).total < 4230 * 1.01
    assert 11_979 < med_e_ucb_bound(PAPER, 0.3, 100_000, b=11.5).total < 11_979 * 1.07
    assert 5323 < med_e_ucb_bound(PAPER, 0.3, 100_000, b=4).total < 30_000
    assert 7131 < med_epsilon_greedy_bound(PAPER, 0.125, 100_000).total < 7131 * 1.1


def test_discrete_laws_are_covered():
    """Binomial rewards, whose medians move in jumps.

    The bound is tight here: the mean may exceed it by four standard errors, once in
    30,000.
    """
    bandit = ia.ScipyBandit([stats.binom(10, 0.9), stats.binom(10, 0.5)])
    bound = med_epsilon_greedy_bound(bandit, 0.1, 5000, c=20)
    measured = ia.simulate(
        ia.MedEpsilonGreedy(c=20),
        bandit,
        ia.OppositeUniform(rho=0.1),
        horizon=5000,
        trials=20,
        seed=2,
        progress=False,
    ).regret[0, :, -1]
    assert measured.mean() - 4 * measured.std(ddof=1) / math.sqrt(20) < bound.total < 500


def test_many_arms_share_pivots():
    """A hundred arms take 24 pivots.

    The bound stays above the forced pulls and near them.
    """
    bandit = ia.GaussianBandit(np.append(np.linspace(0, 8, 99), 12))
    bound = med_e_ucb_bound(bandit, 0.1, 1_000_000)
    assert bound.forced < bound.total < 1.01 * bound.forced


def test_beyond_the_limit_the_bound_is_the_largest_possible_regret():
    """Nothing can be promised at rho = 0.41 for two sigma."""
    assert med_e_ucb_bound(PAPER, 0.41, 1000).total == 1000 * 18
    assert med_epsilon_greedy_bound(PAPER, 0.41, 1000).total == 1000 * 18


@FEW
@given(
    st.floats(0.0, 0.4),
    st.floats(0.0, 0.1),
    st.floats(0.5, 6),
    st.floats(0.01, 100),
    st.floats(-1e3, 1e3),
    st.floats(1, 30),
)
def test_poison_and_units(rho, more, gap, scale, shift, b):
    """More poison never lowers the bound.

    Scaling rewards, and omega with them, scales it; shifting changes nothing.
    """
    T = 30_000
    here, moved = (
        ia.GaussianBandit([0, gap, -1]),
        ia.GaussianBandit([shift, shift + scale * gap, shift - scale], sigma=scale),
    )
    assert med_e_ucb_bound(here, min(rho + more, 0.49), T, b=b).total >= med_e_ucb_bound(
        here, rho, T, b=b
    ).total * (1 - 1e-9)
    assert med_epsilon_greedy_bound(
        here, min(rho + more, 0.49), T, c=b
    ).total >= med_epsilon_greedy_bound(here, rho, T, c=b).total * (1 - 1e-9)
    assert med_e_ucb_bound(moved, rho, T, b=b, omega=4 * scale**2).total == pytest.approx(
        scale * med_e_ucb_bound(here, rho, T, b=b).total, rel=1e-4
    )
    assert med_epsilon_greedy_bound(moved, rho, T, c=b).total == pytest.approx(
        scale * med_epsilon_greedy_bound(here, rho, T, c=b).total, rel=1e-4
    )


def test_the_bound_holds_out_at_huge_horizons():
    """It keeps growing with the logarithm of the horizon, also beyond 2^31 rounds."""
    arms = ia.GaussianBandit([1, 2, 3])
    totals = [med_e_ucb_bound(arms, rho=0.1, horizon=10**k).total for k in (8, 9, 10, 12)]
    steps = np.diff(totals) / [1, 1, 2]
    assert (steps > 0).all()
    assert steps.max() < 3 * steps.min()


def test_a_block_without_room_for_the_first_pulls_has_no_bound():
    """Such a policy is refused, so nothing may be promised for it."""
    with pytest.raises(ia.InvalidInput, match="block=100 is too small"):
        med_e_ucb_bound(PAPER, 0.1, 10_000, b=4, block=100)
