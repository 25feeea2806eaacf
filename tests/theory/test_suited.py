"""Whether a median is the right tool, judged from laws."""

import pytest
from scipy import stats

import ironarm as ia
from ironarm.theory import Arms, suitability


def judge(bandit, rho=0.1):
    return suitability(Arms.of(bandit), rho)


def test_normal_arms_have_nothing_to_remark():
    """Medians suit them."""
    judgement = judge(ia.GaussianBandit([0, 1]))
    assert judgement.suited
    assert judgement.remark == ""


def test_zero_one_rewards():
    """Unsuited, unless the means lie on both sides of one half.

    The limit for clipped means is gap/(1 + gap).
    """
    assert not judge(ia.BernoulliBandit([0.2, 0.4])).suited
    assert judge(ia.BernoulliBandit([0.2, 0.7])).suited
    assert "below 0.1667" in judge(ia.BernoulliBandit([0.2, 0.4])).instead
    assert judge(ia.BernoulliBandit([0.2, 0.4]), rho=0.2).policy is None


@pytest.mark.statistical
@pytest.mark.parametrize(("rho", "works"), [(0.1, True), (0.2, False)])
def test_clipped_means_work_up_to_the_stated_limit(rho, works):
    """Means 0.2 and 0.4, limit 1/6.

    With 0 for the best arm and 1 for the other, observed means differ by 0.08 at rho =
    0.1 and by -0.04 at 0.2. Fixed seed.
    """

    result = ia.simulate(
        [ia.UCB(sigma=0.5), ia.KLUCB(), ia.policies.BernoulliIMED(), ia.policies.ThompsonBeta()],
        ia.BernoulliBandit([0.2, 0.4]),
        ia.attacks.FakeClicks(rho),
        horizon=100_000,
        trials=10,
        seed=3,
        progress=False,
    )
    assert result.stuck.mean() == (0.0 if works else 1.0)


def test_skewed_laws():
    """An exponential law has a higher mean than a normal one, and a lower median."""
    judgement = judge(ia.ScipyBandit([stats.expon(scale=2), stats.norm(1.6, 0.2)]))
    assert not judgement.suited
    assert "does not have the best median" in judgement.remark
    assert judgement.policy is None
    trimmed = judge(ia.ScipyBandit([stats.expon(scale=2), stats.norm(1.45, 0.2)]), rho=0.01)
    assert trimmed.policy == ia.TrimmedEpsilonGreedy(alpha=0.11)


def test_ties_of_discrete_laws():
    """Medians of binomials of ten move in jumps of one.

    Suited here, with a remark and the range to clip to.
    """
    judgement = judge(ia.ScipyBandit([stats.binom(10, 0.9), stats.binom(10, 0.5)]))
    assert judgement.suited
    assert "tie at its median" in judgement.remark
    assert judgement.policy == ia.KLUCB(reward_range=(0, 10))
    unbounded = judge(ia.ScipyBandit([stats.poisson(1), stats.poisson(4)]))
    assert unbounded.suited
    assert unbounded.policy is None


def test_a_zero_one_law_of_scipy_is_one_too():
    """The same advice as for a BernoulliBandit."""
    from scipy import stats

    laws = ia.certify(ia.ScipyBandit([stats.bernoulli(0.2), stats.bernoulli(0.4)]), rho=0.1)
    assert laws.advice == ia.certify(ia.BernoulliBandit([0.2, 0.4]), rho=0.1).advice
    assert laws.recommended == ia.KLUCB()


def test_heavy_ties_get_one_advice_not_two():
    """What to use instead is the recommendation, and stands on the page once."""
    from scipy import stats

    certificate = ia.certify(ia.ScipyBandit([stats.binom(4, 0.3), stats.binom(4, 0.8)]), rho=0.05)
    assert "tie at its median" in certificate.suitability.remark
    assert certificate.advice == certificate.suitability.instead
    assert isinstance(certificate.recommended, ia.KLUCB)
    assert " ".join(str(certificate).split()).count(certificate.advice[:60]) == 1
