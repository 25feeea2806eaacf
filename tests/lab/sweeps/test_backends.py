"""A sweep writes the same files whatever ends it or its workers, on joblib and on Dask.

Here are the tests of `backends.py`, `own_processes.py` and `joblib_parts.py`.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

import ironarm as ia
from ironarm.lab.sweeps import backends, sweep
from ironarm.lab.sweeps.file import read_sweep
from ironarm.lab.sweeps.sweep import run_sweep

from . import stand_ins
from .examples import LONGER, SMALL, contents, written

needs_signals = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")


def start(tmp_path, *options):
    """Start the longer sweep as a shell would, and wait for its first finished cell."""
    command = [
        sys.executable,
        "-m",
        "ironarm",
        "sweep",
        str(written(tmp_path, LONGER)),
        "--out",
        str(tmp_path / "out"),
        "--workers",
        "2",
        *options,
    ]
    # a shell starts background jobs with SIGINT ignored, and the tests may be such a
    # job
    command = [
        sys.executable,
        "-c",
        "import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); "
        f"os.execv({command[0]!r}, {command!r})",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not list((tmp_path / "out" / "cells").glob("*.npz")):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return process


def alive(group):
    """Say whether a process of the group is left; zombies do not count."""
    for process in psutil.process_iter(["pid", "status"]):
        try:
            if os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE:
                return True
        except ProcessLookupError:
            pass
    return False


def ends(group):
    """Say whether all processes of the group end within some seconds."""
    deadline = time.monotonic() + 120
    while alive(group) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not alive(group)


@needs_signals
@pytest.mark.parametrize("options", [[], ["--dask"]], ids=["joblib", "dask"])
def test_an_interrupted_sweep_goes_on_where_it_stopped(options, tmp_path, longer):
    """A real SIGINT to all its processes, as Ctrl-C sends it.

    One line, exit code 130, no process left; then resumed, with files as if nothing had
    happened.
    """
    process = start(tmp_path, *options)
    try:
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (130, "", "ironarm: interrupted\n") == (process.returncode, output, errors)
    assert ends(process.pid)
    finished = {
        name: data
        for name, data in contents(tmp_path / "out").items()
        if not Path(name).name.startswith(".")
    }
    assert 0 < len(finished) < 8
    assert finished.items() <= contents(longer).items()
    run_sweep(read_sweep(written(tmp_path, LONGER)), tmp_path / "out", workers=1)
    assert contents(longer) == contents(tmp_path / "out")


@needs_signals
def test_a_killed_sweep_goes_on_where_it_stopped(tmp_path, longer):
    """SIGKILL of the process that was started: its workers end too.

    Run again, it keeps what was finished, and its files are those of an undisturbed
    sweep.
    """
    process = start(tmp_path)
    process.kill()
    process.communicate(timeout=120)
    assert ends(process.pid)
    finished = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").glob("[!.]*.npz")
    }
    assert 0 < len(finished) < 8
    run_sweep(read_sweep(written(tmp_path, LONGER)), tmp_path / "out", workers=1)
    assert finished == {path: path.stat().st_mtime_ns for path in finished}
    assert contents(longer) == contents(tmp_path / "out")


@needs_signals
@pytest.mark.parametrize("dask", [None, "local"], ids=["joblib", "dask"])
def test_a_killed_worker_loses_its_cell_only(dask, tmp_path, monkeypatch, small):
    """SIGKILL of a worker while another is at work.

    One cell is begun twice, all others once, and the files are those of an undisturbed
    sweep.
    """
    monkeypatch.setattr(sweep, "run_cell", stand_ins.die_once)
    cells = read_sweep(written(tmp_path, SMALL))
    run_sweep(cells, tmp_path / "out", workers=2, dask=dask)
    begun = Counter(path.name.partition(".")[0] for path in (tmp_path / "begun").iterdir())
    killed = (tmp_path / "killed").read_text()
    assert begun == {cell.key: 1 + (cell.key == killed) for cell in cells}
    assert contents(small) == contents(tmp_path / "out")


@needs_signals
@pytest.mark.parametrize("dask", [None, "local"], ids=["joblib", "dask"])
def test_a_sweep_whose_workers_always_die_gives_up(dask, tmp_path, monkeypatch):
    """With a sentence, instead of trying for ever."""
    monkeypatch.setattr(sweep, "run_cell", stand_ins.die)
    monkeypatch.setattr(sweep, "ROUNDS_WITHOUT_PROGRESS", 1)
    with pytest.raises(
        ia.IronarmError,
        match="killed again and again before any cell was finished; 3 cells are left",
    ):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:3], tmp_path / "out", workers=2, dask=dask)


def test_a_scheduler_that_runs_already(tmp_path, small):
    """By its address; the files are the same."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        run_sweep(
            read_sweep(written(tmp_path, SMALL)), tmp_path / "out", dask=cluster.scheduler_address
        )
        # it was asked, although it has a single worker
        assert len(cluster.scheduler.task_prefixes) == 1
        with pytest.raises(ia.InvalidInput, match="has its own workers"):
            run_sweep(
                read_sweep(written(tmp_path, SMALL)),
                tmp_path / "other",
                dask=cluster.scheduler_address,
                workers=2,
            )
    assert contents(small) == contents(tmp_path / "out")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense"])
def test_no_scheduler_at_the_address(address, tmp_path, monkeypatch):
    """A sentence that says how to start one."""
    monkeypatch.setattr(backends, "CONNECT_SECONDS", 1)
    with pytest.raises(ia.InvalidInput, match="no Dask scheduler answers at"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:1], tmp_path / "out", dask=address)


@pytest.mark.parametrize("part", ["joblib._parallel_backends", "joblib.externals.loky.backend"])
def test_a_joblib_with_other_parts_is_named(part, tmp_path, monkeypatch):
    """By its version, with what to install."""
    monkeypatch.setitem(sys.modules, part, None)
    for name in ("joblib_parts", "own_processes"):
        monkeypatch.delitem(sys.modules, f"ironarm.lab.sweeps.{name}", raising=False)
    cells = read_sweep(written(tmp_path, SMALL))[:1]
    with pytest.raises(ia.IronarmError, match=r"sweeps do not support joblib .* Install it with"):
        run_sweep(cells, tmp_path / "out", workers=1)


def test_workers_import_nothing_from_the_current_folder():
    """Somebody else may have put a `pickle.py` there."""
    joblib = pytest.importorskip("joblib")
    from ironarm.lab.sweeps.own_processes import OwnProcesses

    with joblib.parallel_config(backend=OwnProcesses()):
        look = joblib.delayed(eval)("__import__('sys').flags.safe_path")
        assert joblib.Parallel(n_jobs=2)([look, look]) == [True, True]
