"""What every integration sees to besides its requests.

It leaves agents alone for a while after they failed, closes decisions that have waited
too long, a few at a time, and says in the log what goes wrong, but not with every
request.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ..agent.contract import LiveAgent
from ..errors import StoreError, UnknownDecision

AT_ONCE = 20
"""Old decisions that one call closes; each call makes at most one."""
REST = 5.0
"""Seconds for which agents that failed are left alone."""
SAY_EVERY = 60.0
"""Seconds after which the log says the same trouble again."""
MOST_SAID = 10
"""Different troubles that the log says in that time: part of a text may come from end
users, who must not be able to fill the log."""

T = TypeVar("T")
K = TypeVar("K")


class Rest:
    """Leaves agents alone for some seconds after they failed.

    A service that does not answer takes a while to say so, and those who wait for it
    wait for each other.

    Parameters
    ----------
    who : who failed, as the error says it.
    clock : returns seconds, such as `time.monotonic`.
    slow : seconds. A failure that takes less holds up nobody, and is not followed by a
        rest.
    """

    def __init__(self, who: str, clock: Callable[[], float], slow: float = 0.0) -> None:
        self._who, self._clock, self._slow = who, clock, slow
        self._until = -math.inf

    def asked(self, work: Callable[..., T], *given: Any) -> T:
        """Return what some work with the agents returns; refuse while they rest."""
        began = self._clock()
        if began < self._until:
            raise StoreError(
                f"{self._who} failed less than {REST:g} seconds ago; not asked again yet."
            )
        try:
            return work(*given)
        except StoreError:
            now = self._clock()
            if now - began >= self._slow:
                self._until = now + REST
            raise


class Troubles:
    """Counts what goes wrong, and says it in a log: the same trouble once a minute."""

    def __init__(self, log: logging.Logger, clock: Callable[[], float]) -> None:
        self._log, self._clock = log, clock
        self._said: dict[str, float] = {}
        self.count = 0

    def report(self, what: str, error: BaseException) -> None:
        """Count a trouble; say what it meant and why, as a warning if it is new."""
        self.count += 1
        why, now = str(error) or type(error).__name__, self._clock()
        said = {each: at for each, at in self._said.items() if now - at < SAY_EVERY}
        level = logging.DEBUG
        if why not in said and len(said) < MOST_SAID:
            said[why], level = now, logging.WARNING
        self._said = said  # a new one, because another thread may be going through the old
        self._log.log(level, "%s: %s (%d troubles so far)", what, why, self.count)


def overdue(waiting: Mapping[K, Any], made_until: float, most: float = math.inf) -> Iterator[K]:
    """Yield the keys of a few decisions that have waited too long, or are too many.

    A decision says with `made` when it was made. The oldest is the first of `waiting`,
    and comes first. Take each out before you ask for the next.
    """
    for _ in range(AT_ONCE):
        oldest = next(iter(waiting.items()), None)
        if oldest is None or (oldest[1].made > made_until and len(waiting) <= most):
            return
        yield oldest[0]


def closed(agent: LiveAgent, id: Any, reward: float | None, source: str | None = None) -> bool:
    """Close a decision, without a reward if that is None.

    Return False if the agent does not know it: it has expired, or its arm is gone.
    """
    try:
        if reward is None:
            agent.cancel(id)
        elif source is None:
            agent.learn(id, reward)
        else:
            agent.learn(id, reward, source=source)
    except UnknownDecision:
        return False
    return True
