"""`ironarm compare`: your policy against the arena's best, in one page."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from ..naming import own_code
from ..show.text import wrapped
from .common import add_allow_code, describe, resumable

EXAMPLES = """\
examples:
  ironarm compare mine.py:MyPolicy --quick       a first look, in a minute
  ironarm compare mine.py:MyPolicy               the whole page, in 3 to 5 minutes
  ironarm compare 'mine.py:MyPolicy(b=2)' 'mine.py:MyPolicy(b=8)' --against UCB MedEUCB
  ironarm compare 'mine.py:MyPolicy(sigma=sigma, share=rho)'   give it the setting's sigma and rho

In parameters, rho, sigma, low, high and gap stand for the setting's own. The page has the
standings, where your policy wins and loses, the worst attack found, its speed, and a figure
of regret over the rounds as PDF, SVG and PNG. You can interrupt it; it resumes.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        (
            "Run a policy against the arena's best few, under every attack, in every setting that "
            "suits it, and write one page about it."
        ),
        EXAMPLES,
    )
    parser.add_argument(
        "policies",
        nargs="+",
        metavar="POLICY",
        help="your policy: mine.py:MyPolicy, 'mine.py:MyPolicy(b=2)', or a built-in by name",
    )
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="P",
        help="the rivals: names of the arena's policies, or policies as text (default: the best)",
    )
    parser.add_argument(
        "--arena",
        type=Path,
        metavar="FILE",
        help="take settings, attacks and rivals from an arena file (default: ironarm's own)",
    )
    add_allow_code(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/compare"),
        metavar="DIR",
        help=(
            "folder for the page and the finished cells (default: results/compare); with --quick "
            "they go to its subfolder quick"
        ),
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a first look: few trials, often too few for a judgement, and a short search",
    )
    parser.add_argument(
        "--trials", type=int, metavar="N", help="trials in every setting, instead of its own number"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="threads (default: one for each processor)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the comparison, write its page, print what it says."""
    from ..lab.arena.compare import compare, named, with_rivals
    from ..lab.arena.places import first_look
    from ..lab.arena.read import read_arena

    folder = options.arena.parent if options.arena else "."
    out = options.out / "quick" if options.quick else options.out  # neither replaces the other
    with own_code.allowed(folder, options.allow_code):
        arena = read_arena(options.arena, trials=options.trials, quick=options.quick)
    with own_code.allowed():
        arena = with_rivals(arena, options.policies, options.against)
    mine = list(named(options.policies))
    with resumable(out):
        found, findings = compare(
            arena,
            mine,
            out,
            shlex.join(["ironarm", *sys.argv[1:]]),
            quick=options.quick,
            workers=options.workers,
        )
    warning = first_look(arena, options.quick)
    if warning:
        print(wrapped(warning), end="\n\n")
    reference = findings.nanoseconds.get("MedEUCB", float("nan"))
    width = max((len(place.judgement) for one in found for place in one.places), default=0)
    for one in found:
        print("\n".join(map(wrapped, (*one.sentences(), one.speed(reference)))), end="\n\n")
        for place in one.places:
            ratio = f"{place.ratio:6.2f}"  # in front, where `wrapped` keeps its spaces
            print(
                wrapped(
                    f"times {place.rival.policy}: {place} ({place.mine.attack})",
                    f"  {place.judgement:<{width}}  {ratio} ",
                    " " * 4,  # so that a narrow line has room for a name
                )
            )
        print()
    print(
        f"{findings.computed} cells computed, {findings.kept} kept from before, "
        f"{findings.shared} used more than once, {findings.seconds:.0f} s"
    )
    print(f"wrote {out / 'report.html'}, with report.json and the figures")
    return 0
