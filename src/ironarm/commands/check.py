"""`ironarm check`: does a policy of one's own keep its contract?"""

from __future__ import annotations

import argparse

from ..naming import own_code
from .common import describe

EXAMPLES = """\
examples:
  ironarm check mine.py:MyPolicy
  ironarm check 'mine.py:MyPolicy(b=2)'

It says in one sentence what is wrong, and in which line. Run it first: only this command checks
the policy's array indices. Elsewhere an index out of bounds can cause a segmentation fault.
A policy that passes may still fall to attacks: `ironarm compare` measures that.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        "Check that a policy keeps its contract: in simulations, and behind an agent.",
        EXAMPLES,
    )
    parser.add_argument(
        "policies",
        nargs="+",
        metavar="POLICY",
        help="your policy, as mine.py:MyPolicy or 'mine.py:MyPolicy(b=2)'",
    )


def run(options: argparse.Namespace) -> int:
    """Check, and say so."""
    from ..policies import policy_from_text
    from ..testing import check_policy

    with own_code.allowed():
        policies = [policy_from_text(text) for text in options.policies]
    for policy in policies:
        check_policy(policy)
        print(f"{policy.label} keeps its contract")
    return 0
