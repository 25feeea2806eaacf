"""Rewards of 0 and 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidInput
from .base import Bandit, finite_means


class BernoulliBandit(Bandit):
    """Arms that pay 1 with a given probability, else 0: clicks, conversions, successes.

    Medians cannot tell such arms apart unless the means lie on both sides of 1/2. Use a
    policy based on means, or sum rewards in batches.

    Parameters
    ----------
    means : the arms' probabilities of paying 1.

    Examples
    --------
    >>> import ironarm as ia
    >>> import numpy as np
    >>> ia.BernoulliBandit([0.2, 0.7]).rewards(
    ...     1, np.array([0.1, 0.5, 0.9])
    ... ).tolist()
    [0.0, 1.0, 1.0]
    """

    def __init__(self, means: Iterable[float]) -> None:
        self.means = finite_means(means)
        if not ((self.means >= 0) & (self.means <= 1)).all():
            raise InvalidInput(
                "means of a BernoulliBandit are probabilities, between 0 and 1, got "
                f"{self.means.tolist()}."
            )

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        return (noise > 1 - self.means[arm]).astype(float)

    def to_dict(self) -> dict[str, Any]:
        return {"bandit": "BernoulliBandit", "means": self.means.tolist()}

    def __repr__(self) -> str:
        return f"BernoulliBandit({self.means.tolist()})"
