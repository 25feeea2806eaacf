"""A sum of floats from which any of them can be removed without a trace.

A plain sum loses its small terms when a huge one passes through, and an attacker can
send huge ones. Here the values are sorted by exponent into 64 bins, each 32 binades
wide. A bin keeps a double-double sum (106 bits) and a count, and is exactly zero when
it is empty. So a value that leaves takes all of its effect with it, and the error is
below 1e-28 of the largest value that is still in. O(1) per update. Rewards of usual
size share one bin, which is always the same, and pay for nothing else.
"""

from __future__ import annotations

import numpy as np

from ...marks import cold, hot

BINS = 64
USUAL = 31  # the bin of numbers from 2^-15 to 2^17
# bins from 2^529 on are kept as multiples of 2^512, so that a sum of numbers near
# 1.8e308 does not overflow
SCALED_FROM = 48
DOWN = 2.0**-512
UP = 2.0**512


def fields() -> dict[str, str]:
    """Return the arrays that exact sums need, one sum for each arm."""
    return {
        "bin_sums": f"float[arms*{2 * BINS}]",
        "bin_counts": f"int[arms*{BINS}]",
        "bin_range": "int[arms*2]",
    }


@hot
def bin_of(x):
    """Return the bin of x: its exponent without the last five bits.

    The exponent is shifted so that 1 is in the middle of a bin.
    """
    return max((((np.float64(x).view(np.int64) >> 52) & 2047) - 16) >> 5, 0)


@hot
def add_at(sums, counts, at, x, sign):
    """Add x to bin `at` of all, or take it out."""
    count = counts[at] + sign
    counts[at] = count
    x *= sign
    # the exact sum of two floats is a float and its rounding error (Knuth)
    old = sums[2 * at]
    new = old + x
    part = new - old
    error = sums[2 * at + 1] + ((old - (new - part)) + (x - part))
    sums[2 * at] = new if count > 0 else 0.0
    sums[2 * at + 1] = error if count > 0 else 0.0


@hot
def exact_add(sums, counts, used, a, x, sign):
    """Add x (finite) to the sum of arm a, or take it out (sign = -1)."""
    # the place does not depend on x, so the processor can read it early
    if bin_of(x) == USUAL:
        add_at(sums, counts, a * BINS + USUAL, x, sign)
    elif x != 0.0:
        add_elsewhere(sums, counts, used, a, x, sign)


@cold
def add_elsewhere(sums, counts, used, a, x, sign):
    """Add x to a bin other than the usual one.

    Also note from where to where such bins are not empty.
    """
    b = bin_of(x)
    add_at(sums, counts, a * BINS + b, x * DOWN if b >= SCALED_FROM else x, sign)
    low = used[2 * a]
    high = used[2 * a + 1]
    low = min(low, b) if high > 0 else b
    high = max(high, b + 1)
    while high > low and (high - 1 == USUAL or counts[a * BINS + high - 1] == 0):
        high -= 1
    while low < high and (low == USUAL or counts[a * BINS + low] == 0):
        low += 1
    used[2 * a] = low
    used[2 * a + 1] = high if high > low else 0


@hot
def exact_mean(sums, used, a, count):
    """Return the sum of arm a divided by `count`."""
    if used[2 * a + 1] > 0:
        return mean_of_bins(sums, used, a, count)
    at = 2 * (a * BINS + USUAL)
    return (sums[at] + sums[at + 1]) / count


@cold
def mean_of_bins(sums, used, a, count):
    """Return the sum of all bins of arm a divided by `count`.

    It adds from the largest values to the smallest.
    """
    total = 0.0
    error = 0.0
    large = 0.0
    large_error = 0.0
    for b in range(max(used[2 * a + 1] - 1, USUAL), min(used[2 * a], USUAL) - 1, -1):
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
    return (
        mean if large == 0.0 and large_error == 0.0 else mean + (large + large_error) / count * UP
    )
