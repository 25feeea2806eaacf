"""One flag that learns: its agent, and which decisions wait for whose events."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any, NamedTuple

from ..agent import Agent
from ..agent.contract import LiveAgent
from ..errors import InvalidInput, StoreError
from .upkeep import Rest, Troubles, closed, overdue

SLOW = 0.5
"""Seconds after which a failure was a slow one: others have waited for it."""


class Waiting(NamedTuple):
    """How decisions wait for their rewards."""

    patience: float
    """Seconds."""
    missing: float | None
    """The reward of a decision for which no event came; None: it is cancelled."""
    most_open: int


class OpenDecision(NamedTuple):
    """A decision that waits for its reward."""

    ticket: str
    id: Any
    arm: str
    user: str | None
    made: float


class Flag:
    """One flag: its agent, and the decisions that wait for their rewards."""

    def __init__(
        self,
        waiting: Waiting,
        troubles: Troubles,
        key: str,
        agent: LiveAgent,
        events: str | Iterable[str] | None,
        values: Mapping[str, Any] | None,
    ) -> None:
        arms = [str(arm) for arm in agent.arms]
        if values is not None:
            values = {str(arm): value for arm, value in values.items()}
        if values is not None and set(arms) - values.keys():
            raise InvalidInput(
                f"values of the flag {key!r} must say what each of its variants stands for: "
                f"{', '.join(arms)}; got {', '.join(map(str, values)) or 'none'}."
            )
        self.key, self.agent = key, agent
        self.events = frozenset([events] if isinstance(events, str) else events or [key])
        self._waiting, self._troubles, self._values = waiting, troubles, values
        # one at a time, so that a user who asks twice at once gets one decision
        self._lock = threading.Lock()
        self._open: dict[str, OpenDecision] = {}  # oldest first
        self._by_user: dict[str | None, str] = {}
        self._rest = Rest(f"the agent of the flag {key!r}", monotonic, slow=SLOW)
        self._closed = False

    def prepare(self) -> None:
        """Compile what the agent needs, if it is one in this process."""
        if hasattr(self.agent, "prepare"):
            self.agent.prepare()

    def take_over(self, other: Flag) -> None:
        """Go on with the decisions that wait for another flag of the same agent.

        Both share them from now on, and the lock: somebody may still hold the other.
        """
        self._lock, self._open, self._by_user = other._lock, other._open, other._by_user

    def close_all(self) -> None:
        """Close every decision that waits, as if its event had not come, and decide no
        more; raise the first error at the end.
        """
        failed = None
        with self._lock:
            self._closed = True
            for decision in list(self._open.values()):
                try:
                    self._close(decision)
                except StoreError as error:
                    failed = failed or error
        if failed is not None:
            raise failed

    def has_type(self, kind: Any) -> bool:
        """Say whether all variants stand for values of this type."""
        if self._values is None:
            return kind is str
        if kind is float:
            kind = (int, float)
        return all(
            isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
            for value in self._values.values()
        )

    def decide(self, user: str | None) -> tuple[OpenDecision, Any, bool]:
        """Return a decision, its value, and whether it was made before."""
        with self._lock:
            if self._closed:
                raise InvalidInput(f"the flag {self.key!r} was removed, or has a new agent.")
            self._close_old(room=1)
            waiting = self._open.get(self._by_user.get(user, ""))
            if waiting is not None:
                is_fresh = monotonic() - waiting.made < self._waiting.patience
                if is_fresh and waiting.arm in map(str, self.agent.arms):
                    return waiting, self._value(waiting.arm), True
                self._close(waiting)
            made = self._rest.asked(self.agent.decide)
            if self._values is not None and str(made.arm) not in self._values:
                self.agent.cancel(made.id)
                raise InvalidInput(
                    f"the flag {self.key!r} has a new variant {made.arm!r}, and values does not "
                    "say what it stands for; call add_flag again with all values."
                )
            ticket = f"{self.key}/{made.id}"
            decision = OpenDecision(ticket, made.id, str(made.arm), user, monotonic())
            self._open[ticket] = decision
            if user is not None:
                self._by_user[user] = ticket
            return decision, self._value(decision.arm), False

    def learn(self, ticket: str | None, user: str | None, value: float, sender: str | None) -> bool:
        """Reward the decision of a ticket, also one that another process has made, or,
        without a ticket, the open decision of a user; False if there is none.
        """
        with self._lock:
            self._close_old()
            decision = self._open.get(self._by_user.get(user, "") if ticket is None else ticket)
            if decision is not None:
                return self._learn(decision, value, sender)
            if ticket is None or isinstance(self.agent, Agent):
                return False  # ids of `Agent` are numbers, and all its decisions were made here
            return self._rest.asked(closed, self.agent, ticket.rpartition("/")[2], value, sender)

    def _learn(self, decision: OpenDecision, value: float | None, sender: str | None) -> bool:
        """Close a decision; False if the agent had closed it already."""
        was_open = self._rest.asked(closed, self.agent, decision.id, value, sender)
        self._forget(decision)
        return was_open

    def _close_old(self, room: int = 0) -> None:
        """Close some decisions that have waited too long; the oldest are first."""
        made_until = monotonic() - self._waiting.patience
        for ticket in overdue(self._open, made_until, self._waiting.most_open - room):
            self._close(self._open[ticket])

    def _close(self, decision: OpenDecision) -> None:
        """Close a decision for which no event came."""
        missing = self._waiting.missing
        try:
            self._learn(decision, missing, None)
        except InvalidInput as error:
            self._troubles.report(f"missing = {missing} for the flag {self.key!r}", error)
            self._forget(decision)

    def _forget(self, decision: OpenDecision) -> None:
        self._open.pop(decision.ticket, None)
        if decision.user is not None and self._by_user.get(decision.user) == decision.ticket:
            del self._by_user[decision.user]

    def _value(self, arm: str) -> Any:
        return arm if self._values is None else self._values[arm]
