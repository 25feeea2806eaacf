"""A sweep writes the same files whatever ends it or its workers, also on Dask.

Here are the tests of `backends.py` and `own_processes.py`.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import psutil
import pytest

import ironarm as ia
from ironarm.lab.sweeps import backends, own_processes, sweep
from ironarm.lab.sweeps.file import read_sweep
from ironarm.lab.sweeps.own_processes import OwnProcesses
from ironarm.lab.sweeps.sweep import run_sweep

from . import stand_ins
from .examples import LONGER, SMALL, contents, written

needs_signals = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
on_both = pytest.mark.parametrize("dask", [None, "local"], ids=["processes", "dask"])


ROOT = Path(__file__).parents[3]
COMMAND = """
import signal, sys
# a shell starts background jobs with SIGINT ignored, and the tests may be such a job
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[1])
from ironarm.cli import main
from ironarm.lab.sweeps import sweep
from tests.lab.sweeps import stand_ins
sweep.run_cell = stand_ins.stay
sys.exit(main(sys.argv[2:]))
"""


def start(tmp_path, *options):
    """Start the longer sweep as a command, and wait for its first finished cell.

    Two workers finish at most two cells, and stay busy until the sweep is ended.
    """
    verb = ["sweep", str(written(tmp_path, LONGER)), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(ROOT), *verb, "--workers", "2", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not list((tmp_path / "out" / "cells").glob("[!.]*.npz")):
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
@pytest.mark.parametrize("options", [[], ["--dask"]], ids=["processes", "dask"])
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
    assert 0 < len(finished) <= 2
    assert finished.items() <= contents(longer).items()
    run_sweep(read_sweep(written(tmp_path, LONGER)), tmp_path / "out", workers=1)
    assert contents(longer) == contents(tmp_path / "out")


@needs_signals
@pytest.mark.parametrize("options", [[], ["--dask"]], ids=["processes", "dask"])
def test_a_killed_sweep_goes_on_where_it_stopped(options, tmp_path, longer):
    """SIGKILL of the process that was started: its workers end too.

    Run again, it keeps what was finished, and its files are those of an undisturbed
    sweep.
    """
    process = start(tmp_path, *options)
    process.kill()
    process.communicate(timeout=120)
    assert ends(process.pid)
    finished = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").glob("[!.]*.npz")
    }
    assert 0 < len(finished) <= 2
    run_sweep(read_sweep(written(tmp_path, LONGER)), tmp_path / "out", workers=1)
    assert finished == {path: path.stat().st_mtime_ns for path in finished}
    assert contents(longer) == contents(tmp_path / "out")


@needs_signals
@on_both
def test_a_killed_worker_loses_its_cell_only(dask, tmp_path, monkeypatch, small, capsys):
    """SIGKILL of a worker while another is at work.

    One cell is begun twice, all others once, and the files are those of an undisturbed
    sweep. Dask does that by itself, silently.
    """
    monkeypatch.setattr(sweep, "run_cell", stand_ins.die_once)
    cells = read_sweep(written(tmp_path, SMALL))
    run_sweep(cells, tmp_path / "out", workers=2, dask=dask)
    begun = Counter(path.name.partition(".")[0] for path in (tmp_path / "begun").iterdir())
    killed = (tmp_path / "killed").read_text()
    assert capsys.readouterr().err == ("" if dask else f"{sweep.KILLED}\n")
    assert begun == {cell.key: 1 + (cell.key == killed) for cell in cells}
    assert contents(small) == contents(tmp_path / "out")


@needs_signals
@on_both
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


def test_a_scheduler_without_workers(tmp_path, monkeypatch):
    """A sentence that says how to start one."""
    from distributed import LocalCluster

    monkeypatch.setattr(backends, "CONNECT_SECONDS", 1)
    cells = read_sweep(written(tmp_path, SMALL))[:1]
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(ia.InvalidInput, match=r"has no workers after 1 s; .*: dask worker"),
    ):
        run_sweep(cells, tmp_path / "out", dask=cluster.scheduler_address)


@needs_signals
def test_a_scheduler_that_ends(tmp_path, monkeypatch):
    """A sentence, not a traceback of Dask's."""
    monkeypatch.setattr(backends, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(sweep, "run_cell", stand_ins.end_cluster)
    cells = read_sweep(written(tmp_path, SMALL))[:3]
    with pytest.raises(ia.IronarmError, match="the Dask scheduler has ended"):
        run_sweep(cells, tmp_path / "out", workers=1, dask="local")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense"])
def test_no_scheduler_at_the_address(address, tmp_path, monkeypatch):
    """A sentence that says how to start one."""
    monkeypatch.setattr(backends, "CONNECT_SECONDS", 1)
    with pytest.raises(ia.InvalidInput, match="no Dask scheduler answers at"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:1], tmp_path / "out", dask=address)


