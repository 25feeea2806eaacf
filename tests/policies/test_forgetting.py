"""Policies for arms that change: against their twins, and against SMPyBandits.

SMPyBandits is Besson's library of bandit policies, which has been written apart from
this one. What it answers was recorded with its commit 012fc13a9d82: choices of its
`SWUCB`, indices of its `DiscountedUCB`, and when the tests of its `Monitored_UCB` and
`GLR_UCB` first find a change.
"""

import os

import numpy as np
import pytest

import ironarm as ia
from ironarm.engine.state import State
from tests.estimators.feed import Fed
from tests.naive import twin_of

SMALL = os.environ.get("NUMBA_DISABLE_JIT") == "1"
POLICIES = [
    ia.RestartingIMED(),
    ia.RestartingIMED(probes=0.1, alarm_rate=1e-3),
    ia.RestartingIMED(restart="arm", alarm_rate=1e-3),
    ia.policies.SlidingMedUCB(window=150, b=1),
    ia.policies.SlidingWindowUCB(window=150, reward_range=(-1, 8)),
    ia.policies.DiscountedUCB(discount=0.99, reward_range=(-1, 8)),
    ia.policies.GLRKLUCB(delta=0.05, exploration=0.1, step=2, reward_range=(-1, 8)),
    ia.policies.GLRKLUCB(restart="global", delta=0.05, exploration=0, reward_range=(-1, 8)),
    ia.policies.MUCB(window=30, threshold=3, exploration=0.1, reward_range=(-1, 8)),
    ia.policies.MUCB(window=30, threshold=3, exploration=0, reward_range=(-1, 8)),
]


