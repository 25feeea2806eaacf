"""FakeClicks: what it answers for each arm, its subtle kind, its runs, its limits."""

import numpy as np
import pytest
from scipy.stats import binom

import ironarm as ia
from ironarm.errors import InvalidInput
from tests.attacks.asking import Asked
from tests.attacks.recording import ROUNDS, coin_rounds, seen

BANDIT = ia.BernoulliBandit([0.1, 0.7, 0.5])
RATES = (0.1, 0.7, 0.5)


def answers(attack, x=0.0, bandit=BANDIT):
    """What is shown in place of x, for three uniform numbers on each arm."""
    asked = Asked(attack, bandit)
    return [[asked(arm, x, u=u) for u in (0.05, 0.4, 0.95)] for arm in range(3)]


def test_it_clicks_with_the_given_probability():
    """Arm 1 is the best, arm 2 the runner-up; None leaves a reward alone."""
    assert answers(ia.attacks.FakeClicks(0.3), x=1.0) == [[1, 1, 1], [0, 0, 0], [1, 1, 1]]
    medium = ia.attacks.FakeClicks(0.3, runner_up=0.3, others=None)
    assert answers(medium, x=0.25) == [[0.25] * 3, [0, 0, 0], [1, 0, 0]]
    assert answers(ia.attacks.FakeClicks(0.3, best=None), x=0.25)[1] == [0.25] * 3
    mild = ia.attacks.FakeClicks(0.3, best=0.1, runner_up=0.9, others=0.5)
    assert answers(mild) == [[1, 1, 0], [1, 0, 0], [1, 1, 0]]


def test_subtle_ones_click_near_the_arms_own_rate():
    """Below it on the best arm, above it on the others, never beyond [0, 1]."""
    assert answers(ia.attacks.FakeClicks(0.3, shift=0.35)) == [[1, 1, 0], [1, 0, 0], [1, 1, 0]]
    ends = ia.BernoulliBandit([0.98, 0.02, 0.99])
    assert answers(ia.attacks.FakeClicks(0.3, shift=0.06), bandit=ends) == [
        [1, 1, 1],
        [1, 0, 0],
        [1, 1, 0],
    ]


@pytest.mark.parametrize(
    ("attack", "attacked"),
    [
        (ia.attacks.FakeClicks(0.3), (1.0, 0.0, 1.0)),
        (ia.attacks.FakeClicks(0.3, runner_up=0.3, others=None), (0.1, 0.0, 0.3)),
        (ia.attacks.FakeClicks(0.3, shift=0.06), (0.16, 0.64, 0.56)),
    ],
)
def test_the_rates_seen_are_mixtures(attack, attacked):
    """(1 - rho) p + rho q on each arm, and only rounds of the coin are changed.

    Exact binomial bounds; a false alarm in 2e-6 of seeds for each arm.
    """
    clean, shown = seen(ia.NoAttack(), BANDIT), seen(attack, BANDIT)
    assert not ((shown != clean) & ~coin_rounds(0.3)).any()
    for arm, (p, q) in enumerate(zip(RATES, attacked, strict=True)):
        rewards = shown[np.arange(ROUNDS) % 3 == arm]
        expected = 0.7 * p + 0.3 * q
        low, high = binom.ppf(1e-6, len(rewards), expected), binom.isf(1e-6, len(rewards), expected)
        assert low <= rewards.sum() <= high


def test_runs_are_outside_the_model():
    """With a length the coin is the chain of Bursts; without it is independent."""
    runs = ia.attacks.FakeClicks(0.2, length=500)
    assert (runs.burst, runs.within_model) == (500.0, False)
    assert (ia.attacks.FakeClicks(0.2).burst, ia.attacks.FakeClicks(0.2).within_model) == (
        0.0,
        True,
    )
    with pytest.raises(InvalidInput, match=r"at least rho/\(1 - rho\), which is 4"):
        ia.attacks.FakeClicks(0.8, length=2)


def test_a_shift_takes_the_place_of_probabilities():
    """Both together say nothing clear."""
    with pytest.raises(InvalidInput, match="give a shift, or probabilities"):
        ia.attacks.FakeClicks(0.2, best=0.1, shift=0.06)
    with pytest.raises(InvalidInput, match=r"others must be at least 0 and at most 1, got 1\.5"):
        ia.attacks.FakeClicks(0.2, others=1.5)
