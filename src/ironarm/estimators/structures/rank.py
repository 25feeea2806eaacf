"""A growing multiset that answers for one order statistic whose rank moves slowly.

A sorted window of at most 32 values lies between two heaps: a max-heap of all values
below it and a min-heap of all above (stored negated, so both are max-heaps). A value
outside the window is one heap push, O(1) on average; a value inside is a short
insertion. When the wanted rank leaves the window, sixteen values are taken from that
side's heap. With independent rewards the rank does a random walk, so that happens about
once in 500 updates; in the worst case, an adversary who moves the rank in one
direction, once in sixteen: O(log n) amortised whatever the order of the values. 8-ary
heaps, because a node's children then share a cache line or two.

A tracker is numbered j; its heaps are the pool's slots 2j (below) and 2j + 1 (above).
"""

from __future__ import annotations

import numpy as np

from ...marks import cold, hot
from . import pool
from .pool import widen

W = 32
HALF = 16


def fields() -> dict[str, str]:
    """Return the arrays that trackers need, one for each arm."""
    return {
        "window": f"float[arms*{W}]",
        "inside": "int[arms]",
        "spare": "int[arms]",
        **pool.fields(2),
    }


def held(s, j) -> np.ndarray:
    """Return all values of tracker j: below, window, above."""
    low = pool.values(s.pool, s.slot_start, s.slot_size, 2 * j)
    high = pool.values(s.pool, s.slot_start, s.slot_size, 2 * j + 1)
    return np.concatenate([low, s.window[j * W : j * W + int(s.inside[j])], -high])


@hot
def heap_push(pool, base, size, x):
    """Push x onto the 8-ary max-heap of `size` values at pool[base:]."""
    i = size
    if base < 0 or i < 0:
        return  # never so; said here, it spares Numba the handling of negative indices in the loop
    while i > 0:
        parent = (i - 1) >> 3
        p = pool[base + parent]
        if p >= x:
            break
        pool[base + i] = p
        i = parent
    pool[base + i] = x


@cold
def heap_pop(pool, base, size):
    """Remove and return the largest of the `size` values at pool[base:]."""
    top = pool[base]
    size -= 1
    last = pool[base + size]
    i = 0
    first = 1
    while first < size:
        best = first
        largest = pool[base + first]
        for j in range(first + 1, min(first + 8, size)):
            if pool[base + j] > largest:
                largest = pool[base + j]
                best = j
        if largest <= last:
            break
        pool[base + i] = largest
        i = best
        first = 8 * i + 1
    pool[base + i] = last
    return top


@cold
def insert(pool, window, inside, slot_start, slot_size, j, x, rank):
    """Insert x into the window of tracker j; a full window first gives its end
    farther from the wanted rank to that side's heap.
    """
    base = j * W
    m = inside[j]
    if m == W:
        m -= 1
        slot = 2 * j
        leaves = window[base]
        if rank - slot_size[slot] >= HALF:
            for i in range(base, base + m):
                window[i] = window[i + 1]
        else:
            slot += 1
            leaves = -window[base + m]
        heap_push(pool, slot_start[slot], slot_size[slot], leaves)
        slot_size[slot] += 1
    i = base + m
    while i > base and window[i - 1] > x:
        window[i] = window[i - 1]
        i -= 1
    window[i] = x
    inside[j] = m + 1


@cold
def refill(pool, window, inside, slot_start, slot_size, j, rank):
    """Move the window, sixteen values at a time, until it holds the rank; return the
    rank's place in it.
    """
    base = j * W
    while True:
        i = rank - slot_size[2 * j]
        m = inside[j]
        if 0 <= i < m:
            return i
        upward = i >= m
        source = 2 * j + upward
        target = 2 * j + 1 - upward
        count = min(HALF, slot_size[source])
        surplus = max(0, m + count - W)
        m -= surplus
        for k in range(surplus):
            leaves = window[base + k] if upward else -window[base + m + k]
            heap_push(pool, slot_start[target], slot_size[target], leaves)
            slot_size[target] += 1
        if upward:
            for k in range(m):
                window[base + k] = window[base + k + surplus]
        else:
            for k in range(m - 1, -1, -1):
                window[base + k + count] = window[base + k]
        for k in range(count):
            value = heap_pop(pool, slot_start[source], slot_size[source])
            slot_size[source] -= 1
            if upward:
                window[base + m + k] = -value
            else:
                window[base + count - 1 - k] = value
        inside[j] = m + count


@hot
def put(pool, window, inside, slot_start, slot_size, j, x, rank, n):
    """Add x to tracker j, which then holds n values, and return the order statistic
    of that rank (from 0).
    """
    base = j * W
    last = inside[j] - 1
    if n <= W or last < 0:  # up to W values all are in the window
        insert(pool, window, inside, slot_start, slot_size, j, x, rank)
    else:
        lowest = window[base]
        highest = window[base + last]
        if min(max(x, lowest), highest) != x:
            # one branch for both sides: which side it is cannot be predicted, that it
            # is one of them nearly always can (`x < lowest or x > highest` would become
            # two)
            slot = 2 * j + (x > highest)
            heap_push(pool, slot_start[slot], slot_size[slot], x if x < lowest else -x)
            slot_size[slot] += 1
        else:
            insert(pool, window, inside, slot_start, slot_size, j, x, rank)
    i = rank - slot_size[2 * j]
    if i < 0 or i >= inside[j]:
        i = refill(pool, window, inside, slot_start, slot_size, j, rank)
    # never negative; said here, it spares Numba the handling of negative indices
    return window[base + max(i, 0)]


@cold
def make_room(pool, pool_used, pool_wanted, spare, slot_start, slot_room, slot_size, a, live):
    """Widen the heaps of arm a's tracker and write to `spare` for how many values they
    then have room. False: the pool must grow first.

    Each value adds at most one to a heap, because the rank moves by at most one; what a
    refill moves comes from a window, hence W places that are never promised.
    """
    most = 1 << 62
    for slot in (2 * a, 2 * a + 1):
        size = slot_size[slot]
        if size + W >= slot_room[slot] and not widen(
            pool, pool_used, pool_wanted, slot_start, slot_room, slot_size, slot, size + W + 1, live
        ):
            return False
        most = min(most, slot_room[slot] - size - W)
    spare[a] = most - 1
    return True
