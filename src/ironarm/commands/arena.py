"""`ironarm arena`: every policy against every attack, in one page."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from ..lab.arena.names import arena_file, shipped
from ..naming import own_code
from ..show.text import counted, text_table, wrapped
from .common import add_allow_code, describe, resumable

EXAMPLES = """\
examples:
  ironarm arena                           every policy, attack and setting, in about ten minutes
  ironarm arena --quick --out quick       few trials, for a first look
  ironarm arena --print > my-arena.toml   copy the default, to change policies and attacks
  ironarm arena my-arena.toml --out mine  run your own
  ironarm arena late                      another built-in arena: rewards that arrive late
  ironarm arena --policy mine.py:MyPolicy add a policy; only its own cells are run

You can interrupt it; it resumes, and runs nothing twice.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        (
            "Run every policy against every attack in several settings, and write a page: who "
            "comes closest to what is possible, and what to use when."
        ),
        EXAMPLES,
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help=(
            "your own arena, a TOML file, or a built-in one by name: "
            f"{', '.join(name for name in shipped() if name != 'arena')} (default: the one for "
            "numbers that arrive at once)"
        ),
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=(
            "folder for the page and the finished cells (default: results/arena; for another "
            "built-in arena, results/arena/NAME)"
        ),
    )
    parser.add_argument(
        "--trials", type=int, metavar="N", help="trials in every setting, instead of its own number"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few trials: the settings' quick numbers"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="threads (default: one for each processor)"
    )
    parser.add_argument(
        "--force", action="store_true", help="run everything again, even finished cells"
    )
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="P",
        help="add a policy of your own, as mine.py:MyPolicy; may be repeated",
    )
    add_allow_code(parser)
    parser.add_argument("--print", action="store_true", help="print the arena file and stop")


def run(options: argparse.Namespace) -> int:
    """Run the arena, write its page, print the standings and the advice."""
    from ..lab.arena.compare import named
    from ..lab.arena.read import read_arena, with_policies
    from ..lab.arena.report import arena_report, needs_text
    from ..lab.arena.standings import ENOUGH_TRIALS

    if options.print:
        print(arena_file(options.file).read_text(encoding="utf-8"), end="")
        return 0
    if options.out is None:
        name = str(options.file) if str(options.file) in shipped() else ""
        options.out = Path("results/arena") / name
    folder = options.file.parent if options.file else "."
    with own_code.allowed(folder, options.allow_code):
        arena = read_arena(options.file, trials=options.trials, quick=options.quick)
    if options.policy:
        with own_code.allowed():
            arena = with_policies(arena, named(options.policy))
    with resumable(options.out):
        found, findings = arena_report(
            arena,
            options.out,
            shlex.join(["ironarm", *sys.argv[1:]]),
            workers=options.workers,
            force=options.force,
        )
    print(arena.title)
    for setting in arena.settings:
        print(
            wrapped(
                f"{setting.title}: T = {setting.horizon:,}, {counted(setting.trials, 'trial')}, "
                f"rho = {', '.join(f'{rho:g}' for rho in setting.rho)}",
                "  ",
                "    ",
            )
        )
    head = ("policy", "needs to know", "worst case / best, at most", "on average", "stuck, at most")
    body = [
        (
            s["policy"],
            ", ".join(s["needs"]) or needs_text(arena, s["policy"]),
            f"{s['most']:.3g}",
            f"{s['average']:.3g}",
            f"{100 * s['stuck']:.3g} %",
        )
        for s in found["standings"]
    ]
    print(f"\n{text_table(head, body, words=(1,))}\n")
    if min(setting.trials for setting in arena.settings) < ENOUGH_TRIALS:
        print("Too few trials to go by; what follows is what they would say:\n")
    for piece in found["advice"]:
        print(wrapped(f"{piece['when']}:"))
        print(wrapped(f"{piece['policy']}: {piece['why']}", "  ", "  "))
    for one in found["comparisons"]:
        where = f"{one['setting']}, rho = {one['rho']:g}, {one['attack']}"
        print(
            "\n"
            + wrapped(
                f"{one['first']} against {one['second']}: at most {one['most']:.2f} times its "
                f"regret under any one attack ({where}), where that is never stuck"
            )
        )
    if findings is not None:
        print(
            f"\n{findings.computed} cells computed, {findings.kept} kept from before, "
            f"{findings.shared} used more than once, {findings.seconds:.0f} s"
        )
    print(
        f"\n{'already there:' if findings is None else 'wrote'} {options.out / 'report.html'} and "
        "what belongs to it"
    )
    return 0
