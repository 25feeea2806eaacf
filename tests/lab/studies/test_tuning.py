"""A policy is tuned when its best value is not the last that was tried."""

import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.lab.kit.statistics import Losses
from ironarm.lab.studies.read import read_study
from ironarm.lab.studies.runner import Runner
from ironarm.lab.studies.tables import TABLES
from ironarm.lab.studies.tuning import (
    MOST_CANDIDATES,
    TIMES,
    Candidate,
    Tuned,
    next_value,
    to_play_again,
)

SMALL = Path(__file__).parent / "small"


def candidate(values, losses, policy=None):
    losses = np.full(50, losses) if np.isscalar(losses) else losses
    return Candidate(tuple(values), policy or ia.UCB(), Losses(losses))


def tuned(pairs):
    choice = Tuned("UCB", 0.1, ("alpha",), (), ("main",))
    return choice.with_candidates(candidate([value], losses) for value, losses in pairs)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(1, 9.0), (2, 7.0), (8, 5.0)], 32.0),  # on, by its last ratio
        ([(1, 2.0), (3, 7.0), (8, 5.0)], 1 / 3),  # and back, by its first
        ([(1, 9.0), (2, 4.0), (8, 5.0)], None),  # inside
        ([(1, 5.0), (2, 5.0), (8, 5.0)], None),  # all equal: inside is as good
        ([(1, 9.0)], None),  # no ratio
        ([(0, 1.0), (1, 3.0)], None),  # zero is an end
        ([(10_000, 9.0), (10_001, 5.0)], None),  # the next step is too small to see
        ([("lower", 1.0), ("upper", 3.0)], None),  # no order
        ([(True, 1.0), (False, 3.0)], None),
    ],
)
def test_a_grid_goes_on_beyond_the_end_where_its_best_value_is(pairs, expected):
    """By the ratio of the two values there."""
    assert next_value(tuned(pairs)) == (expected and pytest.approx(expected, rel=1e-3))


def test_a_grid_ends_somewhere():
    """However long it keeps getting better."""
    choice = tuned([(1, 0.0), (2, -1.0)])
    while (value := next_value(choice)) is not None:
        choice = choice.with_candidates([candidate([value], -value)])
    assert len(choice.candidates) == MOST_CANDIDATES
    assert choice.at_edge


@pytest.fixture
def study(tmp_path):
    """A study whose grid the test chooses."""

    def make(tune):
        shutil.copytree(SMALL, tmp_path / "study")
        runs = tmp_path / "study" / "runs.toml"
        old = '{ policy = "UCB", tune = { alpha = [0.5, 2, 8] } }'
        assert old in runs.read_text()
        runs.write_text(runs.read_text().replace(old, tune))
        return read_study(str(tmp_path / "study"), quick=True)

    return make


def test_a_study_tunes_until_the_best_value_lies_inside(study, tmp_path):
    """From far above: med-epsilon-greedy explores all the time with c = 400."""
    grid = '{ policy = "MedEpsilonGreedy", tune = { c = [200, 400] } }'
    found = Runner(study(grid), tmp_path).run()
    [table] = TABLES["tuning"](found, {"title": "Tuning"})
    for choice, row in zip(found.choices, table.data, strict=True):
        assert not choice.at_edge
        assert len(choice.candidates) > 3
        most = [one for one in choice.candidates if one.trials == choice.best.trials]
        least = min(choice.regret(one).value for one in most)
        assert choice.regret(choice.best).value == least
        assert (row["at_edge"], row["chosen"]) == (False, f"{choice.best.values[0]:g}")
    assert "edge" not in str(table.body)


def test_a_value_at_the_edge_of_what_is_possible_is_said_to_be_there(study, tmp_path):
    """A trimmed mean cannot trim half and more."""
    grid = '{ policy = "TrimmedUCB(alpha=0.1)", tune = { alpha = [0.2, 0.45] } }'
    found = Runner(study(grid), tmp_path).run()
    [table] = TABLES["tuning"](found, {"title": "Tuning"})
    assert any(choice.at_edge for choice in found.choices)
    for choice, cells in zip(found.choices, table.body, strict=True):
        assert choice.at_edge == ("at the edge of what was tried" in cells[3])


