"""crUCB against the published figure of its authors."""

from functools import cache

import pytest
from scipy.stats import binom

import ironarm as ia

# Niss and Tewari 2020, figure 1, no contamination, read off a plot of ten runs
PUBLISHED = {"trimmed": 70, "shorth": 100}


@cache
def regret(mean):
    """Return the mean regret of a hundred runs in the figure's setting.

    Five arms, Binomial(10, 0.9) against four times Binomial(10, 0.8), T = 1000. The
    authors' alpha and sigma are not known to us. Sigma = 1 is near the standard
    deviations, 0.95 and 1.26; alpha = 0.05 is one of the figure's contamination levels.
    """
    bandit = ia.ScipyBandit([binom(10, 0.9)] + 4 * [binom(10, 0.8)])
    return (
        ia.simulate(
            ia.policies.CRUCB(alpha=0.05, sigma=1, mean=mean),
            bandit,
            horizon=1000,
            trials=100,
            seed=1,
            progress=False,
        )
        .regret[0, :, -1]
        .mean()
    )


@pytest.mark.statistical
@pytest.mark.parametrize("mean", ["trimmed", "shorth"])
def test_published_regret(mean):
    """Without contamination the regret is the published one within a factor of two.

    A plot of ten runs with unknown constants cannot say more. Measured 94 and 92 with
    standard errors of 2 and 3: for another seed to fail, the mean would have to be off
    by fifteen standard errors.
    """
    assert PUBLISHED[mean] / 2 < regret(mean) < 2 * PUBLISHED[mean]
