"""The report of a study: an HTML page, the same findings as JSON, and the figures.

The page needs no other file. Each figure is also written as SVG, PDF and PNG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...show.text import counted, listed
from ...simulation.progress import Progress
from ..kit.page import panel, render
from ..kit.report_files import kept_report, provenance, state_of, write_report
from ..kit.table import Table
from .claims import Verdict, judge
from .figures import draw
from .matrix import SIGNS, Matrix, headline
from .runner import StudyFindings
from .study import Run, Study
from .tables import TABLES


def report(
    findings: StudyFindings, out: Path, command: str, force: bool = False
) -> tuple[dict[str, Any], bool]:
    """Write a study's report into a folder, unless it is there already.

    Returns the contents of report.json, and whether anything was written.
    """
    state = state_of(repr(findings.study), *findings.keys)
    found = None if force else kept_report(out, state)
    return (_write(findings, out, command, state), True) if found is None else (found, False)


def _write(findings: StudyFindings, out: Path, command: str, state: str) -> dict[str, Any]:
    rows = judge(findings)
    tables = {
        spec["name"]: TABLES[spec["kind"]](findings, spec)
        for spec in findings.study.show.get("tables", [])
    }
    specs = findings.study.show.get("figures", [])
    figures = []
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    with Progress("drawing figures", len(specs), True) as bar:
        for spec in specs:
            bar.note(f"drawing {spec['name']}")
            panels = [panel(figure, folder, name) for name, figure in draw(findings, spec)]
            figures.append({**spec, "panels": panels})
            bar.advance()
    how = provenance(command, findings.seconds, findings.computed, findings.kept)
    matrix = Matrix(findings.study, rows)
    page = render(
        "report.html",
        study=findings.study,
        matrix=matrix,
        headline=headline(findings, matrix),
        signs=SIGNS,
        figures=figures,
        tables=tables,
        run=how,
        settings=_by_setting(findings.study.runs),
        trials=_trials(findings.study),
        few=findings.study.paper_trials,
        more=any(run.trials > findings.study.paper_trials for run in findings.study.runs),
    )
    found = _for_machines(findings, matrix, tables)
    names = [part["name"] for figure in figures for part in figure["panels"]]
    write_report(out, page, found, names, asdict(how), state)
    return found


def _by_setting(runs: Sequence[Run]) -> list[tuple[str, str, list[str]]]:
    """Return each pair of bandit and attack as text, with the names of its runs."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        attack = ", ".join(
            [
                run.attack["name"],
                *(f"{key} {value}" for key, value in run.attack.items() if key != "name"),
            ]
        )
        grouped.setdefault((repr(run.bandit), attack), []).append(run.name)
    return [(bandit, attack, names) for (bandit, attack), names in grouped.items()]


def _trials(study: Study) -> str:
    """Return how many trials the runs have, as in "3, 12 or 200 trials"."""
    *others, most = sorted({run.trials for run in study.runs})
    return listed([*(f"{n:,}" for n in others), counted(most, "trial")])


def _for_machines(
    findings: StudyFindings, matrix: Matrix, tables: Mapping[str, Sequence[Table]]
) -> dict[str, Any]:
    study = findings.study
    return {
        "study": study.name,
        "title": study.title,
        "seed": study.seed,
        "runs": [
            {
                "name": run.name,
                "bandit": run.bandit.to_dict(),
                "attack": dict(run.attack),
                "rho": list(run.rho),
                "horizon": run.horizon,
                "trials": run.trials,
                "policies": list(run.policies),
            }
            for run in study.runs
        ],
        "counts": {
            "paper": matrix.paper.counts if matrix.paper else {},
            "ours": matrix.ours.counts if matrix.ours else {},
        },
        "claims": [
            {
                "sentence": row.claim["sentence"],
                "ours": row.ours or not study.has_paper,
                "source": row.claim["source"],
                "reading": row.claim.get("reading"),
                "note": row.claim.get("note"),
                "run": row.run,
                "rho": row.rho,
                "horizon": row.horizon,
                "verdict": row.full.verdict,
                "explanation": row.explanation or None,
                "on_paper_trials": _verdict(row.paper),
                "on_all_trials": _verdict(row.full),
            }
            for row in matrix.rows
        ],
        "tables": {
            name: [row for table in parts for row in table.data] for name, parts in tables.items()
        },
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    measured = [
        {"what": part.what, **asdict(part.estimate), "verdict": part.verdict}
        for part in verdict.measured
    ]
    return {verdict.unit: verdict.trials, "verdict": verdict.verdict, "measured": measured}
