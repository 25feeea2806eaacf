"""Rewards with senders, late or lost, are those of an agent that is driven by hand."""

import os
from dataclasses import dataclass, replace

import numpy as np
import pytest

import ironarm as ia
from ironarm.simulation import trial
from ironarm.simulation.delay import Waits
from ironarm.simulation.sources import Senders
from tests.simulation.by_hand import play_by_hand

SMALL = os.environ.get("NUMBA_DISABLE_JIT") == "1"
BANDIT = ia.GaussianBandit(means=[0.0, 1.0, 2.0, 4.0])
CLICKS = ia.BernoulliBandit([0.1, 0.3, 0.2])
POLICIES = [
    ia.UCB(),
    ia.MedEUCB(b=1, omega=1, block=40),
    ia.EXP3(reward_range=(-2, 6)),
    ia.MedEpsilonGreedy(c=2),
    ia.CoherentIMED(),
    ia.TrustThompson(slots=16),  # fewer than the sources
]
WAYS = {
    "at once": {"delay": ia.Delay()},
    "late": {"delay": ia.Delay(mean=30)},
    "fixed": {"delay": ia.Delay(mean=7, law="fixed")},
    "lost": {"delay": ia.Delay(mean=5, lost=0.3)},
    "expires": {"delay": ia.Delay(mean=40, lost=0.2, expire=60)},
    "signed": {"sources": ia.Sources(20, zipf=1, active=3)},
    "signed and late": {"sources": ia.Sources(5), "delay": ia.Delay(mean=20)},
}
ATTACKS = [
    ia.OppositeUniform(rho=0.2),
    ia.attacks.Suppress(rho=0.3),
    ia.attacks.Suppress(rho=0.3, rounds=50),
    ia.attacks.Overtake(rho=0.2),
    ia.NoAttack(),
]


def pulls_over_time(policy, bandit, attack, horizon, **feedback):
    """Return the pulls after each round of the second trial, as simulated."""
    result = ia.simulate(
        policy,
        bandit,
        attack,
        horizon=horizon,
        trials=2,
        seed=5,
        workers=1,
        checkpoints=range(1, horizon + 1),
        progress=False,
        **feedback,
    )
    return result.regret[0, 1], result.pulls[0, 1]


def check(policy, bandit, attack, horizon=600, **feedback):
    if SMALL:
        horizon = 150
    regret, pulls = pulls_over_time(policy, bandit, attack, horizon, **feedback)
    choices, came = play_by_hand(policy, bandit, attack, horizon, 5, 1, **feedback)
    made = np.cumsum(np.eye(bandit.arms, dtype=int)[choices], axis=0)
    assert made[-1].tolist() == pulls.tolist()
    np.testing.assert_allclose(made @ bandit.gaps, regret, rtol=0, atol=1e-9)
    return came


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.label)
def test_choices_are_those_of_an_agent_driven_by_hand(policy, way):
    """Under an attack, with rewards late, lost, expired or signed."""
    check(policy, BANDIT, ATTACKS[0], **WAYS[way])


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
@pytest.mark.parametrize("way", ["at once", "expires", "signed and late"])
def test_every_kind_of_attack(attack, way):
    """Those that suppress, those that observe, and none."""
    check(ia.UCB(), BANDIT, attack, **WAYS[way])
    check(ia.UCB(sigma=0.5), CLICKS, attack, **WAYS[way])


def test_an_attack_in_python():
    """It is asked and told as in other simulations."""
    told = []
    attack = ia.CustomAttack(
        0.3,
        lambda e, a, x, u, v: -5.0 if a == e.best else x,
        observe=lambda e, a, x, shown: told.append((a, x, shown)),
    )
    check(ia.RUCB(), BANDIT, attack, delay=ia.Delay(mean=10))
    assert any(shown == -5.0 for _, _, shown in told)


def test_the_pool_grows_while_rewards_are_delivered(monkeypatch):
    """Many medians at once, in several stretches, change nothing."""
    monkeypatch.setattr(trial, "STRETCH_ROUNDS", 77)
    check(ia.MedEUCB(b=1, omega=1, block=40), BANDIT, ATTACKS[0], delay=ia.Delay(mean=200))


def test_an_attack_is_told_of_rounds_in_which_the_pool_grows():
    """Each round once, with its own arm and rewards. Later trials find a large pool."""
    told = []
    attack = ia.CustomAttack(
        0.9,
        lambda e, a, x, u, v: x - 1.0,
        observe=lambda e, a, x, shown: told.append((a, x, shown)),
    )
    policy, late = ia.MedEUCB(b=1, omega=1, block=40), ia.Delay(mean=10)
    ia.simulate(policy, BANDIT, attack, horizon=600, trials=1, seed=5, delay=late, progress=False)
    play_by_hand(policy, BANDIT, attack, 600, 5, 0, delay=late)
    simulated, by_hand = np.array_split(np.array(told), 2)
    np.testing.assert_allclose(simulated, by_hand, rtol=0, atol=1e-9)


