"""`ironarm certify`: what theory promises, from means, laws or logged rewards."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..bandits import Bandit, ReplayBandit, ScipyBandit, bandit_from_text
from ..bandits.law_notation import law_from_text
from ..errors import InvalidInput
from ..naming import own_code
from ..policies import MedEUCB, Policy
from .common import describe, normal_arms, resumable

FOR_THE_MAP = ("out", "trials", "workers")
EXAMPLES = """\
examples:
  ironarm certify                                    MedEUCB on the paper's arms at rho = 0.125
  ironarm certify --means 1,2,4 --sigma 0.5 --rho 0.2 --horizon 1e6
  ironarm certify --policy 'MedEpsilonGreedy(c=30)' --rho 0.3
  ironarm certify --laws 'gamma(3)' 'lognorm(0.5, scale=5)' 't(3, loc=1)' --rho 0.05
  ironarm certify --bandit 'BernoulliBandit([0.04, 0.06, 0.12])' --rho 0.02      clicks
  ironarm certify --csv rewards.csv --rho 0.1 --json
  ironarm certify --map --policy 'MedEUCB(b=8)'      how much corruption it survives
  ironarm certify --paper                            theorems and lemmas in the paper's own settings
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb to the command line."""
    describe(
        parser,
        (
            "Print a certificate: what regret is promised, which parameters are needed, how much "
            "corruption the arms can take, and which policy to use."
        ),
        EXAMPLES,
    )
    arms = parser.add_mutually_exclusive_group()
    arms.add_argument(
        "--means",
        help="means of normal arms, 1,2,3 or first:last:step (default: the paper's, 2:20:2)",
    )
    arms.add_argument(
        "--laws",
        nargs="+",
        metavar="LAW",
        help="one law of scipy.stats for each arm, like 'norm(2, 1)' or 'gamma(3, scale=2)'",
    )
    arms.add_argument(
        "--bandit",
        metavar="B",
        help="arms of another kind, as 'BernoulliBandit([0.04, 0.12])' for rewards of 0 and 1",
    )
    arms.add_argument(
        "--csv", type=Path, metavar="FILE", help="logged rewards, with the columns arm and reward"
    )
    arms.add_argument(
        "--paper",
        action="store_true",
        help=(
            "print what the theorems need and promise in the paper's own settings, and how tight "
            "its lemmas are"
        ),
    )
    parser.add_argument(
        "--sigma", help="standard deviation of normal arms, one or one for each arm (default: 1)"
    )
    parser.add_argument(
        "--rho", type=float, help="probability that a reward is corrupt, below 0.5 (default: 0.125)"
    )
    parser.add_argument(
        "--policy",
        "--policies",
        metavar="P",
        help="policy as Name or 'Name(parameter=1)' (default: MedEUCB; KLUCB for 0/1 rewards)",
    )
    parser.add_argument("--horizon", type=float, help="rounds (default: 100000; for the map 20000)")
    parser.add_argument(
        "--delta",
        type=float,
        help="Theorems 2 and 4 hold with probability 1 - delta (default: 0.05)",
    )
    parser.add_argument(
        "--map",
        action="store_true",
        help=(
            "draw rho against gap/sigma: the measured share of trials in which the policy is "
            "stuck, and theory's three thresholds"
        ),
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the map and its finished cells (default: results/map)",
    )
    parser.add_argument(
        "--sources",
        type=int,
        metavar="N",
        help="N sources send the rewards; print what share of them may be hostile",
    )
    parser.add_argument("--trials", type=int, help="trials at each point of the map (default: 40)")
    parser.add_argument(
        "--workers", type=int, help="threads for the map (default: one for each processor)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a page")


def run(options: argparse.Namespace) -> int:
    """Print the certificate, or the paper's tables."""
    from .. import theory
    from ..policies import policy_from_text

    _refuse_unused(options)
    with own_code.allowed():
        policy = None if options.policy is None else policy_from_text(options.policy)
    if options.paper:
        if options.json:
            tables = {
                "theory": [row.to_dict() for row in theory.paper_table()],
                "lemmas": [row.to_dict() for row in theory.lemma_table()],
            }
            print(json.dumps(tables, indent=2, allow_nan=False))
        else:
            print(theory.paper_text(), theory.lemma_text(), sep="\n\n")
        return 0
    if options.map:
        return _map(options, policy or MedEUCB())
    certificate = theory.certify(
        _arms(options),
        rho=_or(options.rho, 0.125),
        policy=policy,
        horizon=_or(options.horizon, 100_000),
        delta=_or(options.delta, 0.05),
        sources=options.sources,
    )
    print(
        json.dumps(certificate.to_dict(), indent=2, allow_nan=False)
        if options.json
        else certificate
    )
    return 0


def _or(given: Any, default: Any) -> Any:
    """Return what was given, or the default.

    The parser has no defaults, so that it can tell what was given.
    """
    return default if given is None else given


def _refuse_unused(options: argparse.Namespace) -> None:
    """Refuse options that would change nothing beside the others."""
    unused: tuple[str, ...]
    if options.paper:
        what, unused, instead = (
            "--paper prints the paper's own settings",
            ("sigma", "rho", "policy", "horizon", "delta", "sources", "map", *FOR_THE_MAP),
            "",
        )
    elif options.map:
        what, unused, instead = (
            "--map draws every rho against every gap, for arms of its own",
            ("means", "laws", "bandit", "csv", "sigma", "rho", "delta", "sources"),
            "",
        )
    else:
        what, unused, instead = (
            "a certificate is computed, not simulated",
            FOR_THE_MAP,
            ", or add --map",
        )
    given = [
        f"--{name}"
        for name in unused
        if getattr(options, name) is not None and getattr(options, name) is not False
    ]
    if given:
        raise InvalidInput(
            f"{what}, so {', '.join(given)} would change nothing; leave "
            f"{'it' if len(given) == 1 else 'them'} out{instead}."
        )


def _map(options: argparse.Namespace, policy: Policy) -> int:
    from ..lab.sweeps.breakdown_map import write_map

    out = _or(options.out, Path("results/map"))
    with resumable(out):
        breakdown, written = write_map(
            policy,
            out,
            horizon=_or(options.horizon, 20_000),
            trials=_or(options.trials, 40),
            workers=options.workers,
        )
    print(
        json.dumps(breakdown.to_dict(), indent=2)
        if options.json
        else f"{breakdown}\n\nwrote {', '.join(map(str, written))}"
    )
    return 0


def _arms(options: argparse.Namespace) -> Bandit:
    if options.sigma is not None and (options.laws or options.bandit or options.csv):
        raise InvalidInput(
            "--sigma is for --means; laws, bandits and logged rewards have their own spread. "
            "Leave it out."
        )
    if options.bandit:
        with own_code.allowed():
            return bandit_from_text(options.bandit)
    if options.csv:
        return ReplayBandit(options.csv)
    if options.laws:
        return ScipyBandit([law_from_text(text) for text in options.laws])
    return normal_arms(options.means or "2:20:2", options.sigma or "1")
