"""Theorems 3 and 4.

The numbers for the paper's settings, repaired bounds against simulation, and what
changes with poison and units.
"""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ironarm as ia
from ironarm.theory import theorem_3, theorem_4
from ironarm.theory.power_sums import power_sum, power_tail

SYNTHETIC = ia.GaussianBandit(range(2, 21, 2)), 100_000
RADIO = ia.GaussianBandit([41, 37, 35, 31, 28]), 2000
FEW = settings(max_examples=60, derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("setting", "rho", "c", "bound", "likely"),
    [
        (SYNTHETIC, 0.125, 171, 4.1e5, 9e10),
        (SYNTHETIC, 0.3, 4680, 1.1e7, 7e13),
        (RADIO, 0.125, 64.5, 9.4e4, 3e9),
        (RADIO, 0.3, 255, 3.7e5, 5e10),
    ],
)
def test_the_papers_settings(setting, rho, c, bound, likely):
    """The table of reference values, to the digits given there.

    Two for Theorem 3's bound, one for Theorem 4's.
    """
    bandit, T = setting
    three, four = theorem_3(bandit, rho, T), theorem_4(bandit, rho, T)
    assert three.c_needed == pytest.approx(c, rel=2e-3)
    assert float(f"{three.printed:.1e}") == bound
    assert float(f"{four.printed:.0e}") == likely


def test_theorem_4_says_what_its_proof_needs():
    """A horizon that the statement does not mention: it applies, and is doubtful."""
    here = theorem_4(SYNTHETIC[0], 0.125, SYNTHETIC[1])
    assert here.holds
    assert here.doubts[0].short == "proof needs T >= 4.5e+09"
    later = theorem_4(SYNTHETIC[0], 0.125, 10**10)
    assert [unmet.short for unmet in later.doubts] == ["not proved"]


def test_a_printed_bound_is_for_means_that_are_not_negative():
    """It has mu* in the place of the largest gap; the repaired one has no mu*."""
    for theorem in (theorem_3, theorem_4):
        above = theorem(SYNTHETIC[0], 0.125, SYNTHETIC[1])
        below = theorem(ia.GaussianBandit(range(-20, -1, 2)), 0.125, SYNTHETIC[1])
        assert below.holds
        assert [unmet.short for unmet in below.why_not_printed] == ["a mean is negative"]
        assert below.printed == math.inf
        assert below.proved == pytest.approx(above.proved)


def test_c_must_exceed_what_the_theorem_needs():
    """And poison beyond the assumption has no c."""
    small = theorem_3(*_with(SYNTHETIC, 0.125), c=10)
    assert not small.holds
    assert small.printed == math.inf
    assert theorem_3(*_with(SYNTHETIC, 0.125), c=172).holds
    nothing = theorem_3(*_with(SYNTHETIC, 0.4))
    assert nothing.c_needed == math.inf
    assert "Assumption 2" in nothing.why_not[0].sentence
    assert nothing.printed == nothing.proved == math.inf


@pytest.mark.statistical
@pytest.mark.parametrize(
    "attack",
    [ia.OppositeUniform(rho=0.05), ia.Mimic(rho=0.05), ia.Infinite(rho=0.05)],
    ids=lambda a: type(a).__name__,
)
def test_measured_regret_stays_below_the_repaired_bounds(attack):
    """Two arms 8 sigma apart.

    The mean is below Theorem 3's, and every one of 40 trials below Theorem 4's, which
    leaves a factor to spare.
    """
    bandit, T = ia.GaussianBandit([0, 8]), 50_000
    three, four = theorem_3(bandit, 0.05, T, c=60), theorem_4(bandit, 0.05, T, c=60)
    assert three.holds
    assert three.proved < 8 * T
    assert four.proved < 8 * T
    measured = ia.simulate(
        ia.MedEpsilonGreedy(c=60),
        bandit,
        attack,
        horizon=T,
        trials=40,
        seed=12,
        checkpoints=[],
        progress=False,
    ).regret[0, :, -1]
    assert measured.mean() < three.proved
    assert measured.max() < four.proved


@FEW
@given(
    st.floats(0.0, 0.3),
    st.floats(0.0, 0.1),
    st.floats(1.5, 6),
    st.floats(0.01, 100),
    st.floats(-1e3, 1e3),
)
def test_poison_and_units(rho, more, gap, scale, shift):
    """More poison raises c and the bounds.

    Shifting changes nothing in the repaired bounds; in the printed ones it does,
    because they contain mu*.
    """
    T = 10**6
    here, worse = (theorem_3(ia.GaussianBandit([1, 1 + gap, 0]), r, T) for r in (rho, rho + more))
    assert worse.c_needed >= here.c_needed
    assert worse.printed >= here.printed
    bandit = ia.GaussianBandit([scale + shift, scale * (1 + gap) + shift, shift], sigma=scale)
    moved = theorem_3(bandit, rho, T)
    if math.isfinite(here.proved):
        assert moved.c_needed == pytest.approx(here.c_needed, rel=1e-6)
        assert moved.proved == pytest.approx(scale * here.proved, rel=1e-3)
        assert theorem_4(bandit, rho, T).proved == pytest.approx(
            scale * theorem_4(ia.GaussianBandit([1, 1 + gap, 0]), rho, T).proved, rel=1e-3
        )
        if abs(shift) > 1:
            assert moved.printed != pytest.approx(scale * here.printed, rel=1e-9)


@FEW
@given(st.floats(0.01, 50), st.integers(1, 50), st.floats(0.05, 5), st.integers(0, 2000))
def test_power_sums_bound_the_sums(factor, start, power, more):
    """From above, and not by more than a few terms."""
    exact = sum(min(1.0, factor * (start / t) ** power) for t in range(start, start + more + 1))
    bound = power_sum(factor, start, power, start + more)
    assert exact <= bound * (1 + 1e-12)
    assert bound <= exact + 2
    if power > 1.5:
        assert sum(
            factor * (start / t) ** power for t in range(start + 1, start + 3000)
        ) <= power_tail(factor, start, power, start)


def _with(setting, rho):
    return setting[0], rho, setting[1]
