"""The command line exits cleanly on signals; importing ironarm changes nothing."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

from ironarm.engine.interrupts import interrupts_wait
from ironarm.radio.testbed.records import RunRecord
from ironarm.signals import TOLD_TO_END, _raise, ended_by_exceptions

pytestmark = pytest.mark.skipif(
    sys.platform == "win32",
    reason="NOT TESTED: signals; this system has none that a process can send to another",
)

STARTER = (
    "import os, signal, sys; [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, "
    "signal.SIGHUP)]; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
"""Undoes what a shell or nohup does to background jobs: it ignores these signals."""


def test_importing_ironarm_changes_nothing_in_the_process():
    """Neither signal handlers nor the umask, warnings, hooks, locale or environment."""
    program = """
import locale, os, signal, sys, threading, warnings
import numba, numpy, rich  # what these change is theirs
def state():
    os.umask(mask := os.umask(0))
    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
    hooks = [sys.excepthook, threading.excepthook, sys.displayhook, warnings.showwarning]
    return handlers, hooks, mask, warnings.filters[:], dict(os.environ), locale.setlocale(0)
before = state()
umask, os.umask = os.umask, None  # not even for a moment
import ironarm, ironarm.cli, ironarm.files, ironarm.signals
os.umask = umask
assert state() == before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("way", ["module", "ironarm", "library"])
def test_ctrl_c_while_modules_are_loaded(way, tmp_path):
    """The command line says so and exits, any other program gets a KeyboardInterrupt.

    A stand-in for NumPy, which is loaded early, sends the signal.
    """
    (tmp_path / "numpy.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(20)\n"
    )
    (tmp_path / "ironarm").write_text("from ironarm.cli import main\nraise SystemExit(main())\n")
    (tmp_path / "library").write_text("import ironarm as ia\nia.Agent\n")
    command = ["-m", "ironarm"] if way == "module" else [str(tmp_path / way)]
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.run(
        [sys.executable, "-c", STARTER, *command, "policies"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    if way == "library":
        assert "KeyboardInterrupt" in process.stderr
    else:
        assert (process.returncode, process.stderr) == (130, "ironarm: interrupted\n")


def test_ctrl_c_in_an_exec_of_text(tmp_path):
    """Dataclasses use exec; without care CPython would exit by the signal itself."""
    (tmp_path / "program.py").write_text(
        "from ironarm import cli\ncli._parser = lambda *_: exec('raise KeyboardInterrupt')\nraise "
        "SystemExit(cli.main())\n"
    )
    process = subprocess.run(
        [sys.executable, "-m", "program"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (process.returncode, process.stderr) == (130, "ironarm: interrupted\n")


@pytest.mark.parametrize("number", TOLD_TO_END)
def test_a_terminal_gets_its_cursor_back(number, tmp_path):
    """And the rounds that were played are saved, with no temporary file beside them."""
    pty = pytest.importorskip(
        "pty", reason="NOT TESTED: what a terminal shows; this system has no pseudo-terminals"
    )
    screen, terminal = pty.openpty()
    command = [
        sys.executable,
        "-c",
        STARTER,
        "-m",
        "ironarm",
        "radio",
        "run",
        "--round-seconds",
        "0.15",
        "--policy",
        "UCB",
        "--save",
        str(tmp_path / "run.json"),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(terminal)
        try:
            shown = read_until(screen, b"round 3 of")
            process.send_signal(number)
            process.send_signal(number)  # a second one does not stop the first one's work
            shown += read_until(screen, b"played so far")
            assert process.wait(20) == 128 + number
        finally:
            process.kill()
            os.close(screen)
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l") >= 0
    assert len(RunRecord.load(tmp_path / "run.json").rounds) >= 3
    assert os.listdir(tmp_path) == ["run.json"]


def read_until(screen, wanted):
    """Return what is shown until it has that in it."""
    shown, deadline = b"", time.monotonic() + 120
    while wanted not in shown and time.monotonic() < deadline:
        if select.select([screen], [], [], 0.1)[0]:
            try:
                shown += os.read(screen, 65536)
            except OSError:  # nobody has it open any more
                break
    assert wanted in shown, shown
    return shown


@pytest.fixture
def handlers():
    """Let a test change what the signals do."""
    before = {number: signal.getsignal(number) for number in TOLD_TO_END}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("theirs", [signal.SIG_IGN, lambda *_: None])
def test_handlers_of_others_are_left_alone(theirs, handlers):
    """Such as a radio node's, and what nohup has set; changes are undone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, theirs)
    with ended_by_exceptions():
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == (
            _raise,
            theirs,
        )
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == (
        signal.SIG_DFL,
        theirs,
    )
    with ended_by_exceptions():
        signal.signal(signal.SIGTERM, theirs)
    assert signal.getsignal(signal.SIGTERM) == theirs


def test_a_compiler_is_not_stopped_in_its_middle(handlers):
    """The signal takes effect when it has finished."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    done = []

    def compiles():
        with ended_by_exceptions(), interrupts_wait():
            signal.raise_signal(signal.SIGTERM)
            done.append("compiled")

    with pytest.raises(SystemExit) as end:
        compiles()
    assert (done, end.value.code) == (["compiled"], 128 + signal.SIGTERM)


def test_a_terminal_that_is_gone_does_not_change_the_exit_code(handlers):
    """Writing to it fails; an OSError without a signal stays an OSError."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def puts_away():
        try:
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                raise OSError("the cursor")
        finally:
            raise OSError("a last word")

    with pytest.raises(SystemExit) as end, ended_by_exceptions():
        puts_away()
    assert end.value.code == 128 + signal.SIGTERM
    with pytest.raises(OSError, match="disk"), ended_by_exceptions():
        raise OSError("disk")