@pytest.mark.parametrize("attacked", [0.0, 0.2])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.label)
def test_twins_when_arms_change(policy, attacked):
    """Over two changes of the best arm every choice is the twin's."""
    rounds = 300 if SMALL else 1200
    g = np.random.default_rng(8)
    rows = np.repeat([[0.0, 2.0, 6.0], [6.0, 0.0, 2.0], [1.0, 7.0, 3.0]], rounds // 3, axis=0)
    rewards = rows + g.normal(size=rows.shape)
    far = g.random(rounds) < attacked
    rewards[far] = g.uniform(-900, 900, size=(far.sum(), 3))
    state = State(policy, 3, rounds)
    twin = twin_of(policy, 3, rounds, state.view.stream)
    for t in range(1, rounds + 1):
        arm = state.select()
        assert twin.select(t) == arm, f"round {t}"
        x = float(rewards[t - 1, arm])
        state.observe(arm, x)
        twin.update(arm, x)
    if policy == POLICIES[0] and not SMALL:
        assert state.view.restarts[0] == 2  # both changes, and nothing else


def test_sw_ucb_chooses_what_smpybandits_chooses():
    """120 rounds with a window of 25, and a change in the middle."""
    g = np.random.default_rng(2011)
    table = np.round(g.random((120, 3)) * [0.6, 0.8, 1.0], 3)
    table[60:] = table[60:][:, ::-1]
    expected = (
        "012100120111201002222001122222101001222210222222021222222210"
        "010002100100220010101022201101021011100220001000220012010110"
    )
    state = State(ia.policies.SlidingWindowUCB(window=25, xi=0.6), 3)
    chosen = ""
    for row in table:
        arm = state.select()
        state.observe(arm, float(row[arm]))
        chosen += str(arm)
    assert chosen == expected


def test_d_ucb_has_the_indices_of_smpybandits():
    """Its alpha is eight times the paper's xi: 2 sqrt(xi log n / N)."""
    g = np.random.default_rng(2011)
    table = np.round(g.random((120, 3)) * [0.6, 0.8, 1.0], 3)
    arms = g.integers(0, 3, 60).tolist()
    assert arms[:8] == [1, 1, 1, 0, 0, 0, 2, 0]
    fed = Fed(ia.policies.DiscountedUCB(discount=0.95, xi=0.6), arms=3)
    for t, arm in enumerate(arms):
        fed.add(float(table[t, arm]), arm)
    view = fed.state.view
    weights = np.array([6.937787163631982, 7.627100353644075, 4.513716502984888])
    np.testing.assert_allclose(view.weight, weights, rtol=1e-12)
    means = view.weighted / view.weight
    indices = means + 2 * np.sqrt(0.6 * np.log(weights.sum()) / weights)
    expected = [1.3127999481704329, 1.3655543396354661, 1.9589391157171874]
    np.testing.assert_allclose(indices, expected, rtol=1e-12)
    assert fed.state.select() == 2


BITS = (
    "00001001100111001110100000000000001000100000010000110111111101110111111001111101"
    "1111111111111111111111011101111011101111111111011101011100111111111101"
)


def first_restart(policy, values):
    """Return after how many rewards of one arm the policy first forgets."""
    fed = Fed(policy)
    for n, x in enumerate(values, start=1):
        fed.add(float(x))
        if fed.state.view.before[0] > 0:
            return n
    return None


def test_m_ucb_finds_a_change_when_smpybandits_does():
    """A window of 20 and a threshold of 4."""
    policy = ia.policies.MUCB(window=20, threshold=4, exploration=0.1)
    assert first_restart(policy, BITS) == 29


@pytest.mark.parametrize("kind", ["bits", "beta"])
def test_glr_finds_a_change_when_smpybandits_does(kind):
    """Every split is tried at every reward, with delta = 0.01."""
    values = [float(bit) for bit in BITS]
    if kind == "beta":
        g = np.random.default_rng(2011)
        g.random((120, 3)), g.integers(0, 3, 60), g.random(50), g.random(100)
        values = np.round(g.beta(2, 5, size=200), 3)
        values[120:] = np.round(1 - values[120:], 3)
    policy = ia.policies.GLRKLUCB(step=1, delta=0.01, exploration=0.1)
    assert first_restart(policy, values) == {"bits": 82, "beta": 160}[kind]


def test_glr_holds_a_bounded_number_of_splits():
    """After 30,000 rewards without a change it holds fewer than 512."""
    fed = Fed(ia.policies.GLRKLUCB(delta=1e-6, exploration=0.1))
    for x in np.random.default_rng(1).random(300 if SMALL else 30_000).tolist():
        fed.add(x)
    view = fed.state.view
    assert view.before[0] == 0
    assert view.splits[0] < 512
    assert view.spacing[0] == (10 if SMALL else 80)
    last = view.spacing[0] * view.splits[0]
    assert view.rewards[0] - last < view.spacing[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ia.policies.SlidingMedUCB(window=1),
        lambda: ia.policies.SlidingWindowUCB(window=0),
        lambda: ia.policies.DiscountedUCB(discount=1),
        lambda: ia.policies.MUCB(window=7),
        lambda: ia.policies.GLRKLUCB(restart="both"),
        lambda: ia.RestartingIMED(probes=1.5),
        lambda: ia.RestartingIMED(restart="none"),
        lambda: ia.Agent(ia.policies.MUCB(), arms=2),
    ],
)
def test_wrong_parameters_are_refused(make):
    """With a sentence."""
    with pytest.raises(ia.InvalidInput, match=r"must|needs to know how long"):
        make()


@pytest.mark.parametrize("probes", [0.03, 0.4, 0.7])
def test_probes_are_the_share_of_rounds_that_was_asked_for(probes):
    """The worst arm, which is hardly pulled otherwise, gets a third of them."""
    agent, rounds = ia.Agent(ia.RestartingIMED(probes=probes), arms=3, seed=1), 300
    noise = np.random.default_rng(1).normal(size=rounds)
    for x in noise.tolist():
        arm = agent.select()
        agent.update(arm, 100.0 * arm + x)
    assert agent.rewards[0] == pytest.approx(rounds * probes / 3, abs=5)
