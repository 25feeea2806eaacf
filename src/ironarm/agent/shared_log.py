"""How entries get to the disk: transactions on a log that others append to as well."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from ..errors import InvalidInput, IronarmError, StoreError
from ..policies import Policy
from .core import Core
from .log import Log
from .logged import Frozen, LoggedAgent, keep_snapshot
from .replay import Replay
from .sqlite import SqliteStore


class SharedLog:
    """The log of an agent, for all threads of a process, beside other processes.

    `DurableAgent` does everything in one of two blocks: `with self.appending` holds
    the log's end, and commits what the block appends; `with self.reading() as core`
    lends the agent in memory, up to date.

    Parameters
    ----------
    path : the file.
    policy : the user's own, or None for what the log says.
    create : whether to make the file if it does not exist.
    within : seconds for which entries may wait for the disk; 0 for none.
    """

    def __init__(self, path: Path, policy: Policy | None, *, create: bool, within: float) -> None:
        self._path, self._within = path, within
        self.lock = threading.RLock()
        self._due = threading.Condition(self.lock)
        self._began: float | None = None  # when the open transaction began
        self._failure: IronarmError | None = None
        self.threads: list[threading.Thread] = []
        self._version: int | None = None
        self._closed = False
        self._process = os.getpid()
        self.appending = _Appending(self)
        self.log = Log.open(path, create=create)
        self.replay = Replay(path, policy)
        self.logged = LoggedAgent(self.log, self.replay, self._snapshot_due)

    def flush(self) -> None:
        """Write all waiting entries to the disk."""
        with self.lock:
            self._raise_failure()
            if self._began is not None:
                self._commit()

    def close(self) -> None:
        """Write all waiting entries to the disk, and close the file.

        With `commit_within`, this also happens when a script ends normally, but not in
        a `multiprocessing` process or one that is killed.
        """
        if os.getpid() != self._process:
            return  # it belongs to the process that opened it
        with self.lock:
            if self._closed:
                return
            try:
                self.flush()
            finally:
                self._closed = True
                self._due.notify_all()
        for thread in self.threads:
            thread.join()
        self.log.close()

    def _snapshot_due(self, frozen: Frozen) -> None:
        self._start(lambda: self._keep_snapshot(frozen))

    def _undo(self, start: tuple[int, bytes], error: BaseException) -> None:
        """Take back what a block has appended before it failed.

        What others appended before, and wait for, is kept.
        """
        if isinstance(error, StoreError):
            self._take_back()
            return
        refused = isinstance(error, InvalidInput) and self.log.mark() == start
        if not refused:
            self.log.cut(start)
        if not refused or self._within == 0:
            self._commit()
        if not refused:
            self.replay.forget()

    def _begin(self) -> None:
        """Take the log's end, and come up to date."""
        self.log.begin()
        self._began = monotonic()
        if self._within > 0:
            self._due.notify_all()  # somebody must commit it in time
        try:
            self.logged.catch_up()
        except BaseException:
            self._take_back()
            raise

    @contextmanager
    def reading(self) -> Iterator[Core]:
        """Lend the agent in memory, up to date."""
        with self.lock:
            self._check_usable()
            if self._began is None:
                version = self.log.store.version()
                if self.replay.loaded is None or version != self._version:
                    self.logged.catch_up()
                    self._version = version
            yield self.replay.core

    def _commit(self) -> None:
        """Bring the transaction to the disk."""
        try:
            self.log.commit()
            self._began = None
        except BaseException:
            self._take_back()
            raise

    def _take_back(self) -> None:
        """Undo the transaction; the agent in memory is read from the log again."""
        with suppress(IronarmError):
            self.log.roll_back()
        self._began = None
        self.replay.forget()

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise StoreError(
                f"{self._path} was opened before this process was forked; open it again in "
                "each process."
            )
        if self._closed:
            raise StoreError(f"{self._path} is closed; open it again with DurableAgent(path).")
        self._raise_failure()

    def _raise_failure(self) -> None:
        """Tell the next caller that entries of the calls before are lost."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _start(self, work: Any) -> None:
        self.threads = [thread for thread in self.threads if thread.is_alive()]
        thread = threading.Thread(target=work, name="ironarm log", daemon=True)
        self.threads.append(thread)
        thread.start()

    def commit_in_time(self) -> None:
        """Begin to commit what has waited for long enough, if entries may wait."""
        if self._within > 0:
            self._start(self._commit_when_due)
            _close_at_exit(self)

    def _commit_when_due(self) -> None:
        """Commit what has waited long enough, until the agent is closed."""
        with self._due:
            while not self._closed:
                if self._began is None:
                    self._due.wait()
                    continue
                left = self._began + self._within - monotonic()
                if left > 0:
                    self._due.wait(left)
                    continue
                try:
                    self._commit()
                except Exception as error:  # it must live on, and the next caller must know
                    self._failure = StoreError(
                        f"{error} The entries of the last {self._within:g} s are lost."
                    )

    def _keep_snapshot(self, frozen: Frozen) -> None:
        """Write a snapshot; a failure costs nothing but time at the next start."""
        with suppress(IronarmError):
            store = SqliteStore.open(self._path, create=False)
            try:
                keep_snapshot(store, self.log.agent, frozen)
            finally:
                store.close()


class _Appending:
    """Holds the log's end while entries are made, and commits them.

    After an error nothing that the block appended is kept, on disk or in memory. It is
    a class, and not a generator, because every call pays for it.
    """

    def __init__(self, agent: SharedLog) -> None:
        self._agent = agent
        self._starts: list[tuple[int, bytes]] = []  # a stack: blocks may be nested

    def __enter__(self) -> None:
        agent = self._agent
        agent.lock.acquire()
        try:
            agent._check_usable()
            if agent._began is None:
                agent._begin()
            self._starts.append(agent.log.mark())
        except BaseException:
            agent.lock.release()
            raise

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        agent = self._agent
        try:
            start = self._starts.pop()
            if error is not None:
                agent._undo(start, error)
            elif agent._within == 0 or monotonic() - (agent._began or 0.0) >= agent._within:
                agent._commit()
        finally:
            agent.lock.release()


_open: weakref.WeakSet[SharedLog] = weakref.WeakSet()


def _close_at_exit(agent: SharedLog) -> None:
    """Let what waits for the disk get there when Python ends."""
    if not _open:
        atexit.register(_close_all)
    _open.add(agent)


def _close_all() -> None:
    for agent in list(_open):
        with suppress(IronarmError):
            agent.close()
