"""A study can be interrupted, resumed and repeated, and its files come out the same."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ironarm.cli import main
from ironarm.lab.studies.read import read_study
from ironarm.lab.studies.runner import Runner

SMALL = Path(__file__).parent / "small"
QUICK = ["reproduce", "--study", str(SMALL), "--quick"]


def files(folder):
    """Every file that must not depend on when and how the study was run."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("run.json", "report.html")
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The study, run without a break."""
    out = tmp_path_factory.mktemp("undisturbed")
    assert main([*QUICK, "--out", str(out)]) == 0
    return out


def test_the_report_is_complete(undisturbed, capsys):
    """Page, JSON, and each figure in three formats; nothing half-written is left."""
    names = set(files(undisturbed))
    assert (undisturbed / "report.html").is_file()
    assert {
        f"figures/{name}.{form}"
        for name in ("scheme", "regret-rho-0.1", "regret-rho-0.2")
        for form in ("svg", "pdf", "png")
    } <= names
    assert not [name for name in names if Path(name).name.startswith(".")]
    assert "These are the study's quick sizes" in (undisturbed / "report.html").read_text()
    found = json.loads((undisturbed / "report.json").read_text())
    for claim in found["claims"]:
        for one in claim["settings"]:
            assert one["judgement"] == one["on_all_trials"]["judgement"]
    assert [row["policy"] for row in found["tables"]["final"]] == ["median", "mean", "trimmed"] * 2
    assert {row["chosen"] for row in found["tables"]["grids"]} == {"0.125", "8"}


def test_a_repeated_run_computes_nothing_and_changes_nothing(undisturbed, capsys):
    """Not even the report's time."""
    before = {path: path.stat().st_mtime_ns for path in undisturbed.rglob("*") if path.is_file()}
    assert main([*QUICK, "--out", str(undisturbed)]) == 0
    assert "0 cells computed, 15 kept from before" in capsys.readouterr().out
    assert {
        path: path.stat().st_mtime_ns for path in undisturbed.rglob("*") if path.is_file()
    } == before


def test_forced_everything_is_run_again(undisturbed, tmp_path, capsys):
    """To the same bytes."""
    shutil.copytree(undisturbed, tmp_path / "out")
    assert main([*QUICK, "--out", str(tmp_path / "out"), "--force", "--workers", "1"]) == 0
    assert "15 cells computed, 0 kept from before" in capsys.readouterr().out
    assert files(tmp_path / "out") == files(undisturbed)


def test_a_changed_parameter_reruns_that_policy_only(undisturbed, tmp_path):
    """Its two cells, one for each rho."""
    shutil.copytree(SMALL, tmp_path / "study")
    shutil.copytree(undisturbed / "cells", tmp_path / "out" / "cells")
    runs = tmp_path / "study" / "runs.toml"
    runs.write_text(runs.read_text().replace("MedEUCB(b=2", "MedEUCB(b=3"))
    findings = Runner(read_study(str(tmp_path / "study"), quick=True), tmp_path / "out").run()
    assert (findings.computed, findings.kept) == (2, 13)


def test_a_cell_that_two_policies_share_is_counted_once(undisturbed, tmp_path):
    """And run once, also if all is to be run again."""
    shutil.copytree(SMALL, tmp_path / "study")
    shutil.copytree(undisturbed / "cells", tmp_path / "out" / "cells")
    runs = tmp_path / "study" / "runs.toml"
    runs.write_text(
        runs.read_text().replace(
            '"trimmed" =', '"median again" = "MedEUCB(b=2, block=200)"\n"trimmed" ='
        )
    )
    study = read_study(str(tmp_path / "study"), quick=True)
    for force, counted in ((False, (0, 15)), (True, (15, 0))):
        findings = Runner(study, tmp_path / "out", force=force).run()
        assert (findings.computed, findings.kept) == counted


