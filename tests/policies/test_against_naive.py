"""Every policy makes the choices of its naive twin, live and in a simulation."""

import os
from functools import lru_cache
from itertools import cycle, islice

import numpy as np
import pytest
from scipy.optimize import brentq

import ironarm as ia
from ironarm.engine.loop import RECOUNT
from ironarm.engine.state import State
from ironarm.engine.streams import streams
from ironarm.policies import POLICIES as KNOWN
from ironarm.policies import policy_from_text
from ironarm.simulation import trial
from tests.every_policy import TO_DO, left_out, not_among
from tests.naive import TWINS, play, twin_of

SMALL = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SEED, TRIAL = 20, 1  # the second trial, which inherits the memory of the first

# without the JIT, NumPy's scalars warn where the compiled code's integers wrap round
# and its infinities meet, as they are meant to
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")

BANDITS = {
    "paper": ia.GaussianBandit(means=range(2, 21, 2)),
    "hard": ia.GaussianBandit(means=[0.0, 0.1, 0.2], sigma=[1.0, 0.5, 1.0]),
    "ties": ia.ReplayBandit(
        [
            (arm, reward)
            for arm, rewards in enumerate([[0, 1, 1, 2], [0, 2], [1], [0, 1, 2, 2]])
            for reward in rewards
        ]
    ),
    "repeats": ia.ReplayBandit(  # the best arm and the worst always pay the same
        [(0, 3.0), (1, -1e6)]
        + [
            (arm, x)
            for arm in (2, 3, 4)
            for x in np.random.default_rng(arm).normal(arm / 2, size=500)
        ]
    ),
    "bernoulli": ia.BernoulliBandit([0.5, 0.4, 0.6, 0.6, 0.0]),
    "hundred": ia.GaussianBandit(means=np.linspace(0, 3, 100)),
    "three hundred": ia.GaussianBandit(means=np.linspace(3, 0, 300), sigma=0.5),
    "many ties": ia.BernoulliBandit([0.5] * 50 + [0.6] * 30),
}
ATTACKS = {
    "none": ia.NoAttack(),
    "uniform": ia.OppositeUniform(rho=0.3, scale=1800),
    "infinite": ia.Infinite(rho=0.125),
    "often infinite": ia.Infinite(rho=0.3),
    "chaser": ia.attacks.MedianChaser(rho=0.3),
    "constant": ia.Constant(rho=0.125, value=3),
    "mimic": ia.Mimic(rho=0.3),
    "overtake": ia.attacks.Overtake(rho=0.3),
    "clicks": ia.attacks.FakeClicks(rho=0.1),
}
POLICIES = [
    ia.UCB(),
    ia.UCB(alpha=0.5, sigma=2),
    ia.RUCB(),
    ia.RUCB(omega=1, median="upper"),
    ia.TrimmedUCB(alpha=0),
    ia.TrimmedUCB(alpha=0.125),
    ia.TrimmedUCB(alpha=0.3, omega=1),
    ia.policies.CRUCB(alpha=0.125),
    ia.policies.CRUCB(alpha=0.3, sigma=0.2),
    ia.policies.CRUCB(alpha=0.125, mean="shorth"),
    ia.policies.CRUCB(alpha=0.4, sigma=0.1, mean="shorth"),
    ia.MedEUCB(),
    ia.MedEUCB(b=1, block=40),
    ia.MedEUCB(b=0.5, omega=0.5, block=30),
    ia.MedEpsilonGreedy(c=5),
    ia.MedEpsilonGreedy(c=0.3),
    ia.EpsilonGreedy(c=2),
    ia.EpsilonGreedy(c=0.05),
    ia.TrimmedEpsilonGreedy(alpha=0.125, c=2),
    ia.TrimmedEpsilonGreedy(alpha=0.3, c=0.5),
    ia.EXP3(),
    ia.EXP3(horizon=200, reward_range=(-1, 22)),
    ia.EXP3(gamma=0.3, reward_range=(0, 2)),
    ia.policies.ThompsonGaussian(),
    ia.policies.ThompsonGaussian(sigma=0.3),
    ia.KLUCB(),
    ia.KLUCB(c=3, reward_range=(-1, 22)),
    ia.policies.BernoulliIMED(),
    ia.policies.BernoulliIMED(reward_range=(-1, 22)),
    ia.policies.ThompsonBeta(),
    ia.policies.ThompsonBeta(reward_range=(-1, 22)),
    ia.TsallisINF(),
    ia.TsallisINF(reward_range=(-1, 22)),
    ia.TsallisINF(reward_range=(-1, 22), variance="reduced"),
    ia.policies.EXP3PlusPlus(),
    # small enough for the largest gap to count within 800 rounds
    ia.policies.EXP3PlusPlus(reward_range=(2, 20), beta=0.01, rate=1.6),
    ia.policies.BARBAR(),
    ia.policies.BARBAR(scale=0.2, delta=0.5, reward_range=(-1, 22)),  # four or five epochs
    ia.policies.MultiLayerRace(),
    # arms leave two to four layers
    ia.policies.MultiLayerRace(scale=0.02, reward_range=(-1, 22)),
    ia.policies.MultiLayerRace(scale=0.002, delta=0.5),
    ia.policies.SAO(),
    # Exp3.P starts early on some bandits; on others arms are deactivated
    ia.policies.SAO(beta=1.1, reward_range=(-1, 22)),
    ia.policies.SAO(beta=1.01, reward_range=(-1, 22)),
]
IMED = [
    ia.IMED(),
    ia.policies.CRIMEDStar(epsilon=0.3),
    ia.policies.CRIMED(epsilon=0.01, horizon=3, sigma=2),
    ia.CountIMED(epsilon=0.35),
    ia.CountIMED(epsilon=0.175, sigma=0.5),
    ia.CountIMED(epsilon=0.05, shift=False),
    ia.CountIMED(epsilon=0),
    ia.CoherentIMED(),
]
POLICIES += IMED
HEAVY_TAILED = [
    ia.policies.TruncatedMeanUCB(u=5),
    ia.policies.TruncatedMeanUCB(u=0.02, epsilon=0.5),
    ia.policies.MedianOfMeansUCB(v=0.01),
    ia.policies.MedianOfMeansUCB(v=1e-4, epsilon=0.3),
    ia.policies.HuberUCB(epsilon=0, sigma=0.1, beta=1.345, p=0.9),
    ia.policies.HuberUCB(epsilon=0.02, sigma=0.3),
    ia.policies.HuberUCB(epsilon=0.01, sigma=0.3, beta=0.3, p=1),
]
POLICIES += HEAVY_TAILED
SETTINGS = [
    (bandit, attack)
    for bandit in ("paper", "hard", "ties")
    for attack in ("none", "uniform", "infinite", "chaser")
]
SETTINGS += [("bernoulli", "constant"), ("ties", "often infinite"), ("paper", "mimic")]
SETTINGS += [("bernoulli", "none"), ("bernoulli", "clicks")]
REPEATS = [ia.CoherentIMED(), ia.RestartingIMED()]
MANY = [
    ia.UCB(),
    ia.UCB(alpha=0.05),
    ia.RUCB(omega=0.5),
    ia.MedEUCB(b=0.3, omega=0.5),
    ia.EpsilonGreedy(c=1),
    ia.EpsilonGreedy(c=0.01),
    ia.CountIMED(epsilon=0.2),
    ia.CoherentIMED(),
    # a range with room above: indices within a rounding of its end could go either way
    ia.KLUCB(reward_range=(-3, 12)),
    ia.policies.BernoulliIMED(reward_range=(0, 3)),
    ia.policies.TruncatedMeanUCB(u=0.1, epsilon=0.8),
    ia.policies.MedianOfMeansUCB(v=1e-3),
    ia.policies.HuberUCB(epsilon=0, sigma=0.1),
]
MANY_SETTINGS = [
    ("hundred", "none"),
    ("hundred", "often infinite"),
    ("three hundred", "none"),
    ("three hundred", "chaser"),
    ("many ties", "none"),
    ("many ties", "constant"),
]
CATONI = [ia.CatoniUCB(), ia.CatoniUCB(variance=4), ia.CatoniUCB(variance=0.1)]
POLICIES += not_among([*POLICIES, *CATONI])
CATONI_SETTINGS = [
    ("hard", "none"),
    ("hard", "uniform"),
    ("hard", "often infinite"),
    ("ties", "none"),
    ("ties", "infinite"),
    ("bernoulli", "constant"),
    ("paper", "none"),
]


