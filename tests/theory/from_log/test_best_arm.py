"""The judgement on arms: evidence that no look and no policy can inflate."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom

from ironarm.theory.from_log.best_arm import OTHERS, SURE, _Medians, best_arm_of
from ironarm.theory.from_log.evidence import (
    kind_of,
    log_evidence,
    mean_intervals,
    median_interval,
    order_place,
    range_of,
)


def naive_evidence(s, n, x, above):
    """The likelihood ratio of p to x, averaged by numerical integration."""

    def weight(t):  # p = sin(t)^2 makes Jeffreys' prior flat
        p = math.sin(t) ** 2
        return (p / x) ** s * ((1 - p) / (1 - x)) ** (n - s)

    edge = math.asin(math.sqrt(x))
    first, last = (edge, math.pi / 2) if above else (0.0, edge)
    return quad(weight, first, last, limit=200)[0] / (last - first)


def evidence(s, n, x, above):
    return math.exp(log_evidence(np.array([s]), np.array([n]), np.array([x]), above)[0])


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize(("s", "n", "x"), [(0, 5, 0.5), (3, 9, 0.5), (40, 60, 0.5), (2.5, 7, 0.2)])
def test_evidence_is_an_average_of_likelihood_ratios(s, n, x, above):
    """The closed form equals the integral."""
    assert evidence(float(s), float(n), x, above) == pytest.approx(
        naive_evidence(s, n, x, above), rel=1e-6
    )


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("x", [0.5, 0.1, 0.8])
def test_evidence_against_the_truth_is_one_on_average(x, above):
    """Exactly 1 at the rate x itself, and no more on the other side of it."""
    n = 25
    s = np.arange(n + 1.0)
    values = np.exp(log_evidence(s, np.full(n + 1, float(n)), np.full(n + 1, x), above))
    assert values @ binom.pmf(s, n, x) == pytest.approx(1.0)
    for rate in np.linspace(0.01, 0.99, 30):
        if (rate < x) == above:
            assert values @ binom.pmf(s, n, rate) <= 1 + 1e-9


@given(n=st.integers(0, 60), level=st.floats(0.5, 8), q=st.sampled_from([0.5, 0.25]))
@settings(max_examples=60, deadline=None)
def test_places_in_the_order_are_those_of_a_loop(n, level, q):
    """The lower bound of a quantile is what one finds by trying all rewards."""
    k = 0
    while k < n * q and math.log(evidence(float(k), float(n), q, False)) >= level:
        k += 1
    assert order_place(n, level, q) == min(k, int(n * q))


@pytest.mark.parametrize("law", ["normal", "exponential", "standard_cauchy"])
def test_arms_of_one_shape_are_not_told_apart_by_chance(law):
    """Two arms with the same law, one with few rewards: which one leads is chance.

    The judgement by shape alone is wrong in at most 5 % of 400 logs; more than 34 has
    probability 0.002.
    """
    noise = np.random.default_rng(21)
    wrong = 0
    for _ in range(400):
        many, few = getattr(noise, law)(size=400), getattr(noise, law)(size=6)
        arms = _Medians([many, few])
        best = int(np.argmax([np.median(many), np.median(few)]))
        wrong += arms.confidence_by_shape(best, False) >= SURE
    assert wrong <= 34


def test_an_interval_holds_the_median_under_any_law():
    """Heavy tails and outliers do not matter; it misses at most as often as it says.

    At the level 0.95 a miss has a probability of at most 0.05, so more than 70 of 800
    have one below 1e-5.
    """
    noise = np.random.default_rng(4)
    missed = 0
    for _ in range(800):
        x = np.sort(noise.standard_cauchy(int(noise.integers(5, 200))) + 3.0)
        found = median_interval(x, math.log(2 / 0.05))
        missed += not found.low <= 3.0 <= found.high
    assert missed <= 70


def test_intervals_of_means_hold_the_rate():
    """For clicks, and for other rewards in a range."""
    noise = np.random.default_rng(5)
    for draw, mean in (
        (lambda n: (noise.random(n) < 0.07).astype(float), 0.07),
        (lambda n: noise.choice([1.0, 4.0, 5.0], n, p=[0.2, 0.5, 0.3]), 3.7),
    ):
        ends = (0.0, 1.0) if mean < 1 else (1.0, 5.0)
        samples = [draw(int(noise.integers(1, 300))) for _ in range(300)]
        found = mean_intervals(
            np.array([x.sum() for x in samples]),
            np.array([len(x) for x in samples]),
            ends,
            math.log(2 / 0.05),
        )
        missed = sum(not i.low <= mean <= i.high for i in found)
        assert missed <= 30  # expected at most 15; more than 30 has probability 1e-4
        assert all(i.low <= i.value <= i.high for i in found)


def naive_confidence(samples, best):
    """All values are tried as the border between the best arm and the others."""
    spent = (len(samples) - 1) / (1 - OTHERS)
    most = 0.0
    values = np.unique(np.concatenate(samples))
    for x in [*values, *(values[:-1] + values[1:]) / 2]:
        mine = samples[best]
        first = evidence(float((mine <= x).sum()), float(len(mine)), 0.5, False) / spent
        rest = [
            evidence(float((other < x).sum()), float(len(other)), 0.5, True) * OTHERS
            for j, other in enumerate(samples)
            if j != best
        ]
        most = max(most, min([first, *rest]))
    return 1 - min(1.0, 1 / most)


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_confidence_is_that_of_the_naive_twin(seed):
    """Whatever the sizes and gaps; and mirrored if small rewards are good."""
    noise = np.random.default_rng(seed)
    samples = [noise.normal(noise.uniform(0, 2), 1, int(noise.integers(1, 40))) for _ in range(3)]
    found = best_arm_of(samples)
    if not found.assumed:
        assert found.confidence == pytest.approx(naive_confidence(samples, found.best), abs=1e-9)
    mirrored = best_arm_of([-x for x in samples], minimize=True)
    # the lower median of mirrored rewards is the upper one: the best may differ
    if mirrored.best == found.best:
        assert mirrored.confidence == pytest.approx(found.confidence, abs=1e-9)
    assert (not found.rivals) == (found.sure and not found.assumed)


def test_looking_often_at_what_a_policy_chose_does_not_make_sure():
    """Three equal arms, a greedy policy, a look after every tenth reward.

    "This arm is best" is wrong whatever the arm. At the level 0.95 that may happen in
    5 % of the runs, however often one looks: more than 13 of 120 has probability 0.002.
    """
    noise = np.random.default_rng(11)
    wrong = 0
    for _ in range(120):
        arms = [[float(noise.normal())] for _ in range(3)]
        for step in range(100):
            pick = int(np.argmax([np.median(x) for x in arms]))
            if noise.random() < 0.2:
                pick = int(noise.integers(3))
            arms[pick].append(float(noise.normal()))
            if step % 10 == 0 and best_arm_of([np.array(x) for x in arms]).sure:
                wrong += 1
                break
    assert wrong <= 13


def test_a_clear_winner_is_named_and_a_close_one_is_not():
    """With the arms that may be better."""
    noise = np.random.default_rng(2)
    arms = [noise.normal(mean, 1, 150) for mean in (0.0, 2.0, 4.0)]
    found = best_arm_of(arms)
    assert (found.best, found.sure, found.assumed, found.rivals) == (2, True, False, ())
    close = best_arm_of([*arms, noise.normal(4.05, 1, 150)])
    assert not close.sure
    assert {close.best, *close.rivals} == {2, 3}


def test_few_rewards_are_enough_if_arms_have_one_shape():
    """Four rewards say little of a median; far below all of the best arm's, they do."""
    noise = np.random.default_rng(3)
    arms = [noise.normal(5, 1, 500), np.array([0.1, -0.3, 0.4, 0.2])]
    found = best_arm_of(arms)
    assert (found.best, found.assumed, found.rivals) == (0, True, (1,))
    assert SURE <= found.confidence < 1
    near = best_arm_of([arms[0], np.array([4.5, 4.1, 5.2, 4.4])])
    assert not near.sure


