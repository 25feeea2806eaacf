"""`ironarm radio watch`: the rounds of nodes that were started one by one."""

from __future__ import annotations

import argparse
from time import perf_counter

from . import results
from .options import add_config, add_run_name, read_config

HELP = (
    "show and save the rounds of nodes that were started one by one, from the first on; it only "
    "observes, and can join a running run"
)
EXAMPLES = (
    "watch --config bench.toml --save run.json       the rounds of a run whose nodes were started "
    "by hand",
    "watch --config bench.toml --run NAME            the same, where the nodes were started with "
    "--run NAME",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_config(parser)
    add_run_name(parser)
    results.add(parser)


def run(options: argparse.Namespace) -> int:
    """Watch until the run is over, and print its summary."""
    from ...radio.network.observer import observe
    from ...radio.testbed.records import RunRecord

    config, began = read_config(options), perf_counter()
    return results.show_results(
        config,
        options,
        lambda show, say: RunRecord(
            config, observe(config.processes, options.run, show, say), perf_counter() - began
        ),
    )
