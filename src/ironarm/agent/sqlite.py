"""A store in an SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import BadFile, StoreError
from .store import COLUMNS, Row, Store

FORMAT_VERSION = 2
"""From 2 on, the end of each log is noted beside it, and snapshots have seals."""
APPLICATION = 0x49524F4E  # "IRON": marks the file as ours
BUSY_SECONDS = 60.0
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


def _make_private(path: Path) -> None:
    """Make an empty file that only its owner can read, unless there is a file.

    Who may read it may learn every id. SQLite gives the files beside it the same mode.
    A file that is there must not be opened: closing it would take the locks from other
    connections of this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
