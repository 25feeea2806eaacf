"""Certificates from logged rewards.

Intervals that cover, and plain words when the data or a median cannot tell.
"""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.theory import fit, thresholds
from ironarm.theory.from_log import fit as from_data


def log(seed=1, count=300, **laws):
    """Rewards of each arm, drawn by the given functions."""
    noise = np.random.default_rng(seed)
    return [(name, float(x)) for name, draw in laws.items() for x in draw(noise, count)]


def normal(mean, sigma=1.0):
    return lambda noise, count: noise.normal(mean, sigma, count)


def coin(probability):
    return lambda noise, count: (noise.random(count) < probability).astype(float)


def test_estimates_are_lower_medians_and_mads():
    """Also for an even number of rewards."""
    rewards = [3.0, 1.0, 2.0, 10.0] * 10
    result = fit([("a", x) for x in rewards] + [("b", x + 20) for x in rewards])
    assert [arm.median.value for arm in result.fitted] == [2.0, 22.0]
    assert result.fitted[0].sigma.value == pytest.approx(1.4826, abs=1e-4)
    assert result.fitted[0].gap.value == 20.0


@pytest.mark.statistical
def test_intervals_cover_the_truth():
    """Gap, sigma and the largest rho of normal arms, in at least 50 of 60 logs each.

    95 % intervals miss 11 or more once in 10,000.
    """
    covered = np.zeros(3)
    for seed in range(60):
        result = fit(log(seed, 200, a=normal(0, 2), b=normal(3, 2)), resamples=150)
        arm = result.fitted[0]
        for i, (estimate, truth) in enumerate(
            [(arm.gap, 3.0), (arm.sigma, 2.0), (result.coin, thresholds(3, 2).coin)]
        ):
            covered[i] += estimate.low <= truth <= estimate.high
    assert (covered >= 50).all(), covered


def test_a_few_corrupt_rewards_in_the_log_change_little():
    """Two percent of 1e9: the mean is lost, the certificate is not."""
    rewards = log(2, 500, a=normal(0), b=normal(3))
    rewards[3:500:50] = [("a", 1e9)] * 10
    certificate = ia.certify(ia.ReplayBandit(rewards), rho=0.1)
    assert certificate.best == "b"
    assert certificate.guaranteed


def test_too_little_data_cannot_tell():
    """Fewer than twenty rewards of an arm."""
    certificate = ia.certify(ia.ReplayBandit(log(3, 15, a=normal(0), b=normal(5))), rho=0.1)
    assert not certificate.guaranteed
    assert "15 rewards" in certificate.why_not


def test_arms_that_are_too_close_cannot_be_told_apart():
    """The sentence names both arms, the interval, and how much data it takes."""
    certificate = ia.certify(
        ia.ReplayBandit(log(4, 60, a=normal(0), b=normal(0.1), c=normal(-3))), rho=0.01
    )
    assert not certificate.guaranteed
    assert "cannot tell whether arm" in certificate.why_not
    assert "times as many rewards" in certificate.why_not


def test_poison_within_the_interval_of_the_limit_cannot_be_judged():
    """The limit is about 0.277 for one sigma; at rho = 0.26 the data cannot tell."""
    certificate = ia.certify(ia.ReplayBandit(log(5, 300, a=normal(0), b=normal(1))), rho=0.26)
    assert not certificate.guaranteed
    assert "rho = 0.26" in certificate.why_not


def test_zero_one_rewards_get_a_mean_policy():
    """The best arm by rate, and gap/(1 + gap) with an interval, come first."""
    clicks = ia.ReplayBandit(log(6, 2000, a=coin(0.2), b=coin(0.4)))
    certificate = ia.certify(clicks, rho=0.1)
    assert (certificate.policy, certificate.best) == (ia.KLUCB(), "b")
    low, high = certificate.bounded.interval
    assert low < 0.2 / 1.2 < high
    assert str(certificate).split("possible")[1].split()[0] == "yes:"
    assert certificate.recommended == ia.KLUCB()
    assert math.isfinite(certificate.floor_worst)
    on_medians = ia.certify(clicks, rho=0.1, policy=ia.MedEUCB())
    assert on_medians.why_not == "a median is the wrong tool for these rewards."
    hopeless = ia.certify(clicks, rho=0.3)
    assert hopeless.recommended is None
    assert "nobody can find the best arm" in hopeless.why_not
    assert hopeless.floor_worst == math.inf
    assert str(hopeless).split("possible")[1].split()[0] == "no:"


