"""`check_store`: does a store of logs keep what it is given?

`agent.store.Store` says what a store does. Two connections to the same database use it
here in every way that agents and the service do.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from ..agent.store import PART, Row, Store
from ..errors import ContractFault, IronarmError

Open = Callable[[], Store]
AWKWARD_NAMES = ("a", "3", 3, -7, 2**53 + 1, "", "über 'quoted' \"twice\"", "\U0001f600", "x" * 500)
AWKWARD_NUMBERS = (0.0, 0.1, -2.5, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, 2.0**53 + 2)


def check_store(open_store: Open) -> None:
    """Use a store in all ways there are; raise `ContractFault` if one fails.

    `open_store` opens one more connection to the same database, which is empty at
    first.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ironarm.agent.sqlite import SqliteStore
    >>> from ironarm.testing import check_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "logs.db")
    ...     check_store(lambda: SqliteStore.open(path, create=True))
    """
    for check in CHECKS:
        with closing(open_store()) as one, closing(open_store()) as other:
            try:
                check(one, other, open_store)
            except ContractFault as fault:
                raise ContractFault(f"{check.__name__}: {fault}") from None


def it_returns_what_it_was_given(one: Store, other: Store, _: Open) -> None:
    """Every value of every column, with its kind, in order and to each connection."""
    agent, stranger = _new(one, "exact"), _new(one, "stranger")
    rows: list[Row] = [
        (
            agent,
            i + 1,
            1e9 + i / 8,
            "observed",
            f"id {i}",
            name,
            x,
            name,
            1 / (i + 3),
            "{}",
            "key",
            _hash(i),
        )
        for i, (name, x) in enumerate((name, x) for name in AWKWARD_NAMES for x in AWKWARD_NUMBERS)
    ]
    rows.append((agent, len(rows) + 1, 1e9, "archived", *[None] * 7, _hash(0)))
    _append(one, rows)
    _append(one, [_row(stranger, 1)])
    for store in (one, other):
        expected = [row[1:] for row in rows]
        _same("after(agent, 0)", expected, list(store.after(agent, 0)))
        _same("after(agent, 70)", expected[70:], list(store.after(agent, 70)))
        _same("after the end", [], list(store.after(agent, len(rows))))
        each = store.after_each({agent: 60, stranger: 0})
        _same("after_each", expected[60:], each[agent])
        _same("after_each of another", [_row(stranger, 1)[1:]], each[stranger])
        _same("end", (len(rows), 1e9, _hash(0)), store.end(agent))
        _same("count", 9, store.count(agent, 9))
        _same("hash_of", _hash(4), store.hash_of(agent, 5))
        _same("hash_of what is not there", None, store.hash_of(agent, len(rows) + 1))
        several = dict(sorted(store.hashes_of(agent, [5, 3, len(rows) + 1]).items()))
        _same("hashes_of", {3: _hash(2), 5: _hash(4)}, several)
    with closing(one.after(agent, 0)) as some:  # who stops early leaves nothing behind
        next(some)
    _append(one, [_row(stranger, 2)])


def it_finds_entries_by_what_they_are_about(one: Store, other: Store, _: Open) -> None:
    """Those of a decision, and the latest rewards of some arms; of one agent only."""
    agent, stranger = _new(one, "about"), _new(one, "also about")
    kinds = ["decided", "rewarded", "decided", "cancelled", "observed", "removed", "failed"]
    arms: list[str | int] = ["a", "a", "b", "b", "b", "a", 3]
    rows = [
        _row(agent, i + 1, kind=kind, decision=f"d{i // 2}", arm=arm)
        for i, (kind, arm) in enumerate(zip(kinds, arms, strict=True))
    ]
    _append(one, rows)
    _append(one, [_row(stranger, 1, kind="rewarded", decision="d0", arm="a")])
    _same("about", [row[1:] for row in rows[:2]], other.about(agent, ["d0"]))
    _same("about two", [row[1:] for row in rows[:4]], other.about(agent, ["d1", "d0", "d9"]))
    _same("about nothing", [], other.about(agent, ["d9"]))
    found = other.rewards_before(agent, 7, ["a", "b", 3], 10)
    _same("rewards_before", [2, 5, 6], [row[0] for row in found])
    found = other.rewards_before(agent, 8, ["a", 3], 2)
    _same("the latest two", [6, 7], [row[0] for row in found])


def it_keeps_all_of_a_transaction_or_nothing(one: Store, other: Store, _: Open) -> None:
    """What is rolled back, cut or refused is gone; until the commit nobody sees it."""
    agent = _new(one, "whole")
    _append(one, [_row(agent, 1)])
    one.begin()
    one.hold([agent])
    one.insert([_row(agent, 2), _row(agent, 3)])
    _same("others, before the commit", [1], _numbers(other, agent))
    one.roll_back()
    one.roll_back()  # without a transaction it does nothing
    _same("after a roll_back", [1], _numbers(one, agent))
    with suppress(_Trouble), one.transaction():
        one.hold([agent])
        one.insert([_row(agent, 2)])
        raise _Trouble
    _same("after an error", [1], _numbers(other, agent))
    one.begin()
    one.hold([agent])
    one.insert([_row(agent, 2), _row(agent, 3), _row(agent, 4)])
    one.delete_after(agent, 2)
    one.commit()
    _same("after a cut", [1, 2], _numbers(other, agent))
    with _refused("a number that is taken"), one.transaction():
        one.hold([agent])
        one.insert([_row(agent, 3), _row(agent, 2)])
    _same("after a refusal", [1, 2], _numbers(other, agent))


def appends_take_turns(one: Store, other: Store, open_store: Open) -> None:
    """Of two that append at once, each sees what the other has appended before."""
    agent, each = _new(one, "turns"), 25
    errors: list[BaseException] = []

    def append() -> None:
        try:
            with closing(open_store()) as store:
                for _ in range(each):
                    with store.transaction():
                        _same("hold", [agent], store.hold([agent]))
                        end = store.end(agent)
                        store.insert([_row(agent, 1 if end is None else end[0] + 1)])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=append) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise ContractFault(f"an append failed: {errors[0]!r}") from errors[0]
    _same("the numbers", list(range(1, 2 * each + 1)), _numbers(other, agent))


def it_tells_when_others_have_written(one: Store, other: Store, _: Open) -> None:
    """By another version, unless it never tells."""
    agent = _new(one, "version")
    before = one.version()
    _append(other, [_row(agent, 1)])
    if before is not None and one.version() == before:
        raise ContractFault("the version is the same after another connection has written.")


def it_keeps_the_latest_snapshot(one: Store, other: Store, _: Open) -> None:
    """Of an entry that is there, however long it is; older ones go."""
    agent = _new(one, "snapshots")
    _append(one, [_row(agent, n) for n in range(1, 10)])
    long = "ü" * (2 * PART + 1)
    one.keep_snapshot(agent, 4, _hash(4), "four")
    one.keep_snapshot(agent, 5, b"another" + bytes(9), "of an entry that was never stored")
    _same("a snapshot", [4], other.snapshots(agent))
    one.keep_snapshot(agent, 8, _hash(8), long)
    _same("the latest one", [8], other.snapshots(agent))
    _same("its text", long, other.snapshot(agent, 8))
    one.keep_snapshot(agent, 6, _hash(6), "late")
    _same("one that comes late", [8], other.snapshots(agent))
    one.drop_snapshots(agent)
    _same("dropped ones", [], other.snapshots(agent))
    _same("their text", None, other.snapshot(agent, 8))


def it_prunes(one: Store, other: Store, _: Open) -> None:
    """The first entries go, the hash of the last of them stays, and the snapshot."""
    agent = _new(one, "pruned")
    _append(one, [_row(agent, n) for n in range(1, 10)])
    _same("before", None, other.pruned(agent))
    one.keep_snapshot(agent, 6, _hash(6), "six")
    with one.transaction():
        one.hold([agent])
        _same("how many", 5, one.prune(agent, 5, _hash(5), 6))
    _same("what is left", [6, 7, 8, 9], _numbers(other, agent))
    _same("pruned", (5, _hash(5)), other.pruned(agent))
    _same("the hash of the last one", _hash(5), other.hash_of(agent, 5))
    _same("that of one before", None, other.hash_of(agent, 4))
    one.keep_snapshot(agent, 8, _hash(8), "eight")
    _same("both snapshots", [8, 6], other.snapshots(agent))
    with one.transaction():
        one.hold([agent])
        one.insert([_row(agent, 10, kind="pruned", extra="what")])
    _same("last_pruned", (10, "what"), other.last_pruned(agent))


def it_knows_agents_keys_and_settings(one: Store, other: Store, _: Open) -> None:
    """Names are unique, a revoked key stays, and the first setting counts."""
    number = _new(one, "ads")
    _same("agents", number, other.agents()["ads"])
    with _refused("a name that is taken"), one.transaction():
        one.add_agent("ads")
    before = len(other.api_keys())
    row = ("id 1", _hash(1), "web", '["read"]', '["ads"]', 2.5, 1e9, None)
    one.add_key(row)
    one.add_key(("id 2", _hash(2), "app", "[]", None, None, 2e9, None))
    _same("keys", repr(row), repr(_plain(other.api_keys()[before])))
    _same("revoked", (1, 0, 0), tuple(one.revoke_key(id, 3e9) for id in ("id 1", "id 1", "id 9")))
    _same("when", 3e9, other.api_keys()[before][-1])
    _same("a setting", ("first", "first"), (one.setting("s", "first"), other.setting("s", "next")))


CHECKS = (
    it_returns_what_it_was_given,
    it_finds_entries_by_what_they_are_about,
    it_keeps_all_of_a_transaction_or_nothing,
    appends_take_turns,
    it_tells_when_others_have_written,
    it_keeps_the_latest_snapshot,
    it_prunes,
    it_knows_agents_keys_and_settings,
)


class _Trouble(Exception):
    """Something goes wrong in a transaction."""


class _refused:  # noqa: N801
    """A block that the store must refuse."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is None:
            raise ContractFault(f"{self._what} is not refused.")
        return isinstance(error, IronarmError) and not isinstance(error, ContractFault)