@pytest.mark.parametrize("policy", [ia.UCB(), ia.CountIMED(epsilon=0.3)], ids=str)
def test_a_delay_of_nothing_changes_nothing(policy):
    """The loop for late rewards gives the bits of the usual one."""
    late = pulls_over_time(policy, BANDIT, ATTACKS[0], 400, delay=ia.Delay())
    usual = pulls_over_time(policy, BANDIT, ATTACKS[0], 400)
    assert all(np.array_equal(a, b) for a, b in zip(late, usual, strict=True))


def test_a_reward_that_comes_at_the_last_moment_counts():
    """A decision expires after so many rounds, and not in the last of them."""
    attack, late = ATTACKS[0], ia.Delay(mean=7, law="fixed")
    in_time = pulls_over_time(ia.UCB(), BANDIT, attack, 400, delay=replace(late, expire=7))
    waiting = pulls_over_time(ia.UCB(), BANDIT, attack, 400, delay=late)
    assert all(np.array_equal(a, b) for a, b in zip(in_time, waiting, strict=True))


@dataclass(frozen=True)
class LastSender(ia.extend.Policy):
    """Chooses the arm with the number of the last sender: senders reach a policy."""

    estimator = None
    fields = {"last": "int[1]"}

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return int(s.last[0])

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.estimate[a] = x
        s.last[0] = max(s.source[0], 0)


@dataclass(frozen=True)
class Unsigned(LastSender):
    """Begins with arm 0 and goes over to arm 1 at a reward that nobody has signed."""

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.estimate[a] = x
        s.last[0] = 1 if s.source[0] == -1 else 2


def test_policies_see_who_sent_a_reward():
    """A policy that follows the senders pulls arms as often as they send."""
    sources = ia.Sources(4, zipf=1)
    came = check(LastSender(), BANDIT, ATTACKS[0], sources=sources)
    assert {sender for _, _, sender in came} == {0, 1, 2, 3}
    check(LastSender(), BANDIT, ATTACKS[0], sources=sources, delay=ia.Delay(mean=3))


def test_without_sources_nobody_has_sent_a_reward():
    """A policy then reads -1, live too."""

    def senders(pulls):
        return np.flatnonzero(pulls).tolist()

    result = ia.simulate(Unsigned(), BANDIT, horizon=20, trials=1, seed=1, progress=False)
    assert senders(result.pulls[0, 0]) == [0, 1]
    agent = ia.Agent(Unsigned(), arms=BANDIT.arms, seed=1)
    for _ in range(20):
        agent.update(agent.select(), 1.0)
    assert senders([agent.rewards[arm] for arm in agent.arms]) == [0, 1]


def test_corrupt_sources_are_the_attacked_ones():
    """rho is the share of corrupt sources, and all that they send is attacked."""
    sources, rho = ia.Sources(10, active=4), 0.3
    came = check(ia.UCB(), BANDIT, ia.Constant(rho=rho, value=50), sources=sources)
    attacked = {sender for _, x, sender in came if abs(x) == 50}
    honest = {sender for _, x, sender in came if abs(x) != 50}
    assert len(attacked) == 3
    assert not attacked & honest


def test_traffic_has_the_shares_that_it_should():
    """Zipf's shares, and corrupt sources that send more. False alarm: 1e-6 a share."""
    senders, coin = (
        Senders(ia.Sources(6, zipf=1.5, active=3), 0.5, 100_000),
        np.zeros(100_000, np.uint8),
    )
    senders.rewind(np.array([1, 2, 3, 4], np.uint64))
    drawn = senders.next(coin)
    corrupt = np.array([bool(coin[drawn == k].any()) for k in range(6)])
    assert corrupt.sum() == 3
    weights = np.arange(1.0, 7) ** -1.5 * np.where(corrupt, 3, 1)
    expected = weights / weights.sum()
    share = np.bincount(drawn, minlength=6) / 100_000
    assert (abs(share - expected) < 4.9 * np.sqrt(expected / 100_000)).all()
    assert np.array_equal(coin != 0, corrupt[drawn])


