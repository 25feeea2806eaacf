"""`ironarm radio`: the cognitive-radio testbed.

Each subverb is a function that describes its options and one that does its job; a new
one is one line in `SUBVERBS`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InvalidInput, NodeLost
from ..radio.network.messages import BY_HAND
from . import (
    radio_jammer,
    radio_probe,
    radio_record,
    radio_virtual,
)

if TYPE_CHECKING:
    from ..radio.testbed.records import Round, Run
    from ..radio.testbed.settings import Settings


class Subverb(NamedTuple):
    """One subverb; the first line of its examples is also shown for `ironarm radio`."""

    help: str
    examples: tuple[str, ...]
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def add(verbs: Any) -> None:
    """Describe the subverbs and their options."""
    radio = verbs.add_parser(
        "radio",
        help="the cognitive-radio testbed",
        description=(
            "Five radio channels, a jammer, and a policy that chooses the channel: simulated at "
            "signal level, in one process or several."
        ),
        epilog=_epilog(*(subverb.examples[0] for subverb in SUBVERBS.values())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    radio.set_defaults(radio_parser=radio)
    subverbs = radio.add_subparsers(dest="subverb", metavar="SUBVERB")
    for name, subverb in SUBVERBS.items():
        description, epilog = (
            f"{subverb.help[0].upper()}{subverb.help[1:]}.",
            _epilog(*subverb.examples),
        )
        subverb.add(
            subverbs.add_parser(
                name,
                help=subverb.help,
                description=description,
                epilog=epilog,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )


def _epilog(*examples: str) -> str:
    return "\n".join(["examples:", *(f"  ironarm radio {line}" for line in examples)])


def run(options: argparse.Namespace) -> int:
    """Do the subverb's job."""
    if options.subverb is None:
        options.radio_parser.print_help()
        return 0
    return SUBVERBS[options.subverb].run(options)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        metavar="P",
        help="policy as Name or 'Name(parameter=1)' (default: MedEUCB(block=200))",
    )
    radio_jammer.add(parser, rho=0.125)
    parser.add_argument("--rounds", type=float, help="rounds (default: 2000)")
    parser.add_argument("--seed", type=int, help="a whole number (default: 1)")
    parser.add_argument(
        "--round-seconds",
        type=float,
        metavar="S",
        help="how long a round lasts at least (default: 0)",
    )
    _add_config(parser)
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
        "--processes", action="store_true", help="each node a process of its own, over ZeroMQ"
    )
    _add_acknowledgement(parser)
    _add_results(parser)


def _add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print settings, summary and all rounds as JSON"
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help=(
            "write the same to FILE, also when the run ends early; ironarm.radio.testbed.records.Run.load "
            "reads it"
        ),
    )


def _run(options: argparse.Namespace) -> int:
    from ..radio.backends.hardware import check_devices

    settings = _settings(options)

    def play(show: Callable[[Round], None], say: Callable[[str], None]) -> Run:
        if options.processes:
            from ..radio.network.processes import run_processes

            return run_processes(settings, show, say, acknowledged=options.acknowledge_transmitting)
        from ..radio.testbed.closed_loop import run

        if check_devices(settings):
            raise InvalidInput(
                "the configuration names devices; on hardware each node is a process: add "
                "--processes, or leave out [hardware.devices] to simulate."
            )
        return run(settings, on_round=show)

    return _results(settings, options, play)


def _add_watch(parser: argparse.ArgumentParser) -> None:
    _add_config(parser)
    _add_run_name(parser)
    _add_results(parser)


def _watch(options: argparse.Namespace) -> int:
    from ..radio.network.observer import observe
    from ..radio.testbed.records import Run
    from ..radio.testbed.settings import Settings

    settings, began = Settings.read(options.config), perf_counter()
    return _results(
        settings,
        options,
        lambda show, say: Run(
            settings, observe(settings.processes, options.run, show, say), perf_counter() - began
        ),
    )


def _results(
    settings: Settings,
    options: argparse.Namespace,
    play: Callable[[Callable[[Round], None], Callable[[str], None]], Run],
) -> int:
    """Show the rounds as they are played, on standard error, then the summary on
    standard output; save them if asked to.
    """
    from ..radio.testbed.live_view import LiveView

    if options.save:
        _check_place("--save", options.save, "run.json")
    played: list[Round] = []
    began = perf_counter()
    try:
        with LiveView(settings) as view:

            def show(record: Round) -> None:
                played.append(record)
                view.show(record)

            result = play(show, view.say)
    except (NodeLost, KeyboardInterrupt, SystemExit):
        if options.save and played:
            _save_part(settings, played, perf_counter() - began, options.save)
        raise
    if options.save:
        result.save(options.save)
    print(json.dumps(result.to_dict()) if options.json else _table(result))
    if options.save and not options.json:
        print(f"\nwrote {options.save}")
    return 0