def each(policies, settings):
    """Return the policies, each with the settings that it is compared in: all.

    As plain Python the same text runs, far slower: there each policy has two of them,
    in turn, so that all are met.
    """
    turns = cycle(settings)
    return [
        pytest.param(policy, *setting, id=f"{policy.label}-{'-'.join(setting)}")
        for policy in policies
        for setting in (islice(turns, 2) if SMALL else settings)
    ]


def some(settings):
    """Return the settings in which all policies are simulated together."""
    return settings[::7] if SMALL else settings


naive_play = lru_cache(maxsize=None)(
    lambda policy, bandit, attack, horizon: play(
        policy, BANDITS[bandit], ATTACKS[attack], horizon, SEED, TRIAL
    )
)


def rounds(policy, bandit):
    """Return the rounds to play: beyond the start of every policy, but not too many."""
    arms = BANDITS[bandit].arms
    if SMALL:
        return 200 + arms
    if isinstance(policy, ia.CatoniUCB):
        return 800 + 40 * arms
    if isinstance(policy, ia.policies.MedianOfMeansUCB) and arms <= 64:
        return 800 + 250 * arms  # every arm is pulled about 250 times first
    return 1500 if arms > 64 else 800


def live_choices(policy, arms, horizon, seen):
    """Drive the policy through its compiled live calls with these rewards in turn."""
    state = State(policy, arms, horizon)
    state.renew(streams(SEED, TRIAL)[2])
    choices = []
    for x in seen:
        arm = state.select()
        state.observe(arm, x, float(state.view.chance[0]))
        choices.append(arm)
    return choices


