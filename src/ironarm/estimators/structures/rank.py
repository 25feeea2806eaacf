"""A growing multiset that answers for one order statistic whose rank moves slowly.

A sorted window of at most 32 values lies between two heaps: a max-heap of all values
below it and a min-heap of all above. The latter is stored negated, so both are
max-heaps. A value outside the window is one heap push, O(1) on average; a value inside
is a short insertion. When the wanted rank leaves the window, sixteen values move from
that side's heap into the window.

With independent rewards the rank does a random walk, and leaves the window about once
in 500 updates. In the worst case, an adversary who moves the rank in one direction, it
leaves once in sixteen. That is O(log n) amortised for any order of the values. The
heaps are 8-ary because a node's children then share one or two cache lines.

A tracker is numbered j; its heaps are the pool's slots 2j (below) and 2j + 1 (above).
"""

from __future__ import annotations

import numpy as np

from ...marks import cold, hot
from . import pool
from .window import HALF, W, insert_sorted


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
    low, high = pool.values(s, 2 * j), pool.values(s, 2 * j + 1)
    return np.concatenate([low, s.window[j * W : j * W + int(s.inside[j])], -high])


@hot
def heap_push(pool, base, size, x):
    """Push x onto the 8-ary max-heap of `size` values at pool[base:]."""
    i = size
    if base < 0 or i < 0:
        return  # unreachable; lets Numba assume non-negative indices
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
    """Insert x into the window of tracker j.

    A full window first gives up the end that is farther from the wanted rank.
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
    insert_sorted(window, base, m, x)
    inside[j] = m + 1


@cold
def refill(pool, window, inside, slot_start, slot_size, j, rank):
    """Move the window until it holds the rank; return the rank's place in it."""
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
    """Add x to tracker j, which then holds n values; return the value of that rank.

    Ranks count from 0.
    """
    base = j * W
    last = inside[j] - 1
    if n <= W or last < 0:  # up to W values all are in the window
        insert(pool, window, inside, slot_start, slot_size, j, x, rank)
    else:
        lowest = window[base]
        highest = window[base + last]
        if min(max(x, lowest), highest) != x:
            # one branch for both sides: the processor cannot predict which side it is,
            # but nearly always that it is one of them
            slot = 2 * j + (x > highest)
            heap_push(pool, slot_start[slot], slot_size[slot], x if x < lowest else -x)
            slot_size[slot] += 1
        else:
            insert(pool, window, inside, slot_start, slot_size, j, x, rank)
    i = rank - slot_size[2 * j]
    if i < 0 or i >= inside[j]:
        i = refill(pool, window, inside, slot_start, slot_size, j, rank)
    return window[base + max(i, 0)]  # max is a hint to Numba: i is never negative
