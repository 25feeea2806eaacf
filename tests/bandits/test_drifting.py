"""Arms whose means change: regret and attackers follow the best arm of the moment."""

import numpy as np
import pytest

import ironarm as ia
from ironarm import bandits
from ironarm.simulation import trial

MEANS = [[0.0, 2.0, 5.0], [5.0, 2.0, 0.0], [1.0, 6.0, 1.0]]
TIMES = [1, 101, 401]


@pytest.mark.parametrize("law", ["normal", "bernoulli"])
def test_regret_is_against_the_best_arm_of_the_moment(law, monkeypatch):
    """Summed by hand over the choices, in stretches of any length."""
    means = np.array(MEANS) / (1 if law == "normal" else 10)
    bandit = ia.DriftingBandit(TIMES, means, law=law)
    results = []
    for length in (16_384, 77):
        monkeypatch.setattr(trial, "STRETCH_ROUNDS", length)
        results.append(
            ia.simulate(
                [ia.UCB(), ia.EpsilonGreedy(c=5)],
                bandit,
                ia.Constant(rho=0.1, value=3),
                horizon=600,
                trials=3,
                seed=3,
                workers=1,
                checkpoints=range(1, 601),
            )
        )
    assert np.array_equal(results[0].regret, results[1].regret)
    step = np.diff(results[0].regret, axis=2, prepend=0.0)
    rows = np.repeat(means, [100, 300, 200], axis=0)
    allowed = rows.max(axis=1, keepdims=True) - rows
    # each round's regret is the gap of some arm at that moment
    assert (abs(step[..., None] - allowed).min(axis=-1) < 1e-9).all()
    best = np.diff(results[0].optimal * np.arange(1, 601), axis=2, prepend=0.0)
    assert np.array_equal(abs(step) < 1e-9, best > 0.5)


def test_rewards_and_attacks_follow_the_means():
    """What the attacker is told, and what an arm pays, is that of the moment."""
    seen = []

    def corrupt(e, a, x, u, v):
        seen.append((e.t, e.best, e.runner_up, list(e.means), a, x))
        return x

    bandit = ia.DriftingBandit(TIMES, MEANS, sigma=0.0)
    ia.simulate(
        ia.EpsilonGreedy(c=50), bandit, ia.CustomAttack(0.999, corrupt), horizon=500, trials=2
    )
    assert len(seen) > 900
    for t, best, runner_up, means, arm, x in seen:
        row = np.array(MEANS[np.searchsorted(TIMES, t, side="right") - 1])
        assert means == row.tolist()
        assert best == row.argmax()
        assert runner_up == int(np.argsort(-row, kind="stable")[1])
        assert x == row[arm]


def test_a_bandit_that_does_not_drift_is_the_usual_one():
    """One row: the same bits as a GaussianBandit."""
    runs = [
        ia.simulate(
            ia.MedEUCB(),
            bandit,
            ia.OppositeUniform(rho=0.2),
            horizon=3000,
            trials=2,
            seed=1,
        )
        for bandit in (ia.DriftingBandit([1], [MEANS[0]]), ia.GaussianBandit(MEANS[0]))
    ]
    assert np.array_equal(runs[0].regret, runs[1].regret)


def test_mimic_swaps_the_laws_of_the_moment():
    """The laws that an attack shows are chosen anew at each change."""
    bandit = ia.DriftingBandit(TIMES, MEANS, sigma=0.0)
    seen = []
    ia.simulate(
        ia.EpsilonGreedy(c=50),
        bandit,
        ia.Mimic(rho=0.999),
        horizon=150,
        trials=1,
        seed=2,
        checkpoints=range(1, 151),
    )
    segments = bandit.segments
    seen = [ia.Mimic(rho=0.5).shows(part).tolist() for _, part in segments]
    assert seen == [[2, 2, 1], [1, 0, 0], [1, 0, 1]]


