"""A backend of joblib on one machine: each of its workers is a process of its own, and
may be killed without harm to the others.

Joblib's usual processes are one pool. When one of them is killed, for want of memory
for example, the pool ends them all, and each loses what it was doing. Here joblib's
threads take the tasks, and each hands its own to a pool of a single process. A killed
process costs its task, which is run again in a new one.

Threads alone would be simpler, and start at once. But what a cell does outside its
compiled loops, threads can only do in turn, and with 20 trials of 10,000 rounds that is
more than half of its time: two threads would be kept busy, however many processors
there are.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from joblib._parallel_backends import ThreadingBackend
from joblib.externals.loky.process_executor import (
    ProcessPoolExecutor,
    ShutdownExecutorError,
    TerminatedWorkerError,
)

ATTEMPTS = 3
"""How often a task is given to a process in all, if the process is killed each time."""


class OwnProcesses(ThreadingBackend):  # type: ignore[misc]
    """Joblib's threads, each with a process of its own."""

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Get ready for a call of `joblib.Parallel`; processes are started when they
        are needed.
        """
        count: int = super().configure(n_jobs, parallel, **options)
        self._pools = _Pools(self._prepare_worker_env(count))
        return count

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], None] | None = None) -> Any:
        """Let a thread have the task run in its process."""
        return super().submit(partial(self._pools.run, func), callback)

    def terminate(self) -> None:
        """End all processes and threads, also those at work."""
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
        """Run a task in the process of this thread; in a new one, if it is killed."""
        killed = 0
        while True:
            try:
                return self._pool().submit(task).result()
            except TerminatedWorkerError:
                killed += 1
                if killed == ATTEMPTS or self._ended:
                    raise
                self._mine.pool = None
                # in one piece: threads may print at once
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
        _be_quiet_about_pools()
        for pool in self._all:
            pool.shutdown(wait=True, kill_workers=True)


def _be_quiet_about_pools() -> None:
    """Show no traceback of a pool's own thread: when work is taken from it in the
    moment it is handed out, the thread ends by a KeyError, and ends it shall.
    """
    before = threading.excepthook
    threading.excepthook = lambda error: (
        None
        if error.thread is not None and error.thread.name == "ExecutorManagerThread"
        else before(error)
    )


def _watch(parent: int) -> None:
    """Let a process watch the one that started it."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, killed for example: it
    would wait for ever for more work.
    """
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
