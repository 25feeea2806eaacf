"""The report of a study: one HTML file that needs nothing else, the same findings as JSON, and every figure as SVG, PDF and PNG beside them."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..errors import missing_extra
from ..figures import FORMATS, write_figure
from ..files import write_whole
from ..simulation.progress import Progress
from .checks import AGREE, CANNOT_TELL, DISAGREE
from .claims import Row, Verdict, judge
from .run import Findings
from .show import draw
from .tables import TABLES, Table

TEMPLATE = Path(__file__).with_name("report.html")
PACKAGES = ("ironarm", "numpy", "numba", "scipy", "matplotlib")


@dataclass(frozen=True)
class Provenance:
    """How a report came about."""

    command: str
    seconds: float
    cells_computed: int
    cells_kept: int
    versions: Mapping[str, str]
    machine: str


def report(findings: Findings, out: Path, command: str, force: bool = False) -> tuple[dict[str, Any], bool]:
    """Write report.html, report.json, run.json and the figures into a folder, unless they are there already; return what report.json holds, and whether it was written."""
    state = _state(findings)
    try:
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        if not force and run["state"] == state and all(_digest(out / name) == digest for name, digest in run["files"].items()):
            return dict(json.loads((out / "report.json").read_text(encoding="utf-8"))), False
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return _write(findings, out, command, state), True


def require_extras() -> None:
    """Say what is missing, if anything, before work is done that could not be shown."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing_extra("the report", "study") from None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _state(findings: Findings) -> str:
    """Return a hash of everything that a report depends on but the time it took."""
    code = [path.read_bytes() for path in sorted(TEMPLATE.parent.glob("*.*")) if path.is_file()]
    study = repr((findings.study, _versions())).encode()
    return hashlib.sha256(b"\n".join([*code, study, *(key.encode() for key in findings.keys)])).hexdigest()


def _write(findings: Findings, out: Path, command: str, state: str) -> dict[str, Any]:
    import jinja2

    rows = judge(findings)
    tables = {spec["name"]: TABLES[spec["kind"]](findings, spec) for spec in findings.study.show.get("tables", [])}
    specs = findings.study.show.get("figures", [])
    figures = []
    with Progress("drawing figures", len(specs), None if sys.stderr.isatty() else True) as bar:
        for spec in specs:
            bar.note(f"drawing {spec['name']}")
            figures.append({**spec, "panels": _write_figure(findings, spec, out / "figures")})
            bar.advance()
    provenance = Provenance(command, findings.seconds, findings.computed, findings.kept, _versions(), f"{platform.system()} on {platform.machine()}")
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    page = template.render(
        study=findings.study,
        claims=_by_claim(rows),
        counts=Counter(row.full.verdict for row in rows),
        verdicts=(AGREE, DISAGREE, CANNOT_TELL),
        figures=figures,
        tables=tables,
        run=provenance,
        deciding=deciding,
        trials=max(run.trials for run in findings.study.runs),
        few=min(findings.study.paper_trials, *(run.trials for run in findings.study.runs)),
    )
    found = _for_machines(findings, rows, tables)
    _write_json(out / "report.json", found)
    write_whole(out / "report.html", page.encode())
    files = ["report.html", "report.json", *(f"figures/{panel['name']}.{form}" for figure in figures for panel in figure["panels"] for form in FORMATS)]
    _write_json(out / "run.json", {**asdict(provenance), "files": {name: _digest(out / name) for name in files}, "state": state})
    return found


def deciding(verdict: Verdict) -> str:
    """Return the part of a check that settles it: the first that disagrees or leaves a doubt, else the first."""
    return next(part.text for part in verdict.measured if part.verdict == verdict.verdict)


def _by_claim(rows: Sequence[Row]) -> list[tuple[Mapping[str, Any], list[Row]]]:
    grouped: dict[int, tuple[Mapping[str, Any], list[Row]]] = {}
    for row in rows:
        grouped.setdefault(id(row.claim), (row.claim, []))[1].append(row)
    return list(grouped.values())


def _for_machines(findings: Findings, rows: Sequence[Row], tables: Mapping[str, Sequence[Table]]) -> dict[str, Any]:
    study = findings.study
    return {
        "study": study.name,
        "title": study.title,
        "seed": study.seed,
        "bandit": study.bandit.to_dict(),
        "attack": dict(study.attack),
        "runs": [{**asdict(run), "rho": list(run.rho), "policies": list(run.policies)} for run in study.runs],
        "claims": [
            {
                "sentence": row.claim["sentence"],
                "source": row.claim["source"],
                "reading": row.claim.get("reading"),
                "rho": row.rho,
                "horizon": row.horizon,
                "verdict": row.full.verdict,
                "explanation": row.explanation or None,
                "on_paper_trials": _verdict(row.paper),
                "on_all_trials": _verdict(row.full),
            }
            for row in rows
        ],
        "tables": {name: [row for table in parts for row in table.data] for name, parts in tables.items()},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    measured = [{"what": part.what, **asdict(part.estimate), "verdict": part.verdict} for part in verdict.measured]
    return {"trials": verdict.trials, "verdict": verdict.verdict, "measured": measured}


def _write_json(path: Path, data: Any) -> None:
    write_whole(path, (json.dumps(_finite(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def _finite(data: Any) -> Any:
    """Put null in place of what JSON has no number for."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not abs(data) < float("inf") else data


def _write_figure(findings: Findings, spec: Mapping[str, Any], folder: Path) -> list[dict[str, str]]:
    """Write the panels of a figure in every format; return them for the page."""
    folder.mkdir(parents=True, exist_ok=True)
    return [{"name": name, "svg": inline_svg(write_figure(figure, folder, name)["svg"].decode(), name)} for name, figure in draw(findings, spec)]


def inline_svg(text: str, name: str) -> str:
    """Return an SVG file as an element of a page: black follows the page's colour, names are unique, the size is the page's to choose.

    >>> inline_svg('<?xml version="1.0"?><svg height="5pt" width="9pt" viewBox="0 0 9 5"><path id="p" style="stroke: #000000"/><use xlink:href="#p"/></svg>', "f")
    '<svg viewBox="0 0 9 5"><path id="f-p" style="stroke: currentColor"/><use xlink:href="#f-p"/></svg>'
    """
    text = text[text.index("<svg") :].rstrip()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", rest)
    rest = re.sub(r"(stroke|fill): #000000", r"\1: currentColor", rest)
    return f"{head}>{rest}"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            from .. import __version__

            found[package] = __version__ if package == "ironarm" else "unknown"
    return found
