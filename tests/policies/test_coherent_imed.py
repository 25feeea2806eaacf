"""CoherentIMED where it is weak: many arms, rounding, scales, other laws, small gaps.

Limits come from trials with another seed.
"""

import os

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

import ironarm as ia
from ironarm.extend import Bandit

pytestmark = [
    pytest.mark.statistical,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="a million rounds"),
]
MEANS = np.arange(2.0, 21.0, 2.0)


class Rounded(Bandit):
    """The paper's arms, with rewards that are multiples of `step`; 0: not rounded.

    The means are multiples too, so rounding does not move them.
    """

    def __init__(self, step):
        self.means, self.step = MEANS, step

    def rewards(self, arm, noise):
        x = self.means[arm] + ndtri(noise)
        return np.round(x / self.step) * self.step if self.step else x

    def to_dict(self):
        return {"bandit": "Rounded", "step": self.step}


class OneValue(Bandit):
    """The paper's arms, of which one always pays the same."""

    def __init__(self, arm, value):
        self.means, self.arm, self.value = MEANS, arm, value

    def rewards(self, arm, noise):
        if arm == self.arm:
            return np.full_like(noise, self.value)
        return self.means[arm] + ndtri(noise)

    def to_dict(self):
        return {"bandit": "OneValue", "arm": self.arm, "value": self.value}


def paper(rho):
    """Return the paper's attack."""
    return ia.OppositeUniform(rho=rho, scale=1800)


def played(bandit, attack, horizon, trials=100):
    """Return the trials' regrets, and how many of them are stuck."""
    result = ia.simulate(
        ia.CoherentIMED(), bandit, attack, horizon=horizon, trials=trials, seed=4, progress=False
    )
    return result.regret[0, :, -1], int(result.stuck.sum())


def test_a_hundred_arms():
    """The mean is at most 12,700 and the largest at most 25,000, in 40 trials.

    600 others had a mean of 10,477, with a standard deviation of 650, and at most
    13,768: a false alarm for the mean has probability below 1e-6, and one for the
    largest has not been seen.
    """
    bandit = ia.GaussianBandit(means=[20.0, *np.linspace(18.0, 0.0, 99)])
    regret, stuck = played(bandit, paper(0.3), 20_000, trials=40)
    assert regret.mean() <= 12_700
    assert regret.max() <= 25_000
    assert stuck == 0


@pytest.mark.parametrize("step", [0.01, 0.1])
def test_finely_rounded_rewards_cost_little(step):
    """No trial is stuck, and the mean is at most 1.6 times that without rounding.

    1,000 others had means of 868 without, 872 and 1,013 with, and none was stuck. With
    100 trials a ratio above 1.35 has a probability below 1e-4.
    """
    regret, stuck = played(Rounded(step), paper(0.3), 10_000)
    without, _ = played(Rounded(0), paper(0.3), 10_000)
    assert stuck == 0
    assert regret.mean() <= 1.6 * without.mean()


def student(df, means):
    return ia.ScipyBandit([stats.t(df, loc=mean) for mean in means])


def lognormal(means):
    return ia.ScipyBandit([stats.lognorm(0.8, loc=mean) for mean in means])


