"""A log's entries, added up: `apply` and one function for each kind of entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..engine.state import State
from ..errors import BadFile, InvalidInput
from ..policies import Policy
from . import file as agent_file
from .core import Core
from .input import Name
from .log import Entry
from .snapshot import Snapshot
from .source_book import HELD

REFRESH = 4096
"""Entries after which everybody clears the caches."""


class Replay:
    """What the entries of a log add up to, from the first or from a snapshot."""

    def __init__(self, path: Path, policy: Policy | None) -> None:
        self.path, self.given = path, policy
        self.created: dict[str, Any] = {}
        """What the first entry carries."""
        self.forget()

    def forget(self) -> None:
        """Forget everything; the log has it."""
        self.loaded: Core | None = None
        self.archived = False
        self._newest = 0.0

    @property
    def core(self) -> Core:
        """The agent, which the first entry has made."""
        assert self.loaded is not None
        return self.loaded

    @property
    def newest(self) -> float:
        """When the latest decision was made; 0 if none is open.

        No open decision was made later. If the clock was set back, or that of another
        node is ahead, a decision counts as made when the one before it was.
        """
        return self._newest if self.loaded is not None and self.core.open.tickets else 0.0

    def open(self, id: str, arm: int, chance: float, made: float) -> None:
        """Take note of a decision that was made."""
        self._newest = max(made, self.newest)  # `OpenDecisions.older` needs them in order
        self.core.open.add(arm, chance, self._newest, id)

    def refreshed(self, number: int) -> bool:
        """Clear the caches if that is due after this entry; True if it was."""
        if number % REFRESH:
            return False
        self.core.state.refresh()
        return True

    def check_same(self, arms: tuple[Name, ...] | None, asked: dict[str, Any]) -> None:
        """Refuse to open the agent as one that it is not.

        Arms are compared with those that it was made with: some may have come and gone.
        """
        if self.given is not None:
            agent_file.policy_of(self.path, self.core.policy.to_dict(), self.given)
        given = asked if arms is None else {"arms": list(arms), **asked}
        created = {"sources_held": HELD, **self.created}
        for name, value in given.items():
            if created[name] != value:
                raise InvalidInput(
                    f"{self.path} holds an agent with {name} = {created[name]!r}, got "
                    f"{value!r}; leave it out to open that agent, or choose another path."
                )

    # snapshots

    def restart(self, snapshot: Snapshot | None) -> None:
        """Begin with a snapshot, or with nothing."""
        self.forget()
        if snapshot is None:
            return
        with agent_file.damage_reported(self.path):
            data = json.loads(snapshot.state)
            ids = {int(number): str(id) for id, number in data.pop("ids").items()}
            created = data.pop("created")
            archived = bool(data.pop("archived", False))
            newest = data.pop("newest", None)
        data, policy = agent_file.understood(self.path, data, self.given)
        with agent_file.damage_reported(self.path):
            self.loaded = Core.thawed(policy, data, ids)
        self.created, self.archived = created, archived
        # snapshots did not have it while times could go back
        self._newest = self.core.open.sort_times() if newest is None else float(newest)

    def frozen(self) -> tuple[dict[str, Any], State]:
        """Return what a snapshot holds: plain data, and a copy of the state."""
        data, state = self.core.frozen()
        more = {
            "ids": self.core.open.numbers(),
            "created": self.created,
            "archived": self.archived,
            "newest": self.newest,
        }
        return {"policy": self.core.policy.to_dict(), **data, **more}, state

    def copied(self) -> Callable[[], dict[str, Any]]:
        """Copy the agent, and return what makes the data for `Agent.load` of the copy.

        Copying takes as long as the memory does; the rest needs nothing here. Caches
        here stay as they are.
        """
        policy, (data, state) = self.core.policy, self.core.frozen(refresh=False)

        def saved() -> dict[str, Any]:
            state.refresh()
            return {"policy": policy.to_dict(), **data, "state": state.dump()}

        return saved


def apply(replay: Replay, entry: Entry) -> None:
    """Add an entry to what those before it add up to."""
    KINDS.get(entry.kind, _strange)(replay, entry)


def _strange(replay: Replay, entry: Entry) -> None:
    raise BadFile(
        f"entry {entry.number} has the kind {entry.kind!r}, which this version of ironarm does "
        "not know. Update ironarm to read it."
    )


def _created(replay: Replay, entry: Entry) -> None:
    with agent_file.damage_reported(replay.path):
        data = replay.created = json.loads(entry.extra or "")
        agent_file.check_arms(replay.path, data)
        replay.loaded = Core(
            agent_file.policy_of(replay.path, data["policy"], replay.given),
            data["arms"],
            seed=data["seed"],
            minimize=data["minimize"],
            memory=data["memory"],
            sources_held=data.get("sources_held", HELD),
        )


def _decided(replay: Replay, entry: Entry) -> None:
    assert entry.decision is not None
    core = replay.core
    arm = core.index[entry.arm]  # type: ignore[index]
    core.draw_from(entry.number)
    core.follow(arm)
    replay.open(entry.decision, arm, entry.chance or 0.0, entry.time)


def _rewarded(replay: Replay, entry: Entry) -> None:
    replay.core.reward(*_of_decision(entry), entry.source)


def _of_decision(entry: Entry) -> tuple[str, float]:
    assert entry.decision is not None
    assert entry.value is not None
    return entry.decision, entry.value


def _observed(replay: Replay, entry: Entry) -> None:
    assert entry.value is not None
    core = replay.core
    core.take(core.index[entry.arm], entry.value, entry.source)  # type: ignore[index]


def _cancelled(replay: Replay, entry: Entry) -> None:
    assert entry.decision is not None
    replay.core.cancel(entry.decision)


def _expired(replay: Replay, entry: Entry) -> None:
    if entry.value is None:
        _cancelled(replay, entry)
    else:
        _rewarded(replay, entry)


def _added(replay: Replay, entry: Entry) -> None:
    replay.core.add(entry.arm)


def _removed(replay: Replay, entry: Entry) -> None:
    replay.core.remove(entry.arm)


def _warmed(replay: Replay, entry: Entry) -> None:
    core, rows = replay.core, json.loads(entry.extra or "")
    core.warm([(core.number_of(arm), float(x), source) for arm, x, source in rows])


def _archived(replay: Replay, entry: Entry) -> None:
    replay.archived = True


def _pruned(replay: Replay, entry: Entry) -> None:
    """The agent is the same, with or without the entries that are gone."""


KINDS: dict[str, Callable[[Replay, Entry], None]] = {
    "created": _created,
    "decided": _decided,
    "rewarded": _rewarded,
    "failed": _rewarded,
    "observed": _observed,
    "cancelled": _cancelled,
    "expired": _expired,
    "added": _added,
    "removed": _removed,
    "warmed": _warmed,
    "archived": _archived,
    "pruned": _pruned,
}