@pytest.mark.parametrize(
    ("regrets", "expected"),
    [
        ([9, 9, 9, 9, 5, 9, 9, 9, 9], False),  # b = 2 and omega = 4, in the middle
        ([9, 9, 9, 9, 9, 9, 9, 5, 9], True),  # b = 8, the largest
        ([9, 9, 9, 5, 9, 9, 9, 9, 9], True),  # omega = 1, the smallest
        ([5, 9, 9, 9, 5, 9, 9, 9, 9], False),  # inside among equals
    ],
)
def test_of_several_parameters_one_at_its_edge_is_enough(regrets, expected):
    """Such a grid is not continued, so its table must say where the best value lies."""
    choice = Tuned("med-E-UCB", 0.1, ("b", "omega"), (), ("main",)).with_candidates(
        candidate(values, float(regret), ia.MedEUCB(*values))
        for values, regret in zip(product((0.5, 2, 8), (1, 4, 16)), regrets, strict=True)
    )
    assert choice.at_edge == expected
    assert next_value(choice) is None


def test_a_policy_may_be_tuned_on_more_trials_than_others(study, tmp_path):
    """Where what matters is rare. Quick sizes are quick for all, and repeat nothing."""
    grid = '{ policy = "UCB", tune = { alpha = [0.5, 2, 8] }, tuning_trials = 7 }'
    quick = study(grid)
    [first, _] = Runner(quick, tmp_path).run().choices
    assert {one.trials for one in first.candidates} == {3}
    full = read_study(str(tmp_path / "study"), trials=2)
    for choice in Runner(full, tmp_path).run().choices:
        assert {one.trials for one in choice.candidates} <= {7, 7 * TIMES}


def rare(often, loss, trials, seed):
    """Regrets of 100, but for one trial in `often` that loses much more."""
    draws = np.random.default_rng(seed).random(trials)
    return 100 + np.random.default_rng(seed).random(trials) + np.where(draws < 1 / often, loss, 0)


def test_what_may_be_the_best_is_played_again_and_nothing_else():
    """The best and its neighbours, until they are told apart or alike."""
    apart = tuned([(1, 9.0), (2, 7.0), (8, 5.0), (16, 8.0)])
    assert to_play_again(apart, 50, 1000) == []
    noise = np.random.default_rng(1).normal(0, 3, 50)
    near = tuned([(1, 90.0 + noise), (2, 10.0 + noise[::-1]), (8, 10.1 + noise), (16, 60.0)])
    again = to_play_again(near, 50, 1000)
    assert [one.values for one in again] == [(2,), (8,)]
    assert to_play_again(near, 50, 10**8) == []  # too many rounds
    better = [candidate(one.values, 10.0 + one.values[0], one.policy) for one in again]
    long = [replace(one, losses=Losses(np.repeat(one.losses.values, TIMES))) for one in better]
    done = near.with_candidates(long)
    assert (done.best.values, to_play_again(done, 50, 1000)) == ((2,), [])
    alike = tuned([(1, 10.3), (2, 10.0 + noise / 1000), (8, 10.001 + noise / 1000), (16, 10.3)])
    assert alike.rivals == to_play_again(alike, 50, 1000) == []


def test_a_lucky_tail_does_not_choose():
    """A value that loses 50,000 in one trial of 100 has a mean of 600, not of 100.

    In 20 trials nothing shows; its interval still reaches beyond the next value's, so
    both are played again, and then it is seen. A false alarm needs 320 trials without a
    loss, with probability 0.04; the seed is fixed.
    """
    lucky = rare(100, 50_000, 20, seed=4)
    assert lucky.max() < 1000
    others = [(1, np.full(20, 50_100.0)), (4, np.full(20, 200.0)), (16, np.full(20, 900.0))]
    choice = tuned([others[0], (2, lucky), *others[1:]])
    assert choice.best.values == (2,)
    again = to_play_again(choice, 20, 1000)
    assert [one.values for one in again] == [(2,), (4,)]
    seen = [candidate((2,), rare(100, 50_000, 320, seed=5)), candidate((4,), np.full(320, 200.0))]
    assert choice.with_candidates(seen).best.values == (4,)


def test_a_policy_is_tuned_on_other_trials_than_those_of_the_study(study, tmp_path):
    """Else the tuned ones would be better there than anywhere else."""
    found = study('{ policy = "UCB", tune = { alpha = [0.5, 2, 8] } }')
    runner, run = Runner(found, tmp_path), found.runs[0]
    [tuned] = [name for name in run.policies if found.policies[name].tune]
    cells = runner._tuning_cells(run, run.rho[0], tuned)
    assert {cell.seed for cell in cells} == {found.tuning.seed}
    assert runner._cell(run, run.rho[0], tuned, cells[0].policy).seed == found.seed
    assert found.tuning.seed != found.seed