@pytest.mark.parametrize("count", [15, 4000])
def test_the_best_arm_of_clicks_is_the_one_with_the_best_rate(count):
    """All medians are 0: the first arm is not the best for that."""
    rows = [
        (name, float(i < rate * count))
        for name, rate in (("a", 0.1), ("b", 0.2), ("c", 0.4))
        for i in range(count)
    ]
    assert ia.certify(ia.ReplayBandit(rows), rho=0.05).best == "c"


def test_clicks_that_the_data_cannot_tell_apart():
    """The sentence is about means, and how many more rewards may tell."""
    certificate = ia.certify(ia.ReplayBandit(log(7, 400, a=coin(0.1), b=coin(0.11))), rho=0.001)
    assert "has the better mean" in certificate.why_not
    assert str(certificate).split("possible")[1].split()[0] == "unclear:"


def test_revenue_that_is_mostly_zero():
    """Nobody from the share of payers on, means below, and "did it pay?" between."""

    def revenue(share):
        return lambda noise, count: np.where(
            noise.random(count) < share, noise.uniform(5, 50, count), 0.0
        )

    sales = ia.ReplayBandit(log(8, 4000, a=revenue(0.03), b=revenue(0.1)))
    certificate = ia.certify(sales, rho=0.01)
    bounded = certificate.bounded
    assert (bounded.kind, certificate.best) == ("mostly 0", "b")
    assert bounded.nobody == pytest.approx(0.1 / 1.1, abs=0.015)
    assert bounded.positive == pytest.approx(0.07 / 1.07, abs=0.015)
    assert bounded.limit < bounded.positive < bounded.nobody
    assert certificate.recommended == ia.KLUCB(reward_range=(0, bounded.high))
    between = ia.certify(sales, rho=0.05)
    assert "feed 1 for a reward above 0" in between.advice
    assert "rimmed" not in between.advice
    assert "nobody can find the best arm" in ia.certify(sales, rho=0.2).why_not


def test_heavy_ties_at_the_median_are_named():
    """Stars from 1 to 5, most of them 5."""

    def stars(share):
        return lambda noise, count: np.where(
            noise.random(count) < share, 5.0, noise.integers(1, 5, count).astype(float)
        )

    certificate = ia.certify(ia.ReplayBandit(log(7, 1000, a=stars(0.6), b=stars(0.8))), rho=0.02)
    assert not certificate.guaranteed
    assert "tie at its median" in str(certificate)
    assert certificate.recommended == ia.KLUCB(reward_range=(1, 5))
    assert "(1, 5)" in certificate.advice


def test_skewed_laws_whose_best_mean_is_not_the_best_median():
    """Exponential with mean 2 and median 1.39 against normal around 1.6.

    It says which is which, and that trimmed means do not help either.
    """
    skewed = lambda noise, count: noise.exponential(2, count)  # noqa: E731
    certificate = ia.certify(ia.ReplayBandit(log(8, 4000, a=skewed, b=normal(1.6, 0.2))), rho=0.1)
    assert not certificate.guaranteed
    assert "best mean is that of arm a" in certificate.suitability.remark
    assert "wrong order too" in certificate.advice
    slightly = ia.certify(ia.ReplayBandit(log(8, 4000, a=skewed, b=normal(1.45, 0.2))), rho=0.01)
    assert isinstance(slightly.recommended, ia.TrimmedEpsilonGreedy)


