"""`ironarm reproduce`: a study with its claims, as a report."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from ..naming import own_code
from ..show.text import counted
from .common import add_allow_code, add_verb, resumable

EXAMPLES = """\
examples:
  ironarm reproduce                      the paper's synthetic study, in a few minutes
  ironarm reproduce --quick --out quick  a smaller version, in half a minute once compiled
  ironarm reproduce --study radio        the paper's radio testbed, at signal level, in minutes
  ironarm reproduce --study radio --quick --out quick/radio
                                         with half its trials at signal level, in a minute
  ironarm reproduce --trials 5000 --workers 2
  ironarm reproduce --study my-study     a study of your own, from a folder

You can interrupt it; it resumes, and runs nothing twice.
"""


def add(verbs: Any) -> None:
    """Describe the options."""
    from ..lab.studies import STUDIES

    reproduce = add_verb(
        verbs,
        "reproduce",
        "the paper's study, its claims checked, in one report",
        (
            "Run a study, check its claims, and write a report: report.html, report.json and the "
            "figures."
        ),
        EXAMPLES,
    )
    listed = "; ".join(f"{name}: {what}" for name, what in STUDIES.items())
    reproduce.add_argument(
        "--study",
        default="synthetic",
        metavar="NAME",
        help=f"the study, or a folder that holds one (default: synthetic). {listed}",
    )
    reproduce.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="trials in every run, instead of the study's own number",
    )
    reproduce.add_argument(
        "--quick",
        action="store_true",
        help=(
            "the study's quick sizes, for a first look: fewer trials in the built-in studies, "
            "what the runs say in yours"
        ),
    )
    reproduce.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=(
            "folder for the report and the finished cells (default: results; for another "
            "built-in study, results/NAME)"
        ),
    )
    reproduce.add_argument(
        "--workers", type=int, metavar="N", help="threads (default: one for each processor)"
    )
    reproduce.add_argument(
        "--force", action="store_true", help="run everything again, even finished cells"
    )
    add_allow_code(reproduce)


def run(options: argparse.Namespace) -> int:
    """Run the study, write the report, print the claims."""
    from ..lab.kit.page import require_extras
    from ..lab.kit.report_files import link_reports
    from ..lab.studies import STUDIES
    from ..lab.studies.read import read_study
    from ..lab.studies.report import report
    from ..lab.studies.runner import Runner

    with own_code.allowed(options.study, options.allow_code):
        study = read_study(options.study, trials=options.trials, quick=options.quick)
    require_extras()  # now, not after the simulations
    if options.out is None:
        options.out = (
            Path("results", options.study)
            if options.study in STUDIES and options.study != "synthetic"
            else Path("results")
        )
    with resumable(options.out):
        findings = Runner(study, options.out, workers=options.workers, force=options.force).run()
        found, written = report(
            findings, options.out, shlex.join(["ironarm", *sys.argv[1:]]), options.force
        )
        link_reports(options.out, STUDIES)
    print(study.title)
    if study.has_paper:
        _print_claims("What the paper says", found, ours=False)
    _print_claims("What this study asks" if study.has_paper else "Claims", found, ours=True)
    print(
        f"\n{findings.computed} cells computed, {findings.kept} kept from before, "
        f"{findings.seconds:.0f} s before drawing"
    )
    print(
        f"{'wrote' if written else 'up to date:'} {options.out / 'report.html'}, with report.json "
        "and the figures"
    )
    return 0


def _print_claims(title: str, found: dict[str, Any], *, ours: bool) -> None:
    """Print the claims of the paper or those of the study, with their counts."""
    claims = [claim for claim in found["claims"] if claim["ours"] == ours]
    if not claims:
        return
    counts = found["counts"]["ours" if ours else "paper"]
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    print(f"\n{title}: {counted}")
    several = len({claim["run"] for claim in found["claims"]}) > 1
    last = None
    for claim in claims:
        said = f"{claim['sentence']} ({claim['source']})"
        if said != last:
            print(f"\n{said}")
        last = said
        print(f"  {claim['verdict']:<11}  {_on_what(claim, several)}")


def _on_what(claim: dict[str, Any], several: bool) -> str:
    """Return what a claim was judged on: run if there are several, rho, and trials."""
    run = f"{claim['run']}, " if several else ""
    few, full = claim["on_paper_trials"], claim["on_all_trials"]
    if claim["rho"] is None:
        return f"{run}{full['rewards']:,} rewards of each kind"
    return f"{run}rho = {claim['rho']:g}, {counted(full['trials'], 'trial')}" + (
        f" (on {few['trials']}: {few['verdict']})" if few["trials"] < full["trials"] else ""
    )
