"""A certificate with sources: which share of hostile ones can be tolerated."""

import json
import math

import numpy as np
import pytest

import ironarm as ia
from ironarm import theory
from ironarm.cli import main

CLICKS = ia.BernoulliBandit([0.04, 0.06, 0.08, 0.10, 0.12])


def test_the_shares_are_those_of_the_theory():
    """For the gap and the spread of the arms, and rewards that the rounds allow."""
    found = ia.certify(CLICKS, rho=0.15, horizon=100_000, sources=400).by_source
    sigma = math.sqrt(0.12 * 0.88)
    assert (found.most, found.usual) == (125, 50)
    assert found.limit == pytest.approx(theory.sources_limit(0.02, sigma, 125))
    assert found.tolerated == pytest.approx(theory.tolerated_share(0.02, sigma, 50, 5))


def test_more_rounds_bear_more_and_more_sources_less():
    """Each source must be known well."""
    few, usual, many = (
        ia.certify(CLICKS, rho=0.1, horizon=horizon, sources=sources).by_source
        for horizon, sources in ((10**5, 4000), (10**5, 400), (10**7, 400))
    )
    assert few.limit < usual.limit < many.limit <= 0.5
    assert few.tolerated < usual.tolerated < many.tolerated <= 0.5


@pytest.mark.parametrize(
    ("rho", "words"),
    [
        (0.01, "So with 4 hostile it should find the best arm whatever they send."),
        (0.15, "with 60 hostile it should find the best arm if their lies stand out"),
        (0.45, "So with 180 hostile nobody finds the best arm."),
        (0.001, "A share of 0.001 of 400 sources is less than one source."),
    ],
)
def test_the_page_says_what_that_means(rho, words, capsys):
    """At this share, in one sentence; from the command line too."""
    arguments = ["certify", "--bandit", "BernoulliBandit([0.04, 0.06, 0.08, 0.10, 0.12])"]
    assert main([*arguments, "--rho", str(rho), "--sources", "400"]) == 0
    assert words in " ".join(capsys.readouterr().out.split())


def test_the_share_is_that_of_whole_sources():
    """0.45 of two sources is one of two, as in a simulation, and then nobody knows."""
    page = " ".join(str(ia.certify(CLICKS, rho=0.45, sources=2)).split())
    assert "So with 1 hostile nobody finds the best arm." in page


def test_without_sources_nothing_is_said():
    """And everything else is the same with them."""
    plain = ia.certify(CLICKS, rho=0.01)
    assert plain.by_source is None
    signed = ia.certify(CLICKS, rho=0.01, sources=10).to_dict()
    assert {**signed, "by_source": None} == plain.to_dict()
    json.dumps(signed, allow_nan=False)


def test_logs_of_clicks_have_it_too():
    """Where medians coincide."""
    log = [(arm, float(i % k == 0)) for arm, k in (("a", 10), ("b", 5)) for i in range(1000)]
    found = ia.certify(ia.ReplayBandit(log), rho=0.05, sources=50).by_source
    assert 0 < found.tolerated <= found.limit <= 0.5


def test_stars_have_it_too():
    """Rewards in a range: with the deviation of the best arm's rewards."""
    noise = np.random.default_rng(1)
    log = [
        (arm, 5.0 if noise.random() < share else float(noise.integers(1, 5)))
        for arm, share in (("a", 0.6), ("b", 0.8))
        for _ in range(1000)
    ]
    certificate = ia.certify(ia.ReplayBandit(log), rho=0.05, sources=50)
    sigma = np.std([x for arm, x in log if arm == "b"])
    limit = theory.sources_limit(certificate.smallest_gap, sigma, 1000)
    assert certificate.by_source.limit == pytest.approx(limit)


def test_a_number_of_sources_that_is_none_is_refused():
    """With a sentence."""
    with pytest.raises(ia.InvalidInput, match="sources must be"):
        ia.certify(CLICKS, rho=0.1, sources=1)


def test_with_less_than_one_reward_each_sources_tell_nothing():
    """It is as without them: what is possible stays possible."""
    bandit = ia.BernoulliBandit([0.2, 0.6])
    certificate = ia.certify(bandit, rho=0.15, sources=10**6)
    assert certificate.by_source.limit >= certificate.bounded.limit
    assert "all is as without sources" in " ".join(str(certificate).split())
    assert certificate.recommended == ia.KLUCB()


def test_the_advice_follows_from_the_sources():
    """TrustThompson where it helps and means do not; nothing where nobody can."""
    helped = ia.certify(ia.BernoulliBandit([0.2, 0.4]), rho=0.2, sources=20)
    assert helped.recommended == ia.TrustThompson()
    assert "any policy that does not see who sends" in " ".join(str(helped).split())
    lost = ia.certify(ia.BernoulliBandit([0.1, 0.12]), rho=0.15, sources=2000)
    assert lost.recommended is None
    assert "TrustThompson" not in lost.advice


def test_an_arm_that_always_pays_has_a_word_on_sources():
    """The spread is then that of the next arm."""
    found = ia.certify(ia.BernoulliBandit([0.5, 1.0]), rho=0.15, sources=400).by_source
    assert found.limit == pytest.approx(theory.sources_limit(0.5, 0.5, 125))


def test_where_the_data_cannot_tell_more_data_come_first():
    """Sources do not help to name an arm that the log does not show to be the best."""
    noise = np.random.default_rng(1)
    log = [
        (arm, float(noise.random() < rate))
        for arm, rate in (("a", 0.2), ("b", 0.22))
        for _ in range(100)
    ]
    certificate = ia.certify(ia.ReplayBandit(log), rho=0.3, sources=50)
    assert certificate.fit.cannot_tell
    assert certificate.recommended is None
    assert "nobody" not in certificate.advice.split(".")[0]
