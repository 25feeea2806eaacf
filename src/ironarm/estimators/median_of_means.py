"""The median of means: rewards in blocks, and the lower median of the blocks' means.

A block holds consecutive rewards. Its length is a power of two, so it changes only when
the number of rewards, or the wanted number of blocks, has doubled. Then all blocks are
formed anew from the rewards, in O(n). Otherwise a reward joins the last block, and the
mean of a full block is inserted among the sorted means. Each block is summed in the
order of arrival whenever it is formed, so the estimate depends only on the rewards and
the wanted number of blocks.

Arm a has the pool's slots 2a, its rewards in the order of arrival, and 2a + 1, the
sorted means of its full blocks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..marks import cold, hot
from .base import HoldsRewards
from .structures import pool
from .structures.pool import slot_has_room
from .structures.window import insert_sorted

MOST_BLOCKS = 1400  # for confidences of down to 2^-124, which is round 2^62


@hot
def block_mean(total, length):
    """Return the mean of a full block; -inf and +inf together count as -inf."""
    mean = total / length
    return mean if mean == mean else -math.inf


@cold
def block_length_for(n, blocks):
    """Return the largest power of two up to max(2, n / blocks).

    It is 1 for a single reward.
    """
    if n < 2:
        return 1
    length = 2
    while 2 * length * blocks <= n:
        length *= 2
    return length


@cold
def form_blocks(s, a, blocks):
    """Form all blocks of arm a anew.

    There are at least `blocks` of them if there are twice as many rewards.
    """
    start = s.slot_start[2 * a]
    base = s.slot_start[2 * a + 1]
    n = s.slot_size[2 * a]
    length = block_length_for(n, blocks)
    full = n // length
    total = 0.0
    for b in range(full):
        total = 0.0
        for i in range(start + b * length, start + (b + 1) * length):
            total += s.pool[i]
        insert_sorted(s.pool, base, b, block_mean(total, length))
    total = 0.0
    for i in range(start + full * length, start + n):
        total += s.pool[i]
    s.slot_size[2 * a + 1] = full
    s.block_length[a] = length
    s.block_sum[a] = total


class MedianOfMeans(HoldsRewards):
    """The lower median of the means of blocks of N rewards; `s.blocks` is k.

    N is the largest power of two up to max(2, n/k). An incomplete block does not count.
    So there are at least min(k, floor(n/2)) blocks and fewer than 2k + 1. O(1) per
    reward on average, and O(k) per block to insert its mean; about 11 bytes per reward
    and at most 16 KB per arm for the means. While k is 0, not known yet, rewards are
    only stored; the policy calls `form_blocks` later.

    A block with an infinite reward has an infinite mean; with both signs it counts as
    -inf.
    """

    fields = {**pool.fields(2), "block_length": "int[arms]", "block_sum": "float[arms]"}

    @staticmethod
    @hot
    def add(s, a, x):
        n = s.slot_size[2 * a] + 1
        s.pool[s.slot_start[2 * a] + n - 1] = x
        s.slot_size[2 * a] = n
        k = s.blocks[0]
        if k == 0:
            return s.estimate[a]
        if n <= 2 or n >= 2 * s.block_length[a] * k:
            form_blocks(s, a, k)
        else:
            s.block_sum[a] += x
            if n % s.block_length[a] == 0:
                insert_sorted(
                    s.pool,
                    s.slot_start[2 * a + 1],
                    s.slot_size[2 * a + 1],
                    block_mean(s.block_sum[a], s.block_length[a]),
                )
                s.slot_size[2 * a + 1] += 1
                s.block_sum[a] = 0.0
        return s.pool[s.slot_start[2 * a + 1] + (s.slot_size[2 * a + 1] - 1) // 2]

    @staticmethod
    @hot
    def room(s, a):
        n = s.slot_size[2 * a]
        # room for all blocks that these rewards can ever form: where blocks are formed
        # anew, nothing can ask for more
        wanted = min(n // 2 + 2, MOST_BLOCKS)
        return slot_has_room(s, 2 * a, n, n + 8) and slot_has_room(s, 2 * a + 1, wanted - 1, wanted)

    @staticmethod
    def samples(s: Any, a: int) -> np.ndarray:
        return pool.values(s, 2 * a)
