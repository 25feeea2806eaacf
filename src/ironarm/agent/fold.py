"""An agent as the sum of its log's entries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.loop import CANCELLED
from ..engine.state import State
from ..errors import BadFile, InvalidInput
from ..files import json_ready
from ..policies import Policy
from . import file as agent_file
from .agent import Agent
from .input import Name
from .log import Entry
from .snapshot import Snapshot
from .source_book import HELD

REFRESH = 4096
"""Entries after which everybody clears the caches."""


def described(agent: Agent, **more: Any) -> str:
    """Return what a new agent is, as the first entry of its log carries it."""
    data = {
        "policy": agent.policy.to_dict(),
        "arms": list(agent.arms),
        "minimize": agent._minimize,
        "memory": agent._memory,
        "seed": agent._seed,
        **agent._chosen_size(),
        **more,
    }
    return json.dumps(json_ready(data), allow_nan=False)


class Fold:
    """The agent in memory, and the ids of its open decisions.

    Inside, decisions have whole numbers in the order in which they were made; outside
    they have the ids that the log records.
    """

    def __init__(self, path: Path, policy: Policy | None) -> None:
        self._path, self._given = path, policy
        self.agent: Agent | None = None
        self.created: dict[str, Any] = {}
        """What the first entry carries."""
        self.archived = False
        self._newest = 0.0
        self._numbers: dict[str, int] = {}
        self._ids: dict[int, str] = {}

    @property
    def _here(self) -> Agent:
        assert self.agent is not None
        return self.agent

    def forget(self) -> None:
        """Forget everything; the log has it."""
        self.agent = None
        self.archived = False
        self._newest = 0.0
        self._numbers, self._ids = {}, {}

    def restart(self, snapshot: Snapshot | None) -> None:
        """Begin with a snapshot, or with nothing."""
        self.forget()
        if snapshot is None:
            return
        with agent_file.damage_reported(self._path):
            data = json.loads(snapshot.state)
            numbers = {str(id): int(k) for id, k in data.pop("ids").items()}
            self.created = data.pop("created")
            self.archived = bool(data.pop("archived", False))
            newest = data.pop("newest", None)
        data, policy = agent_file.understood(self._path, data, self._given)
        with agent_file.damage_reported(self._path):
            self.agent = Agent._of_data(policy, data)
        self._numbers, self._ids = numbers, {k: id for id, k in numbers.items()}
        # snapshots did not have it while times could go back
        self._newest = self.agent._open.sort_times() if newest is None else float(newest)

    def frozen(self) -> tuple[dict[str, Any], State]:
        """Return what a snapshot holds: plain data, and a copy of the state."""
        data, state = self._here._frozen()
        more = {
            "ids": dict(self._numbers),
            "created": self.created,
            "archived": self.archived,
            "newest": self.newest,
        }
        return {"policy": self._here.policy.to_dict(), **data, **more}, state

    def refreshed(self, number: int) -> bool:
        """Clear the caches if that is due after this entry; True if it was."""
        if number % REFRESH:
            return False
        self._here._state.refresh()
        return True

    # decisions

    def choice(self, number: int, among: Iterable[Name] | None) -> tuple[Name, float]:
        """Decide, as entry `number`; return the arm and the chance."""
        self._draw(number)
        arm, chance = self._here._choice(among)
        return self._here._names[arm], chance

    def opened(self, id: str, arm: Name, chance: float, made: float) -> None:
        """Take note of a decision that was made."""
        agent = self._here
        index = agent._index[arm]
        self._newest = max(made, self.newest)  # `older` needs them in order
        number = agent._open.issue(index, chance, self._newest)
        agent._queues[index].append(number)
        self._numbers[id], self._ids[number] = number, id

    @property
    def newest(self) -> float:
        """When the latest decision was made; 0 if none is open.

        No open decision was made later. If the clock was set back, or that of another
        node is ahead, a decision counts as made when the one before it was.
        """
        return self._newest if self._numbers else 0.0

    def _draw(self, number: int) -> None:
        """Let random numbers come from the seed and the entry's number."""
        key = str(self._here._seed).encode()
        digest = hashlib.blake2b(number.to_bytes(8, "big"), digest_size=32, key=key[:64]).digest()
        self._here._state.view.stream[:] = np.frombuffer(digest, np.uint64)

    # entries

    def apply(self, entry: Entry) -> None:
        """Learn an entry."""
        getattr(self, f"_{entry.kind}", self._strange)(entry)

    def _strange(self, entry: Entry) -> None:
        raise BadFile(
            f"entry {entry.number} has the kind {entry.kind!r}, which this version of ironarm "
            "does not know. Update ironarm to read it."
        )

    def _created(self, entry: Entry) -> None:
        with agent_file.damage_reported(self._path):
            data = self.created = json.loads(entry.extra or "")
            agent_file.check_arms(self._path, data)
            self.agent = Agent(
                agent_file.policy_of(self._path, data["policy"], self._given),
                data["arms"],
                seed=data["seed"],
                minimize=data["minimize"],
                memory=data["memory"],
                sources_held=data.get("sources_held", HELD),
            )
        # it must not warn in the middle of an entry
        self.agent._watch, self.agent._watching = None, self.agent._memory_watched

    def check_same(self, new: Agent | None, asked: dict[str, Any]) -> None:
        """Refuse to open the agent as one that it is not.

        Arms are compared with those that it was made with: some may have come and gone.
        """
        if self._given is not None:
            agent_file.policy_of(self._path, self._here.policy.to_dict(), self._given)
        given = asked if new is None else {"arms": list(new.arms), **asked}
        created = {"sources_held": HELD, **self.created}
        for name, value in given.items():
            if created[name] != value:
                raise InvalidInput(
                    f"{self._path} holds an agent with {name} = {created[name]!r}, got "
                    f"{value!r}; leave it out to open that agent, or choose another path."
                )

    def _decided(self, entry: Entry) -> None:
        assert entry.decision is not None
        assert entry.arm is not None
        agent = self._here
        self._draw(entry.number)
        try:
            agent._state.call("follow")(agent._handle, agent._index[entry.arm])
        except Exception as error:
            agent._blame_policy(error)
        self.opened(entry.decision, entry.arm, entry.chance or 0.0, entry.time)

    def _rewarded(self, entry: Entry) -> None:
        assert entry.value is not None
        self._here._learn(self._closed(entry), entry.value, entry.source)

    def _observed(self, entry: Entry) -> None:
        assert entry.value is not None
        assert entry.arm is not None
        agent = self._here
        index = agent._index[entry.arm]
        agent._signed(index, entry.value, entry.source)
        agent._observe(index, entry.value, 1.0, 0)

    def _cancelled(self, entry: Entry) -> None:
        agent = self._here
        agent._state.adjust(CANCELLED, agent._open.close(self._closed(entry)).arm)

    def _expired(self, entry: Entry) -> None:
        if entry.value is None:
            self._cancelled(entry)
        else:
            self._rewarded(entry)

    _failed = _rewarded

    def _added(self, entry: Entry) -> None:
        assert entry.arm is not None
        self._here.add_arm(entry.arm)

    def _removed(self, entry: Entry) -> None:
        assert entry.arm is not None
        self._here.remove_arm(entry.arm)
        gone = [id for id, k in self._numbers.items() if k not in self._here._open.tickets]
        for id in gone:
            del self._ids[self._numbers.pop(id)]

    def _warmed(self, entry: Entry) -> None:
        rows = json.loads(entry.extra or "")
        self._here.warm_start([(arm, float(x), source) for arm, x, source in rows])

    def _archived(self, entry: Entry) -> None:
        self.archived = True

    def _pruned(self, entry: Entry) -> None:
        """The agent is the same, with or without the entries that are gone."""

    def _closed(self, entry: Entry) -> int:
        assert entry.decision is not None
        number = self._numbers.pop(entry.decision)
        del self._ids[number]
        return number

    # questions

    def copied(self) -> Callable[[], dict[str, Any]]:
        """Copy the agent, and return what makes the data for `Agent.load` of the copy.

        Copying takes as long as the memory does; the rest needs nothing here. Caches
        here stay as they are.
        """
        policy, (data, state) = self._here.policy, self._here._frozen(refresh=False)

        def saved() -> dict[str, Any]:
            state.refresh()
            return {"policy": policy.to_dict(), **data, "state": state.dump()}

        return saved

    def is_open(self, id: str) -> bool:
        """Say whether a decision waits for its reward."""
        return id in self._numbers

    def arm_of(self, id: str) -> Name:
        """Return the arm of an open decision."""
        agent = self._here
        return agent._names[agent._open.tickets[self._numbers[id]].arm]

    def made(self, id: str) -> float:
        """Return when an open decision was made."""
        return self._here._open.tickets[self._numbers[id]].made

    def name_of(self, arm: object) -> Name:
        """Return an arm's name as the agent has it; refuse an arm that is not there."""
        agent = self._here
        return agent._names[agent._index_of(arm)]  # type: ignore[arg-type]

    def oldest(self, arm: Name) -> str | None:
        """Return the id of the arm's oldest open decision."""
        agent = self._here
        number = agent._open.oldest(agent._index_of(arm))
        return None if number is None else self._ids[int(number)]

    def older(self, limit: float, most: int | None = None) -> list[str]:
        """Return the ids of the decisions made before that time, the oldest first.

        Their times are in the order in which they were made, so it looks at no more
        than it returns and one: the service asks every second.
        """
        tickets = self._here._open.tickets
        pairs = self._numbers.items()
        old = takewhile(lambda pair: tickets[pair[1]].made < limit, pairs)
        return [id for id, _ in islice(old, most)]

    def open_pairs(self) -> list[tuple[str, Name]]:
        """Return the open decisions' ids and arms, oldest first."""
        return [(id, self.arm_of(id)) for id, _ in sorted(self._numbers.items(), key=_second)]

    def check_observation(self, arm: Name) -> None:
        """Refuse a reward without a decision where that cannot be learnt."""
        agent = self._here
        agent._index_of(arm)
        if agent._chance is not None:
            raise InvalidInput(
                f"{type(agent.policy).__name__} weighs a reward by the probability of its "
                f"decision, and no decision for {arm!r} is open. Call decide() first."
            )

    def check_new(self, arm: Name) -> None:
        """Refuse an arm that is there."""
        self._here._check_new(arm)

    def check_removable(self, arm: object) -> None:
        """Refuse an arm that is not there, or the last one."""
        self._here._check_removable(arm)  # type: ignore[arg-type]


def _second(pair: tuple[str, int]) -> int:
    return pair[1]
