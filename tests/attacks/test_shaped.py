"""Shaped against a plain version, and its members against the attacks that they are."""

import itertools

import numpy as np
import pytest

import ironarm as ia
from ironarm.attacks import attack_from_text
from ironarm.attacks.shaped import ACTIONS, LEADERS
from tests.attacks.asking import Asked

BANDIT = ia.GaussianBandit(means=[1.0, 5.0, 3.0, 2.0])


def naive(attack, arm, x, u, v, t, pulls, estimate):
    """What is shown, straight from the docstring, with w = 1 - u."""
    group = {0: attack.worst, 1: attack.best, 2: attack.runner_up, 3: attack.others}[arm]
    pulled = [a for a in range(4) if pulls[a] > 0]
    leads = max(pulled, key=lambda a: (estimate[a], a == 1, -a)) if pulled else 1
    if attack.leader != "any" and (attack.leader == "right") != (leads == 1):
        return x
    if t <= attack.after or (attack.first and pulls[arm] > attack.first):
        return x
    if arm != 1 and v >= attack.shown:
        return x
    shift = attack.size * (1 - attack.spread * (1 - u))
    rival = 2 if arm == 1 else 1
    target = estimate[rival] if pulls[rival] else BANDIT.means[rival]
    toward = -shift if arm == 1 else shift
    moved = {
        "leave": x,
        "up": x + shift,
        "down": x - shift,
        "mimic": x - BANDIT.means[arm] + BANDIT.means[rival],
        "place": BANDIT.means[rival] + toward,
        "chase": target + toward,
        "sink": x - BANDIT.means[arm] + BANDIT.means[0],
    }
    return moved[group]


def test_every_combination_shows_what_the_docstring_says():
    """All actions, conditions and leaders, on random scenes."""
    generator = np.random.default_rng(3)
    for best, action, leader, first, after, shown in itertools.product(
        ACTIONS, ACTIONS, LEADERS, (0, 3), (0, 5), (0.5, 1)
    ):
        others, worst = generator.choice(ACTIONS, 2)
        attack = ia.attacks.Shaped(
            0.1,
            best,
            action,
            str(worst),
            str(others),
            size=2.5,
            spread=0.4,
            first=first,
            after=after,
            leader=leader,
            shown=shown,
        )
        pulls, estimate = generator.integers(0, 6, 4), generator.normal(3, 2, 4)
        asked = Asked(attack, BANDIT, pulls, estimate)
        for arm in range(4):
            t, (u, v) = int(generator.integers(1, 12)), generator.random(2)
            assert asked(arm, 7.0, u, v, t) == pytest.approx(
                naive(attack, arm, 7.0, u, v, t, pulls, estimate), rel=1e-12
            )


@pytest.mark.parametrize(
    ("member", "attack"),
    [
        (ia.attacks.Shaped(rho=0.3, size=1800, spread=1), ia.OppositeUniform(rho=0.3)),
        (
            ia.attacks.Shaped(rho=0.3, size=50, spread=1, first=7),
            ia.attacks.FrontLoaded(rho=0.3, pulls=7, scale=50),
        ),
        (
            ia.attacks.Shaped(
                rho=0.3, best="mimic", runner_up="mimic", worst="mimic", others="mimic"
            ),
            ia.Mimic(rho=0.3),
        ),
        (
            ia.attacks.Shaped(
                rho=0.3, best="chase", runner_up="leave", worst="leave", others="leave", size=0.5
            ),
            ia.attacks.MedianChaser(rho=0.3, margin=0.5),
        ),
        (
            ia.attacks.Shaped(rho=0.3, best="sink", size=60, spread=1, shown=0.25),
            ia.attacks.Understate(rho=0.3, shown=0.25, scale=60),
        ),
    ],
    ids=["OppositeUniform", "FrontLoaded", "Mimic", "MedianChaser", "Understate"],
)
def test_named_attacks_are_members(member, attack):
    """The same pulls in every trial."""
    results = [
        ia.simulate([ia.MedEUCB(), ia.UCB()], BANDIT, each, horizon=1000, trials=4, seed=8)
        for each in (member, attack)
    ]
    assert np.array_equal(results[0].pulls, results[1].pulls)


def test_its_text_can_be_read_back():
    """As printed."""
    attack = ia.attacks.Shaped(
        rho=0.2,
        best="chase",
        runner_up="leave",
        worst="place",
        others="mimic",
        size=0.125,
        spread=0.5,
        first=9,
        after=4,
        leader="wrong",
        shown=0.75,
    )
    assert attack_from_text(repr(attack), None) == attack


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"best": "upp"}, "Did you mean 'up'"),
        ({"size": 0}, "size"),
        ({"spread": 1.1}, "spread"),
        ({"leader": "left"}, "leader"),
        ({"shown": 1.5}, "shown"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, message):
    """What, expected, got."""
    with pytest.raises(ia.InvalidInput, match=message):
        ia.attacks.Shaped(rho=0.1, **parameters)
