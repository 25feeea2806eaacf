"""The log of a durable agent: numbered entries that are only ever appended.

The log is the truth. An entry gets its number in the transaction that appends it, and
appends take turns, so who has read up to an entry has missed none before it. Each entry
carries a hash of itself and of the hash before it: an entry that was changed, removed
or put in between is found by `verify`. Entries at the end that are gone leave no trace
in the rest, so who wants to find that too keeps `last_hash` elsewhere.

Entries, by kind:

    created    extra: policy, arms, minimize, memory, seed and more, as JSON
    decided    decision, arm, chance, perhaps extra: a hash of the request
    rewarded   decision, arm, value, source
    failed     decision, arm, value, source: the outcome was a failure, learnt as value
    observed   arm, value, source: a reward without a decision; decision: its own id
    cancelled  decision, arm
    expired    decision, arm, perhaps value: what is learnt in the place of a reward
    added      arm
    removed    arm
    warmed     extra: rows of arm, reward and source, as JSON
    archived   nothing follows
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadFile, InvalidInput
from .store import Row, SqliteStore, Store


class Entry(NamedTuple):
    """One entry of a log; its fields are `store.ENTRY_COLUMNS`."""

    number: int
    time: float
    kind: str
    decision: str | None = None
    arm: str | int | None = None
    value: float | None = None
    source: str | int | None = None
    chance: float | None = None
    extra: str | None = None
    key: str | None = None


def entry_hash(before: bytes, entry: Entry) -> bytes:
    """Return the hash of an entry that follows one with the hash `before`."""
    return hashlib.blake2b(before + tuple.__repr__(entry).encode(), digest_size=16).digest()


class Log:
    """The log of one agent in a store. It is used by one thread at a time."""

    def __init__(self, store: Store, agent: int = 1) -> None:
        self.store, self.agent = store, agent
        self.last, self.last_hash = 0, b""
        """The number and the hash of the last entry that was read or appended."""
        self._waiting: list[Row] = []  # rows that the store has not got yet
        self._looked_up: dict[str | None, list[Entry]] = {}

    @classmethod
    def open(cls, path: Path, create: bool) -> Log:
        """Open the log of an agent that has a file of its own, or make an empty one."""
        return cls(SqliteStore.open(path, create))

    def close(self) -> None:
        """Close the file."""
        self.store.close()

    def begin(self) -> None:
        """Begin a transaction; from now on nobody else appends."""
        self.store.begin()
        self.store.hold([self.agent])

    def commit(self) -> None:
        """End the transaction; all that was appended is on disk when this returns."""
        self.hand_over()
        self.store.commit()

    def hand_over(self) -> None:
        """Give the store the rows that wait."""
        if rows := self.take_waiting():
            self.store.insert(rows)

    def take_waiting(self) -> list[Row]:
        """Return the rows that wait; who takes them gives them to the store."""
        rows, self._waiting = self._waiting, []
        return rows

    def roll_back(self) -> None:
        """End the transaction; nothing was appended."""
        self.take_waiting()
        self.store.roll_back()

    def append(self, entry: Entry) -> None:
        """Append the next entry."""
        assert entry.number == self.last + 1
        digest = entry_hash(self.last_hash, entry)
        self._waiting.append((self.agent, *entry, digest))
        self.last, self.last_hash = entry.number, digest
        if entry.decision in self._looked_up:
            self._looked_up[entry.decision].append(entry)

    def mark(self) -> tuple[int, bytes]:
        """Return the end of the log as it is now, for `cut`."""
        return self.last, self.last_hash

    def cut(self, mark: tuple[int, bytes]) -> None:
        """Take back what this transaction has appended since the mark."""
        self.hand_over()
        self.store.delete_after(self.agent, mark[0])
        self.last, self.last_hash = mark
        self._looked_up = {}

    def unread(self, rows: Iterable[Row] | None = None) -> Iterator[Entry]:
        """Yield the entries after the last one that was read.

        `rows` are the first of them, if they have been fetched.
        """
        if rows is not None:
            yield from self._next(rows)
            return
        if self.last == 0 and (pruned := self.store.pruned(self.agent)) is not None:
            self.last, self.last_hash = pruned
        # closed before the connection is, also after an error
        with closing(self.store.after(self.agent, self.last)) as found:
            yield from self._next(found)

    def _next(self, rows: Iterable[Row]) -> Iterator[Entry]:
        """Yield rows as entries, and move along; there must be no gap."""
        for *values, digest in rows:
            entry = Entry(*values)
            if entry.number != self.last + 1:
                raise BadFile(
                    f"{self.store.place} is damaged: entry {self.last + 1} is missing. "
                    "`ironarm log verify` says more."
                )
            self.last, self.last_hash = entry.number, bytes(digest)
            yield entry

    def about(self, decision: str) -> list[Entry]:
        """Return the entries about a decision, oldest first."""
        if decision in self._looked_up:
            return list(self._looked_up[decision])
        self.hand_over()
        return [Entry(*values) for *values, _ in self.store.about(self.agent, [decision])]

    @contextmanager
    def looked_up(self, decisions: Iterable[str]) -> Iterator[None]:
        """Ask for many decisions at once, so that `about` does not for each.

        The block is part of a transaction.
        """
        found: dict[str | None, list[Entry]] = {decision: [] for decision in decisions}
        if found:
            self.hand_over()
            for *values, _ in self.store.about(self.agent, list(found)):  # type: ignore[arg-type]
                entry = Entry(*values)
                found[entry.decision].append(entry)
        self._looked_up = found
        try:
            yield
        finally:
            self._looked_up = {}

    def snapshot(self) -> tuple[int, str] | None:
        """Return the latest snapshot, and move to its entry; None if there is none."""
        found = self.store.snapshot(self.agent)
        digest = None if found is None else self.store.hash_of(self.agent, found[0])
        if found is None or digest is None:
            if self.store.pruned(self.agent) is not None:
                raise BadFile(
                    f"{self.store.place} is damaged: its first entries were pruned, and the "
                    "snapshot that replaces them is missing."
                )
            return None  # the log was cut; what is left is folded from its beginning
        self.last, self.last_hash = found[0], digest
        return found

    def rewind(self) -> None:
        """Read from the beginning again."""
        self.last, self.last_hash = 0, b""

    def drop_snapshots(self) -> None:
        """Forget all snapshots; the log is enough, unless its beginning was pruned."""
        if self.store.pruned(self.agent) is not None:
            raise InvalidInput(
                f"{self.store.place} was pruned, so its snapshot cannot be rebuilt; it is kept."
            )
        self.store.drop_snapshots(self.agent)

    def prune(self, number: int) -> int:
        """Delete the entries up to one that a snapshot replaces; return how many.

        Decisions that were open then stay open. What was closed by then is forgotten:
        a reward that is sent once more for such a decision finds none.
        """
        with self.store.transaction():
            self.store.hold([self.agent])
            found = self.store.snapshot(self.agent)
            digest = self.store.hash_of(self.agent, number)
            if digest is None or found is None or found[0] < number:
                return 0
            return self.store.prune(self.agent, number, digest)

    def verify(self) -> int:
        """Check every entry's hash, and return how many there are."""
        pruned = self.store.pruned(self.agent)
        number, before = pruned or (0, b"")
        first = number
        with closing(self.store.after(self.agent, number)) as rows:
            for *values, digest in rows:
                entry = Entry(*values)
                if entry.number != number + 1:
                    raise BadFile(f"{self.store.place} is damaged: entry {number + 1} is missing.")
                if entry_hash(before, entry) != bytes(digest):
                    raise BadFile(
                        f"{self.store.place} is damaged: entry {entry.number} was changed."
                    )
                before, number = bytes(digest), entry.number
        return number - first


def entry_fields(entry: Entry) -> dict[str, Any]:
    """Return an entry as plain data, without what it does not carry."""
    return {name: value for name, value in entry._asdict().items() if value is not None}
