"""The law of a measured SINR, in closed form up to one integral.

Noise of variance n on each of N known symbols, k = N - 2. The fitted gain is the true
one plus complex noise of variance n/N, and the residual power is n G/k with G ~
Gamma(k):

    SINR = -10 log10(n) + wander + 10 log10 |1 + sqrt(n/N) z|^2 - 10 log10(G/k).

The third term has mean 0 (log |1 + z|^2 is harmonic) and variance (10/log 10)^2 (2 n/N
+ (n/N)^2 + ...); it is taken as normal, together with the wander. The fourth has mean
(10/log 10) (log k - psi(k)), about 0.007 dB for N = 320, and standard deviation (10/log
10) sqrt(psi_1(k)), 0.24 dB.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import digamma, gammainc, gammaincc, ndtr, ndtri, polygamma

DB = 10 / math.log(10)


def estimator_bias(known: int) -> float:
    """Return how much the mean of the measured SINR exceeds the true one, in dB."""
    return float(DB * (math.log(known - 2) - digamma(known - 2)))


def estimator_spread(known: int, sinr_db: float = math.inf) -> float:
    """Return the standard deviation of the measured SINR at a true SINR, in dB.

    >>> (
    ...     round(estimator_spread(320), 3),
    ...     round(estimator_spread(320, 5), 3),
    ...     round(estimator_spread(20), 2),
    ... )
    (0.244, 0.311, 1.04)
    """
    share = 10 ** (-sinr_db / 10) / known
    return float(DB * math.sqrt(float(polygamma(1, known - 2)) + 2 * share + share * share))


@dataclass(frozen=True)
class SinrLaw:
    """The law of a measured SINR with mean `average`, in dB.

    It is measured on `known` symbols of a packet whose level wanders by `wander_db`.

    It has what `ia.certify` asks of a law: `cdf`, `ppf`, `pdf` and `mean`.

    >>> law = SinrLaw(average=41.0, wander_db=0.97, known=320)
    >>> round(float(law.ppf(0.5)), 2), round(float(law.cdf(40.0)), 3)
    (41.0, 0.159)
    """

    average: float
    wander_db: float
    known: int

    def mean(self) -> float:
        """Return the mean."""
        return self.average

    def std(self) -> float:
        """Return the standard deviation."""
        return math.hypot(self.wander_db, estimator_spread(self.known, self.average))

    @cached_property
    def _normal_part(self) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights of the law's normal part, by the trapezoidal rule.

        The steps are short for both parts of the law.
        """
        shape = self.known - 2
        share = 10 ** (-self.average / 10) / self.known
        scale = math.sqrt(self.wander_db**2 + DB * DB * (2 * share + share * share))
        step = min(0.25, 0.5 * DB / math.sqrt(shape) / scale)
        z = step * np.arange(-math.ceil(9 / step), math.ceil(9 / step) + 1)
        weights = np.exp(-z * z / 2)
        return scale * z + self.average - estimator_bias(self.known), weights / weights.sum()

    def _over_normal(self, function: Any, x: np.ndarray) -> np.ndarray:
        values, weights = self._normal_part
        return np.asarray(function((x[:, None] - values) / DB) @ weights)

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Quantiles x, standard normal quantiles z of the same levels, and dz/dx.

        They are nearly linear, so 401 points suffice (error 1e-6).
        """
        k = self.known - 2
        x = self.average + self.std() * np.linspace(-9.5, 9.5, 401)
        below = self._over_normal(lambda d: gammaincc(k, k * np.exp(-d)), x)
        above = self._over_normal(lambda d: gammainc(k, k * np.exp(-d)), x)
        z = np.where(below < above, ndtri(below), -ndtri(above))
        # d = -log(G/k) has the density exp(-k (d + exp(-d))) over its integral
        constant = math.exp(k * math.log(k) - k - math.lgamma(k)) / DB
        density = self._over_normal(lambda d: constant * np.exp(-k * (d + np.exp(-d) - 1)), x)
        sure = np.isfinite(z) & (density > 0)
        return x[sure], z[sure], density[sure] / _normal_density(z[sure])

    def cdf(self, x: Any) -> Any:
        """Return F(x)."""
        quantiles, z, _ = self._table
        return ndtr(np.interp(x, quantiles, z, left=-math.inf, right=math.inf))

    def ppf(self, p: Any) -> Any:
        """Return the p-quantile."""
        quantiles, z, _ = self._table
        return np.interp(ndtri(p), z, quantiles)

    def pdf(self, x: Any) -> Any:
        """Return the density at x."""
        quantiles, z, slope = self._table
        return _normal_density(np.interp(x, quantiles, z)) * np.interp(
            x, quantiles, slope, left=0.0, right=0.0
        )


def _normal_density(z: Any) -> Any:
    return np.exp(-0.5 * np.square(z)) / math.sqrt(2 * math.pi)
