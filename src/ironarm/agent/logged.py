"""An agent and its log: what can be done, as entries.

Whoever calls holds the log's end (`Log.begin`), has caught up, and commits. Everything
is checked before the first entry is appended, so a refused call changes nothing. The
exceptions are named: they fail while the entry is learnt, and the caller takes the
transaction back.
"""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Callable, Iterable
from time import time
from typing import Any, NamedTuple

from ..errors import ClosedDecision, InvalidInput, OtherReward, PrunedEntries, UnknownDecision
from . import file as agent_file
from .core import Core
from .input import Name, name_of
from .log import Entry, Log, Prune
from .replay import REFRESH, Replay, apply
from .snapshot import sealed
from .store import Row, Store

SNAPSHOT = 65_536
"""Entries after which a snapshot is kept; a multiple of `replay.REFRESH`."""

Frozen = tuple[int, bytes, dict[str, Any], Any]
"""What a snapshot holds: the entry's number and hash, plain data, the state."""


class DurableDecision(NamedTuple):
    """The arm to use, and the id to report its reward with."""

    id: str
    arm: Name


def new_id(now: float) -> str:
    """Return an id that nobody can guess: the time, and 128 random bits.

    The time keeps ids of one hour together in the store's index, so that a commit
    writes few pages.
    """
    return f"{int(now * 1000):011x}{secrets.token_urlsafe(16)}"


