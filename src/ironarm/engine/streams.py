"""Random streams: one seed, and from it independent streams for each trial.

A stream's state has 256 bits, taken from NumPy's `SeedSequence` with the trial's number
as spawn key: the same whatever the number of workers, policies or trials.
"""

from __future__ import annotations

import numpy as np


def streams(seed: int, trial: int, count: int = 3) -> list[np.ndarray]:
    """Return the states of `count` independent streams of a trial.

    They are for noise, attack and policy; then for senders and delays.
    """
    words = np.random.SeedSequence(seed, spawn_key=(trial,)).generate_state(4 * count, np.uint64)
    return [words[4 * i : 4 * i + 4].copy() for i in range(count)]


def fresh_seed() -> int:
    """Return a seed from the system's entropy, short enough to be written down."""
    return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
