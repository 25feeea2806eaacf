"""Theorems 1 and 2.

The numbers for the paper's settings, the bounds against simulation, and what changes
with poison and units.
"""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ironarm as ia
from ironarm.policies.med_e_ucb import smallest_block
from ironarm.theory import quantile_gaps, theorem_1, theorem_2
from ironarm.theory.theorems_ucb import THEOREM_2_PRINTED, least_b

SYNTHETIC = ia.GaussianBandit(range(2, 21, 2)), 100_000
RADIO = ia.GaussianBandit([41, 37, 35, 31, 28]), 2000
WIDE = ia.GaussianBandit([0, 8])
FEW = settings(max_examples=8, derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("setting", "rho", "s", "xi", "omega", "b", "bound", "likely", "block"),
    [
        (SYNTHETIC, 0.125, 0.238, 0.663, 68.3, 155.5, 1.88e5, 3.14e5, 1.5e4),
        (SYNTHETIC, 0.3, 0.332, 0.146, 42.7, 2008, 2.84e6, 3.38e6, 2.5e5),
        (RADIO, 0.125, 0.239, 0.693, 74.1, 154.5, 4.49e4, 7.4e4, 6.8e3),
        (RADIO, 0.3, 0.359, 0.559, 181, 580, 1.69e5, 2.6e5, 3.0e4),
    ],
)
def test_the_papers_settings(setting, rho, s, xi, omega, b, bound, likely, block):
    """The table of reference values, to the digits given there.

    A bound is a number only where the horizon is longer than a block.
    """
    one, two = theorem_1(*_with(setting, rho)), theorem_2(*_with(setting, rho))
    assert one.s == pytest.approx(s, abs=6e-4)
    assert one.xi == pytest.approx(xi, abs=6e-4)
    assert one.omega == pytest.approx(omega, rel=2e-3)
    assert one.b == pytest.approx(b, rel=4e-4)
    assert one.block == pytest.approx(block, rel=2e-2)
    assert one.holds == two.holds == (one.block < setting[1])
    assert _formula(one, setting, 2 + 2 * math.pi**2 / 3) == pytest.approx(bound, rel=3e-3)
    K = setting[0].arms
    tail = math.e * (two.b * K / 0.1) ** 0.25 + 2 * K / 0.05 + 3 + math.pi**2 / 3
    assert _formula(two, setting, tail) == pytest.approx(likely, rel=6e-3)
    for found, expected in ((one, bound), (two, likely)):
        if found.holds:
            assert found.printed == pytest.approx(expected, rel=6e-3)
        else:
            assert found.printed == found.proved == math.inf
            assert [unmet.short for unmet in found.why_not] == ["T <= G"]


@pytest.mark.parametrize("T", [139_000, 150_000, 200_000, 10**6])
def test_the_smallest_bound_is_among_blocks_shorter_than_the_horizon(T):
    """At rho = 0.3 the best b alone would need blocks of 249,530 rounds.

    Smaller ones still apply from T = 138,520 on, with a worse bound.
    """
    bandit = SYNTHETIC[0]
    for found in (
        theorem_1(bandit, 0.3, T),
        theorem_2(bandit, 0.3, T),
        theorem_2(bandit, 0.3, T, printed=False),
    ):
        assert found.holds
        assert found.block < T
        assert math.isfinite(found.printed)
        assert found.b == pytest.approx(max(found.omega / found.xi**2, 2 / (found.s - 0.3) ** 2))


@pytest.mark.parametrize("setting", [SYNTHETIC, RADIO], ids=["synthetic", "radio"])
@pytest.mark.parametrize("rho", [0.125, 0.3])
def test_a_theorem_applies_exactly_where_the_shortest_block_is_shorter_than_the_horizon(
    setting, rho
):
    """With every b that it allows: one round more or less makes the difference."""
    bandit = setting[0]
    for theorem, factor in ((theorem_1, 2.0), (theorem_2, THEOREM_2_PRINTED)):
        block = smallest_block(bandit.arms, least_b(bandit, rho, factor), 2)
        assert theorem(bandit, rho, block + 1).holds
        assert not theorem(bandit, rho, block).holds
        assert theorem(bandit, rho, block).printed == math.inf


def test_the_bound_that_is_proved_is_below_the_printed_one():
    """b log(T + G) < b log(2T) for T > G, and the union bound is below Theorem 2's."""
    one = theorem_1(SYNTHETIC[0], 0.125, SYNTHETIC[1])
    assert one.proved < one.printed
    assert (
        theorem_2(*_with(SYNTHETIC, 0.125), printed=False).proved
        < theorem_2(*_with(SYNTHETIC, 0.125)).printed
    )


