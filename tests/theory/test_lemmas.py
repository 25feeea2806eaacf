"""The lemmas bound what simulation finds, for the worst attacked rewards too."""

import numpy as np
import pytest

import ironarm as ia
from ironarm.theory import Normal, attacked_share_rounds, quantile_concentration

TRIALS = 20_000


def sample_quantile(x, p):
    """The generalised inverse: order statistic ceil(n p)."""
    return np.sort(x, axis=1)[:, int(np.ceil(x.shape[1] * p)) - 1]


@pytest.mark.parametrize(
    ("n", "s", "p", "margin"),
    [(40, 0.1, 0.5, 0.3), (100, 0.2, 0.5, 0.25), (60, 0.1, 0.3, 0.3), (25, 0.0, 0.5, 0.4)],
)
def test_a_quantile_under_attack_concentrates(n, s, p, margin):
    """The attacker sees all rewards and moves the best chosen share to one side.

    Shares may exceed the bound by four standard errors: a false alarm once in 30,000.
    """
    x = np.sort(np.random.default_rng(3).normal(size=(TRIALS, n)), axis=1)
    attacked = int(s * n)
    bound = quantile_concentration(Normal(0, 1), n, s, margin, p)
    down, up = x.copy(), x.copy()
    down[:, n - attacked :] = -np.inf  # the largest are worth most
    up[:, :attacked] = np.inf
    for share, limit in [
        ((sample_quantile(down, p) <= bound.low).mean(), bound.below),
        ((sample_quantile(up, p) >= bound.high).mean(), bound.above),
    ]:
        assert share <= limit + 4 * np.sqrt(limit / TRIALS)
        assert share > 0 or limit < 0.05  # the bound is about something that happens


def test_the_attacked_share_stays_low_for_ever():
    """Three arms, 4000 rewards each beyond N.

    The violated share of trials may exceed delta by four standard errors, once in
    30,000.
    """
    rho, excess, delta, trials = 0.2, 0.12, 0.2, 600
    first = attacked_share_rounds(3, excess, delta)
    coins = np.random.default_rng(5).random((trials, 3, first + 4000)) < rho
    shares = np.cumsum(coins, axis=2) / np.arange(1, coins.shape[2] + 1)
    violated = (shares[:, :, first - 1 :] > rho + excess).any(axis=(1, 2)).mean()
    assert violated <= delta + 4 * np.sqrt(delta / trials)


def test_n_is_the_formula():
    """ceil(log(K/(2 e^2 delta))/(2 e^2)) + 1 for K = 10, e = 0.1, delta = 0.05."""
    assert attacked_share_rounds(10, 0.1, 0.05) == 462


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(n=0, s=0.1, margin=1), "n must be a whole number of at least 1"),
        (dict(n=5, s=0.5, margin=1), "s must be below p"),
        (dict(n=5, s=0.1, margin=0), "margin must be above 0"),
        (dict(n=5, s=0.3, margin=1, p=0.8), "s must be below p"),
        (dict(n=5, s=0.3, margin=1, p=1.0), "p must be"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, message):
    """What, expected, got."""
    with pytest.raises(ia.InvalidInput, match=message):
        quantile_concentration(Normal(0, 1), **arguments)