FIVE = (5, 3, 2, 1, 0)
WIDE_BEST = ia.GaussianBandit(MEANS, sigma=[1] * 9 + [2])
NARROW_BEST = ia.GaussianBandit(MEANS, sigma=[2] * 9 + [1])
MIXED = ia.GaussianBandit(MEANS, sigma=[0.5, 1, 2] * 3 + [1])
SMALL = ia.GaussianBandit([1, 0.5, 0.5, 0.5, 0.5])
LIMITS = {  # the comments have the mean and the stuck trials of those with another seed
    # whole numbers: at rho 0.3 the medians of the two best arms are both 19, and 25 of
    # 200 trials were stuck
    "whole numbers": (Rounded(1), paper(0.125), 10_000, 560, 1),  # 479; 0 of 200
    "whole numbers, one value": (
        Rounded(1),
        ia.Constant(rho=0.125, value=100),
        10_000,
        740,
        2,
    ),  # 605; 0 of 200
    # the attack's equal rewards are then not told apart from equal clean ones: 2.2
    # times the median without rounding
    "hundredths, one value": (
        Rounded(0.01),
        ia.Constant(rho=0.3, value=100),
        10_000,
        3000,
        4,
    ),  # 2,190; 4 of 1,000
    "tenths, one value": (
        Rounded(0.1),
        ia.Constant(rho=0.3, value=100),
        10_000,
        2450,
        2,
    ),  # 1,933; 0 of 1,000
    "the best arm has twice the sigma": (WIDE_BEST, paper(0.125), 10_000, 820, 1),  # 547; 0
    # medians 18.9 and 18.6 with a sigma of 2 and 1: hard for all policies on medians
    "the same, attacked often": (WIDE_BEST, paper(0.3), 10_000, 13_000, 56),  # 9,271; 781 of 2,000
    "the best arm has half the sigma": (NARROW_BEST, paper(0.125), 10_000, 620, 0),  # 559; 0
    "half, attacked often": (NARROW_BEST, paper(0.3), 10_000, 3500, 6),  # 2,043; 26 of 2,000
    "mixed sigmas": (MIXED, paper(0.125), 10_000, 560, 0),  # 514; 0
    "mixed sigmas, attacked often": (MIXED, paper(0.3), 10_000, 3500, 6),  # 2,012; 25 of 2,000
    # before equal rewards of one arm had a rule of their own: 52,000 and 71,000
    "an arm is down": (OneValue(0, -1e6), ia.NoAttack(), 10_000, 720, 0),  # 690; 0 of 1,000
    "an arm is down, attacked": (OneValue(0, -1e6), paper(0.3), 10_000, 1700, 0),  # 1,567; 0
    "an arm pays -inf": (OneValue(0, -np.inf), paper(0.3), 10_000, 1300, 0),  # 965; 0 of 20
    "the best arm pays 20": (OneValue(9, 20.0), ia.NoAttack(), 10_000, 620, 0),  # 571; 0
    "the best arm pays 20, attacked": (OneValue(9, 20.0), paper(0.3), 10_000, 8500, 0),  # 7,240; 0
    "Student's t": (student(3, FIVE), paper(0.2), 5_000, 175, 0),  # 152; 0 of 400
    "Student's t, Mimic": (student(3, FIVE), ia.Mimic(rho=0.2), 5_000, 180, 0),  # 166; 0 of 400
    "lognormal": (lognormal(FIVE), paper(0.2), 5_000, 136, 0),  # 121; 0 of 400
    "lognormal, Mimic": (lognormal(FIVE), ia.Mimic(rho=0.2), 5_000, 162, 0),  # 149; 0 of 400
    "small gaps": (SMALL, paper(0.05), 20_000, 450, 2),  # 185; 1 of 2,000
    "small gaps, least favourable": (
        SMALL,
        ia.LeastFavourable(rho=0.05),
        20_000,
        300,
        2,
    ),  # 182; 0 of 2,000
    "small gaps, rho 0.125": (SMALL, paper(0.125), 20_000, 1250, 3),  # 848; 5 of 2,000
    "small gaps, least favourable, rho 0.125": (
        SMALL,
        ia.LeastFavourable(rho=0.125),
        20_000,
        1800,
        7,
    ),  # 1,112; 33 of 2,000
    "Understate": (
        ia.GaussianBandit(MEANS),
        ia.attacks.Understate(rho=0.3),
        20_000,
        3600,
        6,
    ),  # 1,510; 22 of 2,000
}


@pytest.mark.parametrize("name", LIMITS)
def test_regret_where_it_is_weak(name):
    """The mean of 100 trials and the number of stuck ones are within their limits.

    100 of the trials with another seed, drawn with replacement, had a mean above the
    limit in at most 1 of 10,000 draws. If trials are stuck as often as those, more than
    the limit are in less than 1 of 2,000 seeds. The limit is 0 where no trial came to a
    tenth of the regret of a stuck one.
    """
    bandit, attack, horizon, highest, most = LIMITS[name]
    regret, stuck = played(bandit, attack, horizon)
    assert regret.mean() < highest
    assert stuck <= most
