"""The search for s and xi: near the optimum, and not moved by the last bits."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ironarm as ia
from ironarm.theory import theorem_1, theorem_2
from ironarm.theory.assumptions import density_floor, separation
from ironarm.theory.ucb_parameters import Choices, lowest

PAPER = ia.GaussianBandit(range(2, 21, 2))
RADIO = ia.GaussianBandit([41, 37, 35, 31, 28])


@given(st.integers(0, 2000), st.integers(1, 500), st.floats(-0.4, 0.4))
@example(0, 7, 0.0)
@example(2000, 7, 0.0)
def test_the_lowest_of_a_valley_is_found(bottom, step, off):
    """Against a look at every number."""
    at = np.arange(2001)
    value = np.abs(at - bottom - off) ** 1.5
    assert lowest(lambda i: value[i], 0, 2000, step)[0] == int(np.argmin(value))


@pytest.mark.parametrize("bandit", [PAPER, RADIO], ids=["synthetic", "radio"])
@pytest.mark.parametrize("rho", [0.125, 0.3])
def test_the_least_b_is_the_least_of_a_fine_grid(bandit, rho):
    """Written straight from the theorem; the grid is coarser than the search."""
    room = separation(bandit)
    found = Choices(ia.theory.Arms.of(bandit), rho, room.s_max, 2.0).least_b.b
    shares = rho + (room.s_max - rho) * np.linspace(0.01, 0.999, 400)
    widths = np.geomspace(1e-2, 5, 1500)
    grid = min(
        np.maximum(2 / density_floor(bandit, s, widths) ** 2 / widths**2, 2 / (s - rho) ** 2).min()
        for s in shares
    )
    assert found <= grid * (1 + 1e-6)
    assert found >= grid * 0.99


@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_move_the_choice(monkeypatch, seed):
    """Other processors round densities and logarithms otherwise in the last bits.

    So do these: every density is off by up to eight units in the last place. The
    choice is the same point of the lattice, and the bound the same to twelve digits.
    """
    exact = [theorem_1(PAPER, 0.125, 10**5), theorem_2(PAPER, 0.125, 10**5, printed=False)]
    rng = np.random.default_rng(seed)

    def jittered(*arguments):
        floor = np.asarray(density_floor(*arguments))
        return floor * (1 + rng.integers(-8, 9, floor.shape) * math.ulp(1.0))

    monkeypatch.setattr("ironarm.theory.ucb_parameters.density_floor", jittered)
    jitter = [theorem_1(PAPER, 0.125, 10**5), theorem_2(PAPER, 0.125, 10**5, printed=False)]
    for here, there in zip(exact, jitter, strict=True):
        assert (here.s, here.xi, here.block) == (there.s, there.xi, there.block)
        assert here.b == pytest.approx(there.b, rel=1e-12)
        assert here.proved == pytest.approx(there.proved, rel=1e-12)