@on_both
def test_workers_import_nothing_from_the_current_folder(dask, tmp_path, monkeypatch, small):
    """Somebody else may have put a `pickle.py` there."""
    mark = tmp_path / "imported"
    place = tmp_path / "place"
    place.mkdir()
    for name in sys.stdlib_module_names:
        (place / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})")
    cells = read_sweep(written(tmp_path, SMALL))
    monkeypatch.chdir(place)
    run_sweep(cells, tmp_path / "out", workers=2, dask=dask)
    assert not mark.exists(), mark.read_text()
    assert contents(small) == contents(tmp_path / "out")


@on_both
def test_a_script_runs_once(dask, tmp_path):
    """It needs no `if __name__ == "__main__"`."""
    script = tmp_path / "script.py"
    script.write_text(
        "from ironarm.lab.sweeps.file import read_sweep\n"
        "from ironarm.lab.sweeps.sweep import run_sweep\n"
        "print('once')\n"
        f"run_sweep(read_sweep({str(written(tmp_path, SMALL))!r})[:3], "
        f"{str(tmp_path / 'out')!r}, workers=2, dask={dask!r})\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (0, "once\n", "") == (done.returncode, done.stdout, done.stderr)


OWN = """
from dataclasses import dataclass
import ironarm as ia
from ironarm.extend import IndexPolicy, LowerMedian
from ironarm.lab.sweeps.sweep import run_sweep
from ironarm.simulation.cells import Cell
from beside import Other

@dataclass(frozen=True)
class Here(IndexPolicy):
    omega: float = 4.0
    estimator = LowerMedian

def lie(e, a, x, u, v):
    return -5.0

settings = (50, 2, 1, (50,))
arms = ia.GaussianBandit([0, 1])
cells = [
    Cell(Here(), arms, ia.Constant(0.1), *settings),
    Cell(ia.UCB(), arms, ia.CustomAttack(0.1, lie), *settings),
    Cell(ia.UCB(), arms, ia.CustomAttack(0.1, lambda e, a, x, u, v: 0.0), *settings),
    Cell(Other(), arms, ia.Constant(0.1), *settings),
]
run_sweep(cells, "out", workers=2, dask=%r)
"""
BESIDE = """
from dataclasses import dataclass
from ironarm.extend import IndexPolicy

@dataclass(frozen=True)
class Other(IndexPolicy):
    omega: float = 2.0
"""


@on_both
def test_a_session_can_use_what_it_defines_and_what_lies_beside_it(dask, tmp_path):
    """Its own classes, functions and lambdas run in its process: no other has them."""
    (tmp_path / "beside.py").write_text(BESIDE)
    command = [sys.executable, "-c", OWN % dask]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if not line.startswith("ironarm: compil")]
    assert (done.returncode, done.stdout, said) == (0, "", [])
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 4


@on_both
def test_what_workers_print_goes_to_standard_error(dask, tmp_path, monkeypatch, capfd):
    """However much it is, and however long the lines."""
    monkeypatch.setattr(sweep, "run_cell", stand_ins.print_much)
    cells = read_sweep(written(tmp_path, SMALL))[:3]
    run_sweep(cells, tmp_path / "out", workers=1, dask=dask, progress=False)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.count("x" * 100_000) == 3


def errors_of(function, *tasks):
    """What a single process answers."""
    with closing(OwnProcesses(1)) as processes:
        return [error for _, error in processes.run(function, tasks)]


def test_an_error_that_only_the_worker_knows_costs_no_worker(monkeypatch):
    """It cannot be read here; the next task still has its process."""
    read, answers = own_processes.pickle.loads, []

    def loads(data):
        answers.append(data)
        if len(answers) == 1:
            raise ModuleNotFoundError("No module named 'theirs'")
        return read(data)

    monkeypatch.setattr(own_processes.pickle, "loads", loads)
    assert [type(error) for error in errors_of(abs, (1,), (2,))] == [
        ModuleNotFoundError,
        type(None),
    ]


def test_errors_say_where_they_arose():
    """In a worker, even those that cannot be sent from there."""
    division, nothing = errors_of(exec, ("1 / 0",), ("1 / 1",))
    assert isinstance(division, ZeroDivisionError)
    assert any("in a worker" in note for note in division.__notes__)
    assert nothing is None
    [unsendable] = errors_of(stand_ins.fail, ("", None, ""))
    assert isinstance(unsendable, RuntimeError)
    assert "Unsendable: too much" in str(unsendable)


def test_workers_start_one_thread_each(monkeypatch):
    """Unless the user says otherwise."""
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    look = "import os; assert os.environ['{}_NUM_THREADS'] == '{}'"
    assert errors_of(exec, (look.format("NUMBA", 1),), (look.format("OMP", 3),)) == [None, None]


@pytest.mark.parametrize(
    ("limit", "count"), [("max 100000", 4), ("150000 100000", 2), ("900000 100000", 4)]
)
def test_processors_are_those_that_may_be_used(limit, count, tmp_path, monkeypatch):
    """In a container there may be less than the machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(own_processes, "CPU_LIMIT", tmp_path / "cpu.max")
    assert own_processes.processors() == 4
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert own_processes.processors() == count