def _check_place(option: str, file: Path, example: str) -> None:
    """Refuse a file that cannot be written, before rounds are played for it."""
    if file.is_dir():
        raise InvalidInput(
            f"{option} {file} is a folder; name a file in it, such as {file / example}."
        )
    if not file.parent.is_dir():
        raise InvalidInput(
            f"{option} {file} cannot be written: there is no folder {file.parent}. Make it first, "
            "or choose another."
        )
    if not os.access(file.parent, os.W_OK):
        raise InvalidInput(
            f"{option} {file} cannot be written: you may not write in the folder {file.parent}. "
            "Choose another."
        )


def _save_part(settings: Settings, played: list[Round], seconds: float, file: Path) -> None:
    """Save the rounds of a run that ended early."""
    from ..radio.testbed.records import Run

    Run(settings, sorted(played), seconds).save(file)
    print(
        f"ended early; wrote the {counted(len(played), 'round')} played so far to {file}",
        file=sys.stderr,
        flush=True,
    )


def _settings(options: argparse.Namespace) -> Settings:
    """Return the file's settings with the command line's on top."""
    from ..radio.testbed.settings import Settings
    from ..validation import whole

    changes: dict[str, Any] = {}
    if options.rounds is not None:
        changes["rounds"] = whole("rounds", options.rounds, at_least=1)
    if options.seed is not None:
        changes["seed"] = options.seed
    if options.round_seconds is not None:
        changes["round_seconds"] = options.round_seconds
    if options.calibration is not None:
        changes["calibration"] = str(options.calibration.resolve())
    if options.policy is not None:
        changes["agent"] = {"policy": options.policy}
    if said := radio_jammer.changes(options):
        changes["jammer"] = said
    # free ports where none are named, so that two runs at once do not meet
    settings = Settings.read(
        options.config,
        changes,
        {"processes": {"port": 0, "ack_port": 0}} if options.processes else None,
    )
    radio_jammer.check_rho(options, settings.jammer)
    return settings


def _table(result: Run) -> str:
    """Return a summary as text."""
    summary = result.summary()
    means = result.settings.channels.means
    jammer = radio_jammer.words(result.settings.jammer)
    lines = [
        f"{counted(summary['rounds'], 'round')} of {summary['policy']}, jammer {jammer}, seed "
        f"{summary['seed']}, {summary['seconds']:.1f} s",
        "",
        "channel     MHz  clean dB  measured dB  pulls",
    ]
    for channel, (mean, measured, pulls) in enumerate(
        zip(means, summary["clean_sinr_db"], summary["pulls"], strict=True)
    ):
        lines.append(
            f"{channel:7d}  {result.settings.centres_hz[channel] / 1e6:6.1f}  {mean:8g}  "
            f"{'' if measured is None else format(measured, '.1f'):>11}  {pulls:5d}"
        )
    lines += [
        "measured dB: the mean of the packets that were neither jammed nor missed",
        "",
        f"regret {summary['regret']:.0f} dB, best channel in {summary['optimal']:.1%} of all "
        f"rounds and {summary['optimal_last_tenth']:.1%} of the last tenth",
        f"{counted(summary['jammed'], 'packet')} jammed, {summary['missed']} missed, "
        f"{counted(summary['repeats'], 'round')} repeated; an ACK took {summary['ack_ms']:.2f} ms",
    ]
    return "\n".join(lines)


