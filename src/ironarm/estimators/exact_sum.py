"""A sum of floats without rounding, whatever their sizes and order.

Each arm has 68 words of 32 bits' weight that together span all finite doubles; a value adds its 53 bits to three neighbouring words. Adding is exact, so a huge value
that enters and later leaves takes all of its effect with it, which no floating-point sum can promise. O(1) per update; a query walks the words in use.
A word has 31 bits to spare, enough for 2^31 additions between two queries.
"""

from __future__ import annotations

import math

import numpy as np

from ..marks import cold, hot

WORDS = 68
MANTISSA = (1 << 52) - 1
DIGIT = (1 << 32) - 1
BASE = 4294967296.0


def fields() -> dict[str, str]:
    """Return the arrays that exact sums need, one sum for each arm."""
    return {"sum_words": f"int[arms*{WORDS}]", "sum_low": "int[arms]", "sum_high": "int[arms]"}


@hot
def exact_add(words, low_word, high_word, a, x, sign):
    """Add sign * x (sign is +1 or -1, x finite) to the sum of arm a."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits >> 52) & 2047
    mantissa = bits & MANTISSA
    if exponent == 0:
        if mantissa == 0:
            return
        exponent = 1
    else:
        mantissa |= MANTISSA + 1
    if bits < 0:
        sign = -sign
    word = exponent >> 5
    shift = exponent & 31
    # 53 + 31 bits in three words of 32: the two halves of the mantissa are shifted apart, so that neither leaves 63 bits
    low = (mantissa & DIGIT) << shift
    high = (mantissa >> 32) << shift
    middle = (low >> 32) + (high & DIGIT)
    at = a * WORDS + word
    words[at] += sign * (low & DIGIT)
    words[at + 1] += sign * middle
    words[at + 2] += sign * (high >> 32)
    # word + 1 so that zero means "no word in use"
    if low_word[a] == 0 or word + 1 < low_word[a]:
        low_word[a] = word + 1
    if word + 3 > high_word[a]:
        high_word[a] = word + 3


@cold
def words_mean(words, low, high, a, count):
    """Return the sum of arm a divided by `count`, to within a rounding or two.

    What exceeds 32 bits is carried to the next word, then the words are read from the top, which keeps the sign.
    """
    if low[a] == 0:
        return 0.0
    first = a * WORDS + low[a] - 1
    last = a * WORDS + high[a] - 1
    for i in range(first, last):
        words[i + 1] += words[i] >> 32
        words[i] &= DIGIT
    while last > first and words[last] == 0:
        last -= 1
        high[a] -= 1
    value = 0.0
    i = last
    while i >= first and abs(value) < 1e270:  # beyond that the digits left cannot change a double
        value = value * BASE + words[i]
        i -= 1
    return math.ldexp(value / count, 32 * (i + 1 - a * WORDS) - 1075)
