"""Who may change an agent when: with its lock, or in one call of compiled code.

`Agent.select` and `Agent.update` take no lock, since nothing comes in the middle of a
call of compiled code. Everything else takes the lock. What must not see an agent change
between two of its own steps, such as `save`, also shuts out those who take none.
"""

from __future__ import annotations

import sys
import threading

from .core import Core


class Alone:
    """Has an agent for itself, with its lock, and lets nobody in who has none.

    Whoever holds it can hold it again.
    """

    def __init__(self, lock: threading.RLock, core: Core) -> None:
        self._lock, self._core, self._depth = lock, core, 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        self._core.open.waiting.shut = True

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            # those of arms that have changed meanwhile stay shut for ever
            self._core.open.waiting.shut = False
        self._lock.release()


def calls_are_atomic() -> bool:
    """Say whether no other thread runs during a call of compiled code.

    So it is but in a Python that has no global lock.
    """
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())
