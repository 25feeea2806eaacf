"""Processes on one machine, of which a killed one does not harm the others.

The processes of Python's `ProcessPoolExecutor` are one pool. When one of them is
killed, for example because memory is short, the pool ends them all, and each loses its
work. They also run the user's script again, and import what lies in the current folder.

Here a thread waits for each process, and a killed one costs its own task only.
Processes start as `engine.elsewhere` says. Tasks and answers are pickles on their
standard input and output.

Threads alone would be simpler and start at once. But outside its compiled loops a cell
holds Python's global lock, and with 20 trials of 10,000 rounds that is more than half
of its time. So threads would keep two processors busy, however many there are.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from subprocess import PIPE, Popen
from typing import Any, BinaryIO

from ...engine import elsewhere

CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how much processor time a container may use, and in what time."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Keeps libraries from starting threads in every process, unless the user says so."""

Task = tuple[Any, ...]
"""A function's arguments."""
Outcomes = Iterator[tuple[Task, BaseException | None]]
"""Each task when it has ended, with its error."""


class WorkerKilled(Exception):
    """The worker of a task was killed."""


class OwnProcesses:
    """At most `workers` processes that run tasks; by default one for each processor."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or processors()
        self._threads = ThreadPoolExecutor(self._workers)
        self._all: list[Popen[bytes]] = []
        self._idle: SimpleQueue[Any] = SimpleQueue()

    def run(self, function: Callable[..., Any], tasks: Sequence[Task]) -> Outcomes:
        """Call a function with each task; yield each when it has ended."""
        while len(self._all) < min(self._workers, len(tasks)):
            self._start()
        futures = {self._threads.submit(self._do, (function, task)): task for task in tasks}
        for future in as_completed(futures):
            error = future.exception()
            if isinstance(error, WorkerKilled):
                self._start()
            yield futures[future], error

    def close(self) -> None:
        """End all processes and threads, busy ones too."""
        for process in self._all:
            process.kill()
            self._idle.put(process)  # a thread may wait for one
        self._threads.shutdown(cancel_futures=True)
        for process in self._all:
            process.communicate()  # closes its pipes

    def _start(self) -> None:
        process = started(serve, {})
        self._all.append(process)
        self._idle.put(process)

    def _do(self, task: tuple[Callable[..., Any], Task]) -> None:
        """Let a process do a task."""
        data = pickle.dumps(task)
        process = self._idle.get()
        try:
            pickle.dump(data, process.stdin)
            process.stdin.flush()
            answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise WorkerKilled from None
        self._idle.put(process)
        error = pickle.loads(answer)
        if error is not None:
            raise error


def started(function: Callable[[dict[str, Any]], None], request: dict[str, Any]) -> Popen[bytes]:
    """Call a function in a new process, which has pipes as standard input and output.

    Ctrl-C does not reach it: a terminal sends that to every process, and this one has
    to end the others.
    """
    posix = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if posix else set()
    try:
        # a session or `python -c` imports from its folder, which is "" in its paths
        path = [entry or os.getcwd() for entry in sys.path]
        command = elsewhere.command(function, request, path)
        return Popen(command, stdin=PIPE, stdout=PIPE, env=ONE_THREAD | os.environ)
    finally:
        if posix:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def processors() -> int:
    """Return how many processors this process may use."""
    linux = hasattr(os, "sched_getaffinity")
    count = len(os.sched_getaffinity(0)) if linux else os.cpu_count() or 1
    try:
        limit, period = map(int, CPU_LIMIT.read_text().split())
    except (OSError, ValueError):  # "max": there is no limit
        return count
    return min(count, math.ceil(limit / period))


def serve(_: dict[str, Any]) -> None:
    """Run the tasks that another process sends, one after the other, until it ends."""
    answers = own_output()
    tasks: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(tasks,), daemon=True).start()
    while True:
        pickle.dump(_answer(tasks.get()), answers)
        answers.flush()


def own_output() -> BinaryIO:
    """Return the standard output; what others print goes to standard error instead."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return output


def _receive(tasks: SimpleQueue[bytes]) -> None:
    """Wait for tasks, even during a task: the end of the other process ends this."""
    try:
        while True:
            tasks.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(1)


def _answer(data: bytes) -> bytes:
    """Run a task; return its error, with a note of where it arose, as a pickle."""
    try:
        function, arguments = pickle.loads(data)
        function(*arguments)
        return pickle.dumps(None)
    except BaseException as error:
        where = traceback.format_exc()
        error.add_note(f"in a worker:\n{where}")
        with suppress(Exception):  # some errors cannot be sent
            pickle.loads(answer := pickle.dumps(error))
            return answer
        return pickle.dumps(RuntimeError(where))