def test_the_same_log_gives_the_same_certificate():
    """Resampling has a fixed seed."""
    rewards = log(9, 100, a=normal(0), b=normal(4))
    assert str(ia.certify(ia.ReplayBandit(rewards), rho=0.1)) == str(
        ia.certify(ia.ReplayBandit(rewards), rho=0.1)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,value\na,1\n", "must have the columns 'arm' and 'reward'"),
        ("arm,reward\na,1\nb,two\n", "row 2 of the table"),
        ("arm,reward\na,1\nb\n", "row 2 of the table"),
        ("arm,reward\na,1\nb,inf\n", "must be finite"),
        ("arm,reward\na,1\na,2\n", "at least 2"),
        ("arm,reward\n", "no rows"),
        ("", "must have the columns"),
    ],
)
def test_bad_tables_get_a_sentence(tmp_path, text, message):
    """Missing columns, text for a number, one arm only."""
    path = tmp_path / "rewards.csv"
    path.write_text(text)
    with pytest.raises(ia.InvalidInput, match=message):
        ia.certify(path, rho=0.1)


def test_a_file_that_does_not_exist(tmp_path):
    """The path and the reason."""
    with pytest.raises(ia.InvalidInput, match="cannot be read"):
        ia.certify(tmp_path / "nothing.csv", rho=0.1)


def test_a_handful_of_rewards_gives_no_advice_but_to_log_more():
    """Not even about what kind of rewards they are."""
    certificate = ia.certify(ia.ReplayBandit([("x", 1.0), ("y", 2.0)]), rho=0.1)
    page = " ".join(str(certificate).split())
    assert "2 arms have few rewards (arm x has 1 reward); with fewer than 20 the data" in page
    assert "log more rewards first" in page
    assert "UCB" not in page.split("promise")[1]


def test_where_the_data_cannot_tell_nothing_is_recommended():
    """A promise that is refused must not come back as advice."""
    generator = np.random.default_rng(3)
    few = [
        (name, float(mean + generator.standard_normal()))
        for name, mean in (("x", 0), ("y", 4))
        for _ in range(15)
    ]
    certificate = ia.certify(ia.ReplayBandit(few), rho=0.1)
    assert "cannot tell" in certificate.why_not
    assert (certificate.recommended, certificate.advice) == (None, "log more rewards first.")


def test_a_log_of_equal_rewards_is_said_to_be_one():
    """Not a division by zero."""
    assert (
        "the same number"
        in ia.certify(
            ia.ReplayBandit([(name, 5.0) for name in "ab" for _ in range(40)]), rho=0.1
        ).advice
    )


@pytest.mark.parametrize("count", [1, 2, 19])
def test_a_few_zeros_and_ones_are_compared_by_means(count):
    """Table, limit and policy agree; nothing is promised or recommended."""
    rows = [("a", 0.0)] * count + [("b", 1.0)] * count
    certificate = ia.certify(ia.ReplayBandit(rows), rho=0.05)
    page = " ".join(str(certificate).split())
    assert certificate.policy == ia.KLUCB()
    assert (certificate.best, certificate.smallest_gap) == ("b", 1.0)
    assert certificate.bounded.interval == (0.0, 0.5)
    assert "possible unclear" in page
    assert "with fewer than 20 the data cannot tell" in page
    assert "median" not in page.split("possible")[0]
    assert " to " not in page.split("possible")[0]
    assert "limit on rho" not in page
    assert (certificate.recommended, certificate.advice) == (None, "log more rewards first.")
    assert certificate.floor_worst is None
    wrong = ia.certify(ia.ReplayBandit(rows), rho=0.05, policy=ia.MedEUCB())
    assert "wrong tool" in wrong.why_not


