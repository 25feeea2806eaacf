"""The log of a durable agent: numbered entries that are only ever appended.

The log is the truth. An entry gets its number in the transaction that appends it, and
appends take turns, so who has read up to an entry has missed none before it. Each entry
carries a hash of itself and of the hash before it: an entry that was changed, removed
or put in between is found by whoever reads on. Entries at the end that are gone leave
no trace in the rest. The store notes where a log ends, which finds damage; who fears
somebody that can write to the store keeps the last number and hash elsewhere.

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
    archived   nothing follows, except
    pruned     extra: what was deleted, and the snapshot in its place, as JSON (`Prune`)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadFile, PrunedEntries
from .snapshot import Snapshot, snapshot_of
from .sqlite import SqliteStore
from .store import Row, Store


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


class Prune(NamedTuple):
    """What an entry of the kind `pruned` says, so that the chain proves the prune."""

    number: int
    """Of the last entry that was deleted."""
    hash: bytes
    snapshot: int
    """The number of the snapshot that replaces what was deleted."""
    entry: bytes
    """The hash of the snapshot's entry."""
    content: bytes
    """The hash of its state."""
    late: bool = False
    """Whether the entries were gone when this was written: by a version of ironarm that
    left no such entry, or by anybody else."""

    @classmethod
    def read(cls, extra: str) -> Prune:
        """Return what an entry carries."""
        data = json.loads(extra)
        hashes = {name: bytes.fromhex(data[name]) for name in ("hash", "entry", "content")}
        return cls(**{**data, **hashes})

    def extra(self) -> str:
        """Return what the entry carries."""
        data = self._asdict()
        return json.dumps({k: v.hex() if isinstance(v, bytes) else v for k, v in data.items()})


def entry_hash(before: bytes, entry: Entry) -> bytes:
    """Return the hash of an entry that follows one with the hash `before`."""
    return hashlib.blake2b(before + tuple.__repr__(entry).encode(), digest_size=16).digest()


