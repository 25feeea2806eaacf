"""Random numbers by key: number i of a key is a hash of (key, i).

Nothing depends on the order or the size of the batches in which numbers are drawn, so a
packet is the same in a batch of one and in a batch of a million.

A key is 64 bits. `key(seed, trial, round, purpose)` folds whole numbers into one.
`words` are the outputs of SplitMix64 (Steele, Lea and Flood, 2014) from that key on.

The marked functions are the generator itself. `kernels.py` compiles them; the other
functions call them for NumPy arrays and scalars.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# marked functions have no annotations: they are compiled

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ...marks import hot

STEP = np.uint64(0x9E3779B97F4A7C15)
"""SplitMix64's increment."""

FOLD = np.uint64(0xD1342543DE82EF95)
"""Another odd number, for folding numbers into a key."""

DELAY, PHASE, CARRIER, WANDER, NOISE, JAM = (
    np.uint64(0),
    np.uint64(1),
    np.uint64(2),
    np.uint64(3),
    np.uint64(5),
    np.uint64(6),
)
"""What a packet's numbers are for."""

EMITTER = 1000
"""EMITTER + i is the key of emission i under a packet's key; i = 0 is the packet."""

_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
_2_TO_MINUS_52 = 2.0**-52


@hot
def mix(z):
    """Return SplitMix64's hash of 64-bit words."""
    z = (z ^ (z >> _30)) * _A
    z = (z ^ (z >> _27)) * _B
    return z ^ (z >> _31)


@hot
def fold_word(key, word):
    """Return the key of a 64-bit word under a key."""
    return mix(key + word * FOLD)


@hot
def uniform_of(key):
    """Return one uniform number in (0, 1)."""
    return ((mix(key + STEP) >> _12) + 0.5) * _2_TO_MINUS_52


def fold(key: Any, number: int | np.uint64) -> Any:
    """Return the key of a number under a key, or under each of an array of keys."""
    with np.errstate(over="ignore"):
        return fold_word(key, np.uint64(int(number) % 2**64))


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
    with np.errstate(over="ignore"):
        return float(uniform_of(key))


def normal(key: np.uint64) -> float:
    """Return one standard normal number."""
    return float(ndtri(uniform(key)))


def complex_normals(key: np.uint64, count: int) -> np.ndarray:
    """Return complex normal numbers of unit variance.

    The upper half of each word gives the real part, the lower half the imaginary part.
    """
    drawn = words(key, count)
    halves = np.stack([drawn >> np.uint64(32), drawn & np.uint64(0xFFFFFFFF)])
    parts = ndtri((halves.astype(float) + 0.5) * 2.0**-32) * np.sqrt(0.5)
    return parts[0] + 1j * parts[1]  # type: ignore[no-any-return]
