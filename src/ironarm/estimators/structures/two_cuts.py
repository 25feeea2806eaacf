"""A growing multiset that answers for two order statistics whose ranks move slowly.

The two values are the one after the k smallest and the one before the k largest. All
values in order, each held once:

    low heap | low window | middle heap | high window | high heap

The windows are sorted and hold at most 32 values each; the two wanted values lie in
them. The middle heap gives to both sides, so the heaps are interval heaps. With three
heaps of one kind a new value finds its heap by counting, without a branch that could
not be predicted.

When a wanted value leaves its window, the window slides by sixteen values. With
independent rewards that happens about once in 500 updates; in the worst case, an
adversary who moves the ranks in one direction, once in sixteen. That is O(log n)
amortised for any order of the values, and at most a few slides for any one value.

If few values are between the cuts, the middle may be empty, and a wanted value may lie
in the other window. Arm a has the windows 2a and 2a + 1 and the pool's slots 3a, 3a + 1
and 3a + 2. Window 2a + w lies between the slots 3a + w and 3a + w + 1.
"""

from __future__ import annotations

import numpy as np

from ...marks import cold, hot
from . import pool
from .interval_heap import heap_pop, heap_push
from .window import HALF, W, insert_sorted


def fields() -> dict[str, str]:
    """Return the arrays that the two cuts of each arm need."""
    return {
        "window": f"float[arms*{2 * W}]",
        "inside": "int[arms*2]",
        "spare": "int[arms]",
        "slot_sifted": "int[arms*3]",
        **pool.fields(3),
    }


def held(s, a) -> np.ndarray:
    """Return all values of arm a."""
    heaps = [pool.values(s, slot) for slot in range(3 * a, 3 * a + 3)]
    windows = [s.window[w * W : w * W + int(s.inside[w])] for w in (2 * a, 2 * a + 1)]
    return np.concatenate([heaps[0], windows[0], heaps[1], windows[1], heaps[2]])


@cold
def slide(pool, window, inside, slot_start, slot_size, slot_sifted, w, below, upward):
    """Move window w by sixteen values, or by as many as that side's heap has.

    The window lies between the slots `below` and `below` + 1.
    """
    base = w * W
    m = inside[w]
    source = below + upward
    target = below + 1 - upward
    count = min(HALF, slot_size[source])
    surplus = max(0, m + count - W)
    m -= surplus
    for i in range(surplus):
        heap_push(
            pool,
            slot_start,
            slot_size,
            slot_sifted,
            target,
            window[base + (i if upward else m + i)],
        )
    if upward:
        for i in range(m):
            window[base + i] = window[base + i + surplus]
    else:
        for i in range(m - 1, -1, -1):
            window[base + i + count] = window[base + i]
    for i in range(count):
        window[base + (m + i if upward else count - 1 - i)] = heap_pop(
            pool, slot_start, slot_size, slot_sifted, source, 1 - upward
        )
    inside[w] = m + count


@cold
def insert(pool, window, inside, slot_start, slot_size, slot_sifted, w, below, x, wanted):
    """Insert x into window w.

    A full window first gives up the end that is farther from the wanted place.
    """
    base = w * W
    m = inside[w]
    if m == W:
        m -= 1
        if wanted >= HALF:
            slot = below
            leaves = window[base]
            for i in range(base, base + m):
                window[i] = window[i + 1]
        else:
            slot = below + 1
            leaves = window[base + m]
        heap_push(pool, slot_start, slot_size, slot_sifted, slot, leaves)
    insert_sorted(window, base, m, x)
    inside[w] = m + 1


@cold
def start(window, inside, a, x, n):
    """Insert one of the first W values.

    They go to the low window. When it is full, its upper half moves to the high window.
    """
    base = 2 * a * W
    insert_sorted(window, base, n - 1, x)
    inside[2 * a] = n
    if n == W:
        for i in range(base, base + HALF):
            window[i + W] = window[i + HALF]
        inside[2 * a] = HALF
        inside[2 * a + 1] = HALF


@cold
def follow(pool, window, inside, slot_start, slot_size, slot_sifted, a, k):
    """Slide the windows until the cut at rank k from each end is in one of them.

    A cut stays in the other window only while the middle is empty. So the middle never
    holds more than one window of values beyond a cut, and a few slides are enough.
    """
    while True:
        from_low = k - slot_size[3 * a]
        from_high = k - slot_size[3 * a + 2]
        if from_low < 0:
            slide(pool, window, inside, slot_start, slot_size, slot_sifted, 2 * a, 3 * a, 0)
        elif from_high < 0:
            slide(pool, window, inside, slot_start, slot_size, slot_sifted, 2 * a + 1, 3 * a + 1, 1)
        elif slot_size[3 * a + 1] == 0:
            return
        elif from_low >= inside[2 * a]:
            slide(pool, window, inside, slot_start, slot_size, slot_sifted, 2 * a, 3 * a, 1)
        elif from_high >= inside[2 * a + 1]:
            slide(pool, window, inside, slot_start, slot_size, slot_sifted, 2 * a + 1, 3 * a + 1, 0)
        else:
            return


@hot
def put(pool, window, inside, slot_start, slot_size, slot_sifted, a, x, k, n):
    """Add x to arm a, which then has n values; return the values at the two cuts.

    These are the one after the k smallest and the one before the k largest; 2 k < n.
    """
    low = 2 * a * W
    high = low + W
    low_last = inside[2 * a] - 1
    high_last = inside[2 * a + 1] - 1
    # the high window is empty until there are W values
    if n <= W or low_last < 0 or high_last < 0:
        start(window, inside, a, x, n)
    else:
        # the part that x belongs to, from the low heap (0) to the high heap (4). A
        # value equal to an end may go to either side of it
        place = (
            int(x > window[low])
            + int(x > window[low + low_last])
            + int(x > window[high])
            + int(x > window[high + high_last])
        )
        part = place >> 1
        slot = 3 * a + part
        if place & 1:
            wanted = (
                inside[2 * a + 1] - 1 - (k - slot_size[3 * a + 2]) if part else k - slot_size[3 * a]
            )
            insert(
                pool,
                window,
                inside,
                slot_start,
                slot_size,
                slot_sifted,
                2 * a + part,
                slot,
                x,
                wanted,
            )
        else:
            heap_push(pool, slot_start, slot_size, slot_sifted, slot, x)
    from_low = k - slot_size[3 * a]
    from_high = k - slot_size[3 * a + 2]
    to_high = inside[2 * a + 1] - 1 - from_high
    if from_low < 0 or from_high < 0 or from_low >= inside[2 * a] or to_high < 0:
        return far_cuts(pool, window, inside, slot_start, slot_size, slot_sifted, a, k)
    return window[low + from_low], window[high + to_high]


@cold
def far_cuts(pool, window, inside, slot_start, slot_size, slot_sifted, a, k):
    """Let the windows follow the cuts; return the values there, from either window."""
    follow(pool, window, inside, slot_start, slot_size, slot_sifted, a, k)
    low = 2 * a * W
    high = low + W
    from_low = k - slot_size[3 * a]
    from_high = k - slot_size[3 * a + 2]
    if from_low >= inside[2 * a]:
        from_low += W - inside[2 * a]
    to_high = inside[2 * a + 1] - 1 - from_high
    if to_high < 0:
        to_high += inside[2 * a] - W
    return window[low + from_low], window[high + to_high]
