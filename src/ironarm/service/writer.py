"""Many requests share one commit.

Requests wait in a queue for each agent. A worker takes what waits, does all of it in
one transaction, and answers when that is on disk. An agent is in the hands of one
worker at a time. One worker is the fastest, measured on both databases: two share the
operations, and each of them pays for a transaction. Agents that another node holds wait
for the next turn.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..agent.store import Store
from ..errors import InvalidInput, IronarmError, StoreError
from .hosted import Hosted

AT_ONCE = 512
"""Operations in one transaction."""
WAITING = 20_000
"""Operations that may wait; more are refused, because they would wait for seconds."""

Work = Callable[[Hosted], Any]


class Busy(StoreError):
    """Too many operations wait."""


class Operation:
    """Something to do with an agent, and who waits for the answer."""

    __slots__ = ("agent", "answer", "error", "future", "work", "writes")

    def __init__(self, agent: int, work: Work, future: asyncio.Future[Any], writes: bool) -> None:
        self.agent, self.work, self.future, self.writes = agent, work, future, writes
        self.answer: Any = None
        self.error: Exception | None = None


class Writer:
    """The queue, and the workers that empty it."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        make: Callable[[Store, int], Hosted],
        workers: int,
    ) -> None:
        self._open_store, self._make, self._workers = open_store, make, workers
        self._hosted: dict[int, Hosted] = {}
        self._queues: dict[int, deque[Operation]] = {}
        self._busy: set[int] = set()
        self._count = 0
        self._stopped = False
        self._ready = threading.Condition()
        self.stores: list[Store] = []
        """Of the workers."""
        self.commits = 0
        self._threads = [
            threading.Thread(target=self._run, name=f"ironarm writer {k}", daemon=True)
            for k in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """How many operations wait."""
        return self._count

    def loaded(self) -> list[Hosted]:
        """Return the agents that are in memory."""
        return list(self._hosted.values())

    def submit(self, agent: int, work: Work, writes: bool = True) -> asyncio.Future[Any]:
        """Let a worker do something with an agent; to be called in the event loop.

        The work must check before it changes anything, and raise `InvalidInput` if it
        cannot be done.
        """
        future = asyncio.get_running_loop().create_future()
        operation = Operation(agent, work, future, writes)
        with self._ready:
            if self._stopped:
                raise Busy("the service is stopping; try again in a moment.")
            if self._count >= WAITING:
                raise Busy(f"{self._count:,} requests are waiting; try again in a moment.")
            queue = self._queues.get(agent)
            if queue is None:
                queue = self._queues[agent] = deque()
            queue.append(operation)
            self._count += 1
            if self._count == 1 or self._workers > 1:
                self._ready.notify()
        return future

    def stop(self, patience: float) -> None:
        """Do what waits, and end; a database that is late is given up."""
        with self._ready:
            self._stopped = True
            self._ready.notify_all()
        while any(thread.is_alive() for thread in self._threads):
            for thread in self._threads:
                thread.join(0.2)
            for store in self.stores:
                store.give_up(patience)

    # in the workers' threads

    def _run(self) -> None:
        store: Store | None = None
        while (taken := self._take()) is not None:
            rest: list[Operation] = []
            try:
                if store is None:
                    store = self._open_store()
                    self.stores.append(store)
                rest = self._serve(store, taken)
            except Exception as error:
                for operation in taken:
                    operation.error = operation.error or error
            finally:
                self._release(taken, rest)
        if store is not None:
            store.close()

    def _take(self) -> list[Operation] | None:
        """Wait for operations, and return some; None at the end."""
        with self._ready:
            while True:
                free = [agent for agent in self._queues if agent not in self._busy]
                if free:
                    break
                if self._stopped:
                    return None
                self._ready.wait()
            taken: list[Operation] = []
            for agent in free[: -(-len(free) // self._workers)]:
                queue = self._queues[agent]
                while queue and len(taken) < AT_ONCE:
                    taken.append(queue.popleft())
                if not queue:
                    del self._queues[agent]
            self._count -= len(taken)
            self._busy.update(operation.agent for operation in taken)
            return taken

    def _take_more(self, agents: list[int], most: int) -> list[Operation]:
        """Return what waits for agents that are in this worker's hands."""
        more: list[Operation] = []
        with self._ready:
            for agent in agents:
                queue = self._queues.get(agent)
                while queue and len(more) < most:
                    more.append(queue.popleft())
                if queue is not None and not queue:
                    del self._queues[agent]
            self._count -= len(more)
        return more

    def _release(self, taken: list[Operation], rest: list[Operation]) -> None:
        with self._ready:
            self._busy.difference_update(operation.agent for operation in taken)
            for operation in reversed(rest):  # they come first next time
                self._queues.setdefault(operation.agent, deque()).appendleft(operation)
            self._count += len(rest)
            if self._queues:
                self._ready.notify()
        waiting = set(rest)
        taken = [operation for operation in taken if operation not in waiting]
        by_loop: dict[asyncio.AbstractEventLoop, list[Operation]] = {}
        for operation in taken:
            by_loop.setdefault(operation.future.get_loop(), []).append(operation)
        for loop, operations in by_loop.items():
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_answer, operations)

    def _serve(self, store: Store, taken: list[Operation]) -> list[Operation]:
        """Do what can be done now, and return the rest."""
        if not any(operation.writes for operation in taken):
            for operation in taken:
                self._read(store, operation)
            return []
        rest = self._write(store, taken)
        # what only reads is answered even if nothing can be written
        for operation in taken:
            if not operation.writes and operation.error is not None:
                self._read(store, operation)
        return rest

    def _write(self, store: Store, taken: list[Operation]) -> list[Operation]:
        """Do all in one transaction; if it fails, nothing is done.

        Return the operations on agents that others hold now.
        """
        wanted: dict[int, list[Operation]] = {}
        for operation in taken:
            wanted.setdefault(operation.agent, []).append(operation)
        touched: list[Hosted] = []
        try:
            for agent in wanted:
                # before the transaction, because it may take seconds
                hosted = self._get(store, agent)
                if hosted.fold.agent is None or hosted.log.unsealed is not None:
                    hosted.load()
            store.begin()
            held = store.hold(list(wanted))
            # another node may have held them for a while, and more has come since
            for operation in self._take_more(held, AT_ONCE - len(taken)):
                wanted[operation.agent].append(operation)
                taken.append(operation)
            touched = [self._get(store, agent) for agent in held]
            known = {each.number: each.log.last for each in touched if each.fold.agent is not None}
            rows = store.after_each(known) if known else {}
            for hosted in touched:
                new = rows.get(hosted.number)
                hosted.catch_up(new)
                if new:
                    hosted.catch_up()  # there may be more
                for operation in wanted[hosted.number]:
                    _do(hosted, operation)
            if appended := [row for hosted in touched for row in hosted.log.take_waiting()]:
                store.insert(appended)
            store.commit()
            self.commits += 1
        except BaseException as error:
            with suppress(IronarmError):
                store.roll_back()
            for hosted in touched:
                hosted.log.take_waiting()
                hosted.fold.forget()
            for operation in taken:
                operation.answer = None
                operation.error = error if isinstance(error, Exception) else StoreError(str(error))
            return []
        return [each for agent in wanted if agent not in held for each in wanted[agent]]

    def _read(self, store: Store, operation: Operation) -> None:
        operation.error = None
        try:
            hosted = self._get(store, operation.agent)
            hosted.catch_up()
            operation.answer = operation.work(hosted)
        except Exception as error:
            operation.error = error

    def _get(self, store: Store, agent: int) -> Hosted:
        hosted = self._hosted.get(agent)
        if hosted is None:
            hosted = self._hosted[agent] = self._make(store, agent)
        hosted.log.store = store  # of the worker that has it now
        return hosted


def _do(hosted: Hosted, operation: Operation) -> None:
    """Do one operation; if it is refused, the agent is as before."""
    start = hosted.log.mark()
    try:
        operation.answer = operation.work(hosted)
    except StoreError:
        raise
    except Exception as error:
        operation.error = error
        if hosted.log.mark() != start or not isinstance(error, InvalidInput):
            # it failed in the middle: what others did in this transaction stays
            hosted.log.cut(start)
            hosted.fold.forget()
            hosted.catch_up()


def _answer(operations: list[Operation]) -> None:
    """Answer those who still wait; in the event loop."""
    for operation in operations:
        if operation.future.done():
            continue
        if operation.error is not None:
            operation.future.set_exception(operation.error)
        else:
            operation.future.set_result(operation.answer)