def counted(count: int, noun: str) -> str:
    """Return how many there are.

    >>> counted(1, "packet"), counted(0, "round")
    ('1 packet', '0 rounds')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    _add_config(parser)
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
    _add_acknowledgement(parser)
    parser.add_argument(
        "--note", default="", help="what to remember in the file, for example devices and cables"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _calibrate(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from ..radio.backends.hardware import check_devices
    from ..radio.testbed.calibrate import Bench, SimulatedBench, calibrate
    from ..radio.testbed.settings import Settings

    settings = Settings.read(options.config)
    _check_place("--out", options.out, "calibration.json")
    note = options.note
    with ExitStack() as switched_off:
        if check_devices(settings):
            from ..radio.backends.device_bench import DeviceBench
            from ..radio.network.node_process import end_on_signals

            end_on_signals()
            say = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
            devices = switched_off.enter_context(
                DeviceBench(settings, options.acknowledge_transmitting, say)
            )
            bench: Bench = devices
            note = f"{note} ({devices.note()})".strip()
        else:
            bench = SimulatedBench.of(settings.bench())
        wanted = settings.channels
        found = calibrate(
            bench,
            wanted.means,
            wanted.spread,
            packets=options.packets,
            tolerance_db=options.tolerance,
            note=note,
            centres_hz=settings.centres_hz,
        )
    found.save(options.out)
    if options.json:
        print(json.dumps(asdict(found), indent=2))
        return 0
    print("channel     MHz  target dB  floor dB  noise level  measured dB  spread dB")
    for channel, setting in enumerate(found.channels):
        print(
            f"{channel:7d}  {setting.centre_hz / 1e6:6.1f}  {setting.target_db:9g}  "
            f"{setting.floor_db:8.1f}  {setting.level:11.3e}  {setting.measured_db:11.2f}  "
            f"{setting.measured_spread_db:9.2f}"
        )
    print(f"\nwrote {options.out}")
    return 0


def _add_node(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("role", metavar="ROLE", help="medium, tx, jammer, rx or noise")
    _add_config(parser)
    _add_acknowledgement(parser)
    _add_run_name(parser)
    parser.add_argument("--with-parent", action="store_true", help="end when standard input does")


def _node(options: argparse.Namespace) -> int:
    from ..radio.network.node_process import run_node
    from ..radio.testbed.settings import Settings

    run_node(
        options.role,
        Settings.read(options.config),
        acknowledged=options.acknowledge_transmitting,
        with_parent=options.with_parent,
        run=options.run,
    )
    return 0


def _add_run_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run",
        default=BY_HAND,
        metavar="NAME",
        help=(
            "the run it belongs to, the same for all its nodes; those of another are refused "
            f"(default: {BY_HAND})"
        ),
    )


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the configuration, as TOML; docs/radio.md lists what it may say",
    )


def _add_acknowledgement(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--acknowledge-transmitting",
        metavar="SETUP",
        help=(
            "needed for real radios: the configured setup once more, conducted, shielded or "
            "licensed"
        ),
    )


SUBVERBS = {
    "run": Subverb(
        "run the closed loop: choose, send, jam, measure, learn",
        (
            "run                                             one closed loop of 2000 rounds on "
            "the simulated medium",
            "run --policy 'UCB' --jammer best --rho 0.3 --seed 7 --save run.json",
            "run --processes --rounds 200                    medium, transmitter, jammer, "
            "receiver and noise source as processes",
        ),
        _add_run,
        _run,
    ),
    "calibrate": Subverb(
        "find the noise levels that put the channels at their means",
        (
            "calibrate --out calibration.json                find the noise levels, from paths "
            "that nobody knows",
            "run --calibration calibration.json              and use them",
        ),
        _add_calibrate,
        _calibrate,
    ),
    "node": Subverb(
        "run one node as a process; `ironarm radio watch` shows and saves the rounds",
        (
            "node jammer --config bench.toml                 one node, for example on another "
            "machine",
            "node tx --config bench.toml --acknowledge-transmitting conducted    the transmitter, "
            "on a real radio",
        ),
        _add_node,
        _node,
    ),
    "watch": Subverb(
        "show and save the rounds of nodes that were started one by one, from the first on; it "
        "takes no part, and may come while the run lasts",
        (
            "watch --config bench.toml --save run.json       the rounds of a run whose nodes were "
            "started by hand",
            "watch --config bench.toml --run NAME            the same, where the nodes were "
            "started with --run NAME",
        ),
        _add_watch,
        _watch,
    ),
    "record": Subverb(
        "write rounds as a SigMF recording of all five channels",
        (
            "record --out recordings --rounds 20             what is heard of all five channels, "
            "as SigMF",
            "record --out recordings --name best --jammer best --rho 0.5 --format cf32_le",
        ),
        radio_record.add,
        radio_record.run,
    ),
    "probe": Subverb(
        "list the radios that SoapySDR finds, and what they can do",
        (
            "probe                                           the radios of this machine",
            "probe --device driver=redpitaya,addr=192.168.1.100    one that cannot be found by "
            "searching",
        ),
        radio_probe.add,
        radio_probe.run,
    ),
    "virtual": Subverb(
        "serve virtual radios to SoapySDR, on the simulated medium",
        (
            "virtual                                         four virtual radios on free ports, "
            "until Ctrl-C",
            "virtual --devices transmitter,receiver --ports 5741,5742 --sinr 30*5",
        ),
        radio_virtual.add,
        radio_virtual.run,
    ),
}
