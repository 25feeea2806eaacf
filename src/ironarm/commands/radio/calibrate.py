"""`ironarm radio calibrate`: noise levels that put the channels at their means."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from ..common import check_place
from .options import add_acknowledgement, add_config, read_config

HELP = "find the noise levels that put the channels at their means"
EXAMPLES = (
    "calibrate --out calibration.json                find the noise levels by measuring",
    "run --calibration calibration.json              and use them",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_config(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("calibration.json"),
        metavar="FILE",
        help="where to write the calibration (default: calibration.json)",
    )
    parser.add_argument(
        "--packets", type=int, default=400, help="packets for each measurement (default: 400)"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.2,
        metavar="DB",
        help="how far a verified mean may be from its target (default: 0.2)",
    )
    add_acknowledgement(parser)
    parser.add_argument(
        "--note", default="", help="what to remember in the file, for example devices and cables"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(options: argparse.Namespace) -> int:
    """Calibrate, write the file, and print what was found."""
    from dataclasses import asdict

    from ...radio.backends.hardware import check_devices
    from ...radio.testbed.calibrate import Bench, SimulatedBench, calibrate

    config = read_config(options)
    check_place("--out", options.out, "calibration.json")
    note = options.note
    with ExitStack() as switched_off:
        if check_devices(config):
            from ...radio.backends.device_bench import DeviceBench
            from ...radio.network.node_process import end_on_signals

            end_on_signals()
            devices = switched_off.enter_context(
                DeviceBench(
                    config,
                    options.acknowledge_transmitting,
                    lambda text: print(text, file=sys.stderr, flush=True),
                )
            )
            bench: Bench = devices
            note = f"{note} ({devices.note()})".strip()
        else:
            bench = SimulatedBench.of(config.uncalibrated_medium())
        found = calibrate(
            bench,
            config.channels.means,
            config.channels.spread,
            packets=options.packets,
            tolerance_db=options.tolerance,
            note=note,
            centres_hz=config.centres_hz,
        )
    found.save(options.out)
    if options.json:
        print(json.dumps(asdict(found), indent=2))
        return 0
    print("channel     MHz  target dB  floor dB  noise level  measured dB  spread dB")
    for number, channel in enumerate(found.channels):
        print(
            f"{number:7d}  {channel.centre_hz / 1e6:6.1f}  {channel.target_db:9g}  "
            f"{channel.floor_db:8.1f}  {channel.level:11.3e}  {channel.measured_db:11.2f}  "
            f"{channel.measured_spread_db:9.2f}"
        )
    print(f"\nwrote {options.out}")
    return 0
