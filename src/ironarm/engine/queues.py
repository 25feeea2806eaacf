"""Queues of slots in records: `first` and `last` of a queue, and `after` each slot.

They hold the number of a slot plus 1, so that 0 is none.
"""

from __future__ import annotations

from ..marks import hot


@hot
def append(q, queue, slot):
    """Put a slot at the end of a queue."""
    q.after[slot] = 0
    if q.first[queue] == 0:
        q.first[queue] = slot + 1
    else:
        q.after[q.last[queue] - 1] = slot + 1
    q.last[queue] = slot + 1
