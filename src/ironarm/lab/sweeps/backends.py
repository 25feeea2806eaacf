"""Who does the work of a sweep: processes on this machine, or a Dask cluster's workers.

Both are backends of joblib, so `joblib.Parallel` is called in the same way for either.
A killed worker loses at most its task, which another worker then does. `backend` is a
context manager; leaving it ends every process that it started.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from ...errors import InvalidInput, missing_extra
from ...validation import whole

OWN_CLUSTER = "local"
"""Means a new Dask cluster on this machine, where a scheduler's address could stand."""

CONNECT_SECONDS = 10
QUIET_TRACKER = "ignore::UserWarning:joblib.externals.loky.backend.resource_tracker"


@contextmanager
def backend(workers: int | None = None, dask: str | None = None) -> Iterator[int]:
    """Let `joblib.Parallel` use `workers` processes, or the workers of a Dask cluster.

    None means one process per processor. `dask` is "local" for a new cluster on this
    machine, or a scheduler's address. Yields the number of workers, for `n_jobs`.
    """
    if workers is not None:
        workers = whole("workers", workers, at_least=1)
    with _processes(workers) if dask is None else _dask(workers, dask) as count:
        yield count


@contextmanager
def _processes(workers: int | None) -> Iterator[int]:
    try:
        import joblib
    except ImportError:
        raise missing_extra("A sweep", "study") from None
    from .own_processes import OwnProcesses

    with joblib.parallel_config(backend=OwnProcesses()):
        yield workers or joblib.cpu_count()


@contextmanager
def _dask(workers: int | None, address: str) -> Iterator[int]:
    try:
        import joblib
        from distributed import Client, LocalCluster
    except ImportError:
        raise missing_extra("A sweep on a Dask cluster", "dask") from None
    if address == OWN_CLUSTER:
        with interrupts_held():
            cluster = LocalCluster(
                n_workers=workers or joblib.cpu_count(),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        with cluster, Client(cluster) as client, _joblib_on(client) as count:
            yield count
        return
    if workers is not None:
        raise InvalidInput(
            f"workers={workers} has no effect: the Dask scheduler at {address} has its own "
            "workers. Leave it out."
        )
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"no Dask scheduler answers at {address!r} ({error}); expected an address such as "
            "tcp://host:8786. Start one with: dask scheduler"
        ) from None
    with client, _joblib_on(client) as count:
        yield count


@contextmanager
def _joblib_on(client: Any) -> Iterator[int]:
    import joblib

    from .joblib_parts import part

    class NoticingBackend(part("_dask", "DaskDistributedBackend")):  # type: ignore[misc]
        """Joblib's backend for Dask, with two faults of joblib 1.6 mended.

        Joblib's own waits for ever for a task that Dask has given up, for example
        because its workers died; and it leaves a single worker idle.
        """

        def effective_n_jobs(self, n_jobs: int) -> int:
            # with one worker, joblib would do all the work in this process
            return max(2, super().effective_n_jobs(n_jobs))

        def submit(self, task: Any, callback: Callable[[Any], None]) -> Any:
            tell = _once(callback)
            future = super().submit(task, tell)
            future.add_done_callback(
                lambda done: tell(done.exception()) if done.exception() else None
            )
            return future

    noticing = NoticingBackend(client=client, wait_for_workers_timeout=CONNECT_SECONDS)
    try:
        count = noticing.effective_n_jobs(-1)
    except TimeoutError:
        where = client.scheduler.address
        raise InvalidInput(
            f"the Dask scheduler at {where} has no workers after {CONNECT_SECONDS} s; expected at "
            f"least one. Start one with: dask worker {where}"
        ) from None
    lacking = [where for where, there in client.run(_ironarm_finder()).items() if not there]
    if lacking:  # such a worker ends without an answer, and Dask waits for others
        raise InvalidInput(
            f"the Dask worker at {lacking[0]} has no ironarm; every machine of the cluster needs "
            "it. Install it there."
        )
    with joblib.parallel_config(backend=noticing):
        yield count


def _ironarm_finder() -> Callable[[], bool]:
    """Return a function that says whether ironarm is installed.

    It is made here because Dask sends such functions by value: they run without
    ironarm.
    """

    def find() -> bool:
        from importlib.util import find_spec

        return find_spec("ironarm") is not None

    return find


def _once(callback: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a function that calls `callback` the first time and then does nothing.

    A later joblib may call it too.
    """
    first = threading.Lock()

    def call(outcome: Any) -> None:
        if first.acquire(blocking=False):
            callback(outcome)

    return call


def lost_worker_errors() -> tuple[type[Exception], ...]:
    """Return the errors that a backend raises when the workers of a task keep dying."""
    from .joblib_parts import TerminatedWorkerError

    try:
        from distributed.scheduler import KilledWorker
    except ImportError:
        return (TerminatedWorkerError,)
    return TerminatedWorkerError, KilledWorker


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back in the block, and from the processes started there for good.

    A terminal sends Ctrl-C to every process; this one has to end the others.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not POSIX
        yield
        return
    from .joblib_parts import resource_tracker as tracker_of_joblib

    # both start a process when they are first needed, which lets Ctrl-C through; so
    # start them now
    resource_tracker.ensure_running()
    # what workers leave behind when they are interrupted the tracker removes; it need
    # not say so on the terminal
    options = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (options, QUIET_TRACKER)))
    try:
        tracker_of_joblib.ensure_running()
    finally:
        if options is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = options
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