def test_permutations_move_the_best_arm():
    """Each time, at equal distances; the same for the same seed."""
    bandit = ia.DriftingBandit.permutations(range(2, 21, 2), changes=5, horizon=100_000, seed=4)
    assert len(bandit.times) == 6
    best = bandit.table.argmax(axis=1)
    assert (best[1:] != best[:-1]).all()
    assert all(sorted(row) == list(range(2, 21, 2)) for row in bandit.table)
    again = ia.DriftingBandit.permutations(range(2, 21, 2), changes=5, horizon=100_000, seed=4)
    assert np.array_equal(bandit.table, again.table)


def test_a_walk_stays_within_its_bounds():
    """It is reflected at both, and moves everywhere in between."""
    bandit = ia.DriftingBandit.walk([0.5, 0.4], 0.2, horizon=5000, steps=2000, low=0.1, high=0.9)
    assert bandit.table.min() >= 0.1
    assert bandit.table.max() <= 0.9
    assert np.ptp(bandit.table) > 0.7
    assert abs(np.diff(bandit.table[:, 0])).max() < 1.0


def test_the_widest_walk_still_walks():
    """With the largest step that is allowed, means lie everywhere within the bounds.

    They are uniform: the least deciles of 1,000 hold 100 +- 47, five sigma.
    """
    bandit = ia.DriftingBandit.walk([0, 1], 100, horizon=2000, steps=1000)
    counts, _ = np.histogram(bandit.table[1:, 0], bins=10, range=(0, 1))
    assert abs(counts - 100).max() <= 47


@pytest.mark.parametrize(
    "data",
    [
        {"name": "DriftingBandit", "times": [1, 5], "means": [[0, 1], [1, 0]]},
        {"name": "DriftingBandit.permutations", "means": "2:20:2", "changes": 5, "horizon": 1000},
        {"name": "DriftingBandit.walk", "means": [0, 1], "step": 0.1, "horizon": 1000},
        {
            "name": "DriftingBandit.linear",
            "start": [0.1, 0.9],
            "end": [0.9, 0.1],
            "horizon": 1000,
            "law": "bernoulli",
        },
    ],
)
def test_files_can_name_it(data):
    """By its table, or by the way it is made; its own data makes it again."""
    bandit = bandits.make(data)
    saved = bandit.to_dict()
    again = bandits.make({"name": saved.pop("bandit"), **saved})
    assert np.array_equal(bandit.table, again.table)
    assert bandit.times == again.times
    assert bandit.law == again.law


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ia.DriftingBandit([2], [[0, 1]]), "begin with 1"),
        (lambda: ia.DriftingBandit([1, 5, 5], [[0, 1]] * 3), "increasing"),
        (lambda: ia.DriftingBandit([1, 5], [[0, 1]]), "a row for each"),
        (lambda: ia.DriftingBandit([1, 5], [[0, 1], [0, 1, 2]]), "same number of arms"),
        (lambda: ia.DriftingBandit([1], [[0, 1.5]], law="bernoulli"), "between 0 and 1"),
        (lambda: ia.DriftingBandit([1], [[0, 1]], law="cauchy"), "law must be"),
        (lambda: ia.DriftingBandit([1], [[0, 1]], sigma=-1), "sigma must be"),
        (lambda: ia.DriftingBandit(1, [[0, 1]]), "times must be a list"),
        (lambda: ia.DriftingBandit.permutations([1, 1], 2, 100), "one is the best"),
        (lambda: ia.DriftingBandit.walk([0, 1], 0.1, 1000, low=0.5), "between low and high"),
        (lambda: ia.DriftingBandit.walk([0, 2], 201, 1000), "at most 100 times high - low, 200"),
        (lambda: ia.DriftingBandit.walk([0, 1], 1e308, 1000), "at most 100 times"),
        (
            lambda: ia.DriftingBandit.walk([0, 1], 1, 1000, low=-1e308, high=1e308),
            "high - low must be",
        ),
        (lambda: ia.DriftingBandit.linear([0], [0, 1], 100), "the same number of arms"),
        (lambda: ia.certify(ia.DriftingBandit(TIMES, MEANS), rho=0.1), "stay the same"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    """With a sentence."""
    with pytest.raises(ia.InvalidInput, match=words):
        make()
