"""A store in PostgreSQL, which any number of nodes share."""

from __future__ import annotations

import json
import logging
import math
import os
import socket
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from ..agent.store import COLUMNS, ENTRY_COLUMNS, Row, Store
from ..errors import BadFile, InvalidInput, StoreError, missing_extra

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError:
    raise missing_extra("a PostgreSQL database", "serve") from None

FORMAT_VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS agent (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS log (
    agent BIGINT NOT NULL, number BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL,
    kind TEXT NOT NULL, decision TEXT, arm TEXT, value DOUBLE PRECISION, source TEXT,
    chance DOUBLE PRECISION, extra TEXT, key TEXT, hash BYTEA NOT NULL,
    PRIMARY KEY (agent, number)
);
CREATE INDEX IF NOT EXISTS log_decision ON log (decision) WHERE decision IS NOT NULL;
CREATE TABLE IF NOT EXISTS snapshot (
    agent BIGINT NOT NULL, number BIGINT NOT NULL, part BIGINT NOT NULL,
    parts BIGINT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (agent, number, part)
);
CREATE TABLE IF NOT EXISTS pruned (
    agent BIGINT PRIMARY KEY, number BIGINT NOT NULL, hash BYTEA NOT NULL
);
CREATE TABLE IF NOT EXISTS api_key (
    id TEXT PRIMARY KEY, hash BYTEA NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
    agents TEXT, rate DOUBLE PRECISION, made DOUBLE PRECISION NOT NULL,
    revoked DOUBLE PRECISION
);
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)
"""
TYPES = {
    "agent": "bigint",
    "number": "bigint",
    "time": "float8",
    "value": "float8",
    "chance": "float8",
    "hash": "bytea",
}
FIELDS = ("agent", *ENTRY_COLUMNS, "hash")
RECORD = ", ".join(f"{name} {TYPES.get(name, 'text')}" for name in FIELDS)
SPACE = 0x49524F4E
"""The first half of our advisory locks; the second is the agent's number."""
# A node that is cut off must not hold an agent: the server ends its transaction, and
# the node its connection, after seconds.
SESSION = (
    "-c synchronous_commit=on -c lock_timeout=4s -c statement_timeout=60s "
    "-c idle_in_transaction_session_timeout=2s -c client_min_messages=warning"
)
NETWORK = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
}
ARM, SOURCE, VALUE = (ENTRY_COLUMNS.index(name) for name in ("arm", "source", "value"))
logging.getLogger("psycopg.pq").setLevel(logging.ERROR)  # it warns of what we handle


