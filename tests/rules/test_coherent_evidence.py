"""The evidence of `CoherentIMED`: its parts against slow ones, its tail simulated."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import ironarm as ia
from ironarm.attacks import ATTACKS, make
from ironarm.estimators.structures.window import W
from ironarm.rules.coherent_evidence import binomial_evidence, fullest, repeated, rounded_to
from tests.estimators.feed import many
from tests.naive import TWINS, play
from tests.naive.base import Naive
from tests.naive.coherent import CoherentIMED, most_within
from tests.naive.coherent import repeated as slowly_repeated

TIES = st.lists(
    st.integers(-6, 6).map(float) | st.floats(-5, 5) | st.sampled_from([math.inf, -math.inf]),
    max_size=W,
)
# with other parameters than the defaults
PARAMETERS = {
    "OppositeUniform": {"scale": 1800},
    "Constant": {"value": 100},
    "Cauchy": {"up": 22, "down": 0},
    "FakeChange": {"quiet": 500},
}
# a Jammer needs a radio's arms, and HideChange does nothing where nothing changes
WITHIN = [ia.NoAttack()] + [
    make(name, {"rho": 0.3, **PARAMETERS.get(name, {})})
    for name, attack in ATTACKS.items()
    if attack.within_model and name not in ("NoAttack", "Jammer", "HideChange")
]


def state(values):
    """Return a state whose first arm holds these rewards in order, in its window."""
    window = np.zeros(W)
    window[: len(values)] = sorted(values)
    return SimpleNamespace(
        slot_size=np.zeros(2, int),
        slot_start=np.zeros(2, int),
        inside=np.array([len(values)]),
        window=window,
        pool=np.zeros(1),
    )


@many
@given(n=st.integers(1, 5000), share=st.floats(0, 1), q=st.floats(0.001, 0.999))
def test_the_binomial_tail(n, share, q):
    """It is the sum of the probabilities; for n > 4000 a little smaller."""
    k = int(share * n)
    found = binomial_evidence(k, n, q)
    exact = -float(special.logsumexp(stats.binom.logpmf(np.arange(k + 1), n, q)))
    if k >= n * q:
        assert found == 0
    elif n <= 4000:
        assert found == pytest.approx(exact, rel=1e-9, abs=1e-9)
    else:
        assert exact - 5 < found <= exact * (1 + 1e-9) + 1e-9


@many
@given(values=TIES, width=st.floats(0, 12), first=st.integers(0, W), once=st.integers(0, 1))
def test_the_fullest_window(values, width, first, once):
    """It is what trying every place finds, equal values counted once or each."""
    s = state(values)
    ordered = sorted(values)
    lowest = ordered.count(-math.inf)
    finite = len(ordered) - ordered.count(math.inf)
    first = min(max(first, lowest), finite)
    left = np.array(ordered[first:finite])
    if once:
        left = np.unique(left)
    assert fullest(s, 0, first, finite, width, once) == most_within(left, width, -math.inf)


@many
@given(values=st.lists(st.integers(0, 9).map(float) | st.floats(0, 9), min_size=16, max_size=W))
def test_rounding_shows_in_the_middle_half(values):
    """Of its values, more than one and more than one in 50 must tie, or be few.

    The unit is then the smallest distance between them.
    """
    n = len(values)
    middle = sorted(values)[n // 4 : n - n // 4]
    different, counts = np.unique(middle, return_counts=True)
    tied = sum(count > 1 for count in counts)
    found = rounded_to(state(values), 0, n)
    if tied > 1 + 0.02 * len(different) or 4 * len(different) < len(middle):
        assert found == min(np.diff(different), default=1e-200)
    else:
        assert found == 0


@many
@given(
    value=st.sampled_from([-math.inf, -1e6, 0.0, 5.0, math.inf]),
    times=st.integers(0, W),
    others=TIES,
)
def test_a_value_that_is_repeated(value, times, others):
    """It is found wherever it lies among the others, and only if it is common."""
    values = ([value] * times + others)[:W]
    if values:
        assert repeated(state(values), 0, len(values)) == slowly_repeated(values)


def test_how_often_a_value_must_be_repeated():
    """Fourteen times of fourteen; half of many is enough, two fifths never are."""
    for n, times, expected in ((13, 13, 0), (14, 14, 14), (2000, 1000, 1000), (2000, 800, 0)):
        values = [7.0] * times + [float(k) for k in range(100, 100 + n - times)]
        assert slowly_repeated(values) == expected
        if n <= W:
            assert repeated(state(values), 0, n) == expected


class AlwaysBest(Naive):
    """Pulls the best arm, which is the last one here."""

    location = staticmethod(lambda values: values[0])

    def select(self, t):
        return self.arms - 1


class Always:
    """Stands for a policy that always pulls the best arm."""

    parameters = {}


@pytest.mark.parametrize("n", [6, 12, 30])
@pytest.mark.parametrize("attack", WITHIN, ids=lambda attack: type(attack).__name__)
def test_the_tail_of_the_evidence_against_the_best_arm(attack, n, monkeypatch):
    """P(evidence >= z) <= 7 exp(b - z), whatever the attack shows.

    n is fixed, sigma is known, the share allowed for is the true one, and x is the
    arm's mean. Each of 15 comparisons has a false alarm below 1e-7 if the bound is just
    met.
    """
    monkeypatch.setitem(TWINS, "Always", AlwaysBest)
    samples, bonus = 6000 // n, 1.0
    bandit = ia.GaussianBandit(means=range(2, 21, 2))
    _, seen = play(Always(), bandit, attack, samples * n, 77, 0)
    twin = CoherentIMED(1, None, None)
    twin.sigma, twin.once = 1.0, True
    found = []
    for i in range(samples):
        twin.rewards[0] = sorted(seen[i * n : (i + 1) * n])
        twin.count(0)
        found.append(twin.evidence(0, 20.0, max(attack.rho, 0.15), bonus))
    for z in (3, 4, 5, 6, 7):
        bound = min(1.0, 7 * math.exp(bonus - z))
        assert np.sum(np.array(found) >= z) <= stats.binom.isf(1e-7, samples, bound)
