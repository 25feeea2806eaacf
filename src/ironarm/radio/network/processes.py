"""`ironarm radio run --processes`: all nodes as processes, started from this one.

This process watches the run, and notices when a node dies. It doesn't restart nodes; it
prints the command that does. When this process ends, for whatever reason, the nodes end
too.
"""

from __future__ import annotations

import json
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter

from ...engine import kept
from ...errors import NodeLost
from ...naming import own_code
from ..backends.hardware import (
    TRANSMITTING,
    check_calibrated,
    check_devices,
    check_times,
    check_use,
)
from ..testbed.config import CHANNELS, RadioConfig
from ..testbed.records import Round, RunRecord
from ..testbed.rx_agent import compile_policy
from .hub import NAMES
from .observer import observe

END_SECONDS = 5.0
"""So long a process may take to end by itself; then it is stopped."""


class Crew:
    """The processes of one run; a context manager, none is left when it is over.

    Parameters
    ----------
    config : where `port` or `ack_port` is 0, a free one is found.
    say : called with a line of text when something happens.
    acknowledged : the set-up's word from the command line, handed on to nodes that
        transmit on hardware.
    """

    def __init__(
        self,
        config: RadioConfig,
        say: Callable[[str], None] = lambda _: None,
        acknowledged: str | None = None,
    ) -> None:
        times = config.processes
        self.config = replace(
            config,
            processes=replace(
                times, port=times.port or free_port(), ack_port=times.ack_port or free_port()
            ),
        )
        self.run = secrets.token_hex(4)
        """The run's random name; nodes of another run on the same ports are refused."""
        self._say, self._acknowledged = say, acknowledged
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="ironarm-radio-")
        self.config_file = Path(self._folder.name) / "config.json"

    def __enter__(self) -> Crew:
        self.config_file.write_text(json.dumps(self.config.to_dict()), encoding="utf-8")
        try:
            for role in (
                "medium",
                "tx",
                "jammer",
                "rx",
                *(["noise"] if self.config.processes.noise_node else []),
            ):
                self.start(role)
        except BaseException:
            self._stop()
            raise
        return self

    def start(self, role: str) -> None:
        """Start a node, the first time or again; what is left of it is killed first."""
        if role in self.running:
            self.running[role].kill()
            self.running[role].wait()
            self._forget(role)
        command = [sys.executable, "-m", "ironarm", *self._arguments(role), "--with-parent"]
        # In a new session, Ctrl-C reaches only this process, which then stops the
        # nodes. They end when their standard input closes, that is with this process.
        with self._log(role).open("ab") as log:
            self.running[role] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            )

    def _arguments(self, role: str) -> list[str]:
        acknowledged = (
            ["--acknowledge-transmitting", self._acknowledged] if self._acknowledged else []
        )
        return [
            "radio",
            "node",
            role,
            "--config",
            str(self.config_file),
            # this process has loaded the file already, so its user allowed it
            *(["--allow-code"] if own_code.split(self.config.agent.policy)[0] else []),
            "--run",
            self.run,
            *acknowledged,
        ]

    def look(self, started: bool = True) -> list[str]:
        """Return which processes have died since the last call.

        If the run has started, it waits for them, so how to start them again is said.
        """
        died = []
        for role, process in list(self.running.items()):
            code = process.poll()
            if code is not None:
                self._forget(role)
                died.append(role)
                if not started:
                    continue
                how = (
                    f"was ended by signal {signal.Signals(-code).name}"
                    if code < 0
                    else f"ended with code {code}"
                )
                self._say(
                    f"the {NAMES[role]}'s process {how}; to start it again: "
                    f"{shlex.join(['ironarm', *self._arguments(role)])}"
                )
                if message := self.last_message(role):
                    self._say(f"the {NAMES[role]}'s last message: {message}")
        return died

    def last_message(self, role: str) -> str:
        """Return the last line that a node wrote on standard error, if any."""
        lines = self._log(role).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1].removeprefix("ironarm: ") if lines else ""

    def _log(self, role: str) -> Path:
        return Path(self._folder.name) / f"{role}.log"

    def _forget(self, role: str) -> None:
        process = self.running.pop(role)
        if process.stdin:
            process.stdin.close()

    def _stop(self) -> None:
        until = monotonic() + END_SECONDS
        for process in self.running.values():
            process.terminate()
        for role in list(self.running):
            try:
                self.running[role].wait(max(0.0, until - monotonic()))
            except subprocess.TimeoutExpired:
                self.running[role].kill()
                self.running[role].wait()
            self._forget(role)
        self._folder.cleanup()

    def __exit__(self, *_: object) -> None:
        self._stop()

    def wait(self) -> None:
        """Let the processes end by themselves, as they do when the run is over."""
        until = monotonic() + END_SECONDS
        for role in list(self.running):
            try:
                self.running[role].wait(max(0.0, until - monotonic()))
                self._forget(role)
            except subprocess.TimeoutExpired:
                pass


def run_processes(
    config: RadioConfig,
    on_round: Callable[[Round], None] = lambda _: None,
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True),
    *,
    acknowledged: str | None = None,
    on_start: Callable[[Crew], None] = lambda _: None,
) -> RunRecord:
    """Run the testbed in several processes; NodeLost if a node dies for good.

    Parameters
    ----------
    config : see `Crew`.
    on_round : called with each round.
    say : called with a line of text when a policy is compiled, before the run, and when
        a node dies, is lost or returns.
    acknowledged : see `Crew`.
    on_start : called with the crew when its processes have been started.
    """
    config.check_for_processes()
    hardware = check_devices(config)
    # fail here rather than in each node, after seconds
    if hardware:
        check_times(config)
    config.medium()  # reads the calibration
    if hardware:
        for role in (*TRANSMITTING, "rx"):
            if role != "noise" or config.processes.noise_node:
                check_use(config, role, acknowledged)
        check_calibrated(config)
    if kept.directory() is not None:  # else the receiver's node cannot load it
        compile_policy(config.policy, CHANNELS, say)
    began = perf_counter()
    with Crew(config, say, acknowledged) as crew:
        on_start(crew)

        def look(started: bool) -> None:
            for role in crew.look(started):
                if not started:
                    raise NodeLost(
                        f"the {NAMES[role]} did not start: "
                        f"{crew.last_message(role) or 'it said nothing.'}"
                    )

        rounds = observe(crew.config.processes, crew.run, on_round, say, look)
        crew.wait()
    return RunRecord(crew.config, rounds, perf_counter() - began)


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