def check_live(policy, bandit, attack):
    horizon = rounds(policy, bandit)
    expected, seen = naive_play(policy, bandit, attack, horizon)
    actual = live_choices(policy, BANDITS[bandit].arms, horizon, seen)
    assert expected == actual


def check_simulation(policies, bandit_name, attack):
    horizon = rounds(policies[0], bandit_name)
    bandit = BANDITS[bandit_name]
    result = ia.simulate(
        policies,
        bandit,
        ATTACKS[attack],
        horizon=horizon,
        trials=TRIAL + 1,
        seed=SEED,
        workers=1,
        checkpoints=range(1, horizon + 1),
        progress=False,
    )
    for i, policy in enumerate(policies):
        choices, _ = naive_play(policy, bandit_name, attack, horizon)
        pulls = np.cumsum(np.eye(bandit.arms, dtype=int)[choices], axis=0)
        expected = np.cumsum(bandit.gaps * pulls, axis=1)[:, -1]
        np.testing.assert_array_equal(expected, result.regret[i, TRIAL], err_msg=policy.label)
        assert pulls[-1].tolist() == result.pulls[i, TRIAL].tolist(), policy.label


@pytest.fixture
def short_tapes(monkeypatch):
    """Let a simulation draw its random numbers in several stretches, as a long one
    does.
    """
    monkeypatch.setattr(trial, "STRETCH_ROUNDS", 300)


def test_every_policy_has_a_twin_and_is_compared_with_it():
    """Nobody forgets a new one."""
    assert not left_out(), f"{left_out()} {TO_DO}"
    assert set(KNOWN) == {type(policy).__name__ for policy in [*POLICIES, *CATONI]}
    assert set(KNOWN) <= set(TWINS)


