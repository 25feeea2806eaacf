"""The table of the lemmas: measured probabilities are right, and below the bounds."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import ironarm as ia
from ironarm.theory import LEMMA_HEAD, Normal, lemma_table, lemma_text, quantile_concentration
from ironarm.theory.lemma_measured import (
    UNTIL,
    corrupted,
    measured_quantile,
    measured_share,
    sample_quantile,
)

EVENTS = {"midpoint": "below", "half gap": "below", "low": "below", "high": "above"}


@pytest.fixture(scope="module")
def rows():
    """The rows of the table."""
    return lemma_table()


def exact_quantile(n, s, a, p, side):
    """The probability as that of a count, without any sample.

    The attacked quantile is low if enough of the clean rewards are.
    """
    place, attacked = math.ceil(round(p * n, 9)), math.floor(round(s * n, 9))
    bound = quantile_concentration(Normal(0, 1), n, s, a, p)
    if side == "below":
        return binom.sf(place - attacked - 1, n, Normal(0, 1).cdf(bound.low))
    return binom.cdf(place + attacked - 1, n, Normal(0, 1).cdf(bound.high))


def exact_share(n, s, arms, rho, excess, delta):
    """The probability for m from n to 4 n, from the law of the count step by step."""
    chances = binom.pmf(np.arange(UNTIL * n + 1), n, rho)
    crossed = 0.0
    for m in range(n, UNTIL * n + 1):
        most = math.floor(round(s * m, 9))
        crossed += chances[most + 1 :].sum()
        chances = chances[: most + 1]
        chances = np.append((1 - rho) * chances, 0.0) + np.append(0.0, rho * chances)
    return 1 - (1 - crossed) ** arms


def test_measured_probabilities_are_the_exact_ones(rows):
    """Within twice the 95 % interval: a false alarm once in 600 seeds, in 17 rows."""
    for row in rows:
        if row.lemma == 2:
            exact = exact_share(**row.parameters)
        else:
            exact = exact_quantile(**row.parameters, side=EVENTS[row.event])
        assert abs(row.measured - exact) <= row.high - row.low, row
        assert row.low < row.measured < row.high, row
        assert row.high - row.low < 0.15 * row.measured, row  # two digits, more or less


def test_no_probability_exceeds_its_bound(rows):
    """The lemmas hold, and the ratio says by how much."""
    for row in rows:
        assert row.low <= row.bound, row
        assert row.ratio == row.bound / row.measured
        assert row.ratio > 1


def test_the_settings_are_the_papers(rows):
    """Both rates, the forced pulls of both experiments, and more for a useful bound."""
    midpoint = [row for row in rows if row.event == "midpoint"]
    assert [(row.where, row.parameters["n"]) for row in midpoint] == [
        ("synthetic 0.125", 47),
        ("synthetic 0.3", 47),
        ("radio 0.125", 31),
        ("radio 0.3", 31),
        ("synthetic 0.125", 121),
        ("synthetic 0.3", 3288),
    ]
    for row in midpoint:
        half = 1 if "synthetic" in row.where else 2
        low = Normal(0, 1).ppf(0.5 - row.parameters["s"]) - row.parameters["a"]
        assert low == pytest.approx(-half)
    for row in midpoint[-2:]:
        p = row.parameters
        one_less = quantile_concentration(Normal(0, 1), p["n"] - 1, p["s"], p["a"])
        assert row.bound <= 0.05 < one_less.below
    assert [row.parameters["a"] for row in rows if row.event == "half gap"] == [1, 1]
    assert [row.parameters["n"] for row in rows if row.lemma == 2] == [462, 462, 3452]
    assert all(row.parameters["s"] < 0.5 for row in rows)


def test_the_median_of_forty_rewards(rows):
    """A bound of 0.4847, where 0.10 is measured."""
    (row,) = (row for row in rows if (row.lemma, row.event) == (1, "low"))
    assert row.parameters == {"n": 40, "s": 0.2, "a": 0.3, "p": 0.5}
    assert row.bound == pytest.approx(0.4847, abs=1e-4)
    assert row.measured == pytest.approx(0.101, abs=0.003)


def test_plain_draws_agree_with_weighted_ones():
    """40,000 normal samples, attacked and counted.

    They may differ by 4.5 standard errors: a false alarm once in 70,000, on two sides.
    """
    x = np.random.default_rng(8).normal(size=(40_000, 47))
    bound = quantile_concentration(Normal(0, 1), 47, 0.23, 0.2, 0.4)
    for side, happened in (
        ("below", sample_quantile(corrupted(x, 0.23, "below"), 0.4) <= bound.low),
        ("above", sample_quantile(corrupted(x, 0.23, "above"), 0.4) >= bound.high),
    ):
        found = measured_quantile(Normal(0, 1), 47, 0.23, 0.2, 0.4, side, seed=9)
        error = math.hypot(happened.std() / 200, (found.high - found.low) / 3.92)
        assert 0.01 < happened.mean() < 0.5
        assert abs(happened.mean() - found.value) < 4.5 * error


rewards = st.lists(st.floats(-9, 9), min_size=2, max_size=12)


@given(rewards, st.floats(0, 0.49), st.floats(0.01, 0.99), st.data())
def test_no_other_corruption_is_worse(clean, s, p, data):
    """Whichever floor(s n) rewards are changed, and to whatever."""
    n = len(clean)
    most = math.floor(round(s * n, 9))
    chosen = data.draw(st.lists(st.integers(0, n - 1), max_size=most, unique=True))
    other = list(clean)
    for i in chosen:
        other[i] = data.draw(st.floats(allow_nan=False))
    x = np.array([clean])
    shown = sample_quantile(np.array([other]), p)
    assert sample_quantile(corrupted(x, s, "below"), p) <= shown
    assert shown <= sample_quantile(corrupted(x, s, "above"), p)
    for side in ("below", "above"):
        assert (corrupted(x, s, side) != x).sum() == most


@given(rewards, st.floats(0.01, 0.99))
def test_a_sample_quantile_is_the_papers(values, p):
    """The smallest reward whose empirical distribution function is at least p."""
    x = np.array(values)
    # a share that equals p but for rounding counts as p
    smallest = min(v for v in values if (x <= v).mean() >= p - 1e-9)
    assert sample_quantile(x[None], p) == smallest


def test_the_text_fits_and_the_data_are_plain(rows):
    """80 columns; JSON without NaN."""
    text = lemma_text()
    assert max(map(len, text.splitlines())) <= 80
    assert "2,000,000" in text
    assert all(len(row.shown()) == len(LEMMA_HEAD) for row in rows)
    assert json.loads(json.dumps(rows[0].to_dict(), allow_nan=False))["ratio"] == rows[0].ratio


def test_the_same_seed_gives_the_same_number():
    """And another seed another one."""
    numbers = [measured_share(10, 0.3, 0.1, 0.05, seed=seed) for seed in (4, 4, 5)]
    assert numbers[0] == numbers[1] != numbers[2]


@pytest.mark.parametrize(
    ("rho", "excess", "message"),
    [(0.0, 0.1, "rho must be above 0"), (0.95, 0.1, "excess must be below 0.05")],
)
def test_impossible_shares_get_a_sentence(rho, excess, message):
    """What was expected, and what was given."""
    with pytest.raises(ia.InvalidInput, match=message):
        measured_share(10, rho, excess, 0.05)
