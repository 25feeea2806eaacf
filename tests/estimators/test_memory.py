"""Memory grows with the rewards held, and with nothing else."""

import pytest

import ironarm as ia
from ironarm.engine.state import State
from tests.estimators.feed import SMALL, Fed

HOLDERS = pytest.mark.parametrize(
    "policy",
    [
        ia.RUCB(),
        ia.RUCB(median="upper"),
        ia.TrimmedUCB(alpha=0.125),
        ia.TrimmedUCB(alpha=0.45),
        ia.CatoniUCB(),
        ia.policies.CRUCB(alpha=0.2, mean="shorth"),
        ia.policies.HuberUCB(epsilon=0),
        ia.policies.MedianOfMeansUCB(),
        ia.policies.TruncatedMeanUCB(u=1),
    ],
    ids=lambda policy: policy.label,
)
REWARDS = 2_000 if SMALL else 200_000
FIXED = 4_096  # bytes for one arm that do not depend on its rewards: windows, sums, models


def held(state):
    """Bytes that a state holds."""
    return state.record.words.nbytes + state.view.pool.nbytes


@HOLDERS
def test_bytes_per_reward(policy):
    """A live state of one arm holds at most 24 bytes per reward at 200,000 rewards.

    At no time before does it hold more than that and 4 KB.
    """
    fed = Fed(policy, live=True)
    for n in range(1, REWARDS + 1):
        fed.add(n * 0.6180339887498949 % 1.0)
        if n % 100 == 0:
            assert held(fed.state) <= 24 * n + FIXED
    assert held(fed.state) <= 24 * REWARDS or SMALL


@HOLDERS
@pytest.mark.parametrize("live", [True, False])
def test_nothing_is_held_for_the_horizon(policy, live):
    """A fresh state for a billion rounds is as small as one for ten."""
    states = [State(policy, 5, horizon, live=live) for horizon in (10, 10**9)]
    assert held(states[0]) == held(states[1])
    assert all(state.view.pool.nbytes == 0 for state in states)
    assert held(states[0]) <= 5 * FIXED


@pytest.mark.parametrize(
    "policy",
    [
        ia.UCB(),
        ia.EpsilonGreedy(),
        ia.EXP3(gamma=0.1),
        ia.policies.ThompsonGaussian(),
        ia.TsallisINF(),
        ia.policies.EXP3PlusPlus(),
        ia.policies.BARBAR(horizon=100),
        ia.policies.SlidingMedUCB(window=60),
        ia.policies.SlidingWindowUCB(window=60),
        ia.policies.DiscountedUCB(discount=0.97),
        ia.policies.GLRKLUCB(delta=0.1, exploration=0.1),
        ia.policies.MUCB(window=8, threshold=2, exploration=0.1),
    ],
    ids=lambda policy: policy.label,
)
def test_mean_policies_hold_no_rewards(policy):
    """Policies that need only sums, weights or a window do not grow at all."""
    fed = Fed(policy)
    before = held(fed.state)
    for n in range(1000):
        fed.add(float(n))
    assert before == held(fed.state)