@pytest.mark.parametrize("attack", ["none", "uniform", "often infinite", "constant"])
@pytest.mark.parametrize("policy", REPEATS, ids=lambda policy: policy.label)
def test_live_choices_where_arms_repeat_one_value(policy, attack):
    """The same, with arms that pay one value more often than corruption explains."""
    check_live(policy, "repeats", attack)


@pytest.mark.parametrize(("policy", "bandit", "attack"), each(POLICIES, SETTINGS))
def test_live_choices(policy, bandit, attack):
    """Given the same rewards, the compiled live calls choose what the twin chooses."""
    check_live(policy, bandit, attack)


@pytest.mark.parametrize(("bandit", "attack"), some(SETTINGS))
def test_simulation(bandit, attack, short_tapes):
    """A simulated policy has the regret of its naive twin on the same tape.

    That holds in every round, and for the final pulls.
    """
    check_simulation(POLICIES, bandit, attack)


@pytest.mark.parametrize("bandit", ["paper", "hard", "bernoulli"])
def test_simulation_with_an_attack_that_observes(bandit, short_tapes):
    """The loop that tells the attack of every round, with three policies."""
    check_simulation([ia.RUCB(), ia.UCB(), ia.MedEpsilonGreedy(c=5)], bandit, "overtake")


@pytest.mark.parametrize(("policy", "bandit", "attack"), each(MANY, MANY_SETTINGS))
def test_live_choices_with_many_arms(policy, bandit, attack):
    """With many arms the live choices are still those of a full scan."""
    check_live(policy, bandit, attack)


@pytest.mark.parametrize(("bandit", "attack"), some(MANY_SETTINGS))
def test_simulation_with_many_arms(bandit, attack, short_tapes):
    """With many arms a simulation still makes the pulls of a full scan."""
    check_simulation(MANY, bandit, attack)


@pytest.mark.parametrize(("policy", "bandit", "attack"), each(CATONI, CATONI_SETTINGS))
def test_live_choices_of_catoni(policy, bandit, attack):
    """Choices from certified bounds are those of the exact roots in every round."""
    check_live(policy, bandit, attack)


@pytest.mark.parametrize(("bandit", "attack"), some(CATONI_SETTINGS))
def test_simulation_of_catoni(bandit, attack, short_tapes):
    """In a simulation the pulls are those of the exact roots in every round.

    There a leader can stay without any root being solved.
    """
    check_simulation(CATONI, bandit, attack)


@pytest.mark.parametrize(
    "policy",
    [ia.CatoniUCB(variance=0.02), ia.policies.HuberUCB(epsilon=0, sigma=0.02)],
    ids=lambda policy: policy.label,
)
def test_arms_that_are_nearly_equal(policy):
    """The regret is that of the naive policy if forced pulls often change the leader.

    The naive policy computes every index in every round. Ten trials.
    """
    bandit, trials, horizon = (
        ia.GaussianBandit([0.0, 0.001, 0.002, 0.003]),
        1 if SMALL else 10,
        200 if SMALL else 800,
    )
    result = ia.simulate(
        policy,
        bandit,
        horizon=horizon,
        trials=trials,
        seed=SEED,
        workers=1,
        checkpoints=range(1, horizon + 1),
        progress=False,
    )
    for i in range(trials):
        choices, _ = play(policy, bandit, ia.NoAttack(), horizon, SEED, i)
        pulls = np.cumsum(np.eye(bandit.arms, dtype=int)[choices], axis=0)
        expected = np.cumsum(bandit.gaps * pulls, axis=1)[:, -1]
        assert expected.tolist() == result.regret[0, i].tolist()


