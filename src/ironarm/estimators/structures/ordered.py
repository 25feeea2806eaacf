"""All rewards of an arm in order, without memory of its own.

They are read from the heaps and the window of the arm's rank tracker. A falling array
is a max-heap, too. So both heaps of a tracker can be sorted in place. Then the heap
below read backwards, the window, and the heap above read forwards are the rewards in
rising order. A later reward disturbs a heap a little and the tracker not at all; the
heap is sorted again when the order is next wanted.

Sorting costs O(n) if a few rewards have come since the last time, and at most O(n log
n). A rank then costs O(log n), a value O(1).
"""

from __future__ import annotations

from ...marks import cold, hot
from .window import W

PATIENCE = 8  # moves per value, on average, before insertion gives way to a heap sort


@cold
def sort_falling(pool, base, size):
    """Sort pool[base : base + size] so that it falls.

    By insertion if it nearly falls already, else by a heap sort.
    """
    patience = PATIENCE * size
    for i in range(1, size):
        x = pool[base + i]
        j = i
        while j > 0 and pool[base + j - 1] < x:
            pool[base + j] = pool[base + j - 1]
            j -= 1
        pool[base + j] = x
        patience -= i - j
        if patience < 0:
            break
    if patience >= 0:
        return
    for i in range(size // 2 - 1, -1, -1):
        sink(pool, base, size, i)
    for end in range(size - 1, 0, -1):
        smallest = pool[base]
        pool[base] = pool[base + end]
        pool[base + end] = smallest
        sink(pool, base, end, 0)


@cold
def sink(pool, base, size, i):
    """Let the value at place i of a binary min-heap sink to where it belongs."""
    x = pool[base + i]
    child = 2 * i + 1
    while child < size:
        if child + 1 < size and pool[base + child + 1] < pool[base + child]:
            child += 1
        if pool[base + child] >= x:
            break
        pool[base + i] = pool[base + child]
        i = child
        child = 2 * i + 1
    pool[base + i] = x


@cold
def sort_rewards(s, a):
    """Bring the rewards of arm a in order."""
    sort_falling(s.pool, s.slot_start[2 * a], s.slot_size[2 * a])
    sort_falling(s.pool, s.slot_start[2 * a + 1], s.slot_size[2 * a + 1])


@hot
def nth_reward(s, a, i):
    """Return the reward of rank i (from 0) of arm a, whose rewards are in order."""
    below = s.slot_size[2 * a]
    if i < below:
        return s.pool[s.slot_start[2 * a] + below - 1 - i]
    i -= below
    if i < s.inside[a]:
        return s.window[a * W + i]
    return -s.pool[s.slot_start[2 * a + 1] + i - s.inside[a]]


@cold
def rewards_below(s, a, n, y):
    """Return how many of the n rewards of arm a, in order, are less than y."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) >> 1
        if nth_reward(s, a, middle) < y:
            low = middle + 1
        else:
            high = middle
    return low
