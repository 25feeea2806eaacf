"""A sweep gives the same files whatever happens to it: interrupted, resumed, on one
machine's processes or on Dask, with workers killed and cells damaged.
"""

import os
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import psutil
import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.simulation.cells import Cell, CellStore
from ironarm.sweeps import backends as crew
from ironarm.sweeps import sweep
from ironarm.sweeps.file import read_sweep, sweep_cells
from ironarm.sweeps.sweep import run_cell, run_sweep

from . import stand_ins

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "sweep.toml"

SMALL = """
policies = ["UCB(alpha=[1, 2])", "MedEUCB", "EXP3(reward_range=(0, 4))"]
attacks = ["Constant(value=rho)", "Infinite", "NoAttack"]
rho = [0.1, 0.3]
arms = 3
gap = [0.5, 1]
horizon = 500
trials = 4
seed = 3
"""

LONGER = """
policies = "UCB(alpha=[1, 2, 3, 4, 5, 6, 7, 8])"
attacks = "OppositeUniform"
rho = 0.2
means = [0, 1, 2]
horizon = 100_000
trials = 50
seed = 3
"""
"""Eight cells of some tenths of a second: long enough to be disturbed in the middle."""

needs_signals = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")


def written(folder, text):
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def contents(out):
    """All that a sweep has written, by name; no file is left over."""
    return {
        str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The small sweep, undisturbed, in one process."""
    folder = tmp_path_factory.mktemp("small")
    run_sweep(read_sweep(written(folder, SMALL)), folder / "out", workers=1)
    return folder / "out"


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """The longer sweep, undisturbed, in two processes."""
    folder = tmp_path_factory.mktemp("longer")
    run_sweep(read_sweep(written(folder, LONGER)), folder / "out", workers=2)
    return folder / "out"


def test_the_command_runs_every_combination(tmp_path, capsys, small):
    """In two processes, with a table on standard output; NoAttack is run once,
    whatever rho.
    """
    file = written(tmp_path, SMALL)
    assert main(["sweep", str(file), "--out", str(tmp_path / "out"), "--workers", "2"]) == 0
    output = capsys.readouterr().out
    assert "40 cells: 4 trials of 500 rounds each, seed 3" in output
    assert "Constant(value=0.3)" in output
    assert "EXP3(reward_range=(0, 4))" in output
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 40 == 2 * 4 * (2 + 2 + 1)
    assert contents(small) == contents(tmp_path / "out")


def test_the_tables_hold_what_simulate_returns(small):
    """Trial by trial and checkpoint by checkpoint."""
    result = ia.simulate(
        ia.UCB(alpha=2),
        ia.GaussianBandit([0.5, 1, 1.5]),
        ia.Infinite(rho=0.3),
        horizon=500,
        trials=4,
        seed=3,
    )
    where = (
        "policy == 'UCB' and policy_alpha == 2 and attack == 'Infinite' and rho == 0.3 and gap == "
        "0.5"
    )
    trials = pandas.read_parquet(small / "trials.parquet").query(where)
    assert [0, 1, 2, 3] == trials["trial"].tolist()
    assert result.regret[0, :, -1].tolist() == trials["regret"].tolist()
    assert result.optimal[0, :, -1].tolist() == trials["optimal"].tolist()
    assert result.last_tenth[0].tolist() == trials["last_tenth"].tolist()
    assert result.stuck[0].tolist() == trials["stuck"].tolist()
    checkpoints = pandas.read_parquet(small / "checkpoints.parquet").query(where)
    assert result.rounds.tolist() == checkpoints["round"].tolist()
    assert result.regret[0].mean(axis=0) == pytest.approx(
        checkpoints["regret_mean"].to_numpy(), rel=1e-12
    )
    row, last = result.summary().rows[0], checkpoints.iloc[-1]
    expected = (row.mean, row.low, row.high, row.median, row.q95, row.optimal, row.stuck)
    columns = [
        "regret_mean",
        "regret_low",
        "regret_high",
        "regret_median",
        "regret_q95",
        "optimal_mean",
        "stuck_share",
    ]
    assert expected == pytest.approx(tuple(last[columns].astype(float)), rel=1e-12)


def test_pandas_polars_and_duckdb_read_the_same(small):
    """Without options, the same names, values and gaps; no column is nested."""
    for name in ("trials.parquet", "checkpoints.parquet"):
        path = small / name
        by_pandas = pandas.read_parquet(path)
        by_polars = polars.read_parquet(path)
        by_duckdb = duckdb.sql(f"select * from '{path}'")
        rows = by_polars.rows()
        assert rows == by_duckdb.fetchall()
        assert by_pandas.columns.tolist() == by_polars.columns == by_duckdb.columns
        assert rows == [
            tuple(None if pandas.isna(value) else value for value in row)
            for row in by_pandas.itertuples(index=False, name=None)
        ]
        assert set(by_polars.dtypes) <= {
            polars.String,
            polars.Float64,
            polars.Int64,
            polars.Boolean,
        }
    assert ["(0.0, 4.0)"] == by_polars["policy_reward_range"].drop_nulls().unique().to_list()


def test_what_is_there_is_not_run_again(tmp_path, small, monkeypatch):
    """A repeated sweep runs nothing and writes the same; with force it runs all."""
    runs = []
    original = Cell.run
    monkeypatch.setattr(
        Cell, "run", lambda self, *given: runs.append(self) or original(self, *given)
    )
    cells = read_sweep(written(tmp_path, SMALL))
    before = contents(small)
    run_sweep(cells, small, workers=1)
    assert runs == []
    assert before == contents(small)
    run_sweep(cells, small, workers=1, force=True)
    assert len(runs) == len(cells)
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
    """Half a file, an empty one, rubbish, a flipped byte, another cell's result:
    five cells are run again, and all files are as before.
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


def start(tmp_path, *options):
    """Start the longer sweep as a shell would, and wait until it has finished its
    first cell.
    """
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
    """Say whether a process of the group is left; one that has ended and waits to be
    collected is not.
    """
    for process in psutil.process_iter(["pid", "status"]):
        try:
            if os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE:
                return True
        except ProcessLookupError:
            pass
    return False


def ends(group):
    """Say whether all processes of the group end within some seconds."""
    deadline = time.monotonic() + 20
    while alive(group) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not alive(group)


@needs_signals
@pytest.mark.parametrize("options", [[], ["--dask"]], ids=["joblib", "dask"])
def test_an_interrupted_sweep_goes_on_where_it_stopped(options, tmp_path, longer):
    """A real SIGINT to all its processes, as Ctrl-C sends it: one line, exit code
    130, no process left; then resumed, with files as if nothing had happened.
    """
    process = start(tmp_path, *options)
    try:
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
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
    """SIGKILL of the process that was started: its workers end too; run again, it
    keeps what was finished, and its files are those of an undisturbed sweep.
    """
    process = start(tmp_path)
    process.kill()
    process.communicate(timeout=60)
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
    """SIGKILL of a worker while another is at work: one cell is begun twice, all
    others once, and the files are those of an undisturbed sweep.
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
        with pytest.raises(ia.InvalidInput, match="which has its own workers"):
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
    monkeypatch.setattr(crew, "CONNECT_SECONDS", 1)
    with pytest.raises(ia.InvalidInput, match="no Dask scheduler answers at"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:1], tmp_path / "out", dask=address)


def test_workers_that_do_not_share_the_folder(tmp_path, monkeypatch):
    """Are noticed: cells were run and are not there."""
    monkeypatch.setattr(sweep, "run_cell", stand_ins.pretend)
    with pytest.raises(ia.InvalidInput, match="3 cells were run by workers that do not write to"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:3], tmp_path / "out", workers=1)


@pytest.mark.parametrize("answer", [stand_ins.lack, stand_ins.not_read])
def test_machines_without_ironarm_are_named(answer, tmp_path, monkeypatch):
    """As what is missing, without a traceback."""
    monkeypatch.setattr(sweep, "run_cell", answer)
    with pytest.raises(ia.IronarmError, match="a machine of the cluster lacks ironarm"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:3], tmp_path / "out", workers=2)


def test_workers_with_other_code_are_refused(tmp_path):
    """The worker finds out the cell's key from its own code."""
    cell = read_sweep(written(tmp_path, SMALL))[0]
    with pytest.raises(ia.IronarmError, match="another version"):
        run_cell(str(tmp_path), cell, "0" * 32)


@pytest.mark.parametrize(
    ("module", "dask", "extra"),
    [("pyarrow", None, "study"), ("joblib", None, "study"), ("distributed", "local", "dask")],
)
def test_missing_packages_are_named_by_their_extra(module, dask, extra, tmp_path, monkeypatch):
    """Before anything is run."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "ironarm.sweeps.tables", raising=False)
    with pytest.raises(ia.errors.MissingExtra, match=rf"the extra '{extra}'"):
        run_sweep(read_sweep(written(tmp_path, SMALL))[:1], tmp_path / "out", dask=dask)


def documented(language):
    """The block in that language in docs/sweep.md."""
    return (DOCS / "sweep.md").read_text().partition(f"```{language}\n")[2].partition("```")[0]


def test_the_documented_example_runs(tmp_path, monkeypatch, capsys):
    """As the documentation says, with fewer trials; many cells are shown by the best
    of each setting, and the query in the documentation has an answer for each.
    """
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", str(EXAMPLE), "--trials", "1", "--workers", "1"]) == 0
    assert "the best of 48 cells in each setting" in capsys.readouterr().out
    assert len(duckdb.sql(documented("sql")).fetchall()) == 4  # two rho, two gaps


def test_the_documented_file_is_the_example():
    """Line by line, but for the introduction."""
    assert EXAMPLE.read_text().endswith(documented("toml"))


def test_help_shows_a_file_and_examples(capsys):
    """The file shown there can be read."""
    with pytest.raises(SystemExit):
        main(["sweep", "--help"])
    output = capsys.readouterr().out
    assert "ironarm sweep sweep.toml --dask" in output
    shown = output.partition("a sweep file:\n")[2].partition("examples:")[0]
    assert len(sweep_cells(tomllib.loads(shown))) == 40


def test_rho_stands_for_the_cells_own():
    """Alone, in sums and products and in lists, without the dust of binary
    fractions; 0 without an attack.
    """
    data = {
        "policies": ["TrimmedUCB(alpha=[rho, rho + 0.1, 2 * rho])"],
        "attacks": ["Infinite", "NoAttack"],
        "rho": [0.2],
        "means": [0, 1],
        "horizon": 10,
        "trials": 1,
        "seed": 1,
    }
    assert [0.2, 0.3, 0.4, 0.0, 0.1] == [cell.policy.alpha for cell in sweep_cells(data)]


def test_arms_and_gap_are_the_papers_arms():
    """Ten arms with a gap of two have the means 2, 4, ..., 20."""
    data = {
        "policies": "UCB",
        "attacks": "NoAttack",
        "arms": 10,
        "gap": [2, 0.1, 2],
        "horizon": 10,
        "trials": 1,
        "seed": 1,
    }
    paper, narrow = sweep_cells(data)
    assert np.array_equal(np.arange(2, 21, 2), paper.bandit.means)
    assert narrow.bandit.means[2] == 0.3
    assert paper.bandit.sigma.tolist() == [1] * 10


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("trails = 5", "unknown key 'trails'.* Did you mean 'trials'"),
        ('policies = ["MedUCB"]', "unknown policy 'MedUCB'.* Did you mean 'MedEUCB'"),
        ('policies = ["UCB(alfa=1)"]', "UCB has no parameter 'alfa'.* Did you mean 'alpha'"),
        ('policies = ["UCB(alpha=[1, -1])"]', "alpha must be above 0, got -1"),
        ('policies = ["UCB(alpha=[])"]', "has no value for alpha"),
        ('policies = ["UCB(alpha=tau)"]', "cannot read the policy 'UCB\\(alpha=tau\\)'"),
        ("policies = [\"UCB(alpha='a' + 1)\"]", "cannot read the policy"),
        ("policies = [\"UCB(alpha=__import__('os'))\"]", "cannot read the policy"),
        ('policies = ["TrimmedUCB"]', "TrimmedUCB needs alpha"),
        (
            'policies = ["TrimmedUCB(alpha=rho + 0.4)"]',
            "alpha must be at least 0 and below 0.5, got 0.5",
        ),
        ('policies = ["MedEUCB(block=10)"]', "block=10 is too small for 3 arms"),
        ("policies = []", "policies is empty"),
        ("policies = [1]", "policies must be text in quotes"),
        ('attacks = ["Mimik"]', "unknown attack 'Mimik'.* Did you mean 'Mimic'"),
        ('attacks = ["Constant(valeu=1)"]', "Did you mean 'value'"),
        ('attacks = ["Constant(rho=0.1)"]', "has a rho of its own"),
        ("rho = [0.1, 1]", "rho must be at least 0 and below 1, got 1"),
        ('rho = ["a"]', "rho must be a number, got 'a'"),
        ("rho = []", "rho is empty"),
        ("gap = 0", "gap must be above 0"),
        ("arms = 1", "arms must be a whole number of at least 2"),
        ("means = [1, 2]", "both means and arms are given"),
        ("sigma = -1", "sigma must be at least 0"),
        ("horizon = 0", "horizon must be a whole number of at least 1"),
        ("trials = 0", "trials must be a whole number of at least 1"),
        ("seed = 9_223_372_036_854_775_808", "seed must be a whole number below"),
        ("horizon =", "is not valid TOML"),
    ],
)
def test_mistakes_in_a_file_get_a_sentence_before_anything_runs(line, message, tmp_path, capsys):
    """It names the file, what was expected and what may have been meant; exit code
    2.
    """
    key = line.partition(" ")[0]
    lines = [given for given in SMALL.splitlines() if not given.startswith(f"{key} ")]
    file = written(tmp_path, "\n".join([*lines, line]))
    assert main(["sweep", str(file), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"ironarm: {file}")
    assert errors.count("\n") == 1
    with pytest.raises(ia.InvalidInput, match=message):
        read_sweep(file)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("key", ["policies", "attacks", "rho", "gap", "horizon", "trials", "seed"])
def test_a_missing_line_is_named_with_an_example(key, tmp_path):
    """What is missing, and what to add."""
    file = written(
        tmp_path, "\n".join(line for line in SMALL.splitlines() if not line.startswith(key))
    )
    with pytest.raises(ia.InvalidInput, match=f"{key} is missing; add a line such as '{key} = "):
        read_sweep(file)


@pytest.mark.parametrize(
    ("data", "message"), [(None, "No such file"), (b"\xff\xfe", "it is not text")]
)
def test_a_file_that_cannot_be_read(data, message, tmp_path):
    """Is named."""
    path = tmp_path / "x.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ia.InvalidInput, match=message):
        read_sweep(path)