class Log:
    """The log of one agent in a store. It is used by one thread at a time."""

    def __init__(self, store: Store, agent: int = 1) -> None:
        self.store, self.agent = store, agent
        self.last, self.last_hash = 0, b""
        """The number and the hash of the last entry that was read or appended."""
        self.unsealed: Snapshot | None = None
        """The snapshot of a pruned log that was used although nothing proves it."""
        self._waiting: list[Row] = []  # rows that the store has not got yet
        self._looked_up: dict[str | None, list[Entry]] = {}
        self._end_checked = False

    @classmethod
    def open(cls, path: Path, create: bool) -> Log:
        """Open the log of an agent that has a file of its own, or make an empty one."""
        return cls(SqliteStore.open(path, create, check=True))

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
        noted = None if self._end_checked else self.store.noted_end(self.agent)
        if self.last == 0 and (pruned := self.store.pruned(self.agent)) is not None:
            self.last, self.last_hash = pruned
        # closed before the connection is, also after an error
        with closing(self.store.after(self.agent, self.last)) as found:
            yield from self._next(found)
        if noted is not None and self.last < noted[0]:
            raise BadFile(
                f"{self.store.place} is damaged: its last entries, {self.last + 1} to {noted[0]}, "
                "are missing. Go back to a copy of it."
            )
        self._end_checked = True

    def _next(self, rows: Iterable[Row]) -> Iterator[Entry]:
        """Yield rows as entries, and move along; each must follow the one before."""
        for *values, digest in rows:
            entry = Entry(*values)
            if entry.number != self.last + 1:
                raise self._gap()
            self.last_hash = self._check(self.last_hash, entry, digest)
            self.last = entry.number
            yield entry

    def _gap(self) -> Exception:
        """Return why the next entry is not there."""
        pruned = self.store.pruned(self.agent)
        if pruned is not None and self.last < pruned[0]:
            return PrunedEntries(
                f"the entries up to {pruned[0]} were pruned; ask for those after {pruned[0]}."
            )
        return BadFile(f"{self.store.place} is damaged: entry {self.last + 1} is missing.")

    def seek(self, number: int) -> bool:
        """Move to an entry, so that those after it are unread; False if it is to come.

        With 0, the entries are unread from the first that was not pruned.
        """
        digest = self.store.hash_of(self.agent, number) if number else b""
        if digest is not None:
            self.last, self.last_hash = number, digest
            return True
        end = self.store.end(self.agent)
        if end is not None and number <= end[0]:
            self.last = number
            raise self._gap()
        return False

    def about(self, decision: str) -> list[Entry]:
        """Return the entries about a decision, oldest first."""
        if decision in self._looked_up:
            return list(self._looked_up[decision])
        self.hand_over()
        return self._about([decision])

    @contextmanager
    def looked_up(self, decisions: Iterable[str]) -> Iterator[None]:
        """Ask for many decisions at once, so that `about` does not for each.

        The block is part of a transaction.
        """
        found: dict[str | None, list[Entry]] = {decision: [] for decision in decisions}
        if found:
            self.hand_over()
            for entry in self._about(list(found)):  # type: ignore[arg-type]
                found[entry.decision].append(entry)
        self._looked_up = found
        try:
            yield
        finally:
            self._looked_up = {}

    def _about(self, decisions: list[str]) -> list[Entry]:
        found = []
        rows = self.store.about(self.agent, decisions)
        before = self.store.hashes_of(self.agent, [row[0] - 1 for row in rows])
        for *values, digest in rows:
            entry = Entry(*values)
            self._check(before.get(entry.number - 1, b""), entry, digest)
            found.append(entry)
        return found

    def _check(self, before: bytes, entry: Entry, digest: object) -> bytes:
        """Return the hash of an entry; refuse one that was changed."""
        expected = entry_hash(before, entry)
        if digest != expected:
            raise BadFile(f"{self.store.place} is damaged: entry {entry.number} was changed.")
        return expected

    def snapshot(self) -> Snapshot | None:
        """Return the latest snapshot that fits, and move to its entry.

        None if there is none, and the log has its beginning.
        """
        self.unsealed = None
        found = self.latest_snapshot()
        pruned = self.store.pruned(self.agent)
        if found is None and pruned is not None:
            found = self.unsealed = self._unsealed()
        if found is None:
            return None
        digest = self.store.hash_of(self.agent, found.number)
        assert digest is not None
        self.last, self.last_hash = found.number, digest
        return found

    def latest_snapshot(self) -> Snapshot | None:
        """Return the latest snapshot that is sealed and fits."""
        for number in self.store.snapshots(self.agent):
            found = self.stored_snapshot(number)
            if found is not None and found.fits(self.store.hash_of(self.agent, number)):
                return found
        return None

    def stored_snapshot(self, number: int) -> Snapshot | None:
        """Return the snapshot of an entry as it was stored."""
        stored = self.store.snapshot(self.agent, number)
        return None if stored is None else snapshot_of(number, stored)

    def _unsealed(self) -> Snapshot:
        """Return the snapshot that replaces what was pruned before there were seals.

        Where an entry proves the prune, a snapshot without a seal was changed.
        """
        if self.store.last_pruned(self.agent) is None:
            for number in self.store.snapshots(self.agent):
                found = self.stored_snapshot(number)
                if (
                    found is not None
                    and found.entry is None
                    and self.store.hash_of(self.agent, number) is not None
                ):
                    return found
        raise BadFile(
            f"{self.store.place} is damaged: its first entries were pruned, and the snapshot that "
            "replaces them is missing or was changed. Go back to a copy of it."
        )

    def rewind(self) -> None:
        """Read from the beginning again."""
        self.last, self.last_hash = 0, b""
        self._end_checked = False

    def prune(self, number: int, now: float) -> int:
        """Delete the entries up to one that a snapshot replaces; return how many.

        An entry says what was deleted. Decisions that were open then stay open. What
        was closed by then is forgotten: a reward that is sent once more for such a
        decision finds none.
        """
        with self.store.transaction():
            self.store.hold([self.agent])
            found = self.latest_snapshot()
            digest = self.store.hash_of(self.agent, number)
            before = self.store.pruned(self.agent)
            end = self.store.end(self.agent)
            if (
                (before is not None and number <= before[0])
                or digest is None
                or end is None
                or found is None
                or found.entry is None
                or found.number < number
            ):
                return 0
            prune = Prune(number, digest, found.number, found.entry, found.content)
            self.last, self.last_hash = end[0], end[2]
            self.append(Entry(self.last + 1, max(now, end[1]), "pruned", extra=prune.extra()))
            self.hand_over()
            return self.store.prune(self.agent, number, digest, found.number)

    def verify(self) -> int:
        """Check every entry's hash, and return how many there are.

        `verify.verified` checks all else too.
        """
        return sum(1 for _ in Log(self.store, self.agent).unread())


def entry_fields(entry: Entry) -> dict[str, Any]:
    """Return an entry as plain data, without what it does not carry."""
    return {name: value for name, value in entry._asdict().items() if value is not None}
