"""Which share of hostile sources can be tolerated."""

import math

import numpy as np
import pytest
from scipy import stats

import ironarm as ia
from ironarm import theory
from ironarm.rules.source_trust import CAUTION, most_distance
from tests.policies.test_trust_thompson import judged


@pytest.mark.parametrize("n", [20, 100, 400])
def test_limit_is_that_of_the_total_variation_of_counts(n):
    """For clicks, by summing over all pairs of counts; normal laws are close to it."""
    p, q = 0.12, 0.10
    one, two = (stats.binom(n, rate).pmf(np.arange(n + 1)) for rate in (p, q))
    variation = 0.5 * np.abs(np.outer(one, two) - np.outer(two, one)).sum()
    sigma = math.sqrt((p * (1 - p) + q * (1 - q)) / 2)
    assert theory.sources_limit(p - q, sigma, n) == pytest.approx(
        variation / (1 + variation), rel=0.03
    )


@pytest.mark.parametrize(("lie", "stays"), [(0.95, True), (1.05, False)])
def test_a_lie_just_below_the_bound_stays_and_one_above_goes(lie, stays):
    """The rule itself, on sources without any noise but that within them.

    The means of honest sources are exactly those of the arms; one source of 21 lies, on
    two of three arms.
    """
    n, arms = 100, 3
    noise = np.tile([-1.0, 1.0], n // 2)
    shift = lie * theory.unnoticed_lie(1, n, arms)
    sent = [[mean + noise for mean in (1, 2, 3)] for _ in range(21)]
    sent[0] = [1 - shift + noise, 2 + shift + noise, 3 + noise]
    assert (judged(sent)[0] > 0) == stays


@pytest.mark.parametrize("rho", [0.1, 0.3])
@pytest.mark.parametrize("scale", [2.0, 3.5, 4.5, 10.0, 1e6])
def test_wild_rewards_raise_the_variance_no_more_than_is_said(scale, rho):
    """Whatever hostile sources send on two of four arms; very wild ones as much."""
    n, arms, count = 100, 4, 100
    hostile = round(rho * count)
    noise = np.tile([-1.0, 1.0], n // 2)
    sent = [[noise] * arms for _ in range(count)]
    sent[:hostile] = [[scale * noise, scale * noise, noise, noise] for _ in range(hostile)]
    weights = judged(sent)
    squares = [np.square(by_arm[0]).mean() for by_arm in sent]
    variance = weights @ squares / weights.sum()
    bound = 1 + 4.5 * rho / (1 - rho) * (arms + 8 / n)
    assert variance < 1.01 * bound  # n - 1 for n
    if scale == 1e6:
        assert variance > 0.99 * bound


def test_wild_rewards_lower_what_is_tolerated():
    """What is moved by a share rho, at the lie that stays unnoticed, is the gap."""
    n, arms, gap = 100, 5, 0.5
    rho = theory.tolerated_share(gap, 1, n, arms, wild=True)
    odds = rho / (1 - rho)
    lie = theory.unnoticed_lie(math.sqrt(1 + 4.5 * odds * (arms + 8 / n)), n, arms)
    assert 2 * lie * odds == pytest.approx(gap)
    assert rho < theory.tolerated_share(gap, 1, n, arms)


def test_what_is_tolerated_is_below_what_anybody_can_do():
    """For every number of rewards; both grow with it, up to one half."""
    for gap in (0.02, 0.5, 2):
        tolerated = [theory.tolerated_share(gap, 1, n, 5) for n in (1, 10, 100, 1000, 10**6)]
        limit = [theory.sources_limit(gap, 1, n) for n in (1, 10, 100, 1000, 10**6)]
        assert all(b <= most for b, most in zip(tolerated, limit, strict=True))
        assert tolerated == sorted(tolerated)
        assert limit == sorted(limit)
        assert limit[-1] <= 0.5


def test_the_bound_is_the_rules():
    """Half of the distance on each of two arms."""
    lie = theory.unnoticed_lie(2, 50, 4)
    assert 2 * (50 * lie) ** 2 / (4 * (50 + CAUTION)) == pytest.approx(most_distance(4))


@pytest.mark.parametrize("bad", [{"gap": 0}, {"sigma": -1}, {"rewards": 0}])
def test_numbers_that_make_no_sense_are_refused(bad):
    """With a sentence that names them."""
    with pytest.raises(ia.InvalidInput, match=next(iter(bad))):
        theory.tolerated_share(**{"gap": 1, "sigma": 1, "rewards": 10, "arms": 3, **bad})
