"""`ironarm decide`: one decision of a durable agent, for scripts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from ..naming import own_code
from .common import EXIT_CODES, describe, exit_code

EXAMPLES = f"""\
examples:
  ironarm decide mirrors.db --arms eu us asia --minimize   create the agent if it is new
  ironarm decide mirrors.db                                {{"id": "...", "arm": "eu"}}
  read -r id arm < <(ironarm decide mirrors.db --plain)    in bash, without a JSON reader
  ironarm decide mirrors.db --best                         the best so far; not a decision
  ironarm decide mirrors.db --arms eu us --follow          make the arms match the list

`ironarm learn mirrors.db "$id" 0.35` gives the decision its reward.

{EXIT_CODES}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        (
            "Let a durable agent decide, and print the arm with the decision's id as JSON. The "
            "decision is on disk before it is printed."
        ),
        EXAMPLES,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the agent's file")
    parser.add_argument(
        "--arms",
        nargs="+",
        metavar="ARM",
        help="the arms' names; creates the agent if there is none",
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="add arms that are new in --arms, and remove those that are no longer in it",
    )
    parser.add_argument(
        "--policy", metavar="P", help="for a new agent: Name, 'Name(parameter=1)' or mine.py:Mine"
    )
    parser.add_argument(
        "--minimize",
        action="store_true",
        default=None,
        help="for a new agent: small rewards are good",
    )
    parser.add_argument("--seed", type=int, help="for a new agent: a whole number")
    parser.add_argument(
        "--best", action="store_true", help="print the best arm so far, and decide nothing"
    )
    parser.add_argument(
        "--plain", action="store_true", help="print the id, a space and the arm instead of JSON"
    )


def run(options: argparse.Namespace) -> int:
    """Decide, and print the decision."""
    return exit_code(lambda: _decide(options))


def _decide(options: argparse.Namespace) -> None:
    from ..agent import DurableAgent
    from ..policies import policy_from_text

    if options.follow and not options.arms:
        raise InvalidInput("--follow needs the list of arms; give --arms too.")
    with own_code.allowed():
        policy = policy_from_text(options.policy) if options.policy else None
    there = options.file.exists()
    with DurableAgent(
        options.file,
        policy,
        arms=None if options.follow and there else options.arms,
        seed=options.seed,
        minimize=options.minimize,
    ) as agent:
        if options.follow:
            _follow(agent, options.arms)
        if options.best:
            answer = {"arm": agent.best()}
        else:
            answer = agent.decide()._asdict()
    print(*answer.values()) if options.plain else print(json.dumps(answer))


def _follow(agent: Any, arms: list[str]) -> None:
    """Give an agent these arms; newcomers first, as the last arm cannot be removed."""
    before = {str(arm): arm for arm in agent.arms}
    changes = [(agent.add_arm, arm) for arm in dict.fromkeys(arms) if arm not in before]
    changes += [(agent.remove_arm, arm) for text, arm in before.items() if text not in arms]
    for change, arm in changes:
        try:
            change(arm)
        except InvalidInput:
            # another process that follows the same list may have been faster
            if (arm in agent.arms) != (change == agent.add_arm):
                raise
