"""A router behind a pipe: any command that reads and writes JSON lines."""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import threading
from collections import deque
from contextlib import suppress
from typing import Any

from ...errors import InvalidInput, RouterFault
from ...validation import number
from .scenario import Scenario

PROTOCOL = 1
FIRST_SECONDS = 60.0
"""How long the first answer of a process may take: it may have to compile."""
LONGEST = 65_536
"""Characters in a line."""
PATIENCE = 5.0
"""Seconds for a process to end by itself."""


class ProcessRouter:
    """A router that is a command: it reads messages and answers on a pipe.

    The same process plays all runs, one after the other, unless `restart`. Whatever
    goes wrong is a `RouterFault` that says at which request, and what the command wrote
    on its standard error.
    """

    def __init__(self, command: str, timeout: float = 10.0, restart: bool = False) -> None:
        self._command, self._restart = command, restart
        self._timeout = number("timeout", timeout, above=0)
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InvalidInput(f"the router {command!r} cannot be read: {error}.") from None
        self._process: subprocess.Popen[str] | None = None

    def start(self, scenario: Scenario) -> None:
        """Start the command, if it does not run, and tell it that a run begins."""
        self._where = f"before request 1 of {scenario.name}, seed {scenario.seed}"
        self._scenario = scenario
        if self._restart:
            self.close()
        if self._process is None:
            self._launch()
        self._send(
            {
                "type": "start",
                "protocol": PROTOCOL,
                "scenario": scenario.name,
                "seed": scenario.seed,
                "goal": scenario.goal,
                "unit": scenario.unit,
                "requests": scenario.requests,
            }
        )

    def choose(self, request: int, deployments: list[str]) -> str:
        """Ask the command, and wait for its answer."""
        self._where = f"at request {request} of {self._scenario.name}, seed {self._scenario.seed}"
        self._send({"type": "request", "request": request, "deployments": deployments})
        line = self._answer()
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            answer = None
        choice = answer.get("deployment") if isinstance(answer, dict) else None
        if choice not in deployments:
            raise self._fault(
                f'answered {line.strip()[:200]!r}; expected one line like {{"deployment": '
                f'"{deployments[0]}"}}, with one of {", ".join(deployments)}'
            )
        return str(choice)

    def outcome(self, request: int, deployment: str, value: float) -> None:
        """Tell it an outcome; no answer is expected."""
        self._send(
            {"type": "outcome", "request": request, "deployment": deployment, "value": value}
        )

    def end(self) -> None:
        """Tell it that the run is over."""
        self._send({"type": "end"})

    def close(self) -> None:
        """Close the pipe, and end the command if it does not end by itself."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            _kill(process)
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()

    # inside

    def _launch(self) -> None:
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
                start_new_session=True,  # so that it can be ended with its children
            )
        except OSError as error:
            raise RouterFault(
                f"the router {self._command!r} cannot be started: {error.strerror or error}. Give "
                "round-robin, greedy, policy:NAME, or a command."
            ) from None
        self._process = process
        self._answered = False
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._words_of_error: deque[str] = deque(maxlen=5)
        self._threads = [
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._listen, args=(process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: Any) -> None:
        while line := stream.readline(LONGEST):
            self._lines.put(line)
        self._lines.put(None)

    def _listen(self, stream: Any) -> None:
        while line := stream.readline(LONGEST):
            self._words_of_error.append(line.rstrip()[:200])

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None

    def _answer(self) -> str:
        limit = self._timeout if self._answered else max(self._timeout, FIRST_SECONDS)
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            raise self._fault(f"gave no answer within {limit:g} s (--timeout)") from None
        if line is None:
            raise self._ended()
        self._answered = True
        return line

    def _ended(self) -> RouterFault:
        assert self._process is not None
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return self._fault("closed its standard input or output")
        return self._fault(f"ended with exit code {code}; it must answer until its input ends")

    def _fault(self, what: str) -> RouterFault:
        """Return the error, and end the command; it cannot be asked again."""
        process = self._process
        if process is not None and process.poll() is None:
            _kill(process)
        self.close()
        said = " | ".join(self._words_of_error)
        more = f" It wrote on standard error: {said}" if said else ""
        return RouterFault(f"the router {self._command!r} {what}, {self._where}.{more}")


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process that we started, with what it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
