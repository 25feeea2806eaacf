"""Checks agree with true claims, disagree with false ones, and else cannot tell.

All on fabricated results. Here are the tests of `checking.py`, `checks.py`,
`evidence.py` and `statistics.py`.
"""

import math

import numpy as np
import pytest

from ironarm import InvalidInput
from ironarm.lab.kit import statistics
from ironarm.lab.kit.evidence import Evidence
from ironarm.lab.kit.statistics import Estimate
from ironarm.lab.studies.checking import Measured, Share, above, below, check, near, together
from ironarm.lab.studies.claims import CHECKS
from tests.lab.studies.fabricated import ROUNDS, evidence, linear_curve, log_curve, noisy, result


def judgement(check, evidence, **arguments):
    return together(part.judgement for part in CHECKS[check].measure(evidence, arguments))


def stuck_in(share, trials=200):
    """The last tenth of trials of which this share is stuck."""
    return np.where(np.arange(trials) < share * trials, 0.0, 1.0)


# final regrets near 4,600 and 10,400; the mean of WILD has a 95 % interval of 1,800 to
# 5,400
SMALL, LARGE = result(noisy(log_curve(400))), result(noisy(log_curve(900), seed=2))
LINE = result(noisy(linear_curve()))
# one trial in fifteen is stuck for long: the mean grows as a power, the median does not
APART = np.arange(200)[:, None] % 15 == 0
TAIL = result(noisy(log_curve(400)) + np.where(APART, 40.0 * ROUNDS**0.6, 0.0))
# one in forty: too few to say how the mean grows
RARE = result(
    noisy(log_curve(400)) + np.where(np.arange(200)[:, None] % 40 == 0, 100.0 * ROUNDS**0.6, 0.0)
)
# one in fifteen loses much at once, and nothing later
EARLY = result(noisy(log_curve(400)) + np.where(APART, 20_000.0, 0.0))
WRONG = result(noisy(linear_curve()), np.linspace(0.5, 0.9, 200))
WILD = result(noisy(log_curve(400), spread=3.0))
# shares of optimal pulls, all with the same regret; the third is 0.8 to 1, mean 0.9
OFTEN, SELDOM = (result(noisy(log_curve()), optimal=share) for share in (0.9, 0.8))
NOW_AND_THEN = result(
    noisy(log_curve()), optimal=np.random.default_rng(1).uniform(0.8, 1, (200, 1))
)


