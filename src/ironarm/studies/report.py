"""The report of a study: an HTML page, the same findings as JSON, and the figures.

The page needs no other file. Each figure is also written as SVG, PDF and PNG.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..simulation.progress import Progress
from .checking import AGREE, CANNOT_TELL, DISAGREE
from .claims import Row, Verdict, judge
from .figures import draw
from .page import kept_report, panel, provenance, render, state_of, write_report
from .runner import Findings
from .study import Run
from .tables import TABLES, Table

SHOWN_PARTS = 3
"""A verdict of more parts than this is folded, if its claim has several rows."""


def report(
    findings: Findings, out: Path, command: str, force: bool = False
) -> tuple[dict[str, Any], bool]:
    """Write a study's report into a folder, unless it is there already.

    Returns the contents of report.json, and whether anything was written.
    """
    state = state_of(repr(findings.study), *findings.keys)
    found = None if force else kept_report(out, state)
    return (_write(findings, out, command, state), True) if found is None else (found, False)


def _write(findings: Findings, out: Path, command: str, state: str) -> dict[str, Any]:
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
    page = render(
        "report.html",
        study=findings.study,
        claims=_by_claim(rows),
        counts=Counter(row.full.verdict for row in rows),
        verdicts=(AGREE, DISAGREE, CANNOT_TELL),
        figures=figures,
        tables=tables,
        run=how,
        summary=summary,
        why=why,
        shown_parts=SHOWN_PARTS,
        settings=_by_setting(findings.study.runs),
        trials=_listed(sorted({run.trials for run in findings.study.runs})),
        few=findings.study.paper_trials,
        more=any(run.trials > findings.study.paper_trials for run in findings.study.runs),
    )
    found = _for_machines(findings, rows, tables)
    names = [part["name"] for figure in figures for part in figure["panels"]]
    write_report(out, page, found, names, asdict(how), state)
    return found


def summary(verdict: Verdict) -> str:
    """Return how the parts of a check came out, and the part that settles it.

    That is the first part with the verdict of the whole.
    """
    found = Counter(part.verdict for part in verdict.measured)
    counted = ", ".join(
        f"{found[kind]} {kind}" for kind in (AGREE, DISAGREE, CANNOT_TELL) if found[kind]
    )
    first = next(part.text for part in verdict.measured if part.verdict == verdict.verdict)
    return f"1 of {len(verdict.measured)} parts ({counted}): {first}"


def why(rows: Sequence[Row]) -> tuple[str, str]:
    """Return why a claim disagrees, and in which runs and at which rho.

    The first text is empty if the reason is not known, the second if it disagrees
    everywhere.
    """
    places: dict[str, list[str]] = {}
    for row in rows:
        if row.explanation:
            places.setdefault(row.run, []).append(
                "every ρ" if row.rho is None else f"ρ = {row.rho:g}"
            )
    everywhere = all(row.explanation for row in rows)
    return next(
        (row.explanation for row in rows if row.explanation), ""
    ), "" if everywhere else "; ".join(
        f"{run}: {', '.join(found)}" for run, found in places.items()
    )


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers as words of a sentence.

    >>> _listed([10, 50, 1000])
    '10, 50 or 1,000'
    """
    *others, last = [f"{number:,}" for number in numbers]
    return f"{', '.join(others)} or {last}" if others else last


def _by_claim(rows: Sequence[Row]) -> list[tuple[Mapping[str, Any], list[Row]]]:
    grouped: dict[int, tuple[Mapping[str, Any], list[Row]]] = {}
    for row in rows:
        grouped.setdefault(id(row.claim), (row.claim, []))[1].append(row)
    return list(grouped.values())


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


def _for_machines(
    findings: Findings, rows: Sequence[Row], tables: Mapping[str, Sequence[Table]]
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
        "claims": [
            {
                "sentence": row.claim["sentence"],
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
            for row in rows
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
