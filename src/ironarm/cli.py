"""The command line: one verb for each job."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__
from .commands import certify
from .errors import IronarmError

EXAMPLES = """\
examples:
  ironarm simulate                                   the paper's setting at rho = 0.125, all nine policies
  ironarm simulate --policies MedEUCB 'UCB(alpha=1)' --rho 0.3 --trials 100 --plot regret.png
  ironarm reproduce --out results                    the paper's synthetic experiment: tables and figures
  ironarm certify --means 1,2,4 --rho 0.2            what theory promises: regret, parameters, how much corruption
"""

SIMULATE_EXAMPLES = """\
examples:
  ironarm simulate --policies MedEUCB 'MedEUCB(b=11.5)' RUCB --rho 0.3 --trials 200 --seed 7
  ironarm simulate --means 0,0.5,1 --sigma 0.5 --attack Mimic --rho 0.1 --horizon 20000
  ironarm simulate --attack 'Constant(value=50)' --rho 0.2 --json > result.json
  ironarm simulate --save result.npz --plot result.svg
"""

REPRODUCE_EXAMPLES = """\
examples:
  ironarm reproduce --out results
  ironarm reproduce --trials 100 --workers 2
"""

NINE = ["MedEUCB", "MedEpsilonGreedy", "UCB", "EpsilonGreedy", "RUCB", "EXP3(reward_range=(0, 22))", "CatoniUCB", "TrimmedUCB", "TrimmedEpsilonGreedy"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.verb is None:
        parser.print_help()
        return 0
    try:
        return {"simulate": _simulate, "reproduce": _reproduce, "certify": certify.run}[options.verb](options)
    except IronarmError as error:
        print(f"ironarm: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ironarm: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader has gone (`| head`): nothing is left to say, also not when Python closes the pipe
        sys.stderr.close()
        return 0


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="ironarm", description="Choose the best of several options from feedback that an attacker can corrupt.", epilog=EXAMPLES, formatter_class=raw
    )
    parser.add_argument("--version", action="version", version=f"ironarm {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")

    simulate = verbs.add_parser(
        "simulate",
        help="simulate policies under an attack",
        description="Simulate policies on normal arms under an attack; print a table of final regret.",
        epilog=SIMULATE_EXAMPLES,
        formatter_class=raw,
    )
    simulate.add_argument("--policies", nargs="+", metavar="P", help="policies as Name or 'Name(parameter=1)' (default: the paper's nine, trimming with alpha = rho)")
    simulate.add_argument("--means", default="2:20:2", help="the arms' means, 1,2,3 or first:last:step (default: the paper's, 2:20:2)")
    simulate.add_argument("--sigma", default="1", help="standard deviation, one or one for each arm (default: 1)")
    simulate.add_argument("--rho", type=float, help="probability of an attack in a round (default: 0.125)")
    simulate.add_argument("--attack", default="OppositeUniform", help="attack as Name or 'Name(parameter=1)' (default: OppositeUniform, the paper's)")
    simulate.add_argument("--horizon", type=float, default=100_000, help="rounds in a trial (default: 100000)")
    simulate.add_argument("--trials", type=int, default=20, help="independent repetitions (default: 20)")
    simulate.add_argument("--seed", type=int, help="a whole number (default: a fresh one, which is printed)")
    simulate.add_argument("--workers", type=int, help="threads (default: one for each processor)")
    simulate.add_argument("--pairs", action="store_true", help="also print the paired differences between policies")
    simulate.add_argument("--json", action="store_true", help="print JSON instead of a table")
    simulate.add_argument("--save", type=Path, metavar="FILE", help="write the result to FILE (.npz); ironarm.Result.load reads it")
    simulate.add_argument("--plot", type=Path, metavar="FILE", help="draw regret and share of optimal pulls to FILE (.png, .svg or .pdf)")

    reproduce = verbs.add_parser(
        "reproduce",
        help="the paper's synthetic experiment",
        description="Run the paper's synthetic experiment (nine policies, rho 0.125 and 0.3, T = 100,000); print its tables and draw its figures.",
        epilog=REPRODUCE_EXAMPLES,
        formatter_class=raw,
    )
    reproduce.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="folder for figures and results (default: results)")
    reproduce.add_argument("--trials", type=int, default=20, help="independent repetitions (default: 20, the paper's)")
    reproduce.add_argument("--workers", type=int, help="threads (default: one for each processor)")
    reproduce.add_argument("--seed", type=int, default=2020, help="a whole number (default: 2020)")
    certify.add(verbs)
    return parser


def _simulate(options: argparse.Namespace) -> int:
    from .bandits import GaussianBandit
    from .notation import attack_from_text, numbers_from_text, policy_from_text
    from .simulation import simulate

    sigma = numbers_from_text(options.sigma)
    bandit = GaussianBandit(numbers_from_text(options.means), sigma[0] if len(sigma) == 1 else sigma)
    attack = attack_from_text(options.attack, options.rho)
    names = options.policies or [f"{name}(alpha={attack.rho})" if name.startswith("Trimmed") else name for name in NINE]
    policies = [policy_from_text(text) for text in names]
    result = simulate(
        policies, bandit, attack, horizon=options.horizon, trials=options.trials, seed=options.seed, workers=options.workers, progress=None if sys.stderr.isatty() else True
    )
    if options.save:
        result.save(options.save)
    if options.plot:
        result.plot(options.plot)
    summary = result.summary()
    if options.json:
        print(json.dumps({**summary.to_dict(), "specification": result.specification, "seconds": result.seconds}, indent=2))
        return 0
    print(f"{options.trials} trials of {result.specification['horizon']} rounds under {attack}, seed {result.specification['seed']}, {result.seconds:.1f} s\n")
    print(summary)
    if options.pairs and summary.pairs:
        print()
        print(summary.pairs_table())
    for path in filter(None, (options.save, options.plot)):
        print(f"\nwrote {path}")
    return 0


def _reproduce(options: argparse.Namespace) -> int:
    from .studies.synthetic import reproduce

    reproduce(options.out, trials=options.trials, workers=options.workers, seed=options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
