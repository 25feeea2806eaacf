"""Many requests share one commit.

Requests wait in a queue for each agent. A worker takes what waits, does all of it in
one transaction, and answers when that is on disk. An agent is in the hands of one
worker at a time. One worker is the fastest, measured on both databases: two share the
operations, and each of them pays for a transaction. Agents that another node holds wait
for the next turn.

Agents take turns: each that waits has its share of the next transaction, however much
another one has sent. So nobody waits for more than the transaction that runs now.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ..agent.store import Store
from ..errors import InvalidInput, IronarmError, StoreError
from .hosted import Hosted

AT_ONCE = 128
"""Operations in one transaction: for so many the next one waits."""
WAITING = 20_000
"""Operations that may wait; more are refused, because they would wait for seconds."""
ANSWERED = 32
"""Requests that are answered before the event loop does something else."""

Work = Callable[[Hosted], Any]
Ids = Callable[[Hosted], Iterable[str]]


class Busy(StoreError):
    """Too many operations wait."""


class Operation:
    """Something to do with an agent, and what came of it."""

    __slots__ = ("agent", "answer", "error", "group", "work", "writes")

    def __init__(self, agent: int, work: Work, writes: bool, group: Group) -> None:
        self.agent, self.work, self.writes, self.group = agent, work, writes, group
        self.answer: Any = None
        self.error: Exception | None = None


class Group:
    """Operations on one agent for whose answers somebody waits together.

    `ids` says which decisions they will look up.
    """

    __slots__ = ("future", "ids", "left")

    def __init__(self, ids: Ids | None) -> None:
        self.ids, self.left = ids, 0
        self.future = asyncio.get_running_loop().create_future()


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
        self.failing = False
        """Whether the store failed at the last transaction."""
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

    @property
    def working(self) -> bool:
        """Whether a worker has something to do now."""
        return bool(self._busy or self._count)

    def loaded(self) -> list[Hosted]:
        """Return the agents that are in memory."""
        return list(self._hosted.values())

    async def submit(self, agent: int, work: Work, writes: bool = True) -> Any:
        """Let a worker do something with an agent; return the answer, or raise.

        The work must check before it changes anything, and raise `InvalidInput` if it
        cannot be done.
        """
        [operation] = await self.submit_many(agent, (work,), writes)
        if operation.error is not None:
            raise operation.error
        return operation.answer

    async def submit_many(
        self, agent: int, works: Iterable[Work], writes: bool = True, ids: Ids | None = None
    ) -> list[Operation]:
        """Let a worker do several things in this order; return what came of each.

        Each is done or refused by itself, and they may need more than one turn. If
        `ids` says which decisions they are about, the store is asked once for all.
        """
        group = Group(ids)
        operations = [Operation(agent, work, writes, group) for work in works]
        group.left = len(operations)
        with self._ready:
            if self._stopped:
                raise Busy("the service is stopping; try again in a moment.")
            queue = self._queues.get(agent)
            # who fills the queue is refused, and not who comes then
            if self._count >= WAITING and len(queue or ()) >= WAITING // len(self._queues):
                raise Busy(f"{self._count:,} requests are waiting; try again in a moment.")
            if queue is None:
                queue = self._queues[agent] = deque()
            queue.extend(operations)
            asleep = self._count == 0
            self._count += len(operations)
            if asleep or self._workers > 1:
                self._ready.notify()
        await group.future
        return operations

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
                self.failing = isinstance(error, StoreError)
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
            taken = self._share_out(free[: -(-len(free) // self._workers)], AT_ONCE)
            self._busy.update(operation.agent for operation in taken)
            return taken

    def _take_more(self, agents: list[int], most: int) -> list[Operation]:
        """Return what waits for agents that are in this worker's hands."""
        with self._ready:
            return self._share_out([agent for agent in agents if agent in self._queues], most)

    def _share_out(self, agents: list[int], room: int) -> list[Operation]:
        """Take as many operations as there is room for, of each agent as many as fair.

        Who wants less leaves the rest to the others. Who has more waits behind all, so
        none is served twice while another waits.
        """
        taken: list[Operation] = []
        agents = sorted(agents[:room], key=lambda agent: len(self._queues[agent]))
        for place, agent in enumerate(agents):
            queue = self._queues.pop(agent)
            share = (room - len(taken)) // (len(agents) - place)
            taken.extend(queue.popleft() for _ in range(min(share, len(queue))))
            if queue:
                self._queues[agent] = queue
        self._count -= len(taken)
        return taken

    def _release(self, taken: list[Operation], rest: list[Operation]) -> None:
        with self._ready:
            self._busy.difference_update(operation.agent for operation in taken)
            for operation in reversed(rest):  # they come first next time
                self._queues.setdefault(operation.agent, deque()).appendleft(operation)
            self._count += len(rest)
            if self._queues:
                self._ready.notify()
        waiting = set(rest)
        done: dict[asyncio.AbstractEventLoop, list[Group]] = {}
        for operation in taken:
            group = operation.group
            group.left -= operation not in waiting
            if group.left == 0:
                done.setdefault(group.future.get_loop(), []).append(group)
        for loop, groups in done.items():
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_answer, loop, groups)

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
                if hosted.replay.loaded is None or hosted.log.unsealed is not None:
                    hosted.load()
            store.begin()
            held = store.hold(list(wanted))
            # another node may have held them for a while, and more has come since
            for operation in self._take_more(held, AT_ONCE - len(taken)):
                wanted[operation.agent].append(operation)
                taken.append(operation)
            touched = [self._get(store, agent) for agent in held]
            _catch_up(store, touched)
            for hosted in touched:
                with hosted.log.looked_up(_ids(hosted, wanted[hosted.number])):
                    for operation in wanted[hosted.number]:
                        _do(hosted, operation)
            if appended := [row for hosted in touched for row in hosted.log.take_waiting()]:
                store.insert(appended)
            store.commit()
            self.commits += 1
            self.failing = False
        except BaseException as error:
            self.failing = isinstance(error, StoreError)
            with suppress(IronarmError):
                store.roll_back()
            for hosted in touched:
                hosted.log.take_waiting()
                hosted.replay.forget()
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