class LoggedAgent:
    """An agent in memory, its log, and the operations on both."""

    def __init__(self, log: Log, replay: Replay, snapshot_due: Callable[[Frozen], None]) -> None:
        self.log, self.replay, self._snapshot_due = log, replay, snapshot_due
        self._ahead = 0.0  # of the computer's clock
        self._told = 0.0

    @property
    def core(self) -> Core:
        """The agent in memory."""
        return self.replay.core

    def now(self) -> float:
        """Return the time by the log's clock, which is not set back.

        It is the computer's clock. If that is set back while decisions are open, this
        one goes on from where it was, else these would not expire in time; so it does
        if another node's clock is ahead. When no decision is open, or the computer's
        clock has passed it, it is that clock again.
        """
        wall, newest = time(), self.replay.newest
        least = max(newest, self._told) if newest else 0.0
        self._ahead = max(self._ahead, least - wall) if wall < least else 0.0
        self._told = max(wall + self._ahead, least)
        return self._told

    def catch_up(self, rows: list[Row] | None = None) -> None:
        """Learn what others have appended; `rows` if these have been fetched."""
        try:
            try:
                self._read_on(rows)
            except PrunedEntries:  # while we were away; the snapshot has them
                self.replay.forget()
                self._read_on(None)
        except BaseException:
            self.replay.forget()  # else the entry that failed would be left out
            raise

    def _read_on(self, rows: list[Row] | None) -> None:
        due = 0
        with agent_file.damage_reported(self.log.store.place):
            if self.replay.loaded is None:
                self.log.rewind()
                self.replay.restart(self.log.snapshot())
                due = self._snapshot_missing()
                rows = None
            for entry in self.log.unread(rows):
                apply(self.replay, entry)
                if self.replay.refreshed(entry.number) and entry.number == due:
                    self._keep_snapshot(due)

    def _snapshot_missing(self) -> int:
        """Return the entry that should have a snapshot, if many are unread; else 0."""
        end = self.log.store.end(self.log.agent)
        last = 0 if end is None else end[0]
        return last - last % SNAPSHOT if last - self.log.last > SNAPSHOT else 0

    def seal(self) -> None:
        """Put a prune that nothing proves into the chain, with the snapshot it left.

        Versions of ironarm before there were seals left such logs. In a transaction of
        its own, so the caller holds nothing.
        """
        if self.log.unsealed is None:
            return
        store, agent = self.log.store, self.log.agent
        with store.transaction():
            store.hold([agent])
            self.replay.forget()
            self.catch_up()  # another process may have been faster
            found, pruned = self.log.unsealed, store.pruned(agent)
            if found is None or pruned is None:
                return
            digest = store.hash_of(agent, found.number)
            assert digest is not None
            prune = Prune(*pruned, found.number, digest, found.content, late=True)
            self._learn(self._entry("pruned", extra=prune.extra()))
            self.log.hand_over()
            store.replace_snapshots(agent, found.number, sealed(digest, found.state))
        self.log.unsealed = None
        warnings.warn(
            f"{store.place}: the entries up to {pruned[0]} are gone, and no entry proves that they "
            f"were pruned: older versions of ironarm wrote none. Entry {self.log.last} now does. "
            "If nobody pruned this log, go back to a copy of it.",
            stacklevel=3,
        )

    def prune(self, keep: int) -> int:
        """Delete entries that a snapshot replaces, all but the last `keep`.

        Return how many. It makes the snapshot, in its own transactions, so the caller
        holds nothing.
        """
        self.catch_up()
        self.seal()
        last = self.log.last
        latest = last - last % REFRESH
        self.replay.forget()
        self.log.rewind()
        self.replay.restart(self.log.snapshot())
        for entry in self.log.unread() if self.log.last < latest else ():
            apply(self.replay, entry)
            self.replay.refreshed(entry.number)
            if entry.number == latest:
                frozen = latest, self.log.last_hash, *self.replay.frozen()
                keep_snapshot(self.log.store, self.log.agent, frozen)
                break
        self.replay.forget()
        return self.log.prune(min(latest, last - keep), time()) if latest else 0

    def create(self, described: str, key: str | None = None) -> None:
        """Make the agent, as the first entry."""
        self._append(Entry(1, self.now(), "created", extra=described, key=key))

    # decisions

    def decide(
        self,
        id: str | None = None,
        key: str | None = None,
        among: Iterable[Name] | None = None,
        extra: str | None = None,
    ) -> DurableDecision:
        """Decide which arm to use now. Fails in the middle if the policy does."""
        number, made = self.log.last + 1, self.now()
        if id is None:
            id = new_id(made)
        core = self.core
        core.draw_from(number)
        arm, chance = core.choose(among)
        name = core.names[arm]
        entry = Entry(number, made, "decided", id, name, chance=chance, extra=extra, key=key)
        self.log.append(entry)
        self.replay.open(id, arm, chance, made)
        self._after(number)
        return DurableDecision(id, name)

    # rewards

    def reward(
        self,
        id: str,
        x: float,
        source: Name | None = None,
        kind: str = "rewarded",
        key: str | None = None,
    ) -> Name | None:
        """Learn the reward of a decision; return its arm, or None if it was known."""
        if self.is_known(id, x, kind):
            return None
        arm = self.core.arm_of(id)
        self._append(self._entry(kind, id, arm, x, source, key=key))
        return arm

    def is_known(self, id: str, x: float, kind: str = "rewarded") -> bool:
        """Say whether a decision has this reward already; refuse what cannot be."""
        if self.core.is_open(id):
            return False
        entries = self.log.about(id)
        if not entries:
            raise UnknownDecision(
                f"there is no decision {id!r}. Ids come from decide(). Those of pruned entries are "
                "forgotten, and with commit_within a crash can lose the latest ones."
            )
        last = entries[-1]
        if last.kind == kind and last.value == x:
            return True
        if last.kind in ("rewarded", "failed", "observed"):
            before = "a failure" if last.kind == "failed" else f"{last.value:g}"
            now = "a failure" if kind == "failed" else f"{x:g}"
            raise OtherReward(
                f"decision {id} already has its reward ({before}), got {now}; a decision takes "
                "one reward."
            )
        why = {"decided": "its arm was removed", "expired": "it has expired"}
        raise ClosedDecision(f"decision {id} is closed: {why.get(last.kind, 'it was cancelled')}.")

    def update(self, arm: object, x: float, source: Name | None = None) -> Name:
        """Reward the arm's oldest open decision, or observe; return the arm."""
        name = self.core.name_of(arm)  # as the agent has it, whatever equals it
        id: Any = self.core.open.oldest(self.core.number_of(name))
        if id is None:
            self.observe(name, x, source)
        else:
            self._append(self._entry("rewarded", id, name, x, source))
        return name

    def observe(
        self,
        arm: object,
        x: float,
        source: Name | None = None,
        id: str | None = None,
        key: str | None = None,
    ) -> bool:
        """Learn a reward without a decision; False if that with this id is known."""
        name = self.core.name_of(arm)
        self.core.check_observation(name)
        if id is not None and (entries := self.log.about(id)):
            if (entries[0].arm, entries[0].value, entries[0].source) == (name, x, source):
                return False
            raise InvalidInput(
                "this Idempotency-Key was already used for another observation; each needs its own."
            )
        self._append(self._entry("observed", id, name, x, source, key=key))
        return True

    def warm(self, rows: list[tuple[object, float, Name | None]]) -> None:
        """Learn from a log of arms, rewards and sources."""
        named = [(self.core.name_of(arm), x, source) for arm, x, source in rows]
        for arm, _, _ in named:
            self.core.check_observation(arm)
        self._append(self._entry("warmed", extra=json.dumps(named)))

    def cancel(self, id: str, key: str | None = None) -> bool:
        """Close a decision without a reward; False if that was done before."""
        if not self.core.is_open(id):
            entries = self.log.about(id)
            if entries and entries[-1].kind == "cancelled":
                return False
            if entries and entries[-1].kind in ("rewarded", "failed", "observed"):
                raise OtherReward(f"decision {id} already has a reward, so it cannot be cancelled.")
            self.is_known(id, float("nan"))  # says why
        self._append(self._entry("cancelled", id, self.core.arm_of(id), key=key))
        return True

    def expire(self, limit: float, x: float | None = None, most: int | None = None) -> int:
        """Close decisions made before that time, with a reward or without one.

        It returns how many; with `most`, not more than so many at once.
        """
        old = self.core.open.older(limit, most)
        for id in old:
            self._append(self._entry("expired", id, self.core.arm_of(id), x))
        return len(old)

    # arms

    def add_arm(self, arm: object, key: str | None = None) -> None:
        """Add an arm. Fails in the middle if the policy cannot have so many."""
        name = name_of(arm)
        self.core.check_new(name)
        self._append(self._entry("added", arm=name, key=key))

    def remove_arm(self, arm: object, key: str | None = None) -> None:
        """Remove an arm and close its open decisions."""
        self.core.check_removable(arm)
        self._append(self._entry("removed", arm=self.core.name_of(arm), key=key))

    def archive(self, key: str | None = None) -> None:
        """End the agent: its log stays, and takes nothing more."""
        self._append(self._entry("archived", key=key))

    # inside

    def _entry(
        self,
        kind: str,
        decision: str | None = None,
        arm: Name | None = None,
        value: float | None = None,
        source: Name | None = None,
        extra: str | None = None,
        key: str | None = None,
    ) -> Entry:
        if value is not None:
            value += 0.0  # SQLite has no -0.0, and the hash must be that of what it returns
        number = self.log.last + 1
        return Entry(number, self.now(), kind, decision, arm, value, source, extra=extra, key=key)

    def _append(self, entry: Entry) -> None:
        """Append an entry, and learn it."""
        if self.replay.archived:
            raise InvalidInput("the agent is archived; it accepts no more changes.")
        self._learn(entry)

    def _learn(self, entry: Entry) -> None:
        self.log.append(entry)
        apply(self.replay, entry)
        self._after(entry.number)

    def _after(self, number: int) -> None:
        """Do what is due after an entry: clear caches, keep a snapshot."""
        if self.replay.refreshed(number) and number % SNAPSHOT == 0:
            self._keep_snapshot(number)

    def _keep_snapshot(self, number: int) -> None:
        self._snapshot_due((number, self.log.last_hash, *self.replay.frozen()))


def keep_snapshot(store: Store, agent: int, frozen: Frozen) -> None:
    """Write a snapshot; other threads run meanwhile."""
    number, digest, data, state = frozen
    store.keep_snapshot(agent, number, digest, sealed(digest, state_text(data, state)))


def state_text(data: dict[str, Any], state: Any) -> str:
    """Return what a snapshot says, from what `Replay.frozen` returned."""
    return "".join(agent_file.pieces({**data, "state": state.dump_arrays()}))


def rows_by_id(
    rows: Iterable[tuple[str, float, Name | None]],
) -> dict[str, tuple[float, Name | None]]:
    """Return rewards by decision; refuse two that differ."""
    wanted: dict[str, tuple[float, Name | None]] = {}
    for id, x, source in rows:
        if id in wanted and wanted[id][0] != x:
            raise InvalidInput(
                f"decision {id} is in the batch twice, with {wanted[id][0]:g} and {x:g}; "
                "a decision takes one reward."
            )
        wanted[id] = x, source
    return wanted
