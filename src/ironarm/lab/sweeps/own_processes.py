"""A joblib backend for one machine, in which a killed worker does not harm the others.

Joblib's usual processes are one pool. When one of them is killed, for example because
memory is short, the pool ends them all, and each loses its work. Here joblib's threads
take the tasks, and each thread has a pool with a single process. If that process is
killed, its task runs again in a new one.

Threads alone would be simpler and start at once. But outside its compiled loops a cell
holds Python's global lock, and with 20 trials of 10,000 rounds that is more than half
of its time. So threads would keep two processors busy, however many there are.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from .joblib_parts import (
    ProcessPoolExecutor,
    ShutdownExecutorError,
    TerminatedWorkerError,
    ThreadingBackend,
)

ATTEMPTS = 3
"""How often a task is tried in all if its process is killed each time."""


class OwnProcesses(ThreadingBackend):  # type: ignore[misc]
    """Joblib's threads, each with a process of its own."""

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Prepare for a call of `joblib.Parallel`; processes start later."""
        count: int = super().configure(n_jobs, parallel, **options)
        # processes must not import what happens to lie in the current folder
        safe = {**self._prepare_worker_env(count), "PYTHONSAFEPATH": "1"}
        self._pools = _Pools(safe)
        return count

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], None] | None = None) -> Any:
        """Let a thread run the task in its process."""
        return super().submit(partial(self._pools.run, func), callback)

    def terminate(self) -> None:
        """End all processes and threads, busy ones too."""
        self._pools.end()
        super().terminate()


class _Pools:
    """A pool of one process for each thread that asks."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._mine = threading.local()
        self._all: list[ProcessPoolExecutor] = []
        self._ended = False
        self._changing = threading.Lock()

    def run(self, task: Callable[[], Any]) -> Any:
        """Run a task in this thread's process, or in a new one if that is killed."""
        killed = 0
        while True:
            try:
                return self._pool().submit(task).result()
            except TerminatedWorkerError:
                killed += 1
                if killed == ATTEMPTS or self._ended:
                    raise
                self._mine.pool = None
                # one write: other threads may print at the same time
                print(
                    "a worker was killed; its cell is run again\n",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )

    def _pool(self) -> ProcessPoolExecutor:
        if getattr(self._mine, "pool", None) is None:
            with self._changing:
                if self._ended:
                    raise ShutdownExecutorError
                self._mine.pool = ProcessPoolExecutor(
                    1, initializer=_watch, initargs=(os.getpid(),), env=self._environment
                )
                self._all.append(self._mine.pool)
        return self._mine.pool

    def end(self) -> None:
        """End all processes, whatever they do, and start no more."""
        with self._changing:
            self._ended = True
        with _no_traceback_of_pools():
            for pool in self._all:
                pool.shutdown(wait=True, kill_workers=True)


@contextmanager
def _no_traceback_of_pools() -> Iterator[None]:
    """Print no traceback of a pool's own thread.

    If a pool is shut down while it hands out work, its thread ends with a KeyError. It
    has to end anyway.
    """
    before = threading.excepthook
    threading.excepthook = lambda error: (
        None
        if error.thread is not None and error.thread.name == "ExecutorManagerThread"
        else before(error)
    )
    try:
        yield
    finally:
        threading.excepthook = before


def _watch(parent: int) -> None:
    """Let a process watch its parent."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone; it would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
