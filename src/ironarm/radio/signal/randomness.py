"""Random numbers by key: number i of a key is a hash of (key, i), so nothing depends on
the order or the size of the batches in which numbers are drawn.

A key is 64 bits. `key(seed, trial, round, purpose)` folds whole numbers into one;
`words` are the outputs of SplitMix64 (Steele, Lea and Flood, 2014) that started from
the key. `kernels.py` draws the same numbers in compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

STEP = np.uint64(0x9E3779B97F4A7C15)
"""SplitMix64's increment."""

FOLD = np.uint64(0xD1342543DE82EF95)
"""Another odd number, for folding numbers into a key."""

DELAY, PHASE, CARRIER, WANDER, HEADER, NOISE, JAM = range(7)
"""What a packet's numbers are for."""


def mix(z: Any) -> Any:
    """Return SplitMix64's hash of 64-bit words."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def fold(key: Any, number: int) -> Any:
    """Return the key of a number under a key, or under each of an array of keys."""
    with np.errstate(over="ignore"):
        return mix(key + np.uint64(number % 2**64) * FOLD)


def key(*numbers: int) -> np.uint64:
    """Return the key of some whole numbers, for example seed, trial, round and purpose.

    >>> key(1, 2, 3) == key(1, 2, 3), key(1, 2, 3) == key(1, 3, 2)
    (np.True_, np.False_)
    """
    folded = np.uint64(0)
    for number in numbers:
        folded = fold(folded, int(number) + 1)
    return folded


def words(key: np.uint64, count: int) -> np.ndarray:
    """Return `count` words of 64 random bits."""
    with np.errstate(over="ignore"):
        return mix(np.uint64(key) + np.arange(1, count + 1, dtype=np.uint64) * STEP)


def uniform(key: np.uint64) -> float:
    """Return one uniform number in (0, 1)."""
    return (float(words(key, 1)[0] >> np.uint64(12)) + 0.5) * 2.0**-52


def normal(key: np.uint64) -> float:
    """Return one standard normal number."""
    return float(ndtri(uniform(key)))


def complex_normals(key: np.uint64, count: int) -> np.ndarray:
    """Return complex normal numbers of unit variance: the upper half of each word
    gives the real part, the lower half the imaginary part.
    """
    drawn = words(key, count)
    halves = np.stack([drawn >> np.uint64(32), drawn & np.uint64(0xFFFFFFFF)])
    parts = ndtri((halves.astype(float) + 0.5) * 2.0**-32) * np.sqrt(0.5)
    return parts[0] + 1j * parts[1]  # type: ignore[no-any-return]