@pytest.mark.parametrize(
    ("check", "expected", "first", "second", "extra"),
    [
        ("lower_mean_regret", "agree", SMALL, LARGE, {}),
        ("lower_mean_regret", "disagree", LARGE, SMALL, {}),
        ("lower_mean_regret", "cannot tell", WILD, SMALL, {}),
        ("lower_median_regret", "agree", SMALL, LARGE, {}),
        ("lower_median_regret", "disagree", LARGE, SMALL, {}),
        ("same_mean_regret", "agree", SMALL, SMALL, {"within": 0.02}),
        ("same_mean_regret", "disagree", SMALL, LARGE, {"within": 0.02}),
        ("same_mean_regret", "cannot tell", WILD, SMALL, {"within": 0.02}),
        ("same_median_regret", "agree", SMALL, SMALL, {"within": 0.02}),
        ("same_median_regret", "disagree", SMALL, LARGE, {"within": 0.02}),
        ("same_median_regret", "cannot tell", WILD, SMALL, {"within": 0.02}),
        (
            "nearly_always_optimal",
            "agree",
            result(log_curve()[None].repeat(200, 0), np.linspace(0.998, 1, 200)),
            result(linear_curve()[None].repeat(200, 0), 0.2),
            {"share": 0.97},
        ),
        (
            "nearly_always_optimal",
            "disagree",
            result(log_curve()[None].repeat(200, 0), np.linspace(0.998, 1, 200)),
            result(linear_curve()[None].repeat(200, 0), np.linspace(0.992, 0.998, 200)),
            {"share": 0.97},
        ),
        (
            "nearly_always_optimal",
            "disagree",
            result(log_curve()[None].repeat(200, 0), 0.9),
            result(linear_curve()[None].repeat(200, 0), 0.2),
            {"share": 0.99},
        ),
        ("more_optimal_pulls", "agree", OFTEN, SELDOM, {}),
        ("more_optimal_pulls", "disagree", SELDOM, OFTEN, {}),
        ("more_optimal_pulls", "cannot tell", OFTEN, OFTEN, {}),
        ("more_optimal_pulls", "cannot tell", OFTEN, NOW_AND_THEN, {}),
        ("fails", "agree", result(noisy(log_curve()), stuck_in(0.25)), SMALL, {"share": 0.05}),
        ("fails", "disagree", SMALL, result(noisy(log_curve()), stuck_in(0.25)), {"share": 0.05}),
        (
            "fails",
            "cannot tell",
            result(noisy(log_curve()), stuck_in(0.06)),
            SMALL,
            {"share": 0.05},
        ),
        ("less_often_stuck", "agree", SMALL, result(noisy(log_curve()), stuck_in(0.25)), {}),
        ("less_often_stuck", "disagree", result(noisy(log_curve()), stuck_in(0.25)), SMALL, {}),
    ],
)
def test_checks_of_two_sides(check, expected, first, second, extra):
    """First against second."""
    assert (
        judgement(
            check,
            evidence(first=first, second=second),
            policies=["first"],
            against=["second"],
            **extra,
        )
        == expected
    )


@pytest.mark.parametrize(
    ("check", "expected", "what", "extra"),
    [
        ("logarithmic", "agree", EARLY, {"than": 0.2, "since": 1000}),
        ("logarithmic", "cannot tell", SMALL, {"than": 0.2, "since": 1000}),
        ("logarithmic", "disagree", TAIL, {"than": 0.2, "since": 1000}),
        ("not_logarithmic", "agree", LINE, {"than": 0.2, "span": 10}),
        ("not_logarithmic", "disagree", SMALL, {"than": 0.2, "span": 10}),
        ("not_logarithmic", "cannot tell", RARE, {"than": 0.2, "span": 10}),
        ("linear", "agree", WRONG, {"share": 0.05}),
        ("linear", "disagree", result(noisy(log_curve()), 0.999), {"share": 0.05}),
        ("quantile_logarithmic", "agree", SMALL, {"quantile": 0.95, "than": 0.2, "span": 10}),
        ("quantile_logarithmic", "disagree", TAIL, {"quantile": 0.98, "than": 0.2, "span": 10}),
        ("quantile_logarithmic", "agree", TAIL, {"quantile": 0.5, "than": 0.2, "span": 10}),
        ("near_lower_bound", "cannot tell", SMALL, {"times": 10}),
        ("exploration_costs_little", "cannot tell", SMALL, {"share": 0.1}),
    ],
)
def test_checks_of_one_side(check, expected, what, extra):
    """For example a logarithm, a line, and a logarithm that a few trials spoil."""
    assert judgement(check, evidence(policy=what), policies=["policy"], **extra) == expected


@pytest.mark.parametrize(("apart", "most"), [(0, 3 / 200), (1, 0.03), (9, 0.09)])
def test_too_few_trials_apart_from_the_others_are_no_certainty(apart, most):
    """Nothing seen in n trials is a statement about 3/n of them, and reads so."""
    curves = noisy(log_curve(400)) + np.where(np.arange(200)[:, None] < apart, 20_000.0, 0.0)
    [part] = CHECKS["logarithmic"].measure(
        evidence(policy=result(curves)), {"policies": ["policy"], "than": 0.2, "since": 1000}
    )
    assert part.judgement == "cannot tell"
    assert part.what.startswith("share of trials far above the median")
    assert part.estimate.value == apart / 200
    assert part.estimate.low <= apart / 200 < part.estimate.high <= most
    assert "more than twice the median (with 95 % confidence at most" in part.text


