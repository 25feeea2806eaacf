"""The sampled median against a sorted list that is thinned the same way."""

from bisect import insort

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ironarm as ia
from ironarm.agent.replaced import _sample
from ironarm.estimators.sampled_median import LIMIT
from tests.estimators.feed import Fed
from tests.naive import lower_median

HOSTILE = {
    "normal": lambda g, n: g.normal(size=n),
    "equal": lambda g, n: np.full(n, 3.0),
    "rising": lambda g, n: np.arange(n, dtype=float),
    "falling": lambda g, n: -np.arange(n, dtype=float),
    "few values": lambda g, n: g.integers(0, 3, n).astype(float),
    "infinite": lambda g, n: np.where(g.random(n) < 0.3, -np.inf, g.normal(size=n)),
    "in and out": lambda g, n: np.arange(n) * (-1.0) ** np.arange(n),
}


class Slow:
    """Holds a sorted list; every second one goes when it is full."""

    def __init__(self):
        self.held, self.every, self.seen = [], 1, 0

    def add(self, x):
        self.seen += 1
        if self.seen % self.every == 0:
            insort(self.held, x)
        if len(self.held) == LIMIT:
            self.held, self.every = self.held[1::2], 2 * self.every
        return lower_median(self.held)


@settings(max_examples=10, deadline=None)
@given(kind=st.sampled_from(sorted(HOSTILE)), seed=st.integers(0, 1000))
def test_it_is_the_median_of_the_sample(kind, seed):
    """Before the limit, and long after it, in whatever order the rewards come."""
    values = HOSTILE[kind](np.random.default_rng(seed), 3 * LIMIT + 77)
    fed, slow = Fed(ia.CoherentIMED()), Slow()
    for n, x in enumerate(values.tolist(), start=1):
        found, expected = fed.add(x), slow.add(x)
        if n % 997 == 0 or n < 50 or abs(n - LIMIT) < 3:
            assert found == expected
    held = fed.state.machine.estimator.samples(fed.state.view, 0)
    assert sorted(held.tolist()) == slow.held
    assert len(held) < LIMIT
    assert len(held) + fed.state.view.skipped[0] == len(values)


def test_thinning_does_not_move_the_median_of_many():
    """After 100,000 rewards it is within 5 standard errors of the exact one.

    A sample of 8,192 has one of 0.0138 sigma (false alarm below 1e-6).
    """
    values = np.random.default_rng(5).normal(size=100_000)
    fed = Fed(ia.CoherentIMED())
    for x in values.tolist():
        found = fed.add(x)
    assert abs(found - np.median(values)) < 5 * 0.0138


@pytest.mark.parametrize("n", [10, LIMIT - 1, LIMIT, 5 * LIMIT])
def test_an_old_agents_rewards_fit(n):
    """What is taken over from a policy that held all rewards is what would be held."""
    rewards = np.random.default_rng(n).normal(size=n).tolist()
    held, mask = _sample(rewards)
    assert len(held) < LIMIT
    assert set(held) <= set(rewards)
    assert len(held) * (mask + 1) >= n - 2 * mask
