"""One flag that learns: its agent, and which decisions wait for whose events."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from ..agent import Agent
from ..agent.contract import LiveAgent
from ..errors import InvalidInput, StoreError, UnknownDecision

LOG = logging.getLogger("ironarm.openfeature")
AT_ONCE = 20
"""Old decisions that one call closes; each call makes at most one."""
SLOW = 0.5
"""Seconds after which a failure was a slow one: others have waited for it."""
REST = 5.0
"""Seconds for which an agent that failed slowly is left alone."""
T = TypeVar("T")


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
        key: str,
        agent: LiveAgent,
        events: list[str],
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
        self.key, self.agent, self.events = key, agent, frozenset(events)
        self._waiting, self._values = waiting, values
        # one at a time, so that a user who asks twice at once gets one decision
        self._lock = threading.Lock()
        self._open: dict[str, OpenDecision] = {}  # oldest first
        self._by_user: dict[str, str] = {}
        self._rest_until = 0.0
        self._closed = False

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
            waiting = self._open.get(self._by_user.get(user, "")) if user is not None else None
            if waiting is not None:
                if not self._is_old(waiting) and waiting.arm in map(str, self.agent.arms):
                    return waiting, self._value(waiting.arm), True
                self._close(waiting)
            made = self._asked(self.agent.decide)
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

    def learn_user(self, user: str, value: float, sender: str | None) -> bool:
        """Reward the open decision of a user; False if there is none."""
        with self._lock:
            self._close_old()
            decision = self._open.get(self._by_user.get(user, ""))
            return decision is not None and self._learn(decision, value, sender)

    def learn_ticket(self, ticket: str, value: float, sender: str | None) -> bool:
        """Reward a decision, also one that another process has made."""
        with self._lock:
            self._close_old()
            decision = self._open.get(ticket)
            if decision is not None:
                return self._learn(decision, value, sender)
            if isinstance(self.agent, Agent):
                return False  # its ids are numbers, and all its decisions were made here
            try:
                self._tell(ticket.rpartition("/")[2], value, sender)
            except UnknownDecision:
                return False
            return True

    def _learn(self, decision: OpenDecision, value: float, sender: str | None) -> bool:
        try:
            self._tell(decision.id, value, sender)
        except UnknownDecision:  # its arm was removed, or somebody expired it
            self._forget(decision)
            return False
        self._forget(decision)
        return True

    def _tell(self, id: Any, value: float, sender: str | None) -> None:
        if sender is None:
            self._asked(lambda: self.agent.learn(id, value))
        else:
            self._asked(lambda: self.agent.learn(id, value, source=sender))

    def _asked(self, work: Callable[[], T]) -> T:
        """Ask the agent something. A service that does not answer takes a while to say
        so, and callers wait for each other: so it is then left alone for some seconds.
        """
        began = monotonic()
        if began < self._rest_until:
            raise StoreError(
                f"the agent of the flag {self.key!r} failed less than {REST:g} seconds ago; it "
                "is not asked again yet."
            )
        try:
            return work()
        except StoreError:
            if monotonic() - began > SLOW:
                self._rest_until = monotonic() + REST
            raise

    def _is_old(self, decision: OpenDecision) -> bool:
        return monotonic() - decision.made >= self._waiting.patience

    def _close_old(self, room: int = 0) -> None:
        """Close some decisions that have waited too long; the oldest are first."""
        for _ in range(AT_ONCE):
            oldest = next(iter(self._open.values()), None)
            full = len(self._open) + room > self._waiting.most_open
            if oldest is None or not (full or self._is_old(oldest)):
                return
            self._close(oldest)

    def _close(self, decision: OpenDecision) -> None:
        """Close a decision for which no event came."""
        missing = self._waiting.missing
        try:
            if missing is None:
                self._asked(lambda: self.agent.cancel(decision.id))
            else:
                self._tell(decision.id, missing, None)
        except UnknownDecision:
            pass  # it is closed already
        except InvalidInput as error:
            LOG.warning("missing = %s for the flag %r: %s", missing, self.key, error)
        self._forget(decision)

    def _forget(self, decision: OpenDecision) -> None:
        self._open.pop(decision.ticket, None)
        if decision.user is not None and self._by_user.get(decision.user) == decision.ticket:
            del self._by_user[decision.user]

    def _value(self, arm: str) -> Any:
        return arm if self._values is None else self._values[arm]
