"""A sweep runs what is missing, once, and says what keeps it from doing so."""

import sys

import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.lab.sweeps import sweep
from ironarm.lab.sweeps.file import read_sweep
from ironarm.lab.sweeps.sweep import run_cell, run_sweep
from ironarm.simulation.cells import CellStore

from . import stand_ins
from .examples import SMALL, contents, written


def test_the_command_runs_every_combination(tmp_path, capsys, small):
    """In two processes, with a table on standard output.

    NoAttack is run once, whatever rho.
    """
    file = written(tmp_path, SMALL)
    assert main(["sweep", str(file), "--out", str(tmp_path / "out"), "--workers", "2"]) == 0
    output = capsys.readouterr().out
    assert "40 cells: 4 trials of 500 rounds each, seed 3" in output
    assert "Constant(" in output  # labels wrap to fit 80 columns
    assert "EXP3(reward_range=(" in output
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 40 == 2 * 4 * (2 + 2 + 1)
    assert contents(small) == contents(tmp_path / "out")


def test_what_is_there_is_not_run_again(tmp_path, small, monkeypatch):
    """A repeated sweep runs nothing and writes the same; with force it runs all."""
    monkeypatch.setattr(sweep, "run_cell", stand_ins.count)
    runs = small.parent / "runs"
    cells = read_sweep(written(tmp_path, SMALL))
    before = contents(small)
    run_sweep(cells, small, workers=1)
    assert not runs.exists()
    assert before == contents(small)
    run_sweep(cells, small, workers=1, force=True)
    assert len(list(runs.iterdir())) == len(cells)
    assert before == contents(small)


def test_another_parameter_runs_that_policy_only(tmp_path):
    """The others' cells stay."""
    text = (
        'policies = ["UCB(alpha=1)", "MedEUCB"]\nattacks = "NoAttack"\nmeans = [0, 1]\nhorizon = '
        "50\ntrials = 2\nseed = 1\n"
    )
    run_sweep(read_sweep(written(tmp_path, text)), tmp_path / "out", workers=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").iterdir()}
    run_sweep(
        read_sweep(written(tmp_path, text.replace("alpha=1", "alpha=3"))),
        tmp_path / "out",
        workers=1,
    )
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").iterdir()}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


def test_damaged_cells_are_noticed_and_redone(tmp_path, capsys, small):
    """Half a file, an empty one, rubbish, a flipped byte, another cell's result.

    Five cells are run again, and all files are as before.
    """
    cells = read_sweep(written(tmp_path, SMALL))
    store = CellStore(small / "cells")
    paths = [store.path(cell) for cell in cells[:6]]
    before = contents(small)
    whole = paths[0].read_bytes()
    flipped = bytearray(paths[3].read_bytes())
    flipped[len(flipped) // 2] ^= 0xFF
    for path, data in zip(
        paths,
        [whole[: len(whole) // 2], b"", b"rubbish", bytes(flipped), paths[5].read_bytes()],
        strict=False,
    ):
        path.write_bytes(data)
    run_sweep(cells, small, workers=1, progress=True)
    assert "5 cell files are damaged; their cells are run again" in capsys.readouterr().err
    assert before == contents(small)


def test_workers_that_do_not_share_the_folder(tmp_path, monkeypatch):
    """Are noticed: cells were run and are not there."""
    monkeypatch.setattr(sweep, "run_cell", stand_ins.pretend)
    with pytest.raises(ia.InvalidInput, match="the results of 3 cells did not arrive in"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:3], tmp_path / "out", workers=1)


@pytest.mark.parametrize(
    ("answer", "dask", "sentence"),
    [
        (stand_ins.lack, "local", "a machine of the cluster lacks ironarm"),
        (stand_ins.not_read, "local", "a machine of the cluster lacks ironarm"),
        (stand_ins.lack, None, "cannot import what this one has imported: No module named"),
    ],
)
def test_what_workers_lack_is_named(answer, dask, sentence, tmp_path, monkeypatch):
    """In a sentence, and a cluster only if there is one."""
    monkeypatch.setattr(sweep, "run_cell", answer)
    cells = read_sweep(written(tmp_path, SMALL))[:3]
    with pytest.raises(ia.IronarmError, match=sentence):
        run_sweep(cells, tmp_path / "out", workers=2, dask=dask)


def test_workers_with_other_code_are_refused(tmp_path):
    """The worker finds out the cell's key from its own code."""
    cell = read_sweep(written(tmp_path, SMALL))[0]
    with pytest.raises(ia.IronarmError, match="another version"):
        run_cell(str(tmp_path), cell, "0" * 32)


@pytest.mark.parametrize(
    ("module", "dask", "extra"),
    [("pyarrow", None, "study"), ("distributed", "local", "dask")],
)
def test_missing_packages_are_named_by_their_extra(module, dask, extra, tmp_path, monkeypatch):
    """Before anything is run."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "ironarm.lab.sweeps.tables", raising=False)
    with pytest.raises(ia.errors.MissingExtra, match=rf"the extra '{extra}'"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:1], tmp_path / "out", dask=dask)
