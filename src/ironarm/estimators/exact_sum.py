"""A sum of floats from which any of them can be taken out again without a trace, whatever their sizes.

A plain sum forgets its small terms for good when a huge one passes through, and an attacker can send huge ones. Here the values are sorted by exponent into 64 bins, each 32
binades wide; a bin keeps a double-double sum (106 bits) and a count, and is exactly zero when it is empty. So a value that leaves takes all of its effect with it, and the
error is below 1e-28 of the largest value that is still in. O(1) per update.
"""

from __future__ import annotations

import numpy as np

from ..marks import hot

BINS = 64
SCALED_FROM = 48  # bins from 2^513 on are kept as multiples of 2^512, so that a sum of numbers near 1.8e308 does not overflow
DOWN = 2.0**-512
UP = 2.0**512


def fields() -> dict[str, str]:
    """Return the arrays that exact sums need, one sum for each arm."""
    return {"bin_sums": f"float[arms*{2 * BINS}]", "bin_counts": f"int[arms*{BINS}]", "bin_range": "int[arms*2]"}


@hot
def exact_add(sums, counts, used, a, x, sign):
    """Add x (finite) to the sum of arm a, or take it out (sign = -1)."""
    if x == 0.0:
        return
    b = ((np.float64(x).view(np.int64) >> 52) & 2047) >> 5
    if used[2 * a + 1] == 0:
        used[2 * a] = b
        used[2 * a + 1] = b + 1
    elif b < used[2 * a]:
        used[2 * a] = b
    elif b >= used[2 * a + 1]:
        used[2 * a + 1] = b + 1
    if b >= SCALED_FROM:
        x *= DOWN
    x *= sign
    at = a * BINS + b
    counts[at] += sign
    if counts[at] == 0:
        sums[2 * at] = 0.0
        sums[2 * at + 1] = 0.0
        return
    # the exact sum of two floats is a float and its rounding error (Knuth)
    old = sums[2 * at]
    new = old + x
    part = new - old
    sums[2 * at] = new
    sums[2 * at + 1] += (old - (new - part)) + (x - part)


@hot
def exact_mean(sums, counts, used, a, count):
    """Return the sum of arm a divided by `count`."""
    low = used[2 * a]
    high = used[2 * a + 1]
    while high > low and counts[a * BINS + high - 1] == 0:
        high -= 1
    used[2 * a + 1] = high
    total = 0.0
    error = 0.0
    large = 0.0
    large_error = 0.0
    for b in range(high - 1, low - 1, -1):
        at = 2 * (a * BINS + b)
        x = sums[at]
        if b >= SCALED_FROM:
            new = large + x
            part = new - large
            large_error += (large - (new - part)) + (x - part) + sums[at + 1]
            large = new
        else:
            new = total + x
            part = new - total
            error += (total - (new - part)) + (x - part) + sums[at + 1]
            total = new
    mean = (total + error) / count
    return mean if large == 0.0 and large_error == 0.0 else mean + (large + large_error) / count * UP
