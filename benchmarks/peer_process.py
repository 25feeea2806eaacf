"""A peer in its virtual environment under .bench-venv, and its program there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from measure import ROOT

VENVS = ROOT / ".bench-venv"
PROGRAMS = Path(__file__).resolve().parent / "peer_players"
MARK = "answer: "


@dataclass(frozen=True)
class Peer:
    """A package, what it is pinned to, and how many trials it plays.

    Those whose rounds take milliseconds play fewer.
    """

    name: str
    pins: tuple[str, ...]
    program: str
    trials: int = 20
    tuning_trials: int = 3

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.name} {self.pins[0].partition('==')[2]}"


class PeerFailed(Exception):
    """A peer cannot be installed, or its program ended."""


class PolicyFailed(PeerFailed):
    """A peer's policy raised an error, and would again."""


def python_of(peer: Peer) -> Path:
    """Return the interpreter of the peer's virtual environment, made if need be.

    uv makes it where it is there, pip otherwise.
    """
    home = VENVS / peer.pins[0].partition("==")[0].lower()
    python, ready = home / "bin" / "python", home / "pins.txt"
    if ready.exists() and ready.read_text() == "\n".join(peer.pins):
        return python
    beside = Path(sys.executable).parent / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    shutil.rmtree(home, ignore_errors=True)
    if uv:
        run(uv, "venv", "--quiet", "--python", sys.executable, home)
        run(uv, "pip", "install", "--quiet", "--python", python, *peer.pins)
    else:
        run(sys.executable, "-m", "venv", home)
        install = ("install", "--quiet", "--disable-pip-version-check")
        run(python, "-m", "pip", *install, *peer.pins)
    ready.write_text("\n".join(peer.pins))
    return python


def run(*command: str | Path) -> None:
    """Run a command; PeerFailed with its last line if it fails."""
    try:
        subprocess.run(
            [str(part) for part in command],
            check=True,
            capture_output=True,
            text=True,
            timeout=3600,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise PeerFailed(said[-1][:200] if said else type(error).__name__) from error


class Player:
    """The peer's program, started at the first question and again if it has ended."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._process: subprocess.Popen[str] | None = None

    def ask(self, what: str, **details: Any) -> Any:
        """Return the program's answer; PeerFailed if it has none."""
        process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        try:
            print(json.dumps({"what": what, **details}), file=process.stdin, flush=True)
            line = next(line for line in process.stdout if line.startswith(MARK))
        except (OSError, StopIteration):
            self.close()
            raise PeerFailed("its process ended") from None
        reply = json.loads(line.removeprefix(MARK))
        if "failed" in reply:
            raise PolicyFailed(reply["failed"])
        return reply["answer"]

    def _start(self) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        # one thread: CPU time is what is measured, and ten arms need no more
        environment |= {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [str(python_of(self._peer)), "-W", "ignore", str(PROGRAMS / self._peer.program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        return self._process

    def close(self) -> None:
        """End the program."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
