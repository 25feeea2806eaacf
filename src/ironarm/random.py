"""Random draws for policies and tapes: xoshiro256++ (Blackman and Vigna, 2019).

The state `g` is an array of four `uint64`, seeded by `ironarm.engine.streams`. Drawing
changes it in place, so it can be saved and used later.
"""

from __future__ import annotations

import math

import numpy as np

from .marks import cold, hot
from .normal import inverse_normal

_11 = np.uint64(11)
_12 = np.uint64(12)
_17 = np.uint64(17)
_19 = np.uint64(19)
_23 = np.uint64(23)
_41 = np.uint64(41)
_45 = np.uint64(45)
_2_TO_MINUS_53 = 2.0**-53
_2_TO_MINUS_52 = 2.0**-52


@hot
def next_word(g):
    """Advance the state and return 64 random bits."""
    s0, s1, s2, s3 = g[0], g[1], g[2], g[3]
    total = s0 + s3
    word = ((total << _23) | (total >> _41)) + s0
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    g[1] = s1 ^ s2
    g[0] = s0 ^ s3
    g[2] = s2 ^ shifted
    g[3] = (s3 << _45) | (s3 >> _19)
    return word


@hot
def uniform(g):
    """Return a uniform number in [0, 1)."""
    return (next_word(g) >> _11) * _2_TO_MINUS_53


@hot
def open_uniform(g):
    """Return a uniform number in (0, 1), never 0 or 1, as inverse functions need."""
    return ((next_word(g) >> _12) + 0.5) * _2_TO_MINUS_52


@hot
def normal(g):
    """Return a standard normal number.

    It is the inverse distribution function of one uniform number, so it takes one word.
    """
    return inverse_normal(open_uniform(g))


@hot
def integer(g, below):
    """Return a uniform integer in 0..below-1."""
    return int(uniform(g) * below)


@hot
def gamma(g, shape):
    """Return a gamma number of this shape, at least 1, and of scale 1.

    Marsaglia and Tsang's method: a power of a normal number, accepted by one uniform
    number in at least 95 of 100 cases. It is exact, not an approximation. A
    simple method for generating gamma variables, ACM Transactions on Mathematical
    Software 26, 2000.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z = normal(g)
        v = 1.0 + c * z
        v = v * v * v
        square = z * z
        u = open_uniform(g)
        # the first condition implies the second, and needs no logarithm
        if v > 0.0 and (
            u < 1.0 - 0.0331 * square * square
            or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v))
        ):
            return d * v


@hot
def beta(g, a, b):
    """Return a beta number with these two shapes, each at least 1."""
    x = gamma(g, a)
    return x / (x + gamma(g, b))


@cold
def fill_open_uniform(g, out):
    """Fill an array with uniform numbers in (0, 1), the same as one by one.

    The state stays in registers.
    """
    s0, s1, s2, s3 = g[0], g[1], g[2], g[3]
    for i in range(len(out)):
        total = s0 + s3
        word = ((total << _23) | (total >> _41)) + s0
        shifted = s1 << _17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 << _45) | (s3 >> _19)
        out[i] = ((word >> _12) + 0.5) * _2_TO_MINUS_52
    g[0], g[1], g[2], g[3] = s0, s1, s2, s3