def test_an_exponent_of_a_constant_is_zero():
    """Not a rounding error."""
    slope = statistics.fitted_slope(ROUNDS, np.full((5, len(ROUNDS)), 7.3), 0 * ROUNDS)
    assert (slope.value, slope.low, slope.high) == (0.0, 0.0, 0.0)


def test_trials_that_are_all_optimal_leave_room_for_what_was_not_seen():
    """20 of 20 do not show more than 95 %, 1,000 of 1,000 do."""
    arguments = {"policies": ["policy"], "against": [], "share": 0.95}
    for trials, expected in ((20, "cannot tell"), (1000, "agree")):
        found = evidence(trials, policy=result(log_curve()[None].repeat(trials, 0), 1.0))
        assert judgement("nearly_always_optimal", found, **arguments) == expected


def test_every_check_is_tested():
    """A check that is added without a test is noticed here."""
    tested = {
        mark.args[1][i][0]
        for test in (test_checks_of_two_sides, test_checks_of_one_side)
        for mark in test.pytestmark
        for i in range(len(mark.args[1]))
    }
    missing = {name for name, check in CHECKS.items() if check.subject is Evidence} - tested
    assert not missing, f"{missing}: add rows to the tables above"


def test_few_trials_cannot_see_a_rare_event():
    """The first 20 of the trials leave open what all of them show."""
    rare = result(noisy(log_curve()), np.where(np.arange(200) % 10 == 9, 0.0, 1.0))
    everything = {"policy": rare}
    arguments = {"policies": ["policy"], "against": [], "share": 0.05}
    assert judgement("fails", Evidence(everything, 20), **arguments) == "cannot tell"
    assert judgement("fails", Evidence(everything, 200), **arguments) == "agree"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.4, 0.49])
def test_a_trial_below_half_is_stuck_and_one_at_half_is_not(share):
    """For results and for what claims see of them."""
    made = result(noisy(log_curve(), trials=2), np.array([share, 0.5]))
    assert made.stuck.tolist() == [[True, False]]
    assert Evidence({"policy": made}, 2).stuck("policy").tolist() == [True, False]


def test_an_interval_that_touches_the_bound_is_not_on_the_claims_side():
    """So two policies that do the same are no case of "cannot tell"."""
    assert below(Estimate(1, 0, 2), 0) == above(Estimate(-1, -2, 0), 0) == "disagree"
    assert below(Estimate(-1, -2, 0), 0) == above(Estimate(1, 0, 2), 0) == "cannot tell"
    same = evidence(first=SMALL, second=SMALL)
    arguments = {"policies": ["first"], "against": ["second"]}
    assert judgement("lower_mean_regret", same, **arguments) == "disagree"


def test_policies_that_were_never_stuck_leave_room_for_what_was_not_seen():
    """That neither was stuck in 200 trials does not show that neither ever is."""
    arguments = {"policies": ["first"], "against": ["second"]}
    same = evidence(first=SMALL, second=SMALL)
    [part] = CHECKS["less_often_stuck"].measure(same, arguments)
    assert part.judgement == "cannot tell"
    assert (part.estimate.low, part.estimate.high) == pytest.approx((-3 / 200, 3 / 200))


@pytest.mark.parametrize(("trials", "expected"), [(20, "cannot tell"), (200, "agree")])
def test_few_trials_say_nothing_of_a_high_quantile(trials, expected):
    """All of 20 lie below the quantile of 95 % in a third of such samples."""
    arguments = {"policies": ["policy"], "quantile": 0.95, "than": 0.2, "span": 10}
    [part] = CHECKS["quantile_logarithmic"].measure(evidence(trials, policy=SMALL), arguments)
    assert part.judgement == expected
    assert ("to ∞)" in part.text) == (trials == 20)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.9, 1.1, "agree"),
        (0.8, 1.1, "cannot tell"),
        (0.9, 1.2, "cannot tell"),
        (0.7, 0.8, "cannot tell"),
        (1.21, 1.3, "disagree"),
        (0.7, 0.79, "disagree"),
    ],
)
def test_near_a_target(low, high, expected):
    """Within 0.2 of 1."""
    assert near(Estimate((low + high) / 2, low, high), 1.0, 0.2) == expected


