"""The verdicts as one matrix, claim by setting, and what they say in a sentence or two.

What the paper says and what the study asks beyond it are two parts of the matrix, and
are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..simulation.summary import short
from .checking import AGREE, CANNOT_TELL, DISAGREE
from .claims import Row
from .evidence import Evidence
from .runner import Findings
from .study import Study

SIGNS = {AGREE: "✓", DISAGREE: "✗", CANNOT_TELL: "?"}
Setting = tuple[str, float | None]


@dataclass(frozen=True)
class Line:
    """One claim with its rows, one for each setting that it was checked in."""

    claim: Mapping[str, Any]
    rows: tuple[Row, ...]
    number: int

    @property
    def name(self) -> str:
        """The claim in a few words."""
        return str(self.claim.get("short") or self.claim["sentence"])

    @property
    def anchor(self) -> str:
        """Where the page shows the claim."""
        return f"claim-{self.number}"

    def at(self, setting: Setting) -> Row | None:
        """Return the row of a setting, if the claim was checked there."""
        return next((row for row in self.rows if row.setting == setting), None)

    @property
    def why(self) -> tuple[str, str]:
        """Why the claim disagrees, and where, if not everywhere."""
        reasons = [row.explanation for row in self.rows if row.explanation]
        if not reasons:
            return "", ""
        where = [setting_text(row.setting) for row in self.rows if row.explanation]
        return reasons[0], "" if len(where) == len(self.rows) else "; ".join(where)


@dataclass(frozen=True)
class Part:
    """A part of the matrix: a title and its lines."""

    title: str
    lines: tuple[Line, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How often each verdict was given, over all claims and settings."""
        found = Counter(row.full.verdict for line in self.lines for row in line.rows)
        return {verdict: found[verdict] for verdict in SIGNS}

    @property
    def disagreeing(self) -> list[Line]:
        """The claims that disagree somewhere."""
        return [
            line for line in self.lines if any(row.full.verdict == DISAGREE for row in line.rows)
        ]


class Matrix:
    """All claims of a study in all settings."""

    def __init__(self, study: Study, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        grouped: dict[int, list[Row]] = {}
        for row in rows:
            grouped.setdefault(id(row.claim), []).append(row)
        lines = [
            Line(group[0].claim, tuple(group), number + 1)
            for number, group in enumerate(grouped.values())
        ]
        said = [line for line in lines if study.has_paper and not line.rows[0].ours]
        asked = [line for line in lines if line not in said]
        self.paper = Part("What the paper says", tuple(said)) if said else None
        title = "What this study asks beyond the paper" if study.has_paper else "Claims"
        self.ours = Part(title, tuple(asked)) if asked else None
        used = {row.setting for row in rows}
        self.settings: list[Setting] = [
            (run.name, rho)
            for run in study.runs
            for rho in (None, *run.rho)
            if (run.name, rho) in used
        ]

    @property
    def parts(self) -> list[Part]:
        """The parts that there are."""
        return [part for part in (self.paper, self.ours) if part]

    @property
    def runs(self) -> list[tuple[str, int]]:
        """The runs over the columns, each with the number of its columns."""
        return list(Counter(run for run, _ in self.settings).items())


def setting_text(setting: Setting) -> str:
    """Return a setting as text.

    >>> setting_text(("main", 0.3)), setting_text(("main", None))
    ('main, ρ = 0.3', 'main')
    """
    run, rho = setting
    return run if rho is None else f"{run}, ρ = {rho:g}"


def headline(findings: Findings, matrix: Matrix) -> list[str]:
    """Return who won and how the claims came out: one sentence each.

    The page ends the second one with what disagrees, linked.
    """
    study = findings.study
    run = study.runs[0]
    best = []
    for rho in run.rho:
        evidence = Evidence(findings.outcomes[run.name, rho], run.trials, study.unit)
        regret = {name: float(evidence.regret(name).mean()) for name in run.policies}
        name = min(regret, key=lambda name: regret[name])
        best.append(f"at ρ = {rho:g} {name} ({short(regret[name], study.unit)})")
    sentences = [f"The winners, with the lowest mean final regret, are {' and '.join(best)}."]
    if matrix.paper:
        counts = matrix.paper.counts
        sentences.append(
            f"Of {sum(counts.values())} checks of what the paper says, {counts[AGREE]} agree, "
            f"{counts[CANNOT_TELL]} cannot be settled and {counts[DISAGREE]} disagree"
        )
    return sentences
