"""Who does the work of a sweep: processes on this machine, or a Dask cluster's workers.

A killed worker loses at most its task, which another worker then does. `backend` is a
context manager; leaving it ends every process that it started.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from typing import Any

from ...errors import InvalidInput, IronarmError, missing_extra
from ...validation import whole
from .own_processes import Outcomes, OwnProcesses, Task, WorkerKilled, own_output, started

OWN_CLUSTER = "local"
"""Means a new Dask cluster on this machine, where a scheduler's address could stand."""

CONNECT_SECONDS = 10

Run = Callable[[Callable[..., Any], Sequence[Task]], Outcomes]
"""Calls a function with each task, in workers, and yields each when it has ended."""


@contextmanager
def backend(workers: int | None = None, dask: str | None = None) -> Iterator[Run]:
    """Start `workers` processes, or use the workers of a Dask cluster.

    None means one process per processor. `dask` is "local" for a new cluster on this
    machine, or a scheduler's address.
    """
    if workers is not None:
        workers = whole("workers", workers, at_least=1)
    if dask is None:
        with closing(OwnProcesses(workers)) as processes:
            yield processes.run
        return
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise missing_extra("A sweep on a Dask cluster", "dask") from None
    own = dask == OWN_CLUSTER
    if workers is not None and not own:
        raise InvalidInput(
            f"workers={workers} has no effect: the Dask scheduler at {dask} has its own "
            "workers. Leave it out."
        )
    with (
        _own_cluster(workers) if own else nullcontext(dask) as address,
        _client(address) as client,
    ):
        _require_workers(client)
        yield partial(_on_dask, client)


def _on_dask(client: Any, function: Callable[..., Any], tasks: Sequence[Task]) -> Outcomes:
    import distributed

    # not pure: what Dask has given up may be tried again
    futures = {client.submit(function, *task, pure=False): task for task in tasks}
    for future in distributed.as_completed(futures):
        if future.cancelled():
            raise IronarmError(
                "the Dask scheduler has ended. Finished cells are kept; the same command resumes."
            )
        # only now, because Dask is noisy if Ctrl-C comes while it fetches something
        error = future.exception() if future.status == "error" else None
        lost = isinstance(error, distributed.KilledWorker)
        yield futures[future], WorkerKilled() if lost else error


@contextmanager
def _own_cluster(workers: int | None) -> Iterator[str]:
    """Start a Dask cluster on this machine; yield its scheduler's address.

    It has a process of its own, because Dask's workers do what their parent does: they
    run the main script, and import from the current folder.
    """
    process = started(serve_cluster, {"workers": workers})
    try:
        address = process.stdout.readline().decode().strip()  # type: ignore[union-attr]
        if not address:
            raise IronarmError(
                "the Dask cluster on this machine did not start; its error is above. Correct that, "
                "or leave --dask out."
            )
        yield address
    finally:
        process.communicate()  # closes its input


def serve_cluster(request: dict[str, Any]) -> None:
    """Start a cluster, write its address to the output, end it with the input."""
    from distributed import LocalCluster

    # its processes ignore Ctrl-C too
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (
        own_output() as output,
        LocalCluster(
            n_workers=request["workers"],
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        output.write(cluster.scheduler_address.encode() + b"\n")
        output.flush()
        sys.stdin.read()


def _client(address: str) -> Any:
    from distributed import Client

    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"no Dask scheduler answers at {address!r} ({error}); expected an address such as "
            "tcp://host:8786. Start one with: dask scheduler"
        ) from None


def _require_workers(client: Any) -> None:
    """Refuse a cluster without workers, or with a worker that has no ironarm."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        where = client.scheduler.address
        raise InvalidInput(
            f"the Dask scheduler at {where} has no workers after {CONNECT_SECONDS} s; expected at "
            f"least one. Start one with: dask worker {where}"
        ) from None
    # Dask sends such a function by value: it runs without ironarm
    answers = client.run(lambda: find_spec("ironarm") is not None)
    lacking = [where for where, there in answers.items() if not there]
    if lacking:  # such a worker ends without an answer, and Dask waits for others
        raise InvalidInput(
            f"the Dask worker at {lacking[0]} has no ironarm; every machine of the cluster needs "
            "it. Install it there."
        )