def test_a_new_check_is_one_function(monkeypatch):
    """Its signature says what a claim must give it and what that may be."""
    monkeypatch.setattr("ironarm.lab.studies.checking.CHECKS", registry := {})

    @check
    def always(evidence: Evidence, share: Share) -> list[Measured]:
        return [Measured("nothing", Estimate(share, share, share), "agree", "")]

    assert (list(registry), registry["always"].subject) == (["always"], Evidence)
    assert registry["always"].measure(evidence(), {"share": 0.1})[0].estimate.value == 0.1
    with pytest.raises(InvalidInput, match="share must be above 0 and below 1"):
        registry["always"].parameters["share"]("share", 1, None)
    with pytest.raises(TypeError, match="annotate share"):

        @check
        def never(evidence: Evidence, share: float) -> list[Measured]:
            return []


def test_a_part_that_fails_settles_a_claim():
    """One disagreement is enough, one doubt leaves it open."""
    assert together(["agree", "agree"]) == "agree"
    assert together(["agree", "cannot tell"]) == "cannot tell"
    assert together(["cannot tell", "disagree", "agree"]) == "disagree"


@pytest.mark.parametrize("exponent", [0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("span", [2, 10])
def test_the_growth_exponent_is_the_power(exponent, span):
    """Of a power of T plus a constant.

    To the precision of rounds that are whole numbers.
    """
    curve = 50 + ROUNDS**exponent
    assert statistics.measured_exponent(
        ROUNDS, np.array([curve, 3 * curve]), span
    ).value == pytest.approx(exponent, abs=0.01)


def test_the_fitted_slope_is_the_power_of_the_excess():
    """Over an offset that is itself a curve."""
    slope = statistics.fitted_slope(
        ROUNDS, (log_curve() + 3 * ROUNDS**0.6)[None].repeat(5, 0), log_curve()
    )
    assert slope.value == pytest.approx(0.6)
    assert (slope.low, slope.high) == pytest.approx((0.6, 0.6))


def test_the_interval_of_a_share_covers_it():
    """Wilson's interval holds the true share in 93 to 97 % of 2,000 samples.

    By chance it would leave that range with probability below 1e-4.
    """
    generator = np.random.default_rng(5)
    inside = 0
    for _ in range(2000):
        estimate = statistics.share(generator.random(300) < 0.03)
        inside += estimate.low <= 0.03 <= estimate.high
    assert 0.93 <= inside / 2000 <= 0.97


def test_the_interval_of_a_median_covers_it():
    """Order statistics hold the true median in at least 94 % of 2,000 samples.

    Chance alone would fail this with probability below 1e-3.
    """
    generator = np.random.default_rng(6)
    inside = 0
    for _ in range(2000):
        estimate = statistics.median(generator.standard_cauchy(101))
        inside += estimate.low <= 0.0 <= estimate.high
    assert inside / 2000 >= 0.94


@pytest.mark.parametrize("n", range(1, 40))
def test_the_interval_of_a_median_holds_what_it_says(n):
    """The median lies outside with a probability of at most 5 %, exactly, and of the
    next shorter one with more; up to five values there is no interval.
    """
    estimate = statistics.median(np.arange(float(n)))
    if n < 6:
        assert (estimate.low, estimate.high) == (-np.inf, np.inf)
        return

    def outside(low, high):
        return sum(math.comb(n, k) for k in range(n + 1) if k <= low or k > high) / 2**n

    low, high = int(estimate.low), int(estimate.high)
    assert low + high == n - 1
    assert outside(low, high) <= 0.05 < outside(low + 1, high - 1)
