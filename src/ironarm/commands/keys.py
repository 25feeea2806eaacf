"""`ironarm keys`: who may use a service."""

from __future__ import annotations

import argparse
import time

from ..errors import InvalidInput
from .common import describe
from .serve import add_place, place_of

EXAMPLES = """\
examples:
  ironarm keys add web-1 --scope decide --scope reward --data agents
  ironarm keys add collector --scope reward --agent ads --rate 100 --data agents
  ironarm keys list --data agents
  ironarm keys revoke 3f9k2c7d8a1b --data agents

scopes:
  decide   make and cancel decisions
  reward   send rewards and observations, and nothing else
  read     read agents, their logs and the page
  admin    create, change and archive agents, and all of the above

`add` prints the key once; only its hash is kept. As soon as there is one key, every
request needs one. A running service sees new and revoked keys within a second.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(parser, "Keys of a service.", EXAMPLES)
    parser.add_argument("what", choices=["add", "list", "revoke"], help="what to do")
    parser.add_argument("name", nargs="?", help="a name for the new key; the id to revoke")
    add_place(parser)
    parser.add_argument("--scope", action="append", default=[], help="what the key may do")
    parser.add_argument(
        "--agent", action="append", metavar="NAME", help="only for this agent; may be repeated"
    )
    parser.add_argument(
        "--rate", type=float, metavar="R", help="at most R requests, or lines of a batch, a second"
    )


def run(options: argparse.Namespace) -> int:
    """Make, list or revoke."""
    from ..service.keys import Key, make_key

    if options.what != "list" and not options.name:
        what = "a name, such as web-1" if options.what == "add" else "the id that `list` shows"
        raise InvalidInput(f"ironarm keys {options.what} needs {what}.")
    store = place_of(options).open(create=options.what == "add")
    try:
        if options.what == "add":
            print(make_key(store, options.name, options.scope, options.agent, options.rate))
        elif options.what == "revoke":
            if not store.revoke_key(options.name, time.time()):
                raise InvalidInput(f"there is no key {options.name!r}; see `ironarm keys list`.")
            print(f"revoked {options.name}")
        else:
            keys = [Key.of_row(row) for row in store.api_keys()]
            if not keys:
                print("no keys: anyone on this machine may do anything")
            for key in keys:
                made = time.strftime("%Y-%m-%d", time.localtime(key.made))
                agents = "all agents" if key.agents is None else ", ".join(sorted(key.agents))
                rate = "" if key.rate is None else f", {key.rate:g}/s"
                state = "" if key.revoked is None else "  REVOKED"
                scopes = " ".join(sorted(key.scopes))
                print(f"{key.id}  {made}  {key.name}: {scopes} ({agents}{rate}){state}")
    finally:
        store.close()
    return 0
