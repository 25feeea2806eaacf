"""Whether judgements hold with another seed: several runs of a study, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...show.text import counted, text_table
from .checking import AGREE, CANNOT_TELL, DISAGREE
from .judged import SIGNS

MOST_MOVED = 0.1
"""At most this share of claims may be settled with one seed and not with another."""


@dataclass(frozen=True)
class Stability:
    """The judgements on each claim, one for each seed; prints as a table."""

    claims: Mapping[str, tuple[str, ...]]
    elsewhere: int = 0
    """How many claims rest in part on a run that is the same for all seeds."""

    @property
    def turned(self) -> list[str]:
        """The claims that agree with one seed and disagree with another."""
        return [name for name, says in self.claims.items() if {AGREE, DISAGREE} <= set(says)]

    @property
    def moved(self) -> list[str]:
        """The claims that some seeds settle and others do not, never both ways."""
        return [
            name
            for name, says in self.claims.items()
            if CANNOT_TELL in says and len(set(says)) == 2
        ]

    @property
    def steady(self) -> bool:
        """Whether no claim turned, and few moved."""
        return not self.turned and len(self.moved) <= MOST_MOVED * len(self.claims)

    @property
    def _same_for_all(self) -> str:
        if not self.elsewhere:
            return ""
        rest = "rests" if self.elsewhere == 1 else "rest"
        return (
            f" {counted(self.elsewhere, 'claim')} also {rest} on a longer run that is the same for "
            "all seeds; --long makes it for each."
        )

    def __str__(self) -> str:
        seeds = range(1, 1 + max(map(len, self.claims.values()), default=0))
        table = text_table(
            ("claim", *(f"seed {seed}" for seed in seeds)),
            [(name, *(SIGNS[one] for one in says)) for name, says in self.claims.items()],
        )
        return (
            f"{table}\n\n{counted(len(self.claims), 'claim')}: {len(self.turned)} turned from "
            f"agree to disagree or back, {len(self.moved)} moved to or from cannot tell: "
            f"{'steady' if self.steady else 'NOT STEADY'} (none may turn, one in ten may move)."
            + self._same_for_all
        )


def stability(reports: Sequence[Mapping[str, Any]]) -> Stability:
    """Compare the contents of several report.json of one study.

    >>> report = lambda says: {"claims": [{"short": "it works", "judgement": says}]}
    >>> found = stability([report("agree"), report("cannot tell")])
    >>> found.turned, found.moved, found.steady
    ([], ['1. it works'], False)
    """
    judged = [
        {
            f"{number}. {claim['short']}": claim["judgement"]
            for number, claim in enumerate(report["claims"], 1)
        }
        for report in reports
    ]
    elsewhere = sum(bool(one.get("rests_on_a_run_elsewhere")) for one in reports[0]["claims"])
    return Stability({name: tuple(one[name] for one in judged) for name in judged[0]}, elsewhere)