def test_equal_rewards_are_judged_by_means():
    """A median of clicks says nothing."""
    noise = np.random.default_rng(8)
    clicks = [(noise.random(800) < rate).astype(float) for rate in (0.05, 0.2)]
    found = best_arm_of(clicks)
    assert (found.best, found.sure, found.of) == (1, True, "mean")
    assert best_arm_of(clicks, minimize=True).best == 0
    assert kind_of([np.repeat([0.0, 5.0], [90, 10])] * 2) == "mostly 0"


def test_failures_count_as_the_worst():
    """A failure is an infinite reward."""
    arms = [np.repeat([9.0, -math.inf], [10, 60]), np.linspace(1, 2, 70)]
    found = best_arm_of(arms)
    assert (found.best, found.sure) == (1, True)


def test_without_rewards_nothing_is_said():
    """And one arm alone is the best."""
    assert best_arm_of([np.zeros(0), np.zeros(0)]).best is None
    assert best_arm_of([np.ones(3)]).confidence == 1.0
    some = best_arm_of([np.zeros(0), np.array([1.5])])
    assert (some.best, some.sure, some.rivals) == (1, False, (0,))


@pytest.mark.parametrize("extreme", [1e9, -1e9, 1.7e308])
def test_one_absurd_reward_among_clicks_changes_nothing(extreme):
    """It counts as a click or none, and is no end of the range."""
    noise = np.random.default_rng(1)
    samples = [(noise.random(600) < rate).astype(float) for rate in (0.1, 0.2, 0.4)]
    strange = [np.append(samples[0], [extreme, -extreme]), *samples[1:]]
    assert kind_of(strange) == "0 or 1"
    assert range_of(strange) == (0.0, 1.0)
    found = best_arm_of(strange)
    assert (found.best, found.sure, found.of) == (2, True, "mean")


def test_revenue_is_no_click():
    """Mostly 0 and otherwise amounts: its range is that of the rewards."""
    noise = np.random.default_rng(1)
    samples = [np.where(noise.random(900) < 0.03, noise.exponential(20, 900), 0) for _ in range(2)]
    assert kind_of(samples) != "0 or 1"
    assert range_of(samples)[1] > 20
