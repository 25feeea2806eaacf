"""Decisions without an id that wait for their reward, as compiled code keeps them.

`Agent.select` and `Agent.update` are one call of compiled code each, so no other thread
ever sees half of one, and they need no lock. What they do to open decisions must then
be done here: a queue for each arm says when its decisions were made, the oldest first.
All arms share the slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import hot
from .queues import append
from .record import Field, Layout, Record

WAITING = Layout(
    "Waiting",
    [
        Field("shut", "int", "here"),  # 1: only who holds the agent's lock may come in
        Field("free", "int", "here"),  # the first free slot plus 1; 0: none is free
        Field("first", "int", "here", per_arm=True),  # the oldest one's slot plus 1, or 0
        Field("last", "int", "here", per_arm=True),
        Field("after", "int", "elsewhere"),  # the slot behind it, plus 1
        Field("made", "float", "elsewhere"),  # when the decision was made
    ],
)


@hot
def open_one(w, a, made):
    """Open a decision of arm a; there must be a free slot."""
    slot = w.free[0] - 1
    w.free[0] = w.after[slot]
    w.made[slot] = made
    append(w, a, slot)


@hot
def close_oldest(w, a):
    """Close the oldest decision of arm a; there must be one."""
    slot = w.first[a] - 1
    w.first[a] = w.after[slot]
    w.after[slot] = w.free[0]
    w.free[0] = slot + 1


class Queues:
    """The queues of some arms, as Python sees them."""

    def __init__(self, arms: int) -> None:
        self.record = Record(
            WAITING, arms, after=np.empty(0, np.int64), made=np.empty(0, np.float64)
        )
        # Python reads single numbers faster this way than from NumPy's arrays
        self._shut, self._first = memoryview(self.view.shut), memoryview(self.view.first)
        self.shut = True  # until somebody opens it

    @property
    def view(self) -> Any:
        """The queues as named arrays; ask again after `open`."""
        return self.record.view

    @property
    def shut(self) -> bool:
        """Whether only those may come in who hold the agent's lock."""
        return self._shut[0] == 1

    @shut.setter
    def shut(self, value: bool) -> None:
        self._shut[0] = value

    def open(self, arm: int, made: float) -> None:
        """Open a decision; others must be shut out."""
        if self.view.free[0] == 0:
            self.grow()
        open_one(self.view, arm, made)

    def grow(self) -> None:
        """Make room for as many decisions again; others must be shut out."""
        old, more = self.view, max(8, len(self.view.made))
        size = len(old.made) + more
        # each new slot leads to the next one
        after = np.append(old.after, np.arange(len(old.made) + 2, size + 2))
        after[-1] = 0
        self.record.point("made", np.append(old.made, np.zeros(more)))
        self.record.point("after", after)
        old.free[0] = size - more + 1

    def times(self, arm: int) -> list[float]:
        """Return when the arm's decisions were made, the oldest first."""
        view, found = self.view, []
        slot = int(view.first[arm])
        while slot:
            found.append(float(view.made[slot - 1]))
            slot = int(view.after[slot - 1])
        return found

    def has(self, arm: int) -> bool:
        """Say whether a decision of the arm is open."""
        return self._first[arm] > 0

    def oldest(self, arm: int) -> float | None:
        """Return when the arm's oldest decision was made, None if there is none."""
        slot = self._first[arm]
        return float(self.view.made[slot - 1]) if slot else None

    def close(self, arm: int) -> None:
        """Close the arm's oldest decision; others must be shut out."""
        close_oldest(self.view, arm)
