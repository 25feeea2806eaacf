"""A cell of the matrix is its parameters and one line, for users too."""

from dataclasses import dataclass

import numpy as np
import pytest

import ironarm as ia
from ironarm.extend import (
    DecayingGreedy,
    IndexPolicy,
    LowerMedian,
    RangedPolicy,
    TrimmedMean,
    hot,
    integer,
    share_of_range,
)

PAPER = ia.GaussianBandit(means=range(2, 21, 2))
ATTACK = ia.OppositeUniform(rho=0.2, scale=1800)


@dataclass(frozen=True)
class MedianUCB(IndexPolicy):
    """RUCB again."""

    omega: float = 4.0
    estimator = LowerMedian


@dataclass(frozen=True)
class TrimmedGreedy(DecayingGreedy):
    """TrimmedEpsilonGreedy again."""

    alpha: float = 0.25
    c: float = 2.0
    estimator = TrimmedMean


@dataclass(frozen=True)
class MeanUCB(IndexPolicy):
    """UCB again, by its coefficient."""

    scale: float = 1.0

    @property
    def coefficient(self):
        """That of alpha = 2.1."""
        return 4.2 * self.scale**2


@pytest.mark.parametrize(
    ("mine", "ours"),
    [
        (MedianUCB(), ia.RUCB()),
        (TrimmedGreedy(), ia.TrimmedEpsilonGreedy(alpha=0.25, c=2)),
        (MeanUCB(), ia.UCB()),
    ],
    ids=lambda policy: policy.label,
)
def test_a_few_lines_make_the_built_in_policy(mine, ours):
    """The same regret, bit for bit."""
    result = ia.simulate(
        [mine, ours], PAPER, ATTACK, horizon=2000, trials=3, seed=5, progress=False
    )
    assert np.array_equal(result.regret[0], result.regret[1])


def test_a_greedy_policy_checks_its_c():
    """Also a user's own."""
    with pytest.raises(ia.InvalidInput, match="c must be above 0"):
        TrimmedGreedy(c=0)


@dataclass(frozen=True)
class Uniform(RangedPolicy):
    """Pulls at random, and sums the shares of the range."""

    reward_range: tuple[float, float] = (0.0, 1.0)

    @staticmethod
    @hot
    def choose(s, t, g):
        s.chance[0] = 1.0 / s.arms
        return integer(g, s.arms)

    @staticmethod
    @hot
    def update(s, a, x):
        s.estimate[a] += share_of_range(s, x) / s.chance[0]


def test_a_ranged_policy_maps_clips_and_mirrors_rewards():
    """An agent that minimises feeds negated rewards, and the range follows."""
    policy = Uniform(reward_range=(10, 20))
    assert policy.mirrored() == Uniform(reward_range=(-20, -10))
    agent = ia.Agent(policy, arms=["only"], seed=1)
    for reward in (10.0, 15.0, 20.0, 1e9, -np.inf):
        agent.update(agent.select(), reward)
    assert agent.estimates == {"only": 0 + 0.5 + 1 + 1 + 0}
    with pytest.raises(ia.InvalidInput, match="reward_range"):
        Uniform(reward_range=(1, 0))