@pytest.mark.parametrize(
    "rewards",
    [
        np.random.default_rng(4).normal(5, 1, 60).tolist(),
        [float(i % 4 == 0) for i in range(60)],
        [float(i % 4 == 0) for i in range(8)],
        [5.0] * 60,
    ],
    ids=["real", "clicks", "few clicks", "one value"],
)
@pytest.mark.parametrize("rho", [0.0, 0.01, 0.45])
def test_arms_that_are_equal_have_no_best_one(rewards, rho):
    """No arm is called the best, and no budget is given for finding it."""
    rows = [(name, x) for name in "abc" for x in rewards] + [("d", -1.0 + x) for x in rewards]
    rows = rows if len(set(rewards)) > 2 else rows[: 3 * len(rewards)]
    certificate = ia.certify(ia.ReplayBandit(rows), rho=rho, sources=50)
    page = " ".join(str(certificate).split())
    assert certificate.best == ""
    assert certificate.fit.tied == ("a", "b", "c")
    assert "none is the best: a, b and c are equal; rho" in page
    assert "limit on rho" not in page
    assert "possible" not in page
    assert not certificate.guaranteed
    assert certificate.recommended is None
    assert "by source not known" in page
    assert json.dumps(certificate.to_dict(), allow_nan=False)
    assert "<b>" not in certificate.fit._repr_html_()


def clicks_with(*others):
    """Return 30,000 clicks, and other rewards of the better arm."""
    rows = [("a", float(i % 10 == 0)) for i in range(15_000)]
    return ia.ReplayBandit(rows + [("b", float(i % 8 == 0)) for i in range(15_000)] + list(others))


def test_a_stray_reward_among_clicks_is_named():
    """It halves the limit; "is it above 0?" brings that back."""
    plain = ia.certify(clicks_with(), rho=0.01).bounded.limit
    certificate = ia.certify(clicks_with(("b", 2.0)), rho=0.01)
    assert certificate.bounded.limit == pytest.approx(plain / 2, rel=0.03)
    assert certificate.bounded.positive == pytest.approx(plain, rel=0.01)
    assert "1 reward is neither 0 nor 1, and the range is [0, 2] only because of it" in (
        certificate.advice
    )
    assert f"rho below {certificate.bounded.positive:.4f}" in certificate.advice
    beyond = ia.certify(clicks_with(("b", 2.0), ("b", 0.5)), rho=0.02)
    assert "2 rewards are neither 0 nor 1" in beyond.advice
    assert beyond.recommended is None
    assert "neither 0 nor 1" not in ia.certify(clicks_with(), rho=0.01).advice


def test_revenue_has_no_strays():
    """Where hardly a reward is 1, other rewards are not few."""
    sales = [(name, 7.5 * (i % k == 0)) for name, k in (("a", 100), ("b", 50)) for i in range(4000)]
    certificate = ia.certify(ia.ReplayBandit(sales), rho=0.001)
    assert certificate.bounded.strays == 0
    assert "neither" not in certificate.advice


def naive_room(logged, best):
    """Return what fit's _room computes, at every reward of every arm."""
    at = np.concatenate(logged)[:, None]
    shares = np.array([(x[None, :] <= at).mean(axis=1) for x in logged])
    others = np.delete(shares, best, axis=0).min(axis=0)
    return float(np.minimum(0.5 - shares[best], others - 0.5).max())


@given(
    st.lists(
        st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 7.0]), min_size=1, max_size=12),
        min_size=2,
        max_size=4,
    ),
    st.data(),
)
def test_the_room_for_medians_is_that_of_a_look_at_every_reward(rewards, data):
    """Also with ties, sorted runs and arms of one reward."""
    logged = [np.sort(np.array(x)) for x in rewards]
    best = data.draw(st.integers(0, len(logged) - 1))
    assert from_data._room(logged, best) == pytest.approx(naive_room(logged, best), abs=1e-12)


def test_a_resample_in_order_is_one_that_is_sorted():
    """Counting the draws gives what sorting them does."""
    x = np.sort(np.random.default_rng(2).normal(size=50))
    drawn = x[np.random.default_rng(3).integers(0, 50, 50)]
    found = from_data._resample([x, x], 0, np.random.default_rng(3))
    assert found.medians[0] == np.sort(drawn)[24]