def test_given_parameters_are_checked_with_the_best_constants():
    """The required parameters pass, smaller ones do not; failures have a sentence."""
    bandit, T = SYNTHETIC
    asked = theorem_1(bandit, 0.125, T)
    b, omega = asked.b * 1.001, asked.omega * 1.001
    assert theorem_1(bandit, 0.125, T, b=b, omega=omega, block=15_000).holds
    assert (
        "omega=30 is too small"
        in theorem_1(bandit, 0.125, T, b=b, omega=30, block=15_000).why_not[0].sentence
    )
    (reason,) = theorem_1(bandit, 0.125, T, b=30, omega=omega).why_not
    assert "b=30 is too small" in reason.sentence
    assert (
        "block=2000 is too small"
        in theorem_1(bandit, 0.125, T, b=b, omega=omega, block=2000).why_not[0].sentence
    )
    short = theorem_1(bandit, 0.125, 10_000, b=b, omega=omega, block=15_000)
    assert "must be longer than a block" in short.why_not[0].sentence
    assert short.printed == short.proved == math.inf
    assert "Assumption 1 needs rho below" in theorem_1(bandit, 0.4, T).why_not[0].sentence
    assert least_b(bandit, 0.4) == math.inf
    assert "density" in theorem_1(ia.BernoulliBandit([0.9, 0.1]), 0.1, T).why_not[0].sentence


def test_laws_that_are_not_normal():
    """Gamma and lognormal laws.

    The bound is finite, and its parameters satisfy the theorem's conditions.
    """
    bandit = ia.ScipyBandit([stats.gamma(2), stats.gamma(9), stats.lognorm(0.3, scale=3)])
    g = theorem_1(bandit, 0.05, 10**6)
    assert g.holds
    assert g.omega == pytest.approx(2 / g.l**2)
    assert g.b == pytest.approx(max(g.omega / g.xi**2, 2 / (g.s - 0.05) ** 2))


@pytest.mark.statistical
@pytest.mark.parametrize(
    "attack",
    [ia.OppositeUniform(rho=0.05), ia.Mimic(rho=0.05), ia.Infinite(rho=0.05)],
    ids=lambda a: type(a).__name__,
)
def test_measured_regret_stays_below_the_bounds(attack):
    """Two arms 8 sigma apart: the theorems apply at T = 20,000 and are not vacuous.

    The bounds hold with probability 1, or 1 - delta; they leave a factor to spare.
    """
    T, delta = 20_000, 0.05
    one, two = theorem_1(WIDE, 0.05, T), theorem_2(WIDE, 0.05, T, delta, printed=False)
    for g in (one, two):
        assert g.holds
        assert g.proved < 8 * T
        policy = ia.MedEUCB(b=g.b * 1.0001, omega=g.omega * 1.0001, block=int(g.block) + 5)
        measured = ia.simulate(
            policy, WIDE, attack, horizon=T, trials=40, seed=11, checkpoints=[], progress=False
        ).regret[0, :, -1]
        # a bound with probability 0.95 fails in 7 or more of 40 trials once in 200
        # seeds, if it is tight; the seed is fixed
        assert (measured > g.proved).sum() <= (0 if g is one else 6)
        assert measured.mean() < one.proved


@FEW
@given(
    st.floats(0.0, 0.3),
    st.floats(0.0, 0.1),
    st.floats(1.5, 6),
    st.floats(0.01, 100),
    st.floats(-1e3, 1e3),
)
def test_poison_and_units(rho, more, gap, scale, shift):
    """More poison raises the bound and b; scaling all laws scales the bound.

    Shifting changes nothing.
    """
    T = 10**6
    here = theorem_1(ia.GaussianBandit([0, gap, -1]), rho, T)
    worse = theorem_1(ia.GaussianBandit([0, gap, -1]), rho + more, T)
    assert worse.printed >= here.printed * (1 - 1e-6)
    moved = theorem_1(
        ia.GaussianBandit([shift, shift + scale * gap, shift - scale], sigma=scale), rho, T
    )
    if math.isfinite(here.printed):
        assert moved.printed == pytest.approx(scale * here.printed, rel=1e-5)
        assert moved.b == pytest.approx(here.b, rel=1e-2)
        assert moved.omega == pytest.approx(scale**2 * here.omega, rel=1e-2)


def _formula(found, setting, tail):
    """Return the paper's bound with the constants found, also where T <= G."""
    bandit, T = setting
    gaps = bandit.gaps[bandit.gaps > 0]
    narrowed = quantile_gaps(bandit, found.s)
    return float(
        (
            gaps * (found.b * math.log(2 * T) + 4 * found.omega * math.log(T) / narrowed**2 + tail)
        ).sum()
    )


def _with(setting, rho):
    return setting[0], rho, setting[1]
