"""What a certificate promises where each reward says who sent it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..policies import TrustThompson
from ..validation import whole
from .sources import sources_limit, tolerated_share
from .wording import figure

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
            return "not known, because it is not clear how far apart the two best means are."
        if self.most < 1:
            return (
                f"with {self.sources:,} sources, each sends less than one reward of each of the "
                "two best arms. So who sent a reward tells nothing, and all is as without sources."
            )
        text = (
            f"With {self.sources:,} sources that send alike, nobody finds the best arm if a share "
            f"of {self.limit:.3g} or more is hostile (each sends at most {figure(self.most)} "
            "rewards of each of the two best arms). According to its thresholds, TrustThompson "
            f"finds it at any share below {self.tolerated:.3g}, whatever they send, if arms have "
            f"similar spreads and each source sends {figure(self.usual)} rewards of each arm. "
            "That is computed for many sources, not proved."
        )
        return text if rho == 0 else f"{text} {self._judgement(rho)}"

    def hostile(self, rho: float) -> int:
        """Return how many sources are hostile: as many as `simulate` takes."""
        return round(rho * self.sources)

    def _judgement(self, rho: float) -> str:
        hostile = self.hostile(rho)
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
    coin = _without_sources(certificate)
    unsure = certificate.fit is not None and coin == 0  # its medians and means disagree
    if unsure or not sigma > 0 or not gap > 0:
        return BySource(sources, most, usual, math.nan, math.nan)
    return BySource(
        sources,
        most,
        usual,
        # with less than one reward each, sources are no more than an independent coin
        max(coin, sources_limit(gap, sigma, max(most, 1.0))),
        tolerated_share(gap, sigma, usual, certificate.arms, wild=certificate.bounded is None),
    )


def with_sources(certificate: Certificate, sources: int) -> Certificate:
    """Return a certificate with what can be tolerated with so many sources.

    It recommends `TrustThompson` where that helps and nothing else is recommended.
    """
    found = by_source(certificate, sources)
    signed, hostile = replace(certificate, by_source=found), found.hostile(certificate.rho)
    unknown = certificate.fit is not None and bool(certificate.fit.cannot_tell)
    has_advice = certificate.recommended is not None or unknown  # or first more rewards
    if has_advice or hostile == 0 or found.most < 1 or math.isnan(found.limit):
        return signed
    if hostile / sources < found.limit:
        advice = "TrustThompson(), and give each reward its source."
        return replace(signed, recommended=TrustThompson(), recommended_bound=None, advice=advice)
    advice = (
        f"nothing: with {hostile:,} hostile sources of {sources:,}, nobody finds the best arm. "
        "More rewards from each source help, and fewer hostile sources."
    )
    return replace(signed, recommended=None, recommended_bound=None, advice=advice)


def _without_sources(certificate: Certificate) -> float:
    """Return the largest rho that can be tolerated without knowing who sends."""
    medians = certificate.budget.coin if certificate.suitability.suited else 0.0
    return medians if certificate.bounded is None else max(medians, certificate.bounded.limit)


def _spread(certificate: Certificate) -> float:
    """Return the standard deviation of the best arm's rewards.

    An arm whose clicks never fail has none; then it is that of the next arm.
    """
    bounded = certificate.bounded
    if bounded is not None and bounded.kind == "0 or 1":
        rate = certificate.best_mean
        if rate >= 1:
            rate -= certificate.smallest_gap
        return math.sqrt(rate * (1 - rate))
    if bounded is not None and certificate.fit is not None:
        return certificate.fit.deviation
    return certificate.spread
