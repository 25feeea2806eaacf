"""`ironarm warm`: compile what live use needs, before anybody waits for it."""

from __future__ import annotations

import argparse
import time

from ..naming import own_code
from .common import describe

EXAMPLES = """\
examples:
  ironarm warm                           the default policy
  ironarm warm MedEUCB 'KLUCB' mine.py:MyPolicy

Compiled code is kept in IRONARM_CACHE_DIR, or in the user's cache folder. Run this when you
build an image, and processes started from it need not compile.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        "Compile everything that agents with these policies need, and keep it on disk.",
        EXAMPLES,
    )
    parser.add_argument(
        "policies",
        nargs="*",
        metavar="POLICY",
        help="policies as Name, 'Name(parameter=1)' or mine.py:MyPolicy (default: CoherentIMED)",
    )


def run(options: argparse.Namespace) -> int:
    """Compile, and say what took how long."""
    from ..agent import Agent
    from ..policies import policy_from_text
    from ..which_policy import default_policy

    with own_code.allowed():
        policies = [policy_from_text(text) for text in options.policies] or [default_policy()]
    for policy in policies:
        started = time.monotonic()
        Agent(policy, arms=2, seed=0).prepare()
        print(f"{policy.label}: ready, {time.monotonic() - started:.1f} s")
    return 0
