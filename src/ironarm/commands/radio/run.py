"""`ironarm radio run`: the closed loop, in one process or several."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidInput
from ...naming import own_code
from . import jammer_options, results
from .options import add_acknowledgement, add_config, read_config

if TYPE_CHECKING:
    from ...radio.testbed.config import RadioConfig
    from ...radio.testbed.records import Round, RunRecord

HELP = "run the closed loop: choose, send, jam, measure, learn"
EXAMPLES = (
    "run                                             one closed loop of 2000 rounds on the "
    "simulated medium",
    "run --policy 'UCB' --jammer best --rho 0.3 --seed 7 --save run.json",
    "run --processes --rounds 200                    medium, transmitter, jammer, receiver and "
    "noise source as processes",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "--policy",
        metavar="P",
        help=(
            "policy as Name, 'Name(parameter=1)' or mine.py:MyPolicy (default: MedEUCB(block=200))"
        ),
    )
    jammer_options.add(parser, rho=0.125)
    parser.add_argument("--rounds", type=float, help="rounds (default: 2000)")
    parser.add_argument("--seed", type=int, help="a whole number (default: 1)")
    parser.add_argument(
        "--round-seconds",
        type=float,
        metavar="S",
        help="the shortest time that a round takes (default: 0)",
    )
    add_config(parser)
    parser.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help=(
            "noise levels from `ironarm radio calibrate` (default: computed from the configured "
            "paths)"
        ),
    )
    parser.add_argument(
        "--processes", action="store_true", help="run each node in its own process, over ZeroMQ"
    )
    add_acknowledgement(parser)
    results.add(parser)


def run(options: argparse.Namespace) -> int:
    """Run the loop, and print its summary."""
    from ...radio.backends.hardware import check_devices

    config = _config(options)

    def play(show: Callable[[Round], None], say: Callable[[str], None]) -> RunRecord:
        if options.processes:
            from ...radio.network.processes import run_processes

            return run_processes(config, show, say, acknowledged=options.acknowledge_transmitting)
        from ...radio.testbed import closed_loop

        if check_devices(config):
            raise InvalidInput(
                "the configuration names devices; on hardware each node is a process: add "
                "--processes, or leave out [hardware.devices] to simulate."
            )
        return closed_loop.run(config, on_round=show, say=say)

    return results.show_results(config, options, play)


def _config(options: argparse.Namespace) -> RadioConfig:
    """Return the file's configuration with the command line's options on top."""
    from ...policies import policy_from_text
    from ...validation import whole

    changes: dict[str, Any] = {
        name: value
        for name in ("seed", "round_seconds")
        if (value := getattr(options, name)) is not None
    }
    if options.rounds is not None:
        changes["rounds"] = whole("rounds", options.rounds, at_least=1)
    if options.calibration is not None:
        changes["calibration"] = str(options.calibration.resolve())
    if options.policy is not None:
        with own_code.allowed():
            text = own_code.placed(options.policy)
            policy_from_text(text)  # runs its file, which only the command line may name
            changes["agent"] = {"policy": text}
    if jammer := jammer_options.changes(options):
        changes["jammer"] = jammer
    # free ports unless the file names some, so that two runs at once do not meet
    config = read_config(
        options,
        changes,
        {"processes": {"port": 0, "ack_port": 0}} if options.processes else None,
    )
    jammer_options.check_rho(options, config.jammer)
    return config
