"""Where logs are kept: one SQLite file with the entries of one agent or of many.

A store is used by one thread at a time. Appends take turns: `begin` waits until nobody
else has an open transaction. `service.postgres` has the same methods on PostgreSQL.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from time import time
from typing import Any

from ..errors import BadFile, StoreError

FORMAT_VERSION = 2
"""From 2 on, the end of each log is noted beside it, and snapshots have seals."""
APPLICATION = 0x49524F4E  # "IRON": marks the file as ours
BUSY_SECONDS = 60.0
ENTRY_COLUMNS = (
    "number",
    "time",
    "kind",
    "decision",
    "arm",
    "value",
    "source",
    "chance",
    "extra",
    "key",
)
COLUMNS = ", ".join((*ENTRY_COLUMNS, "hash"))
SCHEMA = """
CREATE TABLE agent (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE log (
    agent INTEGER NOT NULL, number INTEGER NOT NULL, time REAL NOT NULL, kind TEXT NOT NULL,
    decision TEXT, arm, value REAL, source, chance REAL, extra TEXT, key TEXT,
    hash BLOB NOT NULL, PRIMARY KEY (agent, number)
) WITHOUT ROWID;
CREATE INDEX log_decision ON log (decision) WHERE decision IS NOT NULL;
CREATE TABLE snapshot (
    agent INTEGER NOT NULL, number INTEGER NOT NULL, part INTEGER NOT NULL,
    parts INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (agent, number, part)
);
CREATE TABLE pruned (agent INTEGER PRIMARY KEY, number INTEGER NOT NULL, hash BLOB NOT NULL);
CREATE TABLE api_key (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
    agents TEXT, rate REAL, made REAL NOT NULL, revoked REAL
);
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)
"""
OUTSIDE = (
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
)
"""Errors that are not about what the file holds."""
LOOK = 32 * 2**20
"""Bytes of a file of which every page is looked at when it is opened: 0.2 s."""
PART = 256 * 1024
"""Characters of a snapshot that are written at a time."""
Row = tuple[Any, ...]
KEY_COLUMNS = ("id", "hash", "name", "scopes", "agents", "rate", "made", "revoked")


class Store:
    """Logs, snapshots, keys and settings in an SQL database.

    Rows of entries have `ENTRY_COLUMNS` and the hash. A subclass says how to reach the
    database; questions mark values by `?`.
    """

    place: str
    """How messages name it."""

    def close(self) -> None:
        """Close the connection."""
        raise NotImplementedError

    def give_up(self, after: float) -> None:
        """End the connection if an answer is that many seconds late.

        To be called from another thread. A file is never that late.
        """

    def begin(self) -> None:
        """Begin a transaction."""
        raise NotImplementedError

    def hold(self, agents: list[int]) -> list[int]:
        """Let nobody else append to these agents until the transaction ends.

        Return those that could be had, at least one: others may hold some for a moment.
        """
        raise NotImplementedError

    def commit(self) -> None:
        """End the transaction; all that was inserted is on disk when this returns."""
        raise NotImplementedError

    def roll_back(self) -> None:
        """End the transaction, if there is one; nothing of it is kept."""
        raise NotImplementedError

    def version(self) -> int | None:
        """Return a number that changes when somebody else has written.

        None if the database does not tell.
        """
        raise NotImplementedError

    def insert(self, rows: list[Row]) -> None:
        """Append rows, each with its agent first."""
        raise NotImplementedError

    def after(self, agent: int, number: int) -> Generator[Row, None, None]:
        """Yield the rows after an entry."""
        raise NotImplementedError

    def after_each(self, last: dict[int, int]) -> dict[int, list[Row]]:
        """Return the first rows after an entry of each of these agents, or all."""
        return {agent: list(islice(self.after(agent, at), 1000)) for agent, at in last.items()}

    def _rows(self, question: str, *values: Any) -> list[Row]:
        """Return all rows of an answer."""
        raise NotImplementedError

    def _count(self, question: str, *values: Any) -> int:
        """Return how many rows a change has changed."""
        raise NotImplementedError

    # logs

    def about(self, agent: int, decisions: list[str]) -> list[Row]:
        """Return the rows about some decisions, oldest first."""
        marks = ", ".join("?" * len(decisions))
        return self._rows(
            f"SELECT {COLUMNS} FROM log WHERE decision IN ({marks}) AND agent = ? ORDER BY number",
            *decisions,
            agent,
        )

    def rewards_before(self, agent: int, number: int, arms: list[Any], most: int) -> list[Row]:
        """Return the latest rows before an entry that carry rewards of some arms.

        Removals of these arms are among them. The oldest comes first.
        """
        kinds = ("rewarded", "failed", "observed", "removed")
        rows = self._rows(
            f"SELECT {COLUMNS} FROM log WHERE agent = ? AND number < ? "
            f"AND kind IN ({', '.join('?' * len(kinds))}) "
            f"AND arm IN ({', '.join('?' * len(arms))}) ORDER BY number DESC LIMIT ?",
            agent,
            number,
            *kinds,
            *arms,
            most,
        )
        return rows[::-1]

    def delete_after(self, agent: int, number: int) -> None:
        """Delete what this transaction has appended after an entry."""
        self._count("DELETE FROM log WHERE agent = ? AND number > ?", agent, number)

    def end(self, agent: int) -> tuple[int, float, bytes] | None:
        """Return the number, the time and the hash of the last entry."""
        rows = self._rows(
            "SELECT number, time, hash FROM log WHERE agent = ? ORDER BY number DESC LIMIT 1", agent
        )
        return (int(rows[0][0]), float(rows[0][1]), _bytes(rows[0][2])) if rows else None

    def noted_end(self, agent: int) -> tuple[int, bytes] | None:
        """Return the number and the hash of the last entry, from outside the log.

        None if the database needs no such note.
        """
        return None

    def count(self, agent: int, last: int) -> int:
        """Return how many entries there are up to one."""
        found = self._rows("SELECT count(*) FROM log WHERE agent = ? AND number <= ?", agent, last)
        return int(found[0][0])

    def refuse_damage(self) -> None:
        """Look at every page and index, if the database lets one."""

    def logged(self) -> set[int]:
        """Return the numbers of the agents that have entries."""
        return {int(number) for (number,) in self._rows("SELECT DISTINCT agent FROM log")}

    def hash_of(self, agent: int, number: int) -> bytes | None:
        """Return the hash of an entry, the last pruned one included."""
        return self.hashes_of(agent, [number]).get(number)

    def hashes_of(self, agent: int, numbers: list[int]) -> dict[int, bytes]:
        """Return the hashes of those entries that are there, by their numbers."""
        if not numbers:
            return {}
        marks = ", ".join("?" * len(numbers))
        rows = self._rows(
            f"SELECT number, hash FROM log WHERE agent = ? AND number IN ({marks})", agent, *numbers
        )
        found = {int(number): _bytes(digest) for number, digest in rows}
        if len(found) < len(numbers) and (pruned := self.pruned(agent)) is not None:
            found.setdefault(*pruned)
        return found

    # snapshots

    def snapshots(self, agent: int) -> list[int]:
        """Return the numbers of the whole snapshots, the latest first."""
        rows = self._rows(
            "SELECT number FROM snapshot WHERE agent = ? GROUP BY number, parts "
            "HAVING count(*) = parts ORDER BY number DESC",
            agent,
        )
        return [int(number) for (number,) in rows]

    def snapshot(self, agent: int, number: int) -> str | None:
        """Return what was stored as the snapshot of an entry."""
        rows = self._rows(
            "SELECT state, parts FROM snapshot WHERE agent = ? AND number = ? ORDER BY part",
            agent,
            number,
        )
        return "".join(state for state, parts in rows if parts == rows[0][1]) if rows else None

    def keep_snapshot(self, agent: int, number: int, digest: bytes, stored: str) -> None:
        """Keep the state after the entry with that hash, in the place of older ones.

        If the entry never came to the disk, or a later one has its snapshot, nothing is
        kept. It is written in parts, each in a transaction of its own, so that nobody
        waits long for the log.
        """
        for row in _parts(agent, number, stored):
            with self.transaction():
                late = any(each > number for each in self.snapshots(agent))
                if late or self.hash_of(agent, number) != digest:
                    return
                self._count(
                    "DELETE FROM snapshot WHERE agent = ? AND number = ? "
                    "AND (part = ? OR parts <> ?)",
                    agent,
                    number,
                    *row[2:4],
                )
                self._count("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?)", *row)
        with self.transaction():
            self.drop_snapshots(agent, number)

    def replace_snapshots(self, agent: int, number: int, stored: str) -> None:
        """Keep this snapshot and no other, in a transaction."""
        self._count("DELETE FROM snapshot WHERE agent = ?", agent)
        for row in _parts(agent, number, stored):
            self._count("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?)", *row)

    def drop_snapshots(self, agent: int, before: int = 2**62) -> None:
        """Forget the snapshots before an entry; the log is enough.

        If it was pruned, the first snapshot stays: it stands for what is gone.
        """
        base = 0
        if self.pruned(agent) is not None:
            base = self._rows("SELECT min(number) FROM snapshot WHERE agent = ?", agent)[0][0]
        self._count(
            "DELETE FROM snapshot WHERE agent = ? AND number < ? AND number <> ?",
            agent,
            before,
            base,
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block does; after an error, nothing of it."""
        self.begin()
        try:
            yield
            self.commit()
        except BaseException:
            self.roll_back()
            raise

    # prunes

    def pruned(self, agent: int) -> tuple[int, bytes] | None:
        """Return the number and the hash of the last entry that was pruned."""
        rows = self._rows("SELECT number, hash FROM pruned WHERE agent = ?", agent)
        return (int(rows[0][0]), _bytes(rows[0][1])) if rows else None

    def prune(self, agent: int, number: int, digest: bytes, base: int) -> int:
        """Delete the entries up to one, in a transaction; return how many.

        `base` is the snapshot that replaces them; those before it go too.
        """
        self._count("DELETE FROM pruned WHERE agent = ?", agent)
        self._count("INSERT INTO pruned VALUES (?, ?, ?)", agent, number, digest)
        self._count("DELETE FROM snapshot WHERE agent = ? AND number < ?", agent, base)
        return self._count("DELETE FROM log WHERE agent = ? AND number <= ?", agent, number)

    def last_pruned(self, agent: int) -> tuple[int, str] | None:
        """Return the last entry that says what was pruned: its number, what it carries.

        It may look at the whole log.
        """
        rows = self._rows(
            "SELECT number, extra FROM log WHERE agent = ? AND kind = 'pruned' "
            "ORDER BY number DESC LIMIT 1",
            agent,
        )
        return (int(rows[0][0]), str(rows[0][1])) if rows else None

    # the service's tables

    def agents(self) -> dict[str, int]:
        """Return the agents' numbers by name."""
        return {
            str(name): int(number) for name, number in self._rows("SELECT name, number FROM agent")
        }

    def add_agent(self, name: str) -> int:
        """Give an agent its number, in a transaction."""
        self._count("INSERT INTO agent (name) VALUES (?)", name)
        return int(self._rows("SELECT number FROM agent WHERE name = ?", name)[0][0])

    def api_keys(self) -> list[Row]:
        """Return the keys, as `KEY_COLUMNS`."""
        return self._rows(f"SELECT {', '.join(KEY_COLUMNS)} FROM api_key ORDER BY made, id")

    def add_key(self, row: Row) -> None:
        """Add a key."""
        self._count(f"INSERT INTO api_key VALUES ({', '.join('?' * len(KEY_COLUMNS))})", *row)

    def revoke_key(self, id: str, when: float) -> int:
        """Mark a key as revoked; return how many there were."""
        return self._count(
            "UPDATE api_key SET revoked = ? WHERE id = ? AND revoked IS NULL", when, id
        )

    def setting(self, name: str, first: str) -> str:
        """Return a setting; the first who asks makes it."""
        self._count("INSERT INTO setting VALUES (?, ?) ON CONFLICT DO NOTHING", name, first)
        return str(self._rows("SELECT value FROM setting WHERE name = ?", name)[0][0])

    def try_write(self) -> None:
        """Write something that does not matter, to see whether that can be done.

        It must differ from what is there: SQLite writes no page that stays the same.
        """
        with self.transaction():
            self.setting("last_try", "")
            self._count("UPDATE setting SET value = ? WHERE name = ?", str(time()), "last_try")


