"""What a certificate promises where each reward says who sent it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..validation import whole
from .sources import sources_limit, tolerated_share

if TYPE_CHECKING:
    from .certificate import Certificate


@dataclass(frozen=True)
class BySource:
    """The shares of hostile sources that can be tolerated.

    Attributes
    ----------
    sources : how many there are.
    most : rewards of each of the two best arms from each source, at most: if nothing
        else is pulled.
    usual : rewards of each arm from each source if all arms are pulled alike.
    limit : from this share of hostile sources on nobody finds the best arm.
    tolerated : below this share `TrustThompson` finds the best arm whatever hostile
        sources send, once it has seen `usual` rewards; a worst case.
    """

    sources: int
    most: float
    usual: float
    limit: float
    tolerated: float

    def text(self, rho: float) -> str:
        """Return a paragraph for a page; a share rho of the sources is hostile."""
        if math.isnan(self.limit):
            return "not known, because the data does not show how far apart the two best arms are."
        text = (
            f"With {self.sources:,} sources that send alike, nobody finds the best arm if a share "
            f"of {self.limit:.3g} or more is hostile (each sends at most {self.most:,.0f} rewards "
            "of each of the two best arms). According to its thresholds, TrustThompson finds it at "
            f"any share below {self.tolerated:.3g}, whatever they send, with {self.usual:,.0f} "
            "rewards of each arm from each source. That is computed for many sources, not proved."
        )
        return text if rho == 0 else f"{text} {self._verdict(rho)}"

    def _verdict(self, rho: float) -> str:
        hostile = round(rho * self.sources)  # as many as `simulate` takes
        if hostile == 0:
            return f"A share of {rho:g} of {self.sources:,} sources is less than one source."
        share = hostile / self.sources
        if share >= self.limit:
            return f"So with {hostile:,} hostile nobody finds the best arm."
        expected = (
            "whatever they send"
            if share < self.tolerated
            else "if their lies stand out, as most do; not if they are made to measure"
        )
        return f"So with {hostile:,} hostile it should find the best arm {expected}."


def by_source(certificate: Certificate, sources: int) -> BySource:
    """Return what can be tolerated with so many sources; NaN if a log does not tell."""
    sources = whole("sources", sources, at_least=2)
    sigma, gap = _spread(certificate), certificate.smallest_gap
    most = certificate.horizon / (2 * sources)
    usual = certificate.horizon / (certificate.arms * sources)
    if not sigma > 0 or not gap > 0:
        return BySource(sources, most, usual, math.nan, math.nan)
    return BySource(
        sources,
        most,
        usual,
        sources_limit(gap, sigma, most),
        tolerated_share(gap, sigma, usual, certificate.arms, wild=certificate.bounded is None),
    )


def _spread(certificate: Certificate) -> float:
    """Return the standard deviation of the best arm's rewards."""
    bounded = certificate.bounded
    if bounded is not None and bounded.kind == "0 or 1":
        return math.sqrt(certificate.best_mean * (1 - certificate.best_mean))
    if bounded is not None and certificate.fit is not None:
        return certificate.fit.deviation
    return certificate.spread
