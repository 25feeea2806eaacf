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
from ..kit.report_files import kept_report, provenance, state_of, write_json, write_report
from ..kit.table import Table
from .claims import judge, relation
from .figures import draw
from .first_screen import first_screen
from .judged import SIGNS, ClaimPart, JudgedClaim, Judgement, parts_of
from .long_run import FILE, LongRun, read_long_run, summary_of
from .runner import StudyFindings
from .study import Run, Study
from .tables import TABLES


def report(
    findings: StudyFindings, out: Path, command: str, force: bool = False
) -> tuple[dict[str, Any], bool]:
    """Write a study's report into a folder, unless it is there already.

    Returns the contents of report.json, and whether anything was written.
    """
    # a long run shows its own numbers, not those of an earlier one, and a quick look
    # only what it saw itself
    study = findings.study
    kept = None if study.long or study.quick else read_long_run(study)
    state = state_of(repr(findings.study), repr(kept), *findings.keys)
    found = None if force else kept_report(out, state)
    if found is not None:
        return found, False
    claims = judge(findings, kept)
    if findings.study.long:
        write_json(out / FILE, summary_of(findings.study, claims, command))
    return _write(findings, claims, kept, out, command, state), True


def _write(
    findings: StudyFindings,
    claims: Sequence[JudgedClaim],
    kept: LongRun | None,
    out: Path,
    command: str,
    state: str,
) -> dict[str, Any]:
    tables = {
        spec["name"]: TABLES[spec["kind"]](findings, spec)
        for spec in _shown(findings.study, "tables")
    }
    specs = _shown(findings.study, "figures")
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
    parts = parts_of(claims, findings.study.has_paper)
    elsewhere = sum(claim.elsewhere and not claim.ours for claim in claims)
    page = render(
        "report.html",
        study=findings.study,
        first=first_screen(findings, claims),
        parts=parts,
        signs=SIGNS,
        relation=relation,
        elsewhere=elsewhere,
        kept=kept if any(claim.elsewhere for claim in claims) else None,
        figures=figures,
        tables=tables,
        run=how,
        settings=_by_setting(findings.study.played),
        trials=_trials(findings.study),
        few=findings.study.paper_trials,
        more=any(run.trials > findings.study.paper_trials for run in findings.study.played),
    )
    found = _for_machines(findings, parts, tables)
    names = [part["name"] for figure in figures for part in figure["panels"]]
    write_report(out, page, found, names, asdict(how), state)
    return found


def _shown(study: Study, part: str) -> list[Mapping[str, Any]]:
    """Return the figures or tables of a study whose run is run."""
    played = {run.name for run in study.played}
    return [spec for spec in study.show.get(part, []) if spec.get("run", None) in {None, *played}]


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
    *others, most = sorted({run.trials_for(name) for run in study.played for name in run.policies})
    return listed([*(f"{n:,}" for n in others), counted(most, "trial")])


def _for_machines(
    findings: StudyFindings, parts: Sequence[ClaimPart], tables: Mapping[str, Sequence[Table]]
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
                "trials": {name: run.trials_for(name) for name in run.policies},
                "policies": list(run.policies),
            }
            for run in study.played
        ],
        "counts": {"ours" if part.claims[0].ours else "paper": part.counts for part in parts},
        "claims": [_claim(claim) for part in parts for claim in part.claims],
        "tables": {
            name: [row for table in parts for row in table.data] for name, parts in tables.items()
        },
    }


def _claim(claim: JudgedClaim) -> dict[str, Any]:
    return {
        "short": claim.name,
        "sentence": claim.claim["sentence"],
        "ours": claim.ours,
        "relation": None if claim.ours else relation(claim.claim),
        "source": claim.claim["source"],
        "reading": claim.claim.get("reading"),
        "note": claim.claim.get("note"),
        "judgement": claim.says,
        "rests_on_a_run_elsewhere": claim.elsewhere,
        "explanation": claim.why[0] or None,
        "settings": [
            {
                "runs": list(one.runs),
                "rho": one.rho,
                "horizons": list(one.horizons),
                "ours": one.ours,
                "judgement": one.full.says,
                "moves": list(one.moves),
                "on_all_trials": _judgement(one.full),
                "on_paper_trials": _judgement(one.few) if one.few else None,
            }
            for one in claim.settings
        ],
    }


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        judgement.unit: list(judgement.trials),
        "judgement": judgement.says,
        "measured": [asdict(part) for part in judgement.measured],
    }
