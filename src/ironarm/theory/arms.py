"""The arms as theory sees them: reward laws, a unique best mean, and the gaps to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..bandits import (
    Bandit,
    BernoulliBandit,
    GaussianBandit,
    ReplayBandit,
)
from ..errors import InvalidInput
from ..validation import number

QUARTILES_OF_NORMAL = 1.3489795003921634


class Law(Protocol):
    """What theory needs from a reward law; frozen laws of `scipy.stats` have it.

    Discrete ones have no `pdf`.
    """

    def cdf(self, x: Any) -> Any:
        """Return F(x)."""

    def ppf(self, p: Any) -> Any:
        """Return the p-quantile, inf{x : F(x) >= p}."""

    def mean(self) -> float:
        """Return the mean."""


@dataclass(frozen=True)
class Normal:
    """The normal law N(location, scale^2).

    It saves the second that loading `scipy.stats` takes.

    >>> float(Normal(2, 3).cdf(2)), float(Normal(2, 3).ppf(0.5))
    (0.5, 2.0)
    """

    location: float
    scale: float

    def cdf(self, x: Any) -> Any:
        """Return F(x)."""
        from scipy.special import ndtr

        return ndtr((np.asarray(x) - self.location) / self.scale)

    def ppf(self, p: Any) -> Any:
        """Return the p-quantile."""
        from scipy.special import ndtri

        return self.location + self.scale * ndtri(p)

    def pdf(self, x: Any) -> Any:
        """Return the density at x."""
        z = (np.asarray(x) - self.location) / self.scale
        return np.exp(-0.5 * z * z) / (self.scale * math.sqrt(2 * math.pi))

    def mean(self) -> float:
        """Return the mean."""
        return self.location


@dataclass(frozen=True)
class ZeroOne:
    """The law of a reward that is 1 with some probability, else 0.

    >>> ZeroOne(0.7).cdf(0.0).item(), ZeroOne(0.7).ppf(0.5).item()
    (0.30000000000000004, 1.0)
    """

    probability: float

    def cdf(self, x: Any) -> Any:
        """Return F(x)."""
        x = np.asarray(x)
        return np.where(x < 0, 0.0, np.where(x < 1, 1 - self.probability, 1.0))

    def ppf(self, p: Any) -> Any:
        """Return the p-quantile."""
        return np.where(np.asarray(p) > 1 - self.probability, 1.0, 0.0)

    def mean(self) -> float:
        """Return the mean."""
        return self.probability


@dataclass(frozen=True, eq=False)
class Arms:
    """Laws with one best mean.

    Attributes
    ----------
    laws : one for each arm.
    means : their means.
    best : the arm i* with the largest mean.
    others : all other arms.
    gaps : the gap Delta_j = mu* - mu_j of each of the others, in the order of `others`.
    sigma : the standard deviations if every law is normal, else None.

    Examples
    --------
    >>> import ironarm as ia
    >>> arms = Arms.of(ia.GaussianBandit([2, 4, 8], sigma=2))
    >>> arms.best, arms.gaps.tolist(), arms.smallest_gap
    (2, [6.0, 4.0], 4.0)
    """

    laws: tuple[Law, ...]
    means: np.ndarray
    best: int
    others: tuple[int, ...]
    gaps: np.ndarray
    sigma: np.ndarray | None

    @classmethod
    def of(cls, source: Bandit | Sequence[Law] | Arms) -> Arms:
        """Return the arms of a bandit, or of a sequence of laws.

        For logged data use `from_data.fit`.
        """
        if isinstance(source, Arms):
            return source
        if isinstance(source, ReplayBandit):
            raise InvalidInput(
                "logged rewards are data, not laws; fit them first: theory.fit(bandit).arms, or "
                "give the bandit to ia.certify."
            )
        if isinstance(source, Bandit) and len(source.segments) > 1:
            raise InvalidInput(
                "a certificate needs laws that stay the same, and this bandit's drift; certify "
                "each segment: "
                "[ia.certify(one, rho=...) for _, one in bandit.segments]."
            )
        laws = _laws(source)
        if len(laws) < 2:
            raise InvalidInput(
                f"a certificate compares arms, so there must be at least 2, got {len(laws)}."
            )
        means = np.array([float(law.mean()) for law in laws])
        if not np.isfinite(means).all():
            raise InvalidInput(f"every law must have a finite mean, got means {means.tolist()}.")
        best = int(np.argmax(means))
        others = tuple(j for j in range(len(laws)) if j != best)
        gaps = means[best] - means[list(others)]
        if gaps.min() <= 0:
            ties = [best, *(j for j, gap in zip(others, gaps, strict=True) if gap <= 0)]
            raise InvalidInput(
                f"the best arm must be unique, got the mean {means[best]:g} for arms "
                f"{', '.join(map(str, ties))}. Leave all but one of them out."
            )
        normal = all(isinstance(law, Normal) for law in laws)
        return cls(
            laws,
            means,
            best,
            others,
            gaps,
            np.array([law.scale for law in laws]) if normal else None,  # type: ignore[attr-defined]
        )

    @property
    def count(self) -> int:
        """The number of arms, K."""
        return len(self.laws)

    @property
    def smallest_gap(self) -> float:
        """Delta_min."""
        return float(self.gaps.min())

    @property
    def largest_gap(self) -> float:
        """Delta_max; times the horizon, the largest regret there can be."""
        return float(self.gaps.max())

    @property
    def continuous(self) -> bool:
        """Whether every law has a density."""
        return all(callable(getattr(law, "pdf", None)) for law in self.laws)

    @property
    def common_sigma(self) -> float | None:
        """The standard deviation if the laws are normal and share it, else None.

        The paper's corollaries are about this case.
        """
        return (
            float(self.sigma[0])
            if self.sigma is not None and np.allclose(self.sigma, self.sigma[0], rtol=1e-12)
            else None
        )

    @property
    def spread(self) -> float:
        """A robust scale of the best arm; sigma for a normal law.

        It is the quartile range over that of a standard normal law, or the smallest gap
        if the quartiles coincide.
        """
        law = self.laws[self.best]
        quartiles = float(law.ppf(0.75) - law.ppf(0.25))
        return quartiles / QUARTILES_OF_NORMAL if quartiles > 0 else self.smallest_gap

    @property
    def median_order_is_mean_order(self) -> bool:
        """Whether the arm with the best mean also has the best median, alone."""
        medians = np.array([float(law.ppf(0.5)) for law in self.laws])
        return bool((medians[self.best] > medians[list(self.others)]).all())


def poison_rate(rho: object) -> float:
    """Return rho as a float in [0, 1/2), or say why not."""
    value = number("rho", rho, at_least=0, below=1)
    if value >= 0.5:
        raise InvalidInput(
            f"rho must be below 0.5, got {value:g}: if the attacker has half of the rewards, no "
            "policy can tell the arms apart."
        )
    return value


def _laws(source: Bandit | Sequence[Law]) -> tuple[Law, ...]:
    if isinstance(source, GaussianBandit):
        if not (source.sigma > 0).all():
            raise InvalidInput(
                f"sigma must be above 0 for a certificate, got {source.sigma.tolist()}: a law "
                "without spread has no density."
            )
        return tuple(
            Normal(float(mean), float(scale))
            for mean, scale in zip(source.means, source.sigma, strict=True)
        )
    if isinstance(source, BernoulliBandit):
        return tuple(ZeroOne(float(mean)) for mean in source.means)
    laws = getattr(source, "laws", source)  # a ScipyBandit has them, and a RadioBandit
    if isinstance(laws, Bandit) or not isinstance(laws, Sequence):
        raise InvalidInput(
            "a certificate needs reward laws: a GaussianBandit, ScipyBandit, BernoulliBandit, "
            f"RadioBandit or ReplayBandit, or a list of laws, got {source!r}."
        )
    for law in laws:
        if not all(callable(getattr(law, name, None)) for name in ("cdf", "ppf", "mean")):
            raise InvalidInput(
                "a law must have cdf, ppf and mean, as the frozen laws of scipy.stats have, got "
                f"{law!r}."
            )
    return tuple(_ours_if_known(law) for law in laws)


def _ours_if_known(law: Any) -> Law:
    """Return a normal or 0/1 law of scipy.stats as ours, any other as it is.

    For ours there are closed forms and advice.
    """
    name = getattr(getattr(law, "dist", None), "name", "")
    if name == "norm":
        return Normal(float(law.mean()), float(law.std()))
    if name == "bernoulli" and law.support() == (0, 1):
        return ZeroOne(float(law.mean()))
    return law  # type: ignore[no-any-return]
