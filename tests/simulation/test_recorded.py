"""Regret and pulls are, bit for bit, those that were recorded: moving code changes no
result.

    python -m tests.simulation.test_recorded            records what is new
    python -m tests.simulation.test_recorded NAME ...   and anew what names hold NAME,
                                                        after a formula was corrected
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import ironarm as ia
from tests.every_policy import TO_DO, not_among

RECORDED = Path(__file__).with_name("recorded.json")
ROUNDS = (10, 100, 500, 1000, 2000, 3000)

PAPER = ia.GaussianBandit(means=range(2, 21, 2))
HARD = ia.GaussianBandit(means=[0.0, 0.25, 0.5], sigma=[1.0, 0.5, 1.0])
MANY = ia.GaussianBandit(means=np.linspace(0, 3, 150))
UNIT = ia.BernoulliBandit([0.3, 0.5, 0.45, 0.1])
ATTACK = ia.OppositeUniform(rho=0.2, scale=1800)
POLICIES = (
    ia.MedEUCB(),
    ia.MedEUCB(b=0.3, omega=1),
    ia.MedEUCB.for_rho(0.3),
    ia.MedEpsilonGreedy(c=2),
    ia.UCB(),
    ia.UCB(alpha=0.5, sigma=2),
    ia.EpsilonGreedy(c=2),
    ia.RUCB(),
    ia.RUCB(median="upper"),
    ia.EXP3(reward_range=(-5, 30)),
    ia.CatoniUCB(),
    ia.TrimmedUCB(alpha=0.25),
    ia.TrimmedEpsilonGreedy(alpha=0.25, c=2),
    ia.policies.CRUCB(alpha=0.25),
    ia.policies.CRUCB(alpha=0.25, mean="shorth"),
    ia.policies.HuberUCB(epsilon=0.02, sigma=0.3),
    ia.policies.MedianOfMeansUCB(v=0.01),
    ia.policies.TruncatedMeanUCB(u=5),
    ia.IMED(),
    ia.policies.CRIMED(epsilon=0.25),
    ia.policies.CRIMEDStar(epsilon=0.25),
    ia.CountIMED(epsilon=0.25),
    ia.CountIMED(epsilon=0.25, shift=False),
    ia.CoherentIMED(),
    ia.policies.ThompsonGaussian(),
    ia.TsallisINF(reward_range=(-5, 30)),
    ia.TsallisINF(reward_range=(-5, 30), variance="reduced"),
    ia.policies.EXP3PlusPlus(reward_range=(-5, 30)),
    ia.policies.BARBAR(reward_range=(-5, 30)),
    ia.policies.MultiLayerRace(scale=0.02, reward_range=(-5, 30)),
    ia.policies.SAO(reward_range=(-5, 30)),
    ia.policies.SAO(beta=1.5, reward_range=(-5, 30)),
)
POLICIES += tuple(not_among(POLICIES))


@ia.extend.hot
def spiteful(e, a, x, u, v):
    """An attack of one's own, compiled."""
    return -e.means[a] if u < 0.5 else x + 10 * v


ATTACKS = (
    ia.NoAttack(),
    ia.OppositeUniform(rho=0.3, scale=1800),
    ia.attacks.SometimesLarge(rho=0.3),
    ia.Infinite(rho=0.3),
    ia.Constant(rho=0.2, value=30),
    ia.Mimic(rho=0.3),
    ia.attacks.FrontLoaded(rho=0.2),
    ia.attacks.MedianChaser(rho=0.3),
    ia.attacks.Overtake(rho=0.3),
    ia.attacks.Understate(rho=0.3),
    ia.LeastFavourable(rho=0.2),
    ia.attacks.Cauchy(rho=0.3),
    ia.attacks.ACE(rho=0.2),
    ia.attacks.Jun(rho=0.2),
    ia.attacks.Shaped(rho=0.2),
    ia.attacks.Bursts(rho=0.2),
    ia.attacks.Suppress(rho=0.3, rounds=100),
    ia.attacks.FakeChange(rho=0.3, quiet=200),
    ia.attacks.HideChange(rho=0.3),
    ia.attacks.FakeClicks(rho=0.2),
)
OWN_ATTACKS = {
    "compiled": ia.CustomAttack(rho=0.2, function=spiteful),
    "Python": ia.CustomAttack(rho=0.2, function=lambda e, a, x, u, v: e.estimate[a] - 5 * u),
}
BANDITS = {
    "normal": HARD,
    "0/1": UNIT,
    "scipy": ia.ScipyBandit([stats.expon(0.5), stats.norm(1, 2), stats.uniform(0, 3)]),
    "replay": ia.ReplayBandit(
        [(a, (7 * i * (a + 1)) % 11 / 4) for a in range(3) for i in range(50)]
    ),
    "drifting": ia.DriftingBandit([1, 800, 2000], [[0, 1, 2], [3, 1, 0], [0, 4, 1]]),
    "radio, analytic": ia.RadioBandit("analytic"),
    "radio, symbol": ia.RadioBandit("symbol"),
    "radio, iq": ia.RadioBandit("iq"),
}


