"""The end of an agent's log, held in memory while somebody looks at it.

The last `VIEW` entries are in view: decisions with what became of them, and rewards as
they came. A policy hardly pulls an arm that it knows to be bad, so such an arm has few
rewards there; of each arm the last `SAMPLE` rewards are held, however old they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..agent.input import Name
from ..agent.log import Entry
from ..agent.store import Store

VIEW = 10_000
"""Entries in view."""
SAMPLE = 2_000
"""Rewards of an arm that are held at most."""
FEW = 200
"""With fewer rewards of an arm in view, older ones are looked for."""
OLDER = 20_000
"""Older rewards that are read at most."""
END = 15
"""Entries that are shown as they are."""
CHUNK = 2_000
"""Entries that are read at a time, so that nobody waits long for the store."""


class PastReward(NamedTuple):
    """A reward, or a failure, as it came."""

    number: int
    time: float
    arm: Name
    value: float
    source: Name | None
    failed: bool


class Made:
    """A decision in view, and what became of it."""

    __slots__ = ("arm", "id", "number", "outcome", "time")

    def __init__(self, number: int, time: float, id: str, arm: Name) -> None:
        self.number, self.time, self.id, self.arm = number, time, id, arm
        self.outcome = "open"


class History:
    """What is held of one agent, from the entry after `first` on."""

    def __init__(self, first: int = 0) -> None:
        self.last = self._first = first
        """The number of the last entry that was read."""
        self.decisions: deque[Made] = deque()
        self.rewards: deque[PastReward] = deque()
        self.end: deque[Entry] = deque(maxlen=END)
        self._open: dict[str, Made] = {}
        self._past: dict[Name, deque[PastReward]] = {}
        self._fresh: dict[Name, int] = {}  # the entry from which on an arm's rewards count
        self._searched: set[Name] = set()

    def read(self, store: Store, agent: int) -> int:
        """Read some of the entries that follow; return how many."""
        count = 0
        for *values, _ in store.after(agent, self.last):
            self._take(Entry(*values))
            count += 1
            if count == CHUNK:
                break
        return count

    def _take(self, entry: Entry) -> None:
        self.last = entry.number
        self.end.append(entry)
        kind, arm = entry.kind, entry.arm
        if kind == "decided" and entry.decision is not None and arm is not None:
            made = Made(entry.number, entry.time, entry.decision, arm)
            self.decisions.append(made)
            self._open[made.id] = made
        elif kind in ("rewarded", "failed", "expired", "cancelled"):
            closed = self._open.pop(entry.decision or "", None)
            if closed is not None:
                closed.outcome = kind
        if kind in ("rewarded", "failed", "observed"):
            self.rewards.append(_reward(entry))
        elif kind == "removed" and arm is not None:
            self._fresh[arm] = entry.number
            self._past.pop(arm, None)
            for made in [made for made in self._open.values() if made.arm == arm]:
                made.outcome = "removed"
                del self._open[made.id]
        self._trim()

    def _trim(self) -> None:
        limit = self.last - VIEW
        while self.decisions and self.decisions[0].number <= limit:
            self._open.pop(self.decisions.popleft().id, None)
        while self.rewards and self.rewards[0].number <= limit:
            self._keep(self.rewards.popleft())

    def _keep(self, reward: PastReward) -> None:
        if reward.number > self._fresh.get(reward.arm, 0):
            past = self._past.get(reward.arm)
            if past is None:
                past = self._past[reward.arm] = deque(maxlen=SAMPLE)
            past.append(reward)

    # older rewards

    def scarce(self, counts: dict[Name, int]) -> list[Name]:
        """Return the arms of which older rewards are to be looked for.

        `counts` are all rewards that each arm has. An arm is looked for once.
        """
        seen: dict[Name, int] = {}
        for reward in self.rewards:
            seen[reward.arm] = seen.get(reward.arm, 0) + 1
        return [
            arm
            for arm, count in counts.items()
            if self._first > 0
            and arm not in self._searched
            and arm not in self._fresh
            and seen.get(arm, 0) + len(self._past.get(arm, ())) < min(FEW, count)
        ]

    def search(self, store: Store, agent: int, arms: list[Name]) -> None:
        """Look for older rewards of some arms."""
        self._searched.update(arms)
        older: dict[Name, list[PastReward]] = {arm: [] for arm in arms}
        for *values, _ in store.rewards_before(agent, self._first + 1, list(arms), OLDER):
            entry = Entry(*values)
            if entry.arm in older:
                if entry.kind == "removed":
                    older[entry.arm] = []
                else:
                    older[entry.arm].append(_reward(entry))
        most = max(FEW, 4 * OLDER // max(1, len(arms)))
        for arm, rewards in older.items():
            newer = self._past.get(arm, ())
            self._past[arm] = deque([*rewards[-most:], *newer], maxlen=SAMPLE)

    # questions

    def samples(self, arms: Iterable[Name], without: frozenset[Name]) -> list[np.ndarray]:
        """Return the latest rewards of each arm, without those of some sources."""
        return [
            np.array(
                [r.value for r in each[-SAMPLE:] if r.source is None or r.source not in without]
            )
            for each in self.held(arms)
        ]

    def held(self, arms: Iterable[Name]) -> list[list[PastReward]]:
        """Return the rewards of each arm that are held, the oldest first."""
        found: dict[Name, list[PastReward]] = {arm: list(self._past.get(arm, ())) for arm in arms}
        for reward in self.rewards:
            if reward.arm in found and reward.number > self._fresh.get(reward.arm, 0):
                found[reward.arm].append(reward)
        return list(found.values())


def _reward(entry: Entry) -> PastReward:
    assert entry.arm is not None
    assert entry.value is not None
    failed = entry.kind == "failed"
    return PastReward(entry.number, entry.time, entry.arm, entry.value, entry.source, failed)
