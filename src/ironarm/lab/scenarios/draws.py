"""Uniform numbers by place: the generator of scenarios, in six lines of any language.

Each number depends on four whole numbers alone: the seed, the stream (what it is for),
the request and the deployment. So a request can be left out, or a stream added, and all
other numbers stay.

    h = 0
    for v in (seed, stream, request, deployment):
        z = (h + v + 0x9E3779B97F4A7C15) mod 2^64
        z = (z xor (z >> 30)) * 0xBF58476D1CE4E5B9 mod 2^64
        z = (z xor (z >> 27)) * 0x94D049BB133111EB mod 2^64
        h = z xor (z >> 31)
    u = ((h >> 12) + 1/2) / 2^52

That is the finisher of SplitMix64 (Steele, Lea and Flood, 2014) on a chain of keys.
"""

from __future__ import annotations

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


def uniforms(seed: int, stream: int, requests: int, deployments: int) -> np.ndarray:
    """Return numbers in (0, 1), a row for each request, a column for each deployment.

    Requests are numbered from 1, deployments from 0.

    >>> uniforms(1, 0, 2, 3).round(4).tolist()
    [[0.5698, 0.5639, 0.8658], [0.7089, 0.1778, 0.3682]]
    """
    h = np.zeros((1, 1), dtype=np.uint64)
    keys = (
        np.full((1, 1), seed, dtype=np.uint64),
        np.full((1, 1), stream, dtype=np.uint64),
        np.arange(1, requests + 1, dtype=np.uint64)[:, None],
        np.arange(deployments, dtype=np.uint64)[None, :],
    )
    with np.errstate(over="ignore"):
        for key in keys:
            z = h + key + GOLDEN
            z = (z ^ (z >> np.uint64(30))) * FIRST
            z = (z ^ (z >> np.uint64(27))) * SECOND
            h = z ^ (z >> np.uint64(31))
    return ((h >> np.uint64(12)).astype(float) + 0.5) / 2.0**52
