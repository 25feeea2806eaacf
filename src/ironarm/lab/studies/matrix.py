"""The verdicts as one matrix, claim by setting, and what they say in a sentence or two.

What the paper says and what the study asks beyond it are two parts of the matrix, and
are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...show.text import counted, listed, short
from ..kit import statistics
from ..kit.evidence import Evidence
from .checking import AGREE, CANNOT_TELL, DISAGREE
from .claims import FEWEST_TRIALS, CheckedClaim
from .runner import StudyFindings
from .study import Run, Study

SIGNS = {AGREE: "✓", DISAGREE: "✗", CANNOT_TELL: "?"}
Setting = tuple[str, float | None]


@dataclass(frozen=True)
class ClaimLine:
    """One claim with its rows, one for each setting that it was checked in."""

    claim: Mapping[str, Any]
    rows: tuple[CheckedClaim, ...]
    number: int

    @property
    def name(self) -> str:
        """The claim in a few words."""
        return str(self.claim.get("short") or self.claim["sentence"])

    @property
    def anchor(self) -> str:
        """Where the page shows the claim."""
        return f"claim-{self.number}"

    def at(self, setting: Setting) -> CheckedClaim | None:
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

    @property
    def disagrees_on(self) -> str:
        """On how many trials it disagrees, if nowhere on more than the paper had."""
        rows = [row for row in self.rows if row.full.verdict == DISAGREE]
        if any(row.full.unit != "trials" or row.full.trials > row.paper.trials for row in rows):
            return ""
        return f"on {counted(max(row.full.trials for row in rows), 'trial')}" if rows else ""


@dataclass(frozen=True)
class MatrixPart:
    """A part of the matrix: a title and its lines."""

    title: str
    lines: tuple[ClaimLine, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How often each verdict was given, over all claims and settings."""
        found = Counter(row.full.verdict for line in self.lines for row in line.rows)
        return {verdict: found[verdict] for verdict in SIGNS}

    @property
    def disagreeing(self) -> list[ClaimLine]:
        """The claims that disagree somewhere."""
        return [
            line for line in self.lines if any(row.full.verdict == DISAGREE for row in line.rows)
        ]


class Matrix:
    """All claims of a study in all settings."""

    def __init__(self, study: Study, rows: Sequence[CheckedClaim]) -> None:
        self.rows = tuple(rows)
        grouped: dict[int, list[CheckedClaim]] = {}
        for row in rows:
            grouped.setdefault(id(row.claim), []).append(row)
        lines = [
            ClaimLine(group[0].claim, tuple(group), number + 1)
            for number, group in enumerate(grouped.values())
        ]
        said = [line for line in lines if study.has_paper and not line.rows[0].ours]
        asked = [line for line in lines if line not in said]
        self.paper = MatrixPart("What the paper says", tuple(said)) if said else None
        title = "What this study asks beyond the paper" if study.has_paper else "Claims"
        self.ours = MatrixPart(title, tuple(asked)) if asked else None
        used = {row.setting for row in rows}
        self.settings: list[Setting] = [
            (run.name, rho)
            for run in study.runs
            for rho in (None, *run.rho)
            if (run.name, rho) in used
        ]
        self._trials = {run.name: run.trials for run in study.runs}

    @property
    def parts(self) -> list[MatrixPart]:
        """The parts that there are."""
        return [part for part in (self.paper, self.ours) if part]

    @property
    def runs(self) -> list[tuple[str, int, int]]:
        """The runs over the columns, with the numbers of their columns and trials."""
        columns = Counter(run for run, _ in self.settings)
        return [(run, count, self._trials[run]) for run, count in columns.items()]


def setting_text(setting: Setting) -> str:
    """Return a setting as text.

    >>> setting_text(("main", 0.3)), setting_text(("main", None))
    ('main, ρ = 0.3', 'main')
    """
    run, rho = setting
    return run if rho is None else f"{run}, ρ = {rho:g}"


def headline(findings: StudyFindings, matrix: Matrix) -> list[str]:
    """Return who won, in a sentence, and in another how the claims came out.

    The page ends the latter with what disagrees, linked.
    """
    sentences = [winners(findings, findings.study.runs[0])]
    if matrix.paper:
        counts, claims = matrix.paper.counts, len(matrix.paper.disagreeing)
        disagree = f"{counts[DISAGREE]} disagree{'s' if counts[DISAGREE] == 1 else ''}"
        if claims < counts[DISAGREE]:
            disagree += f", all in {counted(claims, 'claim')}"
        sentences.append(
            f"Of {sum(counts.values())} checks of what the paper says, {counts[AGREE]} agree, "
            f"{counts[CANNOT_TELL]} cannot be settled and {disagree}"
        )
    return sentences


def winners(findings: StudyFindings, run: Run) -> str:
    """Say in one sentence who has the lowest mean final regret at each rho of a run.

    Policies that cannot be told apart from the lowest share the first place. What the
    paper proposes is named, wherever it ends.
    """
    study = findings.study
    where = f"In the run “{run.name}” ({counted(run.trials, 'trial')})"
    if run.trials < FEWEST_TRIALS:
        return f"{where} there are too few trials to say who wins."
    parts: list[str] = []
    for rho in run.rho:
        evidence = Evidence(findings.outcomes[run.name, rho], run.trials, study.unit)
        regret = {name: float(evidence.regret(name).mean()) for name in run.policies}
        first = lowest(evidence, regret)
        at = f"at ρ = {rho:g}"
        text = f"{at} it is" if parts else f"{where} the lowest mean final regret {at} is"
        text += f" that of {_with(first[:1], regret, study)}"
        if len(first) > 1:
            text += f", from which {_with(first[1:], regret, study)} cannot be told apart"
        others = [name for name in study.proposed if name in regret and name not in first]
        if others:
            have = "has" if len(others) == 1 else "have"
            text += f", while the paper's {_with(others, regret, study)} {have} more"
        parts.append(text)
    return f"{'; '.join(parts)}."


def lowest(evidence: Evidence, regret: Mapping[str, float]) -> list[str]:
    """Return the policy with the lowest mean regret, and all not clearly above it.

    They are compared trial by trial.
    """
    best = min(regret, key=lambda name: regret[name])
    least = evidence.regret(best)
    return [
        name
        for name in sorted(regret, key=lambda name: regret[name])
        if name == best or statistics.mean(evidence.regret(name) - least).low <= 0
    ]


def _with(names: Sequence[str], regret: Mapping[str, float], study: Study) -> str:
    return listed([f"{name} ({short(regret[name], study.unit)})" for name in names], "and")
