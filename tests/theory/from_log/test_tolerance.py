"""What arms can take: bounds that hold the truth, also when rewards are few."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironarm.service.insight import clean
from ironarm.theory.from_log.best_arm import BestArm, best_arm_of
from ironarm.theory.from_log.evidence import log_evidence, order_place
from ironarm.theory.from_log.tolerance import PART, WRONG, _places, _Quantiles, _spent, tolerance_of
from ironarm.theory.limits import thresholds


def bounds(samples, minimize=False):
    return tolerance_of(samples, best_arm_of(samples, minimize), minimize)


def evidence(s, n, share, above):
    return float(log_evidence(np.array([float(s)]), np.array([n]), np.array([share]), above)[0])


def played(noise, means, rounds, draw):
    """Rewards as a greedy policy gathers them: it prefers what looks best."""
    samples = [[draw(noise, mean) for _ in range(2)] for mean in means]
    for _ in range(rounds):
        if noise.random() < 0.2:
            arm = int(noise.integers(len(means)))
        else:
            arm = int(np.argmax([np.median(x) for x in samples]))
        samples[arm].append(draw(noise, means[arm]))
    return [np.array(x) for x in samples]


def normal(noise, mean):
    return noise.normal(mean, 1.0)


def exponential(noise, mean):
    return mean + noise.exponential()


@given(
    sizes=st.lists(st.integers(0, 80), min_size=1, max_size=5),
    level=st.floats(0.5, 8),
    q=st.sampled_from([0.5, 0.25, 0.9, 0.01]),
)
@settings(max_examples=60, deadline=None)
def test_places_of_many_arms_are_those_of_each(sizes, level, q):
    """All at once gives what one by one gives."""
    assert _places(np.array(sizes), q, level).tolist() == [
        order_place(n, level, q) if n else 0 for n in sizes
    ]


@pytest.mark.parametrize("few", [9, 30])
@pytest.mark.parametrize("seed", range(4))
def test_the_room_is_what_trying_every_value_finds(seed, few):
    """At some x there is evidence enough for both sides, and at none for more.

    With 9 rewards of an arm, their number alone decides; with 30, their values do.
    """
    noise = np.random.default_rng(seed)
    samples = [noise.normal(2, 1, 60), noise.normal(0, 1, 40), noise.normal(-1, 1, few)]
    best, others = _spent(WRONG, 4 * 3 + 2, 4)

    def possible(s):
        for x in np.concatenate(samples):
            below = [int((each <= x).sum()) for each in samples]
            if evidence(below[0], 60, 0.5 - s, False) >= best and all(
                evidence(k, len(each), 0.5 + s, True) >= others
                for k, each in zip(below[1:], samples[1:], strict=True)
            ):
                return True
        return False

    room = _Quantiles(samples).room(0, False)
    assert room == 0 or possible(room)
    assert not possible(room + 0.001)


@pytest.mark.parametrize(
    ("draw", "means", "rounds", "truth"),
    [
        (normal, (1.0, 0.0), 30, thresholds(1.0).coin),
        (normal, (1.0, 0.0, 0.0, -1.0), 150, thresholds(1.0).coin),
        (normal, (3.0, 0.0, 0.0), 120, thresholds(3.0).coin),
        # the equation of both shares is e^-x (1 + e^-0.7) = 1, so s = e^-x - 1/2
        (exponential, (0.7, 0.0), 150, 1 - 0.5 * (1 + math.exp(-0.7))),
    ],
)
def test_the_bounds_hold_the_truth_when_a_policy_chose_the_arms(draw, means, rounds, truth):
    """Each is wrong with probability 0.05 at most.

    More than 7 of 25 wrong ones have a probability below 1e-4.
    """
    too_high = too_low = 0
    for seed in range(25):
        found = bounds(played(np.random.default_rng(seed), means, rounds, draw))
        too_high += found.low > truth
        too_low += found.high < truth
    assert max(too_high, too_low) <= 7


def test_the_estimate_is_not_too_high_when_rewards_are_few():
    """Arms one sigma apart, the worse one with 8 rewards: 0.277.

    By the two empirical laws alone it was 0.42. The standard error of 8 rewards' median
    is 0.4 sigma, which moves the estimate by about 0.08, and the median of 60 such
    estimates by 0.013; a tenth is 7 of these.
    """
    noise = np.random.default_rng(1)
    found = [
        _Quantiles([noise.normal(0, 1, 8), noise.normal(1, 1, 300)]).usual_room(1)
        for _ in range(60)
    ]
    s = float(np.median(found))
    assert 2 * s / (1 + 2 * s) == pytest.approx(thresholds(1.0).coin, abs=0.1)


def test_many_rewards_tell_it_well():
    """Normal arms two sigma apart: 0.4057."""
    noise = np.random.default_rng(1)
    found = bounds([noise.normal(0, 1, 2000), noise.normal(2, 1, 2000)])
    assert 0.37 < found.low < 0.4057 < found.high < 0.44
    assert found.about == pytest.approx(0.4057, abs=0.02)
    assert found.malicious == pytest.approx(found.low / (2 - 2 * found.low))
    assert not found.assumed


def test_few_rewards_far_away_tell_something_if_arms_have_one_shape():
    """Five rewards say nothing of quantiles, but they are far below."""
    noise = np.random.default_rng(1)
    found = bounds([noise.normal(0, 1, 5), noise.normal(4, 1, 2000)])
    assert 0.2 < found.low < thresholds(4.0).coin
    assert found.assumed


def test_small_rewards_can_be_good():
    """The same, turned round."""
    noise = np.random.default_rng(1)
    samples = [noise.normal(0, 1, 300), noise.normal(2, 1, 300)]
    assert bounds([-x for x in samples], minimize=True) == bounds(samples)


@pytest.mark.parametrize("minimize", [False, True])
def test_clicks_have_the_limit_of_means(minimize):
    """Rates of 0.1, 0.2 and 0.5: the gap of the best is 0.3, minimized 0.1."""
    noise = np.random.default_rng(1)
    found = bounds([(noise.random(3000) < p) * 1.0 for p in (0.1, 0.2, 0.5)], minimize)
    gap = 0.1 if minimize else 0.3
    assert 0 < found.low < gap / (1 + gap) < found.high < 0.3
    assert (found.of, found.malicious) == ("mean", None)


def test_an_arm_without_rewards_may_be_the_best():
    """So nothing is known."""
    noise = np.random.default_rng(1)
    found = bounds([noise.normal(0, 1, 300), noise.normal(2, 1, 300), np.zeros(0)])
    assert (found.low, found.high, found.unseen) == (0.0, 0.5, (2,))


def test_one_arm_has_nothing_to_take():
    """Nor have arms without rewards."""
    assert bounds([np.arange(50.0)]) is None
    assert bounds([np.zeros(0), np.zeros(0)]) is None


def test_failures_count_as_the_worst():
    """A best arm that fails in 40 % of all cases can take less."""
    noise = np.random.default_rng(1)
    best, other = noise.normal(9, 1, 2000), noise.normal(0, 1, 2000)
    best[:800] = -math.inf
    found = bounds(clean([best, other], True))
    assert found.low < 2 * 0.1 / 1.2 < found.high < 0.25


def test_what_stands_out_is_left_out():
    """A third of all rewards far away does not hide what the arms can take."""
    noise = np.random.default_rng(1)
    samples = [noise.normal(0, 1, 3000), noise.normal(2, 1, 3000)]
    samples[0][:1000], samples[1][:1000] = 1e6, -1e6
    found = bounds(clean(samples, True))
    assert 0.35 < found.low < 0.4057 < found.high


def test_an_alarm_is_hardly_ever_false():
    """Arms that can take 0.277, of which a share of 0.25 is corrupt and seen.

    A false alarm has a probability of 0.05 at most; more than 7 of 25 have one below
    1e-4.
    """
    alarms = 0
    for seed in range(25):
        noise = np.random.default_rng(seed)
        found = bounds([noise.normal(0, 1, 150), noise.normal(1, 1, 150)])
        alarms += found.exceeded(int(noise.binomial(400, 0.25)), 400)
    assert alarms <= 7


def test_an_alarm_comes_if_there_is_too_much():
    """Arms that can take 0.277, and a share of 0.4."""
    noise = np.random.default_rng(1)
    found = bounds([noise.normal(0, 1, 1000), noise.normal(1, 1, 1000)])
    assert found.exceeded(800, 2000)
    assert not found.exceeded(500, 2000)
    assert not found.exceeded(2, 3)  # too few to say


def test_the_best_arm_counts_if_it_is_not_sure():
    """Then every arm may be the best, and the upper bound is the largest of theirs."""
    noise = np.random.default_rng(3)
    samples = [noise.normal(0, 1, 400), noise.normal(0.05, 1, 400), noise.normal(-3, 1, 400)]
    judged = best_arm_of(samples)
    assert judged.confidence < 1 - PART
    sure = BestArm(judged.best, 1.0, (), judged.intervals, judged.of)
    found = tolerance_of(samples, judged)
    assert found.low == 0
    assert tolerance_of(samples, sure).high <= found.high < 0.3


@pytest.mark.parametrize(
    "samples",
    [
        [[1.0], [], []],
        [[1.0] * 200, [], []],
        [[], [0.0], [1.0, 0.0]],
        [[1.0, 0.0] * 300 + [1.7e308, -1.7e308], [0.0] * 300, [1.0] * 30],
        [[1e308, -1e308, 0.5], [2.0], [3.0]],
        [[1e305] * 40, [1.1e305] * 40, []],
        [[-7.0] * 40, [-7.0] * 40, [-7.0] * 30],
    ],
)
def test_there_is_an_answer_whatever_the_rewards(samples):
    """Arms without rewards, clicks with absurd ones, differences that are too large."""
    with np.errstate(over="ignore"):
        found = bounds([np.array(x) for x in samples])
    assert 0 <= found.low <= found.high <= 0.5
    assert found.about is None or found.low <= found.about <= found.high
