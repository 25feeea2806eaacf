"""No attack within the model changes a reward when its coin did not come up.

The coin does not depend on anything.
"""

import numpy as np
import pytest
from scipy.stats import binom

import ironarm as ia
from ironarm.attacks import ATTACKS, make
from ironarm.engine.streams import streams
from ironarm.engine.tape import Tape
from tests.attacks.recording import BANDIT, ROUNDS, coin_rounds, seen

RHO = 0.15


@pytest.fixture(scope="module")
def coin():
    """The rounds in which it falls."""
    return coin_rounds(RHO)


@pytest.fixture(scope="module")
def clean():
    """The rewards without an attack."""
    return seen(ia.NoAttack())


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, attack in ATTACKS.items()
        # HideChange does nothing where nothing changes
        if attack.within_model and name not in ("NoAttack", "Jammer", "HideChange")
    ],
)
def test_only_rounds_of_the_coin_are_changed(name, coin, clean):
    """No other rounds are changed, and the coin's are a share rho.

    An exact binomial bound, with a false alarm in 1e-6 of seeds.
    """
    changed = seen(make(name, {"rho": RHO})) != clean
    assert not (changed & ~coin).any()
    assert 0 < changed.sum() <= coin.sum() < binom.isf(1e-6, ROUNDS, RHO)


def test_a_jammer_changes_the_rounds_of_the_coin(coin):
    """All of them and no others, in a bandit that has jammed laws.

    What is seen then is the jammed channel.
    """
    bandit = ia.RadioBandit("analytic")
    changed = seen(ia.attacks.Jammer(RHO), bandit) != seen(ia.NoAttack(), bandit)
    assert np.array_equal(changed, coin)
    assert (
        seen(ia.attacks.Jammer(RHO), bandit)[coin].max()
        < 20
        < seen(ia.attacks.Jammer(RHO), bandit)[~coin].min()
    )


def test_bursts_change_a_share_rho_in_runs(coin, clean):
    """The long-run share is rho, in other rounds than those of an independent coin.

    Within 4.9 standard deviations of a chain's share: a false alarm in 1e-6 of seeds.
    """
    attack = ia.attacks.Bursts(rho=RHO, length=10)
    changed = seen(attack) != clean
    r = 1 - 1 / 10 - RHO / ((1 - RHO) * 10)
    assert abs(changed.mean() - RHO) < 4.9 * np.sqrt(RHO * (1 - RHO) / ROUNDS * (1 + r) / (1 - r))
    assert (changed & ~coin).any()


def test_the_coin_is_independent_from_round_to_round():
    """Wald and Wolfowitz's test: the number of runs in a million coins is as expected.

    Within 4.9 standard deviations, a false alarm in 1e-6 of seeds. It does notice short
    bursts.
    """
    assert abs(runs_score(0.0)) < 4.9
    assert abs(runs_score(1.3)) > 4.9  # an independent coin has runs of 1.18 rounds


def runs_score(burst):
    tape = Tape(1_000_000, RHO, True, burst)
    tape.rewind(*streams(4, 0)[:2])
    coin = tape.next(1_000_000)[1].astype(int)
    n, k = len(coin), int(coin.sum())
    expected = 1 + 2 * k * (n - k) / n
    deviation = np.sqrt((expected - 1) * (expected - 2) / (n - 1))
    return (1 + np.count_nonzero(np.diff(coin)) - expected) / deviation


def test_the_coin_does_not_depend_on_what_was_pulled_or_shown():
    """All policies and attacks have the same attacked rounds, whatever they do."""

    def attacked_rounds(policy, value):
        rounds = []
        ia.simulate(
            policy,
            BANDIT,
            ia.CustomAttack(0.3, lambda e, a, x, u, v: rounds.append(e.t) or value),
            horizon=1000,
            trials=1,
            seed=2,
        )
        return rounds

    first, *others = [
        attacked_rounds(policy, value)
        for policy in (ia.UCB(), ia.MedEUCB())
        for value in (-50.0, 50.0)
    ]
    assert len(first) > 200
    assert all(rounds == first for rounds in others)
