"""Whether a log, and all that stands in for a part of it, is what it was.

A chain without a key proves that nothing was changed since somebody wrote down one of
its hashes. Whoever can write to the store can also write a whole new chain.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadFile
from ..files import json_ready
from ..policies import Policy
from . import file as agent_file
from . import replay
from .log import Log, Prune
from .logged import state_text
from .snapshot import Snapshot
from .store import Store

STEP = 1000
"""Entries between two calls of `step`."""


class Verified(NamedTuple):
    """What was found of a log that is all there and unchanged."""

    entries: int
    last: int
    """The number of the last entry."""
    hash: bytes
    prune: Prune | None
    """Why the first entries are not there."""
    proof: int = 0
    """The number of the entry that proves the prune; 0 without one."""
    not_replayed: str = ""
    """Why snapshots could not be compared with what the entries add up to."""


def verified(
    store: Store,
    agent: int,
    policy: Policy | None = None,
    since: tuple[int, bytes] | None = None,
    step: Callable[[int], None] = lambda entries: None,
) -> Verified:
    """Read a log from its beginning, and compare all that can be compared.

    `policy` is that of the agent, if it is the user's own. `since` is the number and
    the hash of an entry that somebody wrote down. Raises `BadFile` where something does
    not fit.
    """
    with agent_file.damage_reported(store.place):
        return _Check(store, agent, policy, since).run(step)


class _Check:
    """One look at a log."""

    def __init__(
        self, store: Store, agent: int, policy: Policy | None, since: tuple[int, bytes] | None
    ) -> None:
        self._log, self._since = Log(store, agent), since
        self._replay = replay.Replay(Path(store.place), policy)
        self._given = policy
        self._not_replayed = ""
        self._proof: tuple[int, Prune] | None = None

    def run(self, step: Callable[[int], None]) -> Verified:
        log = self._log
        store, agent = log.store, log.agent
        pruned = store.pruned(agent)
        base = None if pruned is None else self._base(pruned)
        kept, noted = set(store.snapshots(agent)), store.noted_end(agent)
        count, proved = 0, None
        if pruned is not None:
            self._look_at(*pruned, base, kept)
        for entry in log.unread():
            count += 1
            if self._replay.loaded is not None:
                replay.apply(self._replay, entry)
                self._replay.refreshed(entry.number)
            elif entry.number == 1 and self._is_here(json.loads(entry.extra or "")):
                replay.apply(self._replay, entry)
            if entry.kind == "pruned":
                proved = entry.number, Prune.read(entry.extra or "")
            self._look_at(entry.number, log.last_hash, base, kept)
            if count % STEP == 0:
                step(STEP)
        if proved != self._proof:
            raise self._damage("what it says of its prunes does not fit")
        self._look_at_the_end(count, kept, noted)
        step(count % STEP)
        proof, prune = (0, None) if self._proof is None else self._proof
        return Verified(count, log.last, log.last_hash, prune, proof, self._not_replayed)

    def _base(self, pruned: tuple[int, bytes]) -> Snapshot:
        """Return the snapshot that replaces the beginning; an entry must name it."""
        log = self._log
        found = log.store.last_pruned(log.agent)
        if found is not None:
            self._proof = found[0], Prune.read(found[1])
        if self._proof is None or (self._proof[1].number, self._proof[1].hash) != pruned:
            raise self._damage(
                f"the entries up to {pruned[0]} are missing, and no entry proves that they were "
                "pruned"
            )
        prune = self._proof[1]
        base = log.stored_snapshot(prune.snapshot)
        if base is None or not base.fits(prune.entry) or base.content != prune.content:
            raise self._damage(
                f"the snapshot of entry {prune.snapshot}, which replaces the pruned entries, is "
                "missing or was changed"
            )
        return base

    def _look_at_the_end(self, count: int, kept: set[int], noted: tuple[int, bytes] | None) -> None:
        """Compare where the entries end with what else says so."""
        log, last = self._log, self._log.last
        if log.store.count(log.agent, last) != count:
            raise self._damage(f"it has {count} entries, but counts another number of them")
        if self._since is not None and self._since[0] > last:
            raise self._damage(f"it ends with entry {last}, so {self._since[0]} is missing")
        if kept and max(kept) > last:
            raise self._damage(f"it ends with entry {last}, and has a snapshot of {max(kept)}")
        if noted is not None and noted[0] == last and noted[1] != log.last_hash:
            raise self._damage("its last entry is not the one that was noted")

    def _is_here(self, created: dict[str, Any]) -> bool:
        """Say whether the agent's policy is here, so that entries can be added up."""
        try:
            agent_file.policy_of(Path(self._log.store.place), created["policy"], self._given)
        except BadFile as error:
            self._not_replayed = str(error)
            return False
        return True

    def _look_at(self, number: int, digest: bytes, base: Snapshot | None, kept: set[int]) -> None:
        """Compare what stands beside the entry with this number and hash."""
        if self._since is not None and self._since[0] == number and self._since[1] != digest:
            raise self._damage(f"entry {number} has not the hash that you gave")
        if number not in kept:
            return
        found = self._log.stored_snapshot(number)
        # it may have been replaced meanwhile; one without a seal is never used
        if found is None or found.entry is None:
            return
        if not found.fits(digest):
            raise self._damage(f"the snapshot of entry {number} was changed")
        if base is not None and number == base.number:
            if base.entry != digest:
                raise self._damage(f"the snapshot of entry {number} is that of another log")
            if self._is_here(json.loads(base.state)):
                self._replay.restart(base)
        elif self._replay.loaded is not None and not self._same(found, number):
            raise self._damage(f"the snapshot of entry {number} is not what the entries add up to")

    def _same(self, found: Snapshot, number: int) -> bool:
        """Say whether a snapshot is the state after the entries that were read."""
        if number % replay.REFRESH:
            return False  # none is taken there, and taking one would clear the caches
        data, state = self._replay.frozen()
        text = state_text(data, state)
        if text == found.state:
            return True
        estimator = state.machine.estimator
        any_order = estimator is not None and estimator.any_order
        return _comparable(text, any_order) == _comparable(found.state, any_order)

    def _damage(self, what: str) -> BadFile:
        return BadFile(f"{self._log.store.place} is damaged: {what}.")


def _comparable(text: str, any_order: bool) -> Any:
    """Return a state without what nothing depends on.

    That is, in snapshots of older versions, closed decisions that were still in their
    queues; and how rewards lie in memory, where any order is the same.
    """
    data = json.loads(text)
    open = {row[0] for row in data["tickets"]}
    data["queues"] = [[x for x in queue if x in open] for queue in data["queues"]]
    if any_order:
        state = data["state"]
        state["rewards"] = [sorted(map(float, held)) for held in state.get("rewards", [])]
    return json_ready(data)