class PostgresStore(Store):
    """A store in a PostgreSQL database.

    Names of arms and sources are stored as JSON, so that 1 and "1" differ. A lost
    connection is made anew by the next question.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.place, self._password = place_and_password(url)
        self._connection: psycopg.Connection[Any] | None = None
        self._since: float | None = None  # when the question that waits was asked

    @classmethod
    def open(cls, url: str, create: bool = True) -> PostgresStore:
        """Connect; make the tables if they are not there."""
        store = cls(url)
        with store.transaction():
            # two nodes that start at once must not both make the tables
            store._rows("SELECT pg_advisory_xact_lock(?, 0)", SPACE)
            tables = store._rows("SELECT to_regclass('log')")
            if tables[0][0] is None:
                if not create:
                    raise StoreError(
                        f"{store.place} holds no agents; `ironarm serve` creates them."
                    )
                for statement in SCHEMA.split(";"):
                    store._count(statement)
            found = store.setting("format", str(FORMAT_VERSION))
        if int(found) > FORMAT_VERSION:
            raise BadFile(
                f"{store.place} was written by a newer ironarm (format {found}, this one reads "
                f"up to {FORMAT_VERSION}). Update ironarm to read it."
            )
        return store

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """The connection; a new one if there is none that works."""
        if self._connection is None or self._connection.closed:
            self._connection = None  # until there is one, nothing can have been stored
            with self._reported():
                self._connection = psycopg.connect(
                    self._url,
                    autocommit=True,
                    options=SESSION,
                    application_name="ironarm",
                    client_encoding="UTF8",
                    **NETWORK,  # type: ignore[arg-type]
                )
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def give_up(self, after: float) -> None:
        """End the connection if an answer is that late; from another thread.

        A database that is cut off without a word would else be waited for forever.
        """
        since, connection = self._since, self._connection
        if since is None or connection is None or monotonic() - since < after:
            return
        with (
            suppress(psycopg.Error, OSError),
            socket.socket(fileno=os.dup(connection.fileno())) as wire,
        ):
            wire.shutdown(socket.SHUT_RDWR)

    def begin(self) -> None:
        """Begin a transaction; `hold` says on which agents."""
        if self._connection is not None and not self._alive():
            self.close()
        self._say(b"BEGIN")

    def _alive(self) -> bool:
        """Say whether the connection is outside a transaction and not known broken."""
        assert self._connection is not None
        state = self._connection.info.transaction_status
        return bool(state == psycopg.pq.TransactionStatus.IDLE)

    def hold(self, agents: list[int]) -> list[int]:
        """Let nobody else append to these agents until the transaction ends.

        Who holds an agent waits for none: so two nodes never wait for each other.
        """
        free = self._rows(
            "SELECT agent FROM unnest(?::text::bigint[]) AS agent "
            f"WHERE pg_try_advisory_xact_lock({SPACE}, agent::int)",
            _array(agents),
        )
        if not free:
            self._rows("SELECT pg_advisory_xact_lock(?, ?)", SPACE, agents[0])
            return agents[:1]
        return [agent for (agent,) in free]

    def commit(self) -> None:
        """End the transaction; all that was inserted is on disk when this returns."""
        self._say(b"COMMIT")

    def roll_back(self) -> None:
        """End the transaction, if there is one; nothing of it is kept."""
        connection = self._connection
        if connection is None or connection.closed:
            return
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            self.close()  # the server takes it back

    def version(self) -> int | None:
        """PostgreSQL does not tell."""
        return None

    def insert(self, rows: list[Row]) -> None:
        """Append rows, each with its agent first.

        As JSON they are one value, which psycopg sends in a third of the time that
        arrays take it.
        """
        self._count(
            f"INSERT INTO log SELECT * FROM json_to_recordset(?::json) AS row ({RECORD})",
            json.dumps([dict(zip(FIELDS, _encoded(row), strict=True)) for row in rows]),
        )

    def after_each(self, last: dict[int, int]) -> dict[int, list[Row]]:
        """Return the first rows after an entry of each of these agents, or all."""
        names = ", ".join(f"log.{name}" for name in COLUMNS.split(", "))
        found: dict[int, list[Row]] = {agent: [] for agent in last}
        rows = self._rows(
            f"SELECT log.agent, {names} "
            "FROM unnest(?::text::bigint[], ?::text::bigint[]) AS at (agent, number) JOIN log "
            "ON log.agent = at.agent AND log.number > at.number "
            "ORDER BY log.agent, log.number LIMIT 5000",
            _array(last),
            _array(last.values()),
        )
        for agent, *row in rows:
            found[agent].append(_decoded(tuple(row)))
        return found

    def after(self, agent: int, number: int) -> Generator[Row, None, None]:
        """Yield the rows after an entry; a thousand at a time, for logs are long."""
        while True:
            rows = self._rows(
                f"SELECT {COLUMNS} FROM log WHERE agent = ? AND number > ? ORDER BY number "
                "LIMIT 1000",
                agent,
                number,
            )
            for row in rows:
                yield _decoded(row)
            if len(rows) < 1000:
                return
            number = rows[-1][0]

    def about(self, agent: int, decisions: list[str]) -> list[Row]:
        """Return the rows about some decisions, oldest first."""
        return [_decoded(row) for row in super().about(agent, decisions)]

    def _say(self, words: bytes) -> None:
        """Send words without values, by libpq: a fifth of what psycopg's way costs."""
        connection = self.connection
        with self._reported():
            result = connection.pgconn.exec_(words)
            if result.status != psycopg.pq.ExecStatus.COMMAND_OK or b"ROLLBACK" in (
                result.command_status or b""
            ):
                message = result.error_message.decode(errors="replace")
                raise psycopg.OperationalError(message or "the transaction was taken back")

    def rewards_before(self, agent: int, number: int, arms: list[Any], most: int) -> list[Row]:
        """Return the latest rows before an entry that carry rewards of some arms."""
        names = [json.dumps(arm) for arm in arms]
        return [_decoded(row) for row in super().rewards_before(agent, number, names, most)]

    def _rows(self, question: str, *values: Any) -> list[Row]:
        connection = self.connection
        with self._reported():
            return connection.execute(question.replace("?", "%s"), values).fetchall()

    def _count(self, question: str, *values: Any) -> int:
        connection = self.connection
        with self._reported():
            return connection.execute(question.replace("?", "%s"), values).rowcount

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn PostgreSQL's errors into one sentence: what happened, and what to do."""
        self._since = monotonic()
        try:
            yield
        except psycopg.Error as error:
            text = " ".join(str(error).split())
            text = text.replace(self._url, self.place)
            if self._password:
                text = text.replace(self._password, "(password)")
            text = text[:300].rstrip(".?")
            lost = self._connection is not None
            stored = " Nothing was stored, or it is not known whether it was." if lost else ""
            raise StoreError(f"{self.place}: {text}.{stored} Try again.") from error
        finally:
            self._since = None


def _array(numbers: Iterable[int]) -> str:
    """Return an array as text, which psycopg need not look into."""
    return "{" + ",".join(map(str, numbers)) + "}"


def _encoded(row: Row) -> Row:
    """Return a row as JSON holds it; the agent comes first."""
    values = list(row)
    for place in (ARM + 1, SOURCE + 1):
        if values[place] is not None:
            values[place] = json.dumps(values[place])
    value = values[VALUE + 1]
    if value is not None and math.isinf(value):
        values[VALUE + 1] = str(value)
    values[-1] = "\\x" + values[-1].hex()
    return tuple(values)


def _decoded(row: Row) -> Row:
    values = list(row)
    for place in (ARM, SOURCE):
        if values[place] is not None:
            values[place] = json.loads(values[place])
    return tuple(values)


def place_and_password(url: str) -> tuple[str, str]:
    """Return an address without its password, and the password.

    An address that libpq reads in another way is refused: then a part of the password
    is a host or a database for one of us, and would be shown.
    """
    try:
        parts = urlsplit(url)
        port = "" if parts.port is None else f":{parts.port}"
        password = dict(parse_qsl(parts.query)).get("password", unquote(parts.password or ""))
        understood = conninfo_to_dict(url).get("password", "") == password
    except (ValueError, psycopg.Error):  # their words repeat the password
        understood = False
    if not understood or "@" in parts.path:
        raise InvalidInput(
            "the database must be an address such as postgresql://user:password@host/name; signs "
            "such as @, /, # and % in the password are written as %40, %2F, %23 and %25."
        )
    return f"postgresql://{parts.hostname or ''}{port}{parts.path}", password
