"""The decisions of an agent that have no reward so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from time import time
from typing import Any, NamedTuple

import numpy as np

from ..errors import UnknownDecision

Entry = int | float
"""An open decision in its arm's queue: its id, or, made by `select`, the time only."""


class Ticket(NamedTuple):
    """What is known of a decision that has an id."""

    arm: int
    made: float
    chance: float


class OpenDecisions:
    """Decisions without a reward: tickets by id, and a queue for each arm.

    A queue holds the arm's open decisions, oldest first. A decision closed out of order
    has lost its ticket, and stays in the queue until it reaches the front.
    """

    def __init__(self, arms: int) -> None:
        self.next_id = 0
        self.tickets: dict[int, Ticket] = {}
        self.queues: list[deque[Entry]] = [deque() for _ in range(arms)]
        self._closed = [0] * arms  # of a queue's entries, how many are closed

    def issue(self, arm: int, chance: float, made: float | None = None) -> int:
        """Return the id of a new decision, which is yet to be queued."""
        id = self.next_id
        self.next_id = id + 1
        # uncompiled, the arm is NumPy's
        self.tickets[id] = Ticket(int(arm), time() if made is None else made, chance)
        return id

    def ticket(self, id: object) -> Ticket:
        """Return the ticket of an open decision, or say why there is none."""
        if isinstance(id, (int, np.integer)) and id in self.tickets:
            return self.tickets[int(id)]
        if isinstance(id, (int, np.integer)) and 0 <= id < self.next_id:
            raise UnknownDecision(
                f"decision {id} is already closed: it was rewarded, cancelled or expired, or its "
                "arm was removed. A decision takes one reward."
            )
        raise UnknownDecision(f"there is no decision {id!r}; ids come from decide().")

    def close(self, id: int) -> Ticket:
        """Forget a decision, and return its ticket."""
        ticket = self.tickets.pop(id, None)
        if ticket is None:
            return self.ticket(id)  # which says why there is none
        queue = self.queues[ticket.arm]
        if len(queue) == 1:  # it is the only one
            queue.clear()
        else:
            self._closed[ticket.arm] += 1
            self.oldest(ticket.arm)
        return ticket

    def oldest(self, arm: int) -> Entry | None:
        """Return the front of an arm's queue, without decisions that are closed."""
        queue = self.queues[arm]
        while queue and self._is_closed(queue[0]):
            queue.popleft()
            self._closed[arm] -= 1
        # one that waits for ever at the front must not keep all the others
        if self._closed[arm] > 64 and 2 * self._closed[arm] > len(queue):
            left = [entry for entry in queue if not self._is_closed(entry)]
            queue.clear()
            queue.extend(left)
            self._closed[arm] = 0
        return queue[0] if queue else None

    def _is_closed(self, entry: Entry) -> bool:
        return type(entry) is int and entry not in self.tickets

    def pop(self, arm: int) -> Ticket | None:
        """Close the oldest decision of an arm, if any, and return its ticket."""
        entry = self.oldest(arm)
        if entry is None:
            return None
        self.queues[arm].popleft()
        return self.tickets.pop(entry) if type(entry) is int else Ticket(arm, entry, 1.0)

    def sort_times(self) -> float:
        """Let no decision be older than one before it; return the latest time."""
        newest = 0.0
        for id, ticket in sorted(self.tickets.items()):
            newest = max(newest, ticket.made)
            self.tickets[id] = ticket._replace(made=newest)
        return newest

    def expire(self, limit: float) -> list[int]:
        """Close the decisions made before that time; return the arm of each.

        It looks at all of them: the clock may have been set back in between.
        """
        old = [id for id, ticket in self.tickets.items() if ticket.made < limit]
        arms = [self.close(id).arm for id in old]
        for arm, queue in enumerate(self.queues):
            left = [entry for entry in queue if type(entry) is int or entry >= limit]
            arms += [arm] * (len(queue) - len(left))
            queue.clear()
            queue.extend(left)
        return arms

    def for_arms(self, keep: Sequence[int | None]) -> OpenDecisions:
        """Return the decisions for other arms: present ones by number, None for new."""
        new = OpenDecisions(len(keep))
        new.next_id = self.next_id
        place = {arm: to for to, arm in enumerate(keep) if arm is not None}
        new.tickets = {
            id: ticket._replace(arm=place[ticket.arm])
            for id, ticket in self.tickets.items()
            if ticket.arm in place
        }
        for arm, to in place.items():
            new.queues[to], new._closed[to] = self.queues[arm], self._closed[arm]
        return new

    def dump(self) -> dict[str, Any]:
        """Return the decisions as plain data."""
        return {
            "next_id": self.next_id,
            "tickets": [[id, *self.tickets[id]] for id in sorted(self.tickets)],
            "queues": [list(queue) for queue in self.queues],
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `dump` returned; raise ValueError if it does not fit."""
        self.next_id = int(data["next_id"])
        self.tickets = {
            int(id): Ticket(int(arm), float(made), float(chance))
            for id, arm, made, chance in data["tickets"]
        }
        queues = [
            deque(x if type(x) is int else float(x) for x in queue) for queue in data["queues"]
        ]
        arms = {ticket.arm for ticket in self.tickets.values()}
        if len(queues) != len(self.queues) or not arms <= set(range(len(queues))):
            raise ValueError("its open decisions do not match its arms")
        self.queues = queues
        self._closed = [sum(map(self._is_closed, queue)) for queue in queues]