def cases():
    """Return what is simulated, by name: policies, bandit, attack, rounds."""
    named = {f"{policy!r}": (policy, PAPER, ATTACK, 3000) for policy in POLICIES}
    named |= {f"{policy!r}, 150 arms": (policy, MANY, ATTACK, 8000) for policy in POLICIES}
    named |= {
        f"{attack!r}": ([ia.RUCB(), ia.UCB(), ia.MedEpsilonGreedy(c=2)], HARD, attack, 3000)
        for attack in ATTACKS
    }
    # it does nothing where nothing changes
    named[f"{ia.attacks.HideChange(rho=0.3)!r}"] = (
        [ia.RUCB(), ia.UCB()],
        BANDITS["drifting"],
        ia.attacks.HideChange(rho=0.3),
        3000,
    )
    for name, attack in OWN_ATTACKS.items():
        named[f"an attack of one's own, {name}"] = (ia.RUCB(), HARD, attack, 3000)
    for name, bandit in BANDITS.items():
        jammer = (
            ia.attacks.Jammer(0.2)
            if name.startswith("radio")
            else ia.OppositeUniform(rho=0.2, scale=5)
        )
        rounds = 500 if name.endswith(("iq", "symbol")) else 3000
        named[f"{name} bandit"] = ([ia.RUCB(), ia.UCB()], bandit, jammer, rounds)
    named["radio, the jammer's power the same in all channels"] = (
        [ia.RUCB(), ia.UCB()],
        ia.RadioBandit("analytic"),
        ia.attacks.Jammer(0.2, same_power=True),
        3000,
    )
    return named


CASES = cases()


def digest(case):
    """Return a hash of regret and pulls."""
    policies, bandit, attack, horizon = case
    result = ia.simulate(
        policies,
        bandit,
        attack,
        horizon=horizon,
        trials=2,
        seed=2020,
        workers=1,
        checkpoints=[t for t in ROUNDS if t <= horizon],
    )
    parts = result.regret.tobytes() + result.pulls.astype(np.int64).tobytes()
    return hashlib.sha256(parts).hexdigest()[:16]


def test_every_policy_attack_and_bandit_is_recorded():
    """What is added later must be recorded too."""
    from ironarm.attacks import ATTACKS as KNOWN_ATTACKS
    from ironarm.policies import POLICIES as KNOWN_POLICIES

    missing = set(KNOWN_POLICIES) - {type(policy).__name__ for policy in POLICIES}
    assert not missing, f"{missing} {TO_DO}"
    missing = set(KNOWN_ATTACKS) - {"Jammer"} - {type(attack).__name__ for attack in ATTACKS}
    assert not missing, f"{missing}: add a line to ATTACKS above"
    changed = set(json.loads(RECORDED.read_text())) ^ set(CASES)
    assert not changed, f"{changed}: run python -m tests.simulation.test_recorded"


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_the_recorded_ones(name):
    """In two trials, at explicit checkpoints."""
    assert digest(CASES[name]) == json.loads(RECORDED.read_text())[name]


def record(*names):
    """Record what is not recorded yet, and anew what these names are part of."""
    before = json.loads(RECORDED.read_text())
    kept = {name: before[name] for name in CASES if name in before}
    for name in [name for name in kept if any(part in name for part in names)]:
        del kept[name]
    new = {name: digest(CASES[name]) for name in CASES if name not in kept}
    if not new:
        print(
            "Nothing new. Is the twin's `example`, or the line in ATTACKS here, missing? To record "
            "something anew, name it."
        )
    for name in new:
        print(f"recorded: {name}")
    text = json.dumps({name: {**kept, **new}[name] for name in CASES}, indent=1)
    RECORDED.write_text(text + "\n")


if __name__ == "__main__":
    record(*sys.argv[1:])