def _new(store: Store, name: str) -> int:
    with store.transaction():
        return store.add_agent(name)


def _hash(number: int) -> bytes:
    return number.to_bytes(16, "big")


def _row(
    agent: int,
    number: int,
    kind: str = "observed",
    decision: str | None = None,
    arm: str | int | None = "a",
    extra: str | None = None,
) -> Row:
    more = (0.5, None, None, extra, None)
    return (agent, number, 1e9 + number, kind, decision, arm, *more, _hash(number))


def _append(store: Store, rows: list[Row]) -> None:
    with store.transaction():
        store.hold([rows[0][0]])
        store.insert(rows)


def _numbers(store: Store, agent: int) -> list[int]:
    return [row[0] for row in store.after(agent, 0)]


def _plain(row: Row) -> Row:
    """Return a row with its bytes as such; a database may lend a view of them."""
    return tuple(bytes(x) if isinstance(x, memoryview) else x for x in row)


def _same(what: str, expected: Any, got: Any) -> None:
    """Refuse what differs, also in its kind: 3 is not 3.0."""
    if isinstance(got, list):
        got = [_plain(row) if isinstance(row, tuple) else row for row in got]
    if repr(expected) != repr(got):
        raise ContractFault(f"{what} gives {got!r:.300}, not {expected!r:.300}.")
