"""The decisions of an agent that have no reward so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import islice, takewhile
from typing import Any, NamedTuple

import numpy as np

from ..engine.waiting import Queues
from ..errors import UnknownDecision

Id = int | str


class Ticket(NamedTuple):
    """What is known of a decision that has an id."""

    arm: int
    made: float
    chance: float
    number: int
    """Decisions with an id are numbered in the order in which they were made."""


class OpenDecisions:
    """Decisions without a reward: tickets by id, and two queues for each arm.

    `ids` holds an arm's decisions that have an id; `waiting` holds when those were made
    that have none. Both have the oldest first. A decision closed out of order has lost
    its ticket, and its id stays in the queue until it reaches the front.
    """

    def __init__(self, arms: int) -> None:
        self.next_number = 0
        self.tickets: dict[Id, Ticket] = {}  # in the order of their numbers
        self.ids: list[deque[Id]] = [deque() for _ in range(arms)]
        self.waiting = Queues(arms)
        self._closed = [0] * arms  # of a queue's ids, how many are closed

    def add(self, arm: int, chance: float, made: float, id: str | None = None) -> Any:
        """Open a decision; return its id, which is its number unless one is given."""
        number = self.next_number
        self.next_number = number + 1
        known: Id = number if id is None else id
        # uncompiled, the arm is NumPy's
        self.tickets[known] = Ticket(int(arm), made, chance, number)
        self.ids[arm].append(known)
        return known

    def ticket(self, id: object) -> Ticket:
        """Return the ticket of an open decision, or say why there is none.

        For ids that are numbers.
        """
        if isinstance(id, (int, np.integer)) and id in self.tickets:
            return self.tickets[int(id)]
        if isinstance(id, (int, np.integer)) and 0 <= id < self.next_number:
            raise UnknownDecision(
                f"decision {id} is already closed: it was rewarded, cancelled or expired, or its "
                "arm was removed. A decision takes one reward."
            )
        raise UnknownDecision(f"there is no decision {id!r}; ids come from decide().")

    def close(self, id: Id) -> Ticket:
        """Forget a decision, and return its ticket."""
        ticket = self.tickets.pop(id, None)
        if ticket is None:
            return self.ticket(id)  # which says why there is none
        queue = self.ids[ticket.arm]
        if len(queue) == 1:  # it is the only one
            queue.clear()
        else:
            self._closed[ticket.arm] += 1
            self.oldest(ticket.arm)
        return ticket

    def oldest(self, arm: int) -> Id | None:
        """Return the id of the arm's oldest decision that has one."""
        queue = self.ids[arm]
        while queue and queue[0] not in self.tickets:
            queue.popleft()
            self._closed[arm] -= 1
        # one that waits for ever at the front must not keep all the others
        if self._closed[arm] > 64 and 2 * self._closed[arm] > len(queue):
            left = [id for id in queue if id in self.tickets]
            queue.clear()
            queue.extend(left)
            self._closed[arm] = 0
        return queue[0] if queue else None

    def pop(self, arm: int) -> Ticket | None:
        """Close the oldest decision of an arm, if any, and return its ticket.

        One that has no id is given a ticket without a number.
        """
        id, made = self.oldest(arm), self.waiting.oldest(arm)
        if made is not None and (id is None or made < self.tickets[id].made):
            self.waiting.close(arm)
            return Ticket(arm, made, 1.0, -1)
        return None if id is None else self.close(id)

    def sort_times(self) -> float:
        """Let no decision be older than one before it; return the latest time."""
        newest = 0.0
        for id, ticket in self.tickets.items():
            newest = max(newest, ticket.made)
            self.tickets[id] = ticket._replace(made=newest)
        return newest

    def older(self, limit: float, most: int | None = None) -> list[Any]:
        """Return the ids of decisions made before that time, the oldest first.

        Where their times are in the order of their numbers. It looks at no more than it
        returns and one: the service asks every second.
        """
        old = takewhile(lambda pair: pair[1].made < limit, self.tickets.items())
        return [id for id, _ in islice(old, most)]

    def expire(self, limit: float) -> list[int]:
        """Close the decisions made before that time; return the arm of each.

        It looks at all of them: the clock may have been set back in between.
        """
        old = [id for id, ticket in self.tickets.items() if ticket.made < limit]
        arms = [self.close(id).arm for id in old]
        for arm in range(len(self.ids)):
            for made in self.waiting.times(arm):
                self.waiting.close(arm)
                if made >= limit:
                    self.waiting.open(arm, made)
                else:
                    arms.append(arm)
        return arms

    def for_arms(self, keep: Sequence[int | None]) -> OpenDecisions:
        """Return the decisions for other arms: present ones by number, None for new."""
        new = OpenDecisions(len(keep))
        new.next_number = self.next_number
        place = {arm: to for to, arm in enumerate(keep) if arm is not None}
        new.tickets = {
            id: ticket._replace(arm=place[ticket.arm])
            for id, ticket in self.tickets.items()
            if ticket.arm in place
        }
        for arm, to in place.items():
            new.ids[to], new._closed[to] = self.ids[arm], self._closed[arm]
            for made in self.waiting.times(arm):
                new.waiting.open(to, made)
        return new

    def numbers(self) -> dict[Id, int]:
        """Return the numbers of the decisions, by id."""
        return {id: ticket.number for id, ticket in self.tickets.items()}

    def dump(self) -> dict[str, Any]:
        """Return the decisions as plain data.

        A queue holds an arm's decisions, oldest first: those with an id by their
        numbers, the others by their times.
        """
        return {
            "next_id": self.next_number,
            "tickets": [[number, *rest] for *rest, number in self.tickets.values()],
            "queues": [self._queue(arm) for arm in range(len(self.ids))],
        }

    def _queue(self, arm: int) -> list[int | float]:
        open = (self.tickets[id] for id in self.ids[arm] if id in self.tickets)
        named: list[tuple[float, int | float]] = [(ticket.made, ticket.number) for ticket in open]
        others = [(made, made) for made in self.waiting.times(arm)]
        return [entry for _, entry in merge(named, others, key=lambda pair: pair[0])]

    def restore(self, data: dict[str, Any], ids: Mapping[int, str] | None = None) -> None:
        """Take over what `dump` returned; raise ValueError if it does not fit.

        `ids` gives decisions ids in the place of their numbers.
        """
        arms = len(self.ids)
        tickets = {
            int(number): Ticket(int(arm), float(made), float(chance), int(number))
            for number, arm, made, chance in sorted(data["tickets"])
        }
        if len(data["queues"]) != arms or not all(0 <= t.arm < arms for t in tickets.values()):
            raise ValueError("its open decisions do not match its arms")
        if ids is not None and set(ids) != set(tickets):
            raise ValueError("its open decisions do not match their ids")
        self.next_number = int(data["next_id"])
        for number, ticket in tickets.items():
            id: Id = number if ids is None else ids[number]
            self.tickets[id] = ticket
            self.ids[ticket.arm].append(id)
        for arm, queue in enumerate(data["queues"]):
            for entry in queue:
                if type(entry) is not int:
                    self.waiting.open(arm, float(entry))