@pytest.mark.parametrize(
    ("t", "beta"), [(1, 256), (2, 256), (4000, 256), (4000, 0.01), (10**12, 256)]
)
def test_chances_of_exp3_plus_plus(t, beta):
    """A decision's probability is that of the naive policy.

    That holds even if a gap is known so well that the arm is hardly explored, which
    takes 1e8 rounds with the paper's beta.
    """
    policy, losses = (
        ia.policies.EXP3PlusPlus(beta=beta),
        [[0.25] * 3000, [0.75] * 2000, [0.5] * 10, []],
    )
    twin = twin_of(policy, 4, None, np.zeros(4, np.uint64))
    twin.losses, twin.weighted = losses, [3.0, 2.5, 1e9, 7.0]
    state = State(policy, 4)
    state.view.rewards[:] = state.view.n[:] = [len(own) for own in losses]
    state.view.loss[:] = [sum(own) for own in losses]
    state.view.estimate[:] = -np.array(twin.weighted)
    state.view.rounds[0] = t - 1
    state.adjust(RECOUNT)
    state.view.stream[:] = streams(SEED, TRIAL)[2]
    chosen = {}
    for _ in range(200):
        arm = state.select()
        chosen[arm] = state.view.chance[0] / twin.chances(state.rounds)[arm]
        state.view.rounds[0] = t - 1
        state.view.n[arm] -= 1
    assert len(chosen) >= 2
    np.testing.assert_allclose(list(chosen.values()), 1, rtol=1e-9)


@pytest.mark.parametrize(
    "losses", [[0.0], [0, 0, 0], [3, 0.5, 7], [0, 1e3, 1e9], [50, 50.1, 49, 50, 400]], ids=str
)
def test_naive_tsallis_inf_has_the_weights_of_its_definition(losses):
    """w_a = (L_a - x)^-2 t sums to 1, with the x of a root finder.

    Newton's method may come from either side.
    """
    for start, t in [(0, 1), (1e6, 1), (0, 1000), (40, 1000), (1e6, 1000)]:
        twin = twin_of(ia.TsallisINF(), len(losses), None, np.zeros(4, np.uint64))
        twin.weighted, twin.y = losses, start
        ends = min(losses) - 2 * np.sqrt(t * len(losses)), min(losses) - np.sqrt(t) / 2
        x = brentq(
            lambda x, t=t: (t * (np.array(losses) - x) ** -2.0).sum() - 1,
            *ends,
            xtol=1e-14,
            rtol=1e-15,
        )
        np.testing.assert_allclose(twin.chances(t), t * (np.array(losses) - x) ** -2.0, rtol=1e-12)
        assert sum(twin.chances(t)) == pytest.approx(1, abs=1e-14)


def test_naive_exp3_draws_with_its_chances():
    """The naive EXP3 chooses arm a for a share p_a of all uniform numbers.

    p_a = (1 - gamma) w_a / sum(w) + gamma / K.
    """
    twin = twin_of(ia.EXP3(gamma=0.2), 4, None, np.zeros(4, np.uint64))
    for arm, x in [(2, 1.0), (2, 1.0), (0, 0.5), (3, 0.0), (2, 1.0)]:
        twin.update(arm, x)
    twin.uniform = iter((np.arange(10_000) + 0.5) / 10_000).__next__
    counts = np.bincount([twin.select(1) for _ in range(10_000)], minlength=4)
    np.testing.assert_allclose(counts / 10_000, twin.chances(), atol=2e-4)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.label)
def test_labels_can_be_typed_back(policy):
    """On the command line, to the six digits that they show."""
    assert policy_from_text(policy.label).label == policy.label
    assert type(policy_from_text(policy.label)) is type(policy)


@pytest.mark.parametrize("ends", [(0, 1e-310), (0, 5e-324), (-1.7e308, 1.7e308)])
@pytest.mark.parametrize(
    "kind",
    [
        ia.EXP3,
        ia.policies.EXP3PlusPlus,
        ia.TsallisINF,
        ia.policies.BARBAR,
        ia.policies.MultiLayerRace,
        ia.policies.SAO,
    ],
)
def test_a_range_that_cannot_be_computed_with_is_refused(kind, ends):
    """Its inverse or its width would be infinite, and the weights NaN."""
    with pytest.raises(ia.InvalidInput, match=r"too (narrow|wide) to compute with"):
        kind(reward_range=ends)
