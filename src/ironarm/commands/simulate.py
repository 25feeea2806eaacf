"""`ironarm simulate`: policies under an attack, as a table."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..files import require_ending
from ..naming import own_code
from ..show.text import counted, wrapped
from .common import add_arms, add_feedback, arms_of, check_place, describe, feedback_from

EXAMPLES = """\
examples:
  ironarm simulate --policies MedEUCB 'MedEUCB(b=11.5)' RUCB --rho 0.3 --trials 200 --seed 7
  ironarm simulate --means 0,0.5,1 --sigma 0.5 --attack Mimic --rho 0.1 --horizon 20000
  ironarm simulate --attack 'Constant(value=50)' --rho 0.2 --json > result.json
  ironarm simulate --save result.npz --plot result.svg
  ironarm simulate --bandit 'DriftingBandit.permutations([0, 1, 5], 4, 20000)' --horizon 20000
  ironarm simulate --policies UCB CoherentIMED --delay 100 --lost 0.2 --expire 1000
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        "Simulate policies on normal arms under an attack; print a table of final regret.",
        EXAMPLES,
    )
    parser.add_argument(
        "--policies",
        "--policy",
        nargs="+",
        action="extend",
        metavar="P",
        help=(
            "policies as Name, 'Name(parameter=1)' or mine.py:MyPolicy (default: CoherentIMED, "
            "beside MedEUCB and UCB)"
        ),
    )
    add_arms(parser)
    parser.add_argument(
        "--rho", type=float, help="probability of an attack in a round (default: 0.125)"
    )
    parser.add_argument(
        "--attack",
        default="OppositeUniform",
        help=(
            "attack as Name, 'Name(parameter=1)' or mine.py:MyAttack (default: OppositeUniform, "
            "the paper's)"
        ),
    )
    add_feedback(parser)
    parser.add_argument(
        "--horizon", type=float, default=100_000, help="rounds in a trial (default: 100000)"
    )
    parser.add_argument(
        "--trials", type=int, default=20, help="independent repetitions (default: 20)"
    )
    parser.add_argument(
        "--seed", type=int, help="a whole number (default: a fresh one, which is printed)"
    )
    parser.add_argument("--workers", type=int, help="threads (default: one for each processor)")
    parser.add_argument(
        "--pairs", action="store_true", help="also print the paired differences between policies"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write the result to FILE (.npz); ironarm.Result.load reads it",
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw regret and share of optimal pulls to FILE: .pdf, .svg, .png",
    )


def run(options: argparse.Namespace) -> int:
    """Simulate, and print the table."""
    from ..attacks import HideChange, attack_from_text
    from ..policies import UCB, MedEUCB, policy_from_text
    from ..simulation import simulate
    from ..which_policy import default_policy

    _check_files(options)
    with own_code.allowed():
        attack = attack_from_text(options.attack, options.rho)
        policies = [policy_from_text(text) for text in options.policies or ()] or [
            default_policy(),
            MedEUCB(),
            UCB(),
        ]
        bandit = arms_of(options)
    given = feedback_from(options)
    if isinstance(attack, HideChange) and len(bandit.segments) == 1:
        print(
            "ironarm: HideChange does nothing here: it hides changes of the arms, and these do not "
            "change. Use a bandit that does, such as --bandit 'DriftingBandit.linear([0, 4], [4, "
            "0], horizon=100000)'.",
            file=sys.stderr,
        )
    result = simulate(
        policies,
        bandit,
        attack,
        horizon=options.horizon,
        trials=options.trials,
        seed=options.seed,
        workers=options.workers,
        progress=True,
        **given,
    )
    summary = result.summary()
    if options.json:
        print(
            json.dumps(
                {
                    **summary.to_dict(),
                    "specification": result.specification,
                    "seconds": result.seconds,
                },
                indent=2,
            )
        )
    else:
        specification = result.specification
        print(
            wrapped(
                f"{counted(specification['trials'], 'trial')} of "
                f"{counted(specification['horizon'], 'round')} under {attack}{_feedback(given)}, "
                f"seed {specification['seed']}, {result.seconds:.1f} s"
            )
            + "\n"
        )
        print(summary)
        if options.pairs and summary.pairs:
            print()
            print(summary.pairs_table())
    # after the table: if a file cannot be written now, the numbers are not lost
    sys.stdout.flush()
    for path, write in ((options.save, result.save), (options.plot, result.plot)):
        if path:
            write(path)
            if not options.json:
                print(f"\nwrote {path}")
    return 0


def _feedback(given: dict[str, Any]) -> str:
    """Return who sends rewards and how late they come, for the line above a table."""
    return "".join(f", {each}" for each in given.values() if each is not None)


def _check_files(options: argparse.Namespace) -> None:
    """Refuse files that cannot be written, before anything is simulated."""
    if options.save:
        check_place("--save", options.save, "result.npz")
        require_ending(options.save, ".npz", " For a table, use --json.")
    if options.plot:
        from ..show.figures import check_format

        check_place("--plot", options.plot, "result.png")
        check_format(options.plot)
