"""`ironarm agents`: the agents of a service, from a terminal."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..errors import InvalidInput
from .common import describe
from .serve import add_place, place_of

EXAMPLES = """\
examples:
  ironarm agents create ads --arms red,green,blue --data agents
  ironarm agents create router --arms a,b --policy 'KLUCB()' --reward-within 60 --data agents
  ironarm agents list --data agents
  ironarm agents show ads --data agents
  ironarm agents archive ads --data agents

The command works on the store itself, whether or not a service is running on it.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(parser, "Agents of a service.", EXAMPLES)
    parser.add_argument("what", choices=["create", "list", "show", "archive"], help="what to do")
    parser.add_argument("name", nargs="?", help="the agent")
    add_place(parser)
    parser.add_argument("--arms", help="names, separated by commas")
    parser.add_argument("--policy", help="such as 'MedEUCB(b=8)' (default: CoherentIMED)")
    parser.add_argument(
        "--minimize", action="store_true", help="small rewards are good: latency, cost"
    )
    parser.add_argument("--seed", type=int, help="of the agent's random choices")
    parser.add_argument(
        "--reward-within", type=float, metavar="S", help="a decision expires after S seconds"
    )
    parser.add_argument(
        "--missing-reward", type=float, metavar="X", help="learn X when a decision expires"
    )
    parser.add_argument("--failed-reward", type=float, metavar="X", help="learn X from a failure")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Create, list, show or archive."""
    from ..agent import shown
    from ..service import directory

    if options.what != "list" and not options.name:
        raise InvalidInput(f"ironarm agents {options.what} needs a name.")
    store = place_of(options).open(create=options.what == "create")
    try:
        if options.what == "create":
            return _create(store, options)
        if options.what == "list":
            names = sorted(store.agents())
            if options.json:
                print(json.dumps(names))
            for name in [] if options.json else names:
                agent = directory.opened(store, store.agents()[name])
                if agent.replay.loaded is not None:
                    found = agent.summary()
                    state = ", archived" if found["archived"] else ""
                    print(
                        f"{name}: {found['policy']}, {len(found['arms'])} arms, "
                        f"{found['decisions']:,} decisions, best {found['best']}{state}"
                    )
            return 0
        number = directory.number_of(store, options.name)
        if options.what == "archive":
            with store.transaction():
                store.hold([number])
                agent = directory.opened(store, number)
                new = agent.archive_once(None)
                agent.log.hand_over()
            print(f"archived {options.name}" if new else f"{options.name} was already archived")
            return 0
        agent = directory.opened(store, number)
        print(json.dumps(agent.summary()) if options.json else shown.as_text(agent.core))
    finally:
        store.close()
    return 0


def _create(store: Any, options: argparse.Namespace) -> int:
    from ..service import directory
    from ..service.hosted import planned

    if not options.arms:
        raise InvalidInput("ironarm agents create needs --arms, such as --arms red,green,blue.")
    new, described = planned(
        arms=[arm.strip() for arm in options.arms.split(",")],
        policy=options.policy,
        minimize=options.minimize,
        seed=options.seed,
        reward_within=options.reward_within,
        missing_reward=options.missing_reward,
        failed_reward=options.failed_reward,
    )
    made = directory.create(store, options.name, described, options.seed is not None)
    print(
        f"created {options.name}: {new.policy.label}, {len(new.arms)} arms"
        if made
        else f"{options.name} already exists, with the same settings"
    )
    return 0
