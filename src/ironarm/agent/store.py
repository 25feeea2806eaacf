"""Where logs are kept: tables with the entries of one agent or of many.

A store is used by one thread at a time. Appends take turns: `begin` waits until nobody
else has an open transaction. `sqlite.py` says how to reach the tables in an SQLite
file, `service/postgres.py` in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from time import time
from typing import Any

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


def _parts(agent: int, number: int, stored: str) -> list[Row]:
    """Return a snapshot as rows of its table."""
    pieces = [stored[i : i + PART] for i in range(0, len(stored), PART)]
    return [(agent, number, part, len(pieces), piece) for part, piece in enumerate(pieces)]


def _bytes(value: object) -> bytes:
    """Return a hash; a damaged file may have anything in its place."""
    return value if isinstance(value, bytes) else b""
