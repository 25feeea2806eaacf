"""Who may change an agent when: with its lock, or in one call of compiled code.

`Agent.select` and `Agent.update` take no lock, since nothing comes in the middle of a
call of compiled code. Everything else takes the lock. What must not see an agent change
between two of its own steps, such as `save`, also shuts out those who take none.
"""

from __future__ import annotations

import sys

from .core import Core


class Shut:
    """Lets nobody in who has no lock; whoever enters has the lock.

    The lock is taken apart from this, `with lock, shut:`, because an interrupt can come
    in the middle of a method that is Python. In the middle of these two it leaves the
    agent shut, and calls without a lock then take it.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._before: list[bool] = []

    def __enter__(self) -> None:
        waiting = self._core.open.waiting
        self._before.append(waiting.shut)
        waiting.shut = True

    def __exit__(self, *_: object) -> None:
        # those of arms that have changed meanwhile stay shut for ever
        self._core.open.waiting.shut = self._before.pop()


def calls_are_atomic() -> bool:
    """Say whether no other thread runs during a call of compiled code.

    So it is but in a Python that has no global lock.
    """
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())
