"""`ironarm radio`: the cognitive-radio testbed.

Each subverb is a module here: HELP, EXAMPLES, `add` for its options, and `run`. To add
one, write its module and list it in `SUBVERBS`.
"""

from __future__ import annotations

import argparse
from typing import Any

from ..common import describe
from . import calibrate, node, probe, record, virtual, watch
from . import run as run_verb

SUBVERBS: dict[str, Any] = {
    "run": run_verb,
    "calibrate": calibrate,
    "node": node,
    "watch": watch,
    "record": record,
    "probe": probe,
    "virtual": virtual,
}


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the subverbs and their options."""
    describe(
        parser,
        (
            "Five radio channels, a jammer, and a policy that chooses the channel: simulated at "
            "signal level, in one process or several."
        ),
        _epilog(*(subverb.EXAMPLES[0] for subverb in SUBVERBS.values())),
    )
    parser.set_defaults(radio_parser=parser)
    parsers = parser.add_subparsers(dest="subverb", metavar="COMMAND")
    for name, subverb in SUBVERBS.items():
        subverb.add(
            parsers.add_parser(
                name,
                help=subverb.HELP,
                description=f"{subverb.HELP[0].upper()}{subverb.HELP[1:]}.",
                epilog=_epilog(*subverb.EXAMPLES),
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )


def run(options: argparse.Namespace) -> int:
    """Run the subverb, or print the help if there is none."""
    if options.subverb is None:
        options.radio_parser.print_help()
        return 0
    return int(SUBVERBS[options.subverb].run(options))


def _epilog(*examples: str) -> str:
    return "\n".join(["examples:", *(f"  ironarm radio {line}" for line in examples)])