def _catch_up(store: Store, touched: list[Hosted]) -> None:
    """Let agents read what other nodes have appended, with one question for all."""
    known = {each.number: each.log.last for each in touched if each.replay.loaded is not None}
    rows = store.after_each(known) if known else {}
    for hosted in touched:
        new = rows.get(hosted.number)
        hosted.catch_up(new)
        if new:
            hosted.catch_up()  # there may be more


def _ids(hosted: Hosted, operations: list[Operation]) -> list[str]:
    """Return the decisions that these operations will look up."""
    if hosted.replay.loaded is None:
        return []
    groups = {operation.group: None for operation in operations if operation.group.ids}
    return [id for group in groups for id in group.ids(hosted)]  # type: ignore[misc]


def _do(hosted: Hosted, operation: Operation) -> None:
    """Do one operation; if it is refused, the agent is as before."""
    start = hosted.log.mark()
    try:
        operation.answer = operation.work(hosted)
    except StoreError:
        raise
    except Exception as error:
        operation.error = error
        if isinstance(error, InvalidInput):
            # it says all, and its frames would keep the operation in memory
            error.__traceback__ = None
        if hosted.log.mark() != start or not isinstance(error, InvalidInput):
            # it failed in the middle: what others did in this transaction stays
            hosted.log.cut(start)
            hosted.replay.forget()
            hosted.catch_up()


def _answer(loop: asyncio.AbstractEventLoop, groups: list[Group]) -> None:
    """Wake those who still wait, some at a time; in the event loop."""
    for group in groups[:ANSWERED]:
        if not group.future.done():
            group.future.set_result(None)
    if len(groups) > ANSWERED:
        loop.call_soon(_answer, loop, groups[ANSWERED:])
