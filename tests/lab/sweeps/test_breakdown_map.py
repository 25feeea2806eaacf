"""The map agrees with theory's limits, resumes, and refuses what would mislead."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.lab.sweeps import breakdown_map
from ironarm.lab.sweeps.breakdown_figure import draw, shades
from ironarm.lab.sweeps.breakdown_map import GAPS, LOWEST, Column, measure
from ironarm.simulation.cells import Cell
from ironarm.theory import thresholds


def test_breakdown_lies_at_the_limit_of_theory(tmp_path):
    """At a gap of 2 sigma the limit is 0.406.

    No trial of 20 is stuck at rho = 0.2, all are at 0.46. By the sharp bound a trial is
    stuck at 0.2 with probability below 1e-4.
    """
    column = Column(2.0, (0.15, 0.25, 0.43, 0.49))
    found = measure(ia.MedEUCB(b=8), tmp_path, horizon=3000, trials=20, columns=[column])
    assert column.rates == pytest.approx((0.2, 0.34, 0.46))
    assert found.stuck[0][[0, 2]].tolist() == [0.0, 1.0]
    (data,) = found.to_dict()["columns"]
    assert data["thresholds"]["coin"] == pytest.approx(0.4057, abs=1e-4)


def test_a_map_resumes(tmp_path, monkeypatch):
    """What was measured is read, not run."""
    columns = [Column(1.0, (0.0, 0.2, 0.4)), Column(4.0, (0.1, 0.3))]
    arguments = dict(horizon=500, trials=3, columns=columns)
    first = measure(ia.MedEUCB(b=2), tmp_path, **arguments)
    monkeypatch.setattr(Cell, "_simulate", lambda *_: pytest.fail("it was run again"))
    again = measure(ia.MedEUCB(b=2), tmp_path, **arguments)
    assert [x.tolist() for x in again.stuck] == [x.tolist() for x in first.stuck]


def test_columns_reach_from_no_poison_to_one_half_with_finer_steps_near_the_limits():
    """And no cell lies on both sides of a threshold that it has room for."""
    for gap in GAPS:
        borders = np.array(Column.at(gap).borders)
        assert borders[0] == 0
        assert borders[-1] == 0.5
        heights = np.diff(borders)
        assert (heights >= 0.005).all()
        assert (heights <= 0.0501).all()
        for name, lowest in LOWEST.items():
            limit = getattr(thresholds(gap), name)
            if limit < 0.49:
                at = np.argmin(abs(borders - limit))
                assert borders[at] == pytest.approx(limit, abs=0.005)
                # what a height of `lowest` at the limit, growing by half the distance,
                # adds up to; to the digits of the numerical integral
                most = 2 * (math.sqrt(math.e) - 1) * lowest
                assert heights[[at - 1, at]].max() <= most * 1.001
    assert sum(len(Column.at(gap).rates) for gap in GAPS) < 400


def test_the_map_shows_only_what_was_measured(tmp_path, monkeypatch):
    """The cells that are drawn fill the axes: no strip is left that reads as zero."""
    drawn = []
    monkeypatch.setattr(breakdown_map, "write_figure", lambda f, *_: drawn.append(f) or {})
    breakdown_map.write_map(ia.MedEUCB(b=2), tmp_path, horizon=100, trials=2)
    axes = drawn[0].axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    area = 0.0
    for mesh in axes.collections:
        corners = np.asarray(mesh.get_coordinates())
        x, y = np.log(corners[0, :, 0]), corners[:, 0, 1]
        area += float(np.outer(np.diff(y), np.diff(x)).sum())
    assert area == pytest.approx((top - bottom) * (np.log(right) - np.log(left)), rel=1e-9)
    assert (bottom, top) == (0.0, 0.5)


def test_every_cell_of_the_figure_is_measured_at_its_middle(tmp_path):
    """On both axes, and with the colour of its share."""
    columns = [Column(1.0, (0.0, 0.2, 0.5)), Column(4.0, (0.0, 0.1, 0.4, 0.5))]
    found = measure(ia.MedEUCB(b=2), tmp_path, horizon=500, trials=3, columns=columns)
    meshes = draw(found).axes[0].collections
    for mesh, column, stuck in zip(meshes, columns, found.stuck, strict=True):
        corners = np.asarray(mesh.get_coordinates())
        assert np.exp(np.log(corners[0, :, 0]).mean()) == pytest.approx(column.gap)
        middles = [(a + b) / 2 for a, b in pairwise(corners[:, 0, 1])]
        assert middles == pytest.approx(column.rates)
        assert np.ravel(mesh.get_array()).tolist() == pytest.approx((100 * stuck).tolist())


def test_what_is_not_measured_is_hatched(tmp_path):
    """A column that ends early leaves no blank that reads as zero."""
    columns = [Column(1.0, (0.0, 0.4)), Column(4.0, (0.0, 0.5))]
    found = measure(ia.MedEUCB(b=2), tmp_path, horizon=500, trials=3, columns=columns)
    axes = draw(found).axes[0]
    assert axes.get_ylim() == (0.0, 0.5)
    assert axes.patch.get_hatch()


def test_shades_get_darker_evenly():
    """From light to dark in even steps of lightness (CIE L*), so that grey shows it."""
    colours = shades()(np.linspace(0, 1, 11))[:, :3]
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    lightness = np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)
    steps = -np.diff(lightness)
    assert lightness[0] > 95
    assert steps.min() > 0.8 * steps.mean()
    assert steps.max() < 1.2 * steps.mean()


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
    assert [column["gap_over_sigma"] for column in data["columns"]] == list(GAPS)
    for column in data["columns"]:
        assert len(column["stuck"]) == len(column["rho"]) == len(column["borders"]) - 1
    first = data["columns"][0]
    stuck = next(rho for rho, x in zip(first["rho"], first["stuck"], strict=True) if x >= 0.5)
    (line,) = (line.split() for line in output.splitlines() if line.startswith("0.25 "))
    assert line[2] == f"{stuck:.3f}"
    assert f"attack {data['attack']}" in " ".join(output.split())
    assert "With 2 trials at each point, small shares vary by chance" in " ".join(output.split())
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
