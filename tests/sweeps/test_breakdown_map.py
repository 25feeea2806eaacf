"""The map agrees with theory's limits, resumes, and refuses what would mislead."""

import json

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.simulation.cells import Cell, CellStore
from ironarm.sweeps.breakdown_map import draw, measure


def test_breakdown_lies_at_the_limit_of_theory(tmp_path):
    """At a gap of 2 sigma the limit is 0.406.

    No trial of 20 is stuck at rho = 0.2, all are at 0.46. By the sharp bound a trial is
    stuck at 0.2 with probability below 1e-4.
    """
    found = measure(
        ia.MedEUCB(b=8),
        CellStore(tmp_path),
        horizon=3000,
        trials=20,
        gaps=(2.0,),
        rates=(0.2, 0.46),
    )
    assert found.stuck.tolist() == [[0.0], [1.0]]
    assert found.to_dict()["thresholds"]["coin"][0] == pytest.approx(0.4057, abs=1e-4)
    assert draw(found).axes


def test_a_map_resumes(tmp_path, monkeypatch):
    """What was measured is read, not run."""
    arguments = dict(horizon=500, trials=3, gaps=(1.0, 4.0), rates=(0.1, 0.3))
    first = measure(ia.MedEUCB(b=2), CellStore(tmp_path), **arguments)
    monkeypatch.setattr(Cell, "run", lambda *_: pytest.fail("it was run again"))
    assert np.array_equal(
        measure(ia.MedEUCB(b=2), CellStore(tmp_path), **arguments).stuck, first.stuck
    )


def test_the_command_writes_figure_and_numbers(tmp_path, capsys):
    """JSON and three formats, and the same numbers on the terminal."""
    assert (
        main(
            [
                "certify",
                "--map",
                "--policy",
                "MedEpsilonGreedy(c=3)",
                "--horizon",
                "200",
                "--trials",
                "2",
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    output = capsys.readouterr().out
    data = json.loads((tmp_path / "map.json").read_text())
    assert np.shape(data["stuck"]) == (len(data["rho"]), len(data["gap_over_sigma"]))
    assert f"{100 * data['stuck'][0][-1]:.0f}" in output
    assert {"map.svg", "map.pdf", "map.png", "map.json", "cells"} == {
        path.name for path in tmp_path.iterdir()
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--means", "1,2"], "for arms of its own, so --means would change nothing"),
        (["--policy", "MedEUCB(omega=400)"], "made for a sigma of 1"),
        (["--trials", "1"], "trials must be"),
        (["--horizon", "5"], "horizon must be"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, capsys, arguments, message):
    """And nothing is run."""
    assert main(["certify", "--map", "--out", str(tmp_path / "map"), *arguments]) == 2
    assert message in capsys.readouterr().err