def test_stars_get_no_lower_bound_of_normal_laws():
    """Means tolerate more than medians here; no line says that nobody does."""
    rows = [("a", x) for x in [1.0] * 45 + [2.0] * 40 + [3.0] * 15]
    rows += [("b", 6 - x) for _, x in rows]
    certificate = ia.certify(ia.ReplayBandit(rows * 4), rho=0.36)
    page = " ".join(str(certificate).split())
    assert "possible yes" in page
    assert certificate.smallest_gap == pytest.approx(2.6)
    assert (certificate.floor_worst, certificate.floor_far) == (None, None)
    assert "no policy does" not in page


def test_where_medians_do_and_means_do_not_medians_are_recommended():
    """The page does not say yes and nothing."""
    rows = [("a", x) for x in [-1.0, -2.0, -3.0] * 20] + [("b", x) for x in [-4.0, -5.0, -6.0] * 20]
    certificate = ia.certify(ia.ReplayBandit(rows), rho=0.39)
    assert "possible yes" in " ".join(str(certificate).split())
    assert isinstance(certificate.recommended, ia.MedEUCB)


def test_a_rho_within_the_interval_of_the_limit_asks_for_more_data():
    """For stars as for clicks: neither a policy nor a refusal."""
    noise = np.random.default_rng(5)
    rows = [
        (arm, 5.0 if noise.random() < share else float(noise.integers(1, 5)))
        for arm, share in (("a", 0.6), ("b", 0.75))
        for _ in range(150)
    ]
    bounded = ia.certify(ia.ReplayBandit(rows), rho=0.01).bounded
    rho = (bounded.limit + bounded.interval[1]) / 2
    certificate = ia.certify(ia.ReplayBandit(rows), rho=rho)
    assert (certificate.recommended, certificate.advice) == (None, "log more rewards first.")


def test_a_skewed_log_names_the_best_arm_by_what_it_is_best():
    """Its medians and means disagree; no budget for medians, no word on sources."""
    noise = np.random.default_rng(0)
    rows = [("a", x) for x in noise.exponential(3, 400)] + [
        ("b", x) for x in noise.normal(2.5, 0.1, 400)
    ]
    page = " ".join(str(ia.certify(ia.ReplayBandit(rows), rho=0.1, sources=100)).split())
    assert "best b by its median" in page
    assert "best mean is that of arm a" in page
    assert "limit on rho" not in page
    assert "by source not known" in page


@pytest.mark.parametrize("policy", [ia.UCB(sigma=0.5), ia.TrustThompson()])
def test_a_policy_without_medians_is_not_blamed_for_medians(policy):
    """There is no theorem for it, on a log of clicks as on rates."""
    rows = [("a", float(i % 2)) for i in range(200)] + [
        ("b", float(i % 3 == 0)) for i in range(200)
    ]
    why_not = ia.certify(ia.ReplayBandit(rows), rho=0.05, policy=policy).why_not
    assert why_not.startswith(f"there is no theorem for {type(policy).__name__}")


def test_a_reward_between_0_and_1_stretches_no_range():
    """So it is not blamed for it."""
    assert "neither" not in ia.certify(clicks_with(("b", 0.5)), rho=0.01).advice


def test_names_that_read_the_same_are_told_apart():
    """1 and "1", and a name that is empty."""
    noise = np.random.default_rng(1)
    rows = [
        (name, mean + x)
        for name, mean in ((1, 0), ("1", 3), ("", 6))
        for x in noise.normal(size=30).tolist()
    ]
    certificate = ia.certify(ia.ReplayBandit(rows), rho=0.05)
    assert [arm.name for arm in certificate.fit.fitted] == ["1", "'1'", "''"]
    assert certificate.best == "''"


@pytest.mark.parametrize("largest", [1e120, 1e308])
def test_rewards_too_large_to_compute_with_are_refused(largest, recwarn):
    """With a sentence, not an overflow."""
    with pytest.raises(ia.InvalidInput, match="too large to compute with"):
        ia.certify(ia.ReplayBandit([("a", largest), ("b", -largest)] * 30), rho=0.1)
    assert not list(recwarn)
