"""`ironarm radio node`: one node of the testbed as a process."""

from __future__ import annotations

import argparse

from .options import add_acknowledgement, add_config, add_run_name, read_config

HELP = "run one node as a process; `ironarm radio watch` shows and saves the rounds"
EXAMPLES = (
    "node jammer --config bench.toml                 one node, for example on another machine",
    "node tx --config bench.toml --acknowledge-transmitting conducted    the transmitter, on a "
    "real radio",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("role", metavar="ROLE", help="medium, tx, jammer, rx or noise")
    add_config(parser)
    add_acknowledgement(parser)
    add_run_name(parser)
    parser.add_argument(
        "--with-parent", action="store_true", help="stop when standard input closes"
    )


def run(options: argparse.Namespace) -> int:
    """Run the node until the run is over."""
    from ...radio.network.node_process import run_node

    run_node(
        options.role,
        read_config(options),
        acknowledged=options.acknowledge_transmitting,
        with_parent=options.with_parent,
        run=options.run,
    )
    return 0
