"""Normal rewards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidInput
from .base import Bandit, finite_means


class GaussianBandit(Bandit):
    """Arms with normal rewards N(mean, sigma^2).

    Parameters
    ----------
    means : the arms' means, in units of reward.
    sigma : the standard deviation, one for all arms or one for each, >= 0.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=range(2, 21, 2))
    >>> bandit.arms, bandit.best, bandit.gaps.sum()
    (10, 9, np.float64(90.0))
    """

    def __init__(self, means: Iterable[float], sigma: float | Iterable[float] = 1.0) -> None:
        self.means = finite_means(means)
        try:
            scales = np.broadcast_to(np.asarray(sigma, dtype=float), self.means.shape).copy()
        except (TypeError, ValueError):
            raise InvalidInput(
                f"sigma must be one number or one for each of the {self.arms} arms, got {sigma!r}."
            ) from None
        if not (np.isfinite(scales).all() and (scales >= 0).all()):
            raise InvalidInput(f"sigma must be finite and at least 0, got {sigma!r}.")
        scales.flags.writeable = False
        self.sigma = scales

    @property
    def location_scale(self) -> tuple[np.ndarray, np.ndarray]:
        return self.means, self.sigma

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        return self.means[arm] + self.sigma[arm] * noise

    def to_dict(self) -> dict[str, Any]:
        return {
            "bandit": "GaussianBandit",
            "means": self.means.tolist(),
            "sigma": self.sigma.tolist(),
        }

    def __repr__(self) -> str:
        sigma = f"{self.sigma[0]:g}" if (self.sigma == self.sigma[0]).all() else self.sigma.tolist()
        return f"GaussianBandit(means={self.means.tolist()}, sigma={sigma})"
