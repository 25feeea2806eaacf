"""Judged claims: each counts once, with the settings that it was checked in.

What the paper says and what the study asks beyond it are two parts, and are counted
apart. A setting of the study's own is shown under a claim of the paper, and does not
count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...show.text import counted, counted_span
from .checking import AGREE, CANNOT_TELL, DISAGREE, Measured, together

SIGNS = {AGREE: "✓", DISAGREE: "✗", CANNOT_TELL: "?"}


@dataclass(frozen=True)
class Judgement:
    """What the results say about one claim in one setting.

    `trials` are the smallest and the largest number among the claim's policies. A claim
    about the rewards alone counts rewards: `unit` says which.
    """

    trials: tuple[int, int]
    says: str
    measured: tuple[Measured, ...]
    unit: str = "trials"

    @property
    def on(self) -> str:
        """How many trials it rests on.

        >>> Judgement((20, 20), AGREE, ()).on, Judgement((200, 4000), AGREE, ()).on
        ('20 trials', '200 to 4,000 trials')
        """
        return counted_span(self.trials, self.unit.removesuffix("s"))


@dataclass(frozen=True)
class JudgedSetting:
    """One claim in one setting, on the paper's number of trials and on all.

    `rho` is None if the claim does not depend on it, `few` is None where the paper's
    number of trials says nothing of its own. `ours` marks a setting that is not the
    paper's. `moves` says how growth moves from horizon to horizon.
    """

    runs: tuple[str, ...]
    """One run, or several that differ in their horizon."""
    rho: float | None
    horizons: tuple[int, ...]
    full: Judgement
    few: Judgement | None = None
    ours: bool = False
    moves: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The setting as text."""
        longer = " and longer" if len(self.horizons) > 1 else ""
        return f"{self.runs[0]}{longer}" + ("" if self.rho is None else f", ρ = {self.rho:g}")


@dataclass(frozen=True)
class JudgedClaim:
    """One claim with its settings."""

    claim: Mapping[str, Any]
    settings: tuple[JudgedSetting, ...]
    number: int
    ours: bool
    """Whether it is a question of the study, not a sentence of the paper."""

    @property
    def says(self) -> str:
        """The judgement on the claim, from the settings that count."""
        counting = [one for one in self.settings if not one.ours] or self.settings
        return together(one.full.says for one in counting)

    @property
    def elsewhere(self) -> bool:
        """Whether it rests in part on a run that was not made here."""
        return any(part.elsewhere for one in self.settings for part in one.full.measured)

    @property
    def name(self) -> str:
        """The claim in a few words."""
        return str(self.claim.get("short") or self.claim["sentence"])

    @property
    def anchor(self) -> str:
        """Where the page shows the claim."""
        return f"claim-{self.number}"

    @property
    def why(self) -> tuple[str, str]:
        """Why it disagrees, and where, if not everywhere; empty if it does not."""
        where = [one.where for one in self.settings if one.full.says == DISAGREE]
        if not where or "if_disagree" not in self.claim:
            return "", ""
        everywhere = len(where) == len(self.settings)
        return str(self.claim["if_disagree"]), "" if everywhere else "; ".join(where)

    @property
    def apart(self) -> str:
        """Where paper and measurement part, in a sentence, with what was measured."""
        for one in self.settings:
            if one.full.says == DISAGREE and not one.ours:
                parts = [part for part in one.full.measured if part.judgement == DISAGREE]
                said = str(self.claim.get("apart", "It is not so")).rstrip(".")
                at = f"at ρ = {one.rho:g}, " if one.rho is not None else ""
                if not parts:
                    return f"{said}."
                elsewhere = " (not run here)" if parts[0].elsewhere else ""
                return f"{said}; {at}{parts[0].text}{elsewhere}."
        return ""


@dataclass(frozen=True)
class ClaimPart:
    """Claims of one kind, under a title."""

    title: str
    claims: tuple[JudgedClaim, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each judgement."""
        found = Counter(claim.says for claim in self.claims)
        return {judgement: found[judgement] for judgement in SIGNS}

    @property
    def counted(self) -> str:
        """The counts in words."""
        counts = self.counts
        agree, disagree = (
            f"{counts[says]} {says}{'s' if counts[says] == 1 else ''}" for says in (AGREE, DISAGREE)
        )
        return (
            f"Of {counted(len(self.claims), 'claim')}, {agree}, {disagree}, and "
            f"{counts[CANNOT_TELL]} cannot be settled"
        )


def parts_of(claims: Sequence[JudgedClaim], has_paper: bool) -> list[ClaimPart]:
    """Return what the paper says and what the study asks, as far as there is any."""
    said = tuple(claim for claim in claims if not claim.ours)
    asked = tuple(claim for claim in claims if claim.ours)
    title = "What this study asks beyond the paper" if has_paper else "Claims"
    found = (ClaimPart("What the paper says", said), ClaimPart(title, asked))
    return [part for part in found if part.claims]
