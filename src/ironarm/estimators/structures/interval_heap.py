"""A heap that gives up both its smallest and its largest value.

A value is added by writing it at the end. Values lie in pairs, the nodes of a 16-ary
tree. Each pair encloses all values below it in the tree, so the first pair holds the
smallest value and the largest. Only the last pair can lack its second value. New values
wait at the end, unsorted, until there are 64 of them or one is taken out; `sift` then
gives them their places. Sixty-four at a time in one loop cost much less than each in
its own round, and no step costs more than O(64 log n).
"""

from __future__ import annotations

from ...marks import cold, hot

FAN_BITS = 4
FAN = 1 << FAN_BITS
WAIT = 64


@hot
def heap_push(pool, slot_start, slot_size, slot_sifted, slot, x):
    """Add x to the heap in that slot."""
    start = slot_start[slot]
    size = slot_size[slot]
    if start < 0 or size < 0:
        return  # unreachable; lets Numba assume non-negative indices
    pool[start + size] = x
    slot_size[slot] = size + 1
    if size % WAIT == WAIT - 1:
        sift(pool, slot_start, slot_size, slot_sifted, slot)


@cold
def sift(pool, slot_start, slot_size, slot_sifted, slot):
    """Give the values that wait at the end of the heap their places.

    Each climbs on the side on which its parent does not enclose it, if on any.
    """
    base = slot_start[slot]
    if base < 0 or slot_sifted[slot] < 0:
        return  # unreachable, see above
    for end in range(slot_sifted[slot], slot_size[slot]):
        x = pool[base + end]
        at = end
        if end & 1 and x < pool[base + end - 1]:
            pool[base + end] = pool[base + end - 1]
            pool[base + end - 1] = x
            at = end - 1
        node = end >> 1
        while node > 0:
            parent = (node - 1) >> FAN_BITS
            lowest = pool[base + 2 * parent]
            highest = pool[base + 2 * parent + 1]
            if min(max(x, lowest), highest) == x:
                break
            side = 1 if x > highest else 0
            pool[base + at] = highest if side else lowest
            at = 2 * parent + side
            pool[base + at] = x
            node = parent
    slot_sifted[slot] = slot_size[slot]


@cold
def heap_pop(pool, slot_start, slot_size, slot_sifted, slot, side):
    """Remove and return the smallest (side = 0) or the largest (side = 1) value.

    The heap is in that slot.
    """
    if slot_sifted[slot] < slot_size[slot]:
        sift(pool, slot_start, slot_size, slot_sifted, slot)
    base = slot_start[slot]
    size = slot_size[slot] - 1
    slot_size[slot] = size
    slot_sifted[slot] = size
    if base < 0 or size < 0:
        return 0.0  # unreachable, see above
    sign = 2 * side - 1
    hole = min(side, size)
    top = pool[base + hole]
    last = pool[base + size]  # leaves the end and looks for a new place
    first = 1
    while 2 * first < size:
        best = min(2 * first + side, size - 1)
        for node in range(first + 1, min(first + FAN, (size + 1) >> 1)):
            i = min(2 * node + side, size - 1)
            if pool[base + i] * sign > pool[base + best] * sign:
                best = i
        if pool[base + best] * sign <= last * sign:
            break
        pool[base + hole] = pool[base + best]
        hole = best
        other = best ^ 1
        if other < size and pool[base + other] * sign > last * sign:
            last, pool[base + other] = pool[base + other], last
        first = FAN * (best >> 1) + 1
    if hole < size:
        pool[base + hole] = last
    return top