@pytest.mark.parametrize("mean", [0.5, 20.0])
def test_delays_are_geometric(mean):
    """Mean and share of no delay at all; lost ones never come. False alarm: 1e-6."""
    waits = Waits(ia.Delay(mean=mean, lost=0.2), 200_000)
    waits.rewind(np.array([4, 3, 2, 1], np.uint64))
    drawn = waits.next(200_000)
    lost = drawn < 0
    assert abs(lost.mean() - 0.2) < 4.9 * np.sqrt(0.16 / 200_000)
    came = drawn[~lost]
    assert abs(came.mean() - mean) < 4.9 * np.sqrt(mean * (1 + mean) / len(came))
    assert abs((came == 0).mean() - 1 / (1 + mean)) < 4.9 * np.sqrt(0.25 / len(came))


def test_feedback_is_kept_with_the_result(tmp_path):
    """In the specification and on disk; without it the specification is as before."""
    result = ia.simulate(
        ia.UCB(),
        BANDIT,
        sources=ia.Sources(3),
        delay=ia.Delay(mean=2),
        horizon=20,
        trials=2,
        seed=1,
    )
    result.save(tmp_path / "result.npz")
    loaded = ia.Result.load(tmp_path / "result.npz")
    assert loaded.specification["sources"] == {"count": 3, "zipf": 0.0, "active": 1.0}
    assert loaded.specification["delay"]["mean"] == 2
    plain = ia.simulate(ia.UCB(), BANDIT, horizon=20, trials=2, seed=1)
    assert not {"sources", "delay"} & plain.specification.keys()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ia.Sources(0), "count must be"),
        (lambda: ia.Sources(5, zipf=-1), "zipf must be"),
        (lambda: ia.Sources(5, active=0), "active must be"),
        (lambda: ia.Delay(mean=-1), "mean must be"),
        (lambda: ia.Delay(lost=1), "lost must be"),
        (lambda: ia.Delay(expire=0), "expire must be"),
        (lambda: ia.Delay(law="normal"), "law must be"),
        (lambda: ia.attacks.Suppress(rho=0.1, rounds=0), "rounds must be"),
        (lambda: ia.simulate(ia.UCB(), BANDIT, horizon=10, sources=400), "expected sources"),
        (
            lambda: ia.simulate(
                ia.UCB(), BANDIT, ia.Mimic(rho=0.02), horizon=10, sources=ia.Sources(20)
            ),
            "none would be corrupt",
        ),
        (lambda: ia.simulate(ia.UCB(), BANDIT, horizon=10, delay=50), "expected delay"),
        (
            lambda: ia.simulate(
                ia.UCB(), BANDIT, ia.attacks.Bursts(rho=0.3), horizon=10, sources=ia.Sources(4)
            ),
            "attacks in bursts",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    """With a sentence."""
    with pytest.raises(ia.InvalidInput, match=words):
        make()


def test_an_attack_that_holds_rewards_up_must_be_compiled():
    """There is no way to ask Python for it."""

    @dataclass(frozen=True)
    class Slow(ia.extend.Attack):
        rho: float

        @staticmethod
        def corrupt(e, a, x, u, v):
            return x

        @staticmethod
        def hold(e, a, x, u, v):
            return 1.0

    with pytest.raises(ia.errors.PolicyFault, match="must be compiled"):
        ia.simulate(ia.UCB(), BANDIT, Slow(0.1), horizon=10, trials=1)


def test_suppressed_rewards_are_those_that_contradict():
    """On the best arm what lies above its mean vanishes, elsewhere what lies below."""
    came = check(ia.EpsilonGreedy(c=30), BANDIT, replace(ATTACKS[1], rho=0.9))
    for arm, mean in enumerate(BANDIT.means):
        above = np.mean([x > mean for a, x, _ in came if a == arm])
        assert above < 0.3 if arm == BANDIT.best else above > 0.7


@pytest.mark.parametrize("mean", [0.5, 0.4, 7.25])
def test_a_fixed_delay_is_a_whole_number_of_rounds(mean):
    """Half a round would be rounded to no delay; other laws take any mean."""
    with pytest.raises(ia.InvalidInput, match=f"must be a whole number of rounds; got {mean}"):
        ia.Delay(mean=mean, law="fixed")
    assert ia.Delay(mean=mean).mean == mean
    assert ia.Delay(mean=7.0, law="fixed").longest == 7


def test_a_delay_after_which_nothing_comes_is_refused():
    """All rewards would be late for ever."""
    with pytest.raises(ia.InvalidInput, match="no reward ever arrives"):
        ia.Delay(mean=100, law="fixed", expire=50)
    ia.Delay(mean=100, law="fixed", expire=100)
    ia.Delay(mean=100, expire=50)
