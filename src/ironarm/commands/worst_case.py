"""`ironarm worst-case`: search for the attack that hurts a policy most."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..naming import own_code
from .common import add_arms, arms_of, describe, resumable

EXAMPLES = """\
examples:
  ironarm worst-case                                 MedEUCB on the paper's arms at rho = 0.125
  ironarm worst-case --policy 'CountIMED(epsilon=0.35)' --rho 0.3 --budget 200
  ironarm worst-case --policy UCB --means 0,0.5,1 --sigma 0.5 --rho 0.05 --json

The attack is printed as text that 'ironarm simulate --attack' reads.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        (
            "Try many attacks within the model, let the worst of them compete, and measure the "
            "last one on fresh seeds beside the named attacks. Finished simulations are kept: the "
            "same command resumes."
        ),
        EXAMPLES,
    )
    parser.add_argument(
        "--policy",
        "--policies",
        default="MedEUCB",
        metavar="P",
        help="policy as Name, 'Name(parameter=1)' or mine.py:MyPolicy (default: MedEUCB)",
    )
    add_arms(parser)
    parser.add_argument(
        "--rho",
        type=float,
        default=0.125,
        help="probability of an attack in a round (default: 0.125)",
    )
    parser.add_argument(
        "--horizon", type=float, default=10_000, help="rounds in a trial (default: 10000)"
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=200,
        help="fresh trials of the attack found and of each named one (default: 200)",
    )
    parser.add_argument(
        "--budget", type=int, default=64, metavar="N", help="candidates to begin with (default: 64)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=2020,
        help="seed of the search; the fresh trials use the next number (default: 2020)",
    )
    parser.add_argument("--workers", type=int, help="threads (default: one for each processor)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/worst-case"),
        metavar="DIR",
        help="folder for the answer and the finished cells (default: results/worst-case)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a page")


def run(options: argparse.Namespace) -> int:
    """Search, and print what was found."""
    from ..files import json_ready
    from ..lab.arena.worst_case import worst_case
    from ..policies import policy_from_text

    settings = {
        name: getattr(options, name)
        for name in ("rho", "horizon", "trials", "budget", "seed", "workers")
    }
    with own_code.allowed():
        policy = policy_from_text(options.policy)
        bandit = arms_of(options)
    with resumable(options.out):
        found = worst_case(
            policy,
            bandit,
            options.out,
            **settings,
            progress=True,
        )
    print(
        json.dumps(json_ready(found, lambda _: None), indent=2, allow_nan=False)
        if options.json
        else f"{found}\n\nwrote {options.out / 'worst_case.json'}"
    )
    return 0