def _make_private(path: Path) -> None:
    """Make an empty file that only its owner can read, unless there is a file.

    Who may read it may learn every id. SQLite gives the files beside it the same mode.
    A file that is there must not be opened: closing it would take the locks from other
    connections of this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _parts(agent: int, number: int, stored: str) -> list[Row]:
    """Return a snapshot as rows of its table."""
    pieces = [stored[i : i + PART] for i in range(0, len(stored), PART)]
    return [(agent, number, part, len(pieces), piece) for part, piece in enumerate(pieces)]


def _bytes(value: object) -> bytes:
    """Return a hash; a damaged file may have anything in its place."""
    return value if isinstance(value, bytes) else b""


class SqliteStore(Store):
    """A store in an SQLite file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self.connection = path, connection
        self.place = str(path)
        self._touched: set[int] = set()  # agents whose log ends elsewhere now

    @classmethod
    def open(
        cls, path: Path, create: bool, busy: float = BUSY_SECONDS, check: bool = False
    ) -> SqliteStore:
        """Open a store, or make an empty one.

        With `check`, refuse a file with a damaged page or index. A large one is looked
        at only after a crash, because that takes a second for a million entries.
        """
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be opened: its folder does not exist.")
        if not path.exists() and not create:
            raise StoreError(f"{path} does not exist; to create an agent there, give arms.")
        beside = path.with_name(f"{path.name}-wal")
        crashed = beside.exists() and beside.stat().st_size > 0  # or others have it open
        try:
            if create:
                _make_private(path)
            connection = sqlite3.connect(
                path, timeout=busy, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise StoreError(f"{path} cannot be opened: {reason}.") from None
        store = cls(path, connection)
        try:
            with reported(path):
                store._prepare()
            if check and (crashed or path.stat().st_size <= LOOK):
                store.refuse_damage()
        except BaseException:
            connection.close()
            raise
        return store

    def _prepare(self) -> None:
        """Make the tables in an empty file; refuse a file that is not ours."""
        path, connection = self.path, self.connection
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 8000")  # pages; fewer are written twice
        connection.execute("BEGIN IMMEDIATE")
        try:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if application == 0 and tables == 0:
                for statement in SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
            elif application != APPLICATION:
                raise BadFile(f"{path} is a database, but not an agent's log.")
            elif version > FORMAT_VERSION:
                raise BadFile(
                    f"{path} was written by a newer ironarm (format {version}, this one reads up "
                    f"to {FORMAT_VERSION}). Update ironarm to read it."
                )
            elif version < FORMAT_VERSION:
                for (agent,) in self._rows("SELECT DISTINCT agent FROM log"):
                    self._note_end(agent)
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def begin(self) -> None:
        """Begin a transaction; from now on nobody else appends."""
        with reported(self.path):
            self.connection.execute("BEGIN IMMEDIATE")

    def hold(self, agents: list[int]) -> list[int]:
        """Return all: `begin` holds every agent."""
        return agents

    def commit(self) -> None:
        """End the transaction; all that was inserted is on disk when this returns."""
        for agent in self._touched:
            self._note_end(agent)
        with reported(self.path):
            self.connection.execute("COMMIT")
        self._touched.clear()

    def _note_end(self, agent: int) -> None:
        """Write beside the log where it ends.

        A damaged page can hide the last entries, and nothing in the log would show it.
        """
        if (end := self.end(agent)) is not None:
            self._count(
                "INSERT INTO setting VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                f"end {agent}",
                f"{end[0]}:{end[2].hex()}",
            )

    def noted_end(self, agent: int) -> tuple[int, bytes] | None:
        """Return where the log ended at the last commit; None if it was empty."""
        rows = self._rows("SELECT value FROM setting WHERE name = ?", f"end {agent}")
        if rows:
            number, _, digest = str(rows[0][0]).partition(":")
            return int(number), bytes.fromhex(digest)
        if agent not in self._touched and self.end(agent) is not None:
            raise BadFile(f"{self.path} is damaged: it does not say where its log ends.")
        return None

    def refuse_damage(self) -> None:
        """Look at every page, and whether tables and indexes agree."""
        found = str(self._rows("PRAGMA integrity_check(1)")[0][0])
        if found != "ok":
            raise BadFile(f"{self.path} is damaged: {' '.join(found.split())}.")

    def roll_back(self) -> None:
        """End the transaction, if there is one; nothing of it is kept."""
        self._touched.clear()
        with reported(self.path):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def version(self) -> int | None:
        """Return a number that changes when another connection has written."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def insert(self, rows: list[Row]) -> None:
        """Append rows, each with its agent first; many at once cost a third each."""
        marks = ", ".join("?" * len(rows[0]))
        self._touched.update(row[0] for row in rows)
        with reported(self.path):
            self.connection.executemany(f"INSERT INTO log VALUES ({marks})", rows)

    def after(self, agent: int, number: int) -> Generator[Row, None, None]:
        """Yield the rows after an entry."""
        with reported(self.path):
            yield from self.connection.execute(
                f"SELECT {COLUMNS} FROM log WHERE agent = ? AND number > ? ORDER BY number",
                (agent, number),
            )

    def _rows(self, question: str, *values: Any) -> list[Row]:
        with reported(self.path):
            return self.connection.execute(question, values).fetchall()

    def _count(self, question: str, *values: Any) -> int:
        with reported(self.path):
            return self.connection.execute(question, values).rowcount


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one sentence: what happened, and what to do."""
    try:
        yield
    except (UnicodeDecodeError, MemoryError) as error:
        what = "a text or its length is not valid"
        raise BadFile(f"{path} is damaged: {what} ({type(error).__name__}).") from None
    except sqlite3.DatabaseError as error:
        text = str(error)
        code = getattr(error, "sqlite_errorcode", None)  # without one, Python found the fault
        # all else is what SQLite says of contents that it does not understand
        if code is None or code & 0xFF not in OUTSIDE:
            text = text.encode("ascii", "backslashreplace").decode()[:200]
            raise BadFile(f"{path} is not an agent's log, or it is damaged: {text}.") from None
        if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            todo = f"another process kept it for {BUSY_SECONDS:.0f} s; try again"
        elif code & 0xFF == sqlite3.SQLITE_FULL:
            todo = "make room on the disk, and try again"
        elif code & 0xFF == sqlite3.SQLITE_READONLY or not os.access(path, os.W_OK):
            todo = "make the file and its folder writable, and try again"
        else:
            todo = "see to the disk, and try again"
        raise StoreError(f"{path}: {text}. Nothing was stored: {todo}.") from error
