"""`ironarm reproduce`: a study with its claims, as a report."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..naming import own_code
from ..show.text import counted_span
from .common import add_allow_code, describe, resumable

if TYPE_CHECKING:
    from ..lab.studies.runner import StudyFindings
    from ..lab.studies.study import Study

EXAMPLES = """\
examples:
  ironarm reproduce                      the paper's synthetic study, in a few minutes
  ironarm reproduce --quick --out quick  a smaller version, in half a minute once compiled
  ironarm reproduce --study radio        the paper's radio testbed, at signal level, in minutes
  ironarm reproduce --study radio --quick --out quick/radio
                                         with half its trials at signal level, in a minute
  ironarm reproduce --trials 5000 --workers 2
  ironarm reproduce --long --out long    with runs of up to ten million rounds, in 10 to 20 minutes
  ironarm reproduce --seeds 5 --out seeds
                                         with five seeds: which judgements depend on luck?
  ironarm reproduce --study my-study     a study of your own, from a folder

You can interrupt it; it resumes, and runs nothing twice.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    from ..lab.studies import STUDIES

    describe(
        parser,
        (
            "Run a study, check its claims, and write a report: report.html, report.json and the "
            "figures."
        ),
        EXAMPLES,
    )
    listed = "; ".join(f"{name}: {what}" for name, what in STUDIES.items())
    parser.add_argument(
        "--study",
        default="synthetic",
        metavar="NAME",
        help=f"the study, or a folder that holds one (default: synthetic). {listed}",
    )
    parser.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="trials in every run, instead of the study's own number",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help=(
            "the study's quick sizes, for a first look: fewer trials in the built-in studies, "
            "what the runs say in yours"
        ),
    )
    parser.add_argument(
        "--long",
        action="store_true",
        help=(
            "the study's long sizes, with the runs at longer horizons; without it, the page shows "
            "what an earlier long run found, as not run here, except with --quick"
        ),
    )
    parser.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help=(
            "run the whole study with N seeds, and print which judgements change; a report for "
            "each in seed-1, seed-2 and so on"
        ),
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=(
            "folder for the report and the finished cells (default: results; for another "
            "study, results/NAME)"
        ),
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="threads (default: one for each processor)"
    )
    parser.add_argument(
        "--force", action="store_true", help="run everything again, even finished cells"
    )
    add_allow_code(parser)


def run(options: argparse.Namespace) -> int:
    """Run the study, write the report, print the claims."""
    from ..lab.kit.page import require_extras

    if options.out is None:
        options.out = Path("results")
        if options.study != "synthetic":
            options.out /= Path(options.study).resolve().name
    require_extras()  # now, not after the simulations
    return _seeds(options) if options.seeds is not None else _once(options)


def _once(options: argparse.Namespace) -> int:
    from ..lab.kit.report_files import link_reports
    from ..lab.studies import STUDIES

    study, findings, found, written = _study(options, options.out)
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


def _seeds(options: argparse.Namespace) -> int:
    """Run the study with several seeds, and print how the judgements change."""
    from ..lab.studies.stability import stability
    from ..validation import whole

    count = whole("seeds", options.seeds, at_least=2)
    reports = []
    for offset in range(count):
        out = options.out / f"seed-{offset + 1}"
        print(f"seed {offset + 1} of {count}: {out}", file=sys.stderr, flush=True)
        reports.append(_study(options, out, 1000 * offset)[2])
    compared = stability(reports)
    print(compared)
    return 0 if compared.steady else 1


def _study(
    options: argparse.Namespace, out: Path, seed_offset: int = 0
) -> tuple[Study, StudyFindings, dict[str, Any], bool]:
    """Run one study with its report; also whether that was written now."""
    from ..lab.studies.long_run import read_long_run
    from ..lab.studies.read import read_study
    from ..lab.studies.report import report
    from ..lab.studies.runner import Runner

    with own_code.allowed(options.study, options.allow_code):
        study = read_study(
            options.study,
            trials=options.trials,
            quick=options.quick,
            long=options.long,
            seed_offset=seed_offset,
        )
    if not (options.quick or options.long):
        read_long_run(study)  # refuse a damaged one now, not after the simulations
    with resumable(out):
        findings = Runner(study, out, workers=options.workers, force=options.force).run()
        command = shlex.join(["ironarm", *sys.argv[1:]])
        return study, findings, *report(findings, out, command, options.force)


def _print_claims(title: str, found: dict[str, Any], *, ours: bool) -> None:
    """Print the claims of the paper or those of the study, with their counts."""
    claims = [claim for claim in found["claims"] if claim["ours"] == ours]
    if not claims:
        return
    counts = found["counts"]["ours" if ours else "paper"]
    print(f"\n{title}: {', '.join(f'{count} {says}' for says, count in counts.items())}")
    for claim in claims:
        print(f"\n{claim['judgement']:<11}  {claim['short']} ({claim['source']})")
        settings = claim["settings"]
        for one in settings:
            if len(settings) > 1 or len(one["horizons"]) > 1:
                print(f"  {one['judgement']:<11}  {_on_what(one)}")


def _on_what(one: dict[str, Any]) -> str:
    """Return what a claim was judged on: run, rho, horizons, and trials."""
    run = one["runs"][0]
    at = run if one["rho"] is None else f"{run}, rho = {one['rho']:g}"
    if len(one["horizons"]) > 1:
        measured = one["on_all_trials"]["measured"]
        elsewhere = {part["horizon"] for part in measured if part["elsewhere"]}
        here = {part["horizon"] for part in measured if not part["elsewhere"]}
        where = {
            T: " (not run here)" if T in elsewhere else "" if T in here else " (not run)"
            for T in one["horizons"]
        }
        return f"{at}, T = {', '.join(f'{T:,}{said}' for T, said in where.items())}"
    full, few = one["on_all_trials"], one["on_paper_trials"]
    if one["rho"] is None:
        return f"{at}, {full['rewards'][0]:,} rewards of each kind"
    fewer = f" (on {few['trials'][1]}: {few['judgement']})" if few else ""
    return f"{at}, {counted_span(tuple(full['trials']), 'trial')}{fewer}"
