"""What is seen under the attack has the law of Huber's pair.

The pair tells as little as theory says, and nothing if arms are too close.
"""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import kolmogi, ndtr, ndtri
from scipy.stats import bernoulli, gamma, t

import ironarm as ia
from ironarm.attacks.least_favourable import LEVELS, least_favourable_pair
from ironarm.rules.corrupted_kl import corrupted_kl, smallest_gap
from ironarm.theory import limits
from tests.attacks.asking import Asked

SAMPLE = 40_000
FALSE_ALARM = 1e-6


def seen(attack, bandit, arm, seed):
    """Rewards of an arm as a policy sees them."""
    generator = np.random.default_rng(seed)
    noise = generator.standard_normal(SAMPLE) if bandit.location_scale else generator.random(SAMPLE)
    asked, rewards = Asked(attack, bandit), bandit.rewards(arm, noise)
    for i in np.flatnonzero(generator.random(SAMPLE) < attack.rho):
        rewards[i] = asked(arm, rewards[i], *generator.random(2))
    return np.sort(rewards)


def distance(sample, cdf):
    """Return the Kolmogorov-Smirnov distance of a sorted sample, times root n."""
    steps = np.arange(len(sample) + 1) / len(sample)
    return np.sqrt(len(sample)) * max(
        np.abs(cdf(sample) - steps[1:]).max(), np.abs(cdf(sample) - steps[:-1]).max()
    )


def worse_arms_law(D, rho):
    """Return the distribution function of q0 for N(0, 1) against N(D, 1).

    By the formula: (1 - rho) phi(y) up to a point, c (1 - rho) phi(y - D) beyond it.
    """
    lc = brentq(
        lambda z: np.exp(-z) * ndtr(D / 2 - z / D) + ndtr(D / 2 + z / D) - 1 / (1 - rho), 0, 50
    )
    turn = D / 2 + lc / D
    return lambda y: np.where(
        y <= turn, (1 - rho) * ndtr(y), 1 - (1 - rho) * np.exp(-lc) * ndtr(D - y)
    )


@pytest.mark.parametrize(
    ("rho", "means", "sigma"), [(0.125, [0.0, -6.0, 2.0], 1.0), (0.3, [1.0, 9.0, 3.0], 2.0)]
)
def test_what_is_seen_is_the_pair(rho, means, sigma):
    """Each arm shows its half of the pair with the best arm.

    The best arm shows its half of the pair with the runner-up. Six Kolmogorov-Smirnov
    tests, each with a false alarm in 1e-6 of seeds.
    """
    bandit = ia.GaussianBandit(means, sigma)
    attack = ia.LeastFavourable(rho=rho)
    limit = kolmogi(FALSE_ALARM)
    for arm in range(3):
        D = bandit.gaps[bandit.runner_up if arm == bandit.best else arm] / sigma
        z = (seen(attack, bandit, arm, seed=arm) - means[arm]) / sigma
        law = worse_arms_law(D, rho)
        # the best arm's half is the mirror image
        assert distance(np.sort(-z) if arm == bandit.best else z, law) < limit
        assert distance(z, ndtr) > limit


@pytest.mark.parametrize("gap", [0.5, 1.0])
def test_arms_that_are_too_close_look_the_same(gap):
    """Two samples of one law, at rho = 0.3, where the limit is a gap of 1.13 sigma.

    A two-sample Kolmogorov-Smirnov test, with a false alarm in 1e-6 of seeds.
    """
    assert gap < smallest_gap(0.3)
    bandit = ia.GaussianBandit([0.0, gap])
    first, second = (seen(ia.LeastFavourable(rho=0.3), bandit, arm, seed=arm) for arm in (0, 1))
    empirical = lambda y: np.searchsorted(second, y, side="right") / SAMPLE  # noqa: E731
    assert distance(first, empirical) < kolmogi(FALSE_ALARM) * np.sqrt(2)


@pytest.mark.parametrize("rho", [0.01, 0.125, 0.3])
@pytest.mark.parametrize("D", [0.5, 1.0, 2.0, 4.0, 18.0])
def test_the_pair_tells_what_theory_says(rho, D):
    """KL(q0 || q1) is kl_rho(D), to six digits, in both places where it is computed."""
    edges = np.unique(np.concatenate([ndtri(LEVELS), ndtri(LEVELS) + D]))
    q0, q1 = least_favourable_pair(np.diff(ndtr(edges)), np.diff(ndtr(edges - D)), rho)
    told = float(np.sum(np.where(q0 > 0, q0 * np.log(q0 / np.where(q1 > 0, q1, 1)), 0)))
    assert told == pytest.approx(corrupted_kl(D, rho), rel=2e-6, abs=1e-12)
    assert told == pytest.approx(limits.corrupted_kl(D, rho), rel=2e-6, abs=1e-12)
    assert q0.sum() == pytest.approx(1, abs=1e-9)
    assert q1.sum() == pytest.approx(1, abs=1e-9)


def test_other_laws_are_computed_from_their_distribution_functions():
    """Skewed and heavy-tailed arms show a law between the clean one and the worst.

    The share seen above any point lies between that of the clean law, which it
    contains, and the most that rho can add.
    """
    bandit = ia.ScipyBandit([gamma(2), t(3, loc=4)])
    for arm in (0, 1):
        rewards = seen(ia.LeastFavourable(rho=0.2), bandit, arm, seed=3)
        for y in (1.0, 2.0, 3.0, 5.0):
            share, clean = np.mean(rewards > y), bandit.laws[arm].sf(y)
            # 4.9 standard deviations: 16 comparisons with a false alarm in 1e-6 of
            # seeds each
            assert (
                0.8 * clean - 4.9 * 0.5 / np.sqrt(SAMPLE)
                <= share
                <= 0.8 * clean + 0.2 + 4.9 * 0.5 / np.sqrt(SAMPLE)
            )
    lower, upper = (
        np.median(seen(ia.LeastFavourable(rho=0.2), bandit, arm, seed=4)) for arm in (0, 1)
    )
    assert lower > bandit.laws[0].median() + 0.3
    assert upper < 4 - 0.3


@pytest.mark.parametrize(
    "bandit",
    [
        ia.BernoulliBandit([0.2, 0.7]),
        ia.GaussianBandit([0, 1], sigma=0),
        ia.ScipyBandit([bernoulli(0.4), gamma(2)]),
    ],
)
def test_laws_without_densities_are_refused(bandit):
    """With a sentence that says what to use."""
    with pytest.raises(ia.InvalidInput, match=r"needs arms with densities.*Use Mimic"):
        ia.simulate(ia.UCB(), bandit, ia.LeastFavourable(rho=0.1), horizon=10, trials=1, seed=1)


def test_one_arm_equal_arms_and_more_than_half_attacked():
    """A lone arm and equal arms look as they are; beyond one half any two look alike.

    Kolmogorov-Smirnov tests, each with a false alarm in 1e-6 of seeds.
    """
    for means in ([3.0], [3.0, 3.0]):
        assert distance(
            seen(ia.LeastFavourable(rho=0.4), ia.GaussianBandit(means), len(means) - 1, seed=1),
            lambda y: ndtr(y - 3),
        ) < kolmogi(FALSE_ALARM)
    for arm in (0, 1):
        rewards = seen(ia.LeastFavourable(rho=0.6), ia.GaussianBandit([0.0, 40.0]), arm, seed=1)
        assert distance(rewards, lambda y: (ndtr(y) + ndtr(y - 40)) / 2) < kolmogi(FALSE_ALARM)
