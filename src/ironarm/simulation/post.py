"""What a player needs for rewards that have senders, or come late or never."""

from __future__ import annotations

import numpy as np

from ..engine import late
from ..engine.record import Record

NOBODY = np.empty(0, np.int64)
AT_ONCE = np.empty(0, np.int64)


class Post:
    """The rewards of one policy that are on their way."""

    def __init__(self, arms: int, ring: int, expire: int) -> None:
        self.decisions = np.zeros(arms, np.int64)
        self._first = np.zeros(ring, np.int64)
        numbers = {name: np.zeros(ring, np.int64) for name in ("last", "after", "arm", "sender")}
        self.record = Record(
            late.POST,
            arms,
            late=AT_ONCE,
            senders=NOBODY,
            expire=expire,
            decisions=self.decisions,
            first=self._first,
            reward=np.zeros(ring),
            chance=np.zeros(ring),
            **numbers,
        )

    def empty(self) -> None:
        """Begin a trial: nothing is on its way."""
        self.decisions[:] = 0
        self._first[:] = 0

    def set_rounds(self, senders: np.ndarray, waits: np.ndarray) -> None:
        """Take over who sends each reward of the next rounds, and how late it comes."""
        self.record.point("senders", senders)
        self.record.point("late", waits)
