"""What a certificate promises where each reward says who sent it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..validation import whole
from .sources import borne_share, sources_limit

if TYPE_CHECKING:
    from .certificate import Certificate


@dataclass(frozen=True)
class BySource:
    """The shares of hostile sources that can be borne.

    Attributes
    ----------
    sources : how many there are.
    most : rewards of each of the two best arms from each source, at most: if nothing
        else is pulled.
    usual : rewards of each arm from each source if all arms are pulled alike.
    limit : from this share of hostile sources on nobody finds the best arm.
    borne : what `TrustThompson` bears, whatever hostile sources send, once it has seen
        `usual` rewards; a worst case.
    """

    sources: int
    most: float
    usual: float
    limit: float
    borne: float

    def text(self, rho: float) -> str:
        """Return a paragraph for a page."""
        verdict = (
            "whatever they send"
            if rho < self.borne
            else "if their lies stand out, as most do; not if they are made to measure"
            if rho < self.limit
            else ""
        )
        told = (
            f"With {self.sources:,} sources that send alike, nobody can bear a share of "
            f"{self.limit:.3g} of hostile ones (each sends at most {self.most:,.0f} rewards of "
            f"each of the two best arms). By its thresholds, TrustThompson bears {self.borne:.3g} "
            f"whatever they send, with {self.usual:,.0f} rewards of each arm from each source. "
            "That is computed, for many sources, and not proved."
        )
        if rho > 0:
            told += (
                f" So at {rho:g} it finds the best arm {verdict}."
                if verdict
                else f" So at {rho:g} nobody finds the best arm."
            )
        return told


def by_source(certificate: Certificate, sources: int) -> BySource | None:
    """Return what can be borne with so many sources; None if no spread is known."""
    sources = whole("sources", sources, at_least=2)
    sigma, gap = _spread(certificate), certificate.smallest_gap
    if not sigma > 0 or not gap > 0:
        return None
    most = certificate.horizon / (2 * sources)
    usual = certificate.horizon / (certificate.arms * sources)
    return BySource(
        sources,
        most,
        usual,
        sources_limit(gap, sigma, most),
        borne_share(gap, sigma, usual, certificate.arms, wild=certificate.bounded is None),
    )


def _spread(certificate: Certificate) -> float:
    """Return the standard deviation of the best arm's rewards."""
    bounded = certificate.bounded
    if bounded is not None and bounded.kind == "0 or 1":
        return math.sqrt(certificate.best_mean * (1 - certificate.best_mean))
    return certificate.spread