def test_a_damaged_or_stale_report_is_written_again(undisturbed, tmp_path, capsys):
    """A garbled page; a study that changed in what is shown only."""
    shutil.copytree(SMALL, tmp_path / "study")
    out = tmp_path / "out"
    shutil.copytree(undisturbed, out)
    (out / "report.html").write_text("garbage")
    assert main([*QUICK, "--out", str(out)]) == 0
    assert "The median beats the mean." in (out / "report.html").read_text()
    for file, old, new in (
        ("runs", "paper_trials = 4", "paper_trials = 3"),
        ("runs", '"trimmed" =', '"renamed" ='),
        ("show", '"trimmed"', '"renamed"'),
    ):
        path = tmp_path / "study" / f"{file}.toml"
        path.write_text(path.read_text().replace(old, new))
    assert (
        main(["reproduce", "--study", str(tmp_path / "study"), "--quick", "--out", str(out)]) == 0
    )
    assert "0 cells computed" in capsys.readouterr().out
    page = (out / "report.html").read_text()
    assert "renamed" in page
    assert "3 trials" in page


def test_what_cannot_be_written_is_one_sentence(undisturbed, tmp_path, capsys):
    """A folder where the page should be."""
    out = tmp_path / "out"
    shutil.copytree(undisturbed / "cells", out / "cells")
    (out / "report.html").mkdir()
    assert main([*QUICK, "--out", str(out)]) == 2
    assert "report.html is a folder" in capsys.readouterr().err


def test_a_terminal_without_greek_letters(undisturbed):
    """Question marks, not a traceback."""
    command = [sys.executable, "-m", "ironarm", *QUICK, "--out", str(undisturbed)]
    done = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr


def test_damaged_cells_are_noticed_and_redone(undisturbed, tmp_path):
    """One cut short, one empty, one overwritten; the others are kept."""
    out = tmp_path / "out"
    shutil.copytree(undisturbed, out)
    cut, emptied, overwritten = sorted((out / "cells").iterdir())[:3]
    cut.write_bytes(cut.read_bytes()[:-200])
    emptied.write_bytes(b"")
    overwritten.write_bytes(bytes(500) + overwritten.read_bytes()[500:])
    findings = Runner(read_study(str(SMALL), quick=True), out).run()
    assert (findings.computed, findings.kept) == (3, 12)
    assert files(out) == files(undisturbed)


def start(out):
    """Start the study at its full size in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "ironarm",
        "reproduce",
        "--study",
        str(SMALL),
        "--out",
        str(out),
    ]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg"},
        process_group=0,
        # a shell starts background jobs, such as these tests, with SIGINT ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_study_resumes_to_identical_files(tmp_path):
    """A real Ctrl-C in the middle: exit code 130, a sentence, only whole cells on disk.

    The resumed run's files are those of a run without a break.
    """
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    process = start(broken)
    deadline = time.monotonic() + 120
    while (
        len(list((broken / "cells").glob("*.npz"))) < 6
        and process.poll() is None
        and time.monotonic() < deadline
    ):
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "the same command resumes" in errors
    assert "Traceback" not in errors
    kept = len(list((broken / "cells").glob("*.npz")))
    assert 6 <= kept < 15
    assert [path.suffix for path in (broken / "cells").iterdir()] == [".npz"] * kept
    for out in (broken, whole):
        process = start(out)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        if out is broken:
            assert f"{kept} kept from before" in output
    assert files(broken) == files(whole)


def test_mistakes_are_one_sentence(tmp_path, capsys):
    """An unknown study, a folder that is a file, too few trials."""
    (tmp_path / "file").write_text("")
    for arguments, message in (
        (["--study", "sinthetic"], "Did you mean 'synthetic'"),
        (["--study", str(SMALL), "--out", str(tmp_path / "file")], "cannot be created"),
        (["--study", str(SMALL), "--trials", "1"], "trials must be a whole number of at least 2"),
    ):
        assert main(["reproduce", *arguments]) == 2
        assert message in capsys.readouterr().err
