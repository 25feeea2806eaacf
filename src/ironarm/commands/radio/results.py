"""What `ironarm radio run` and `watch` show and save: rounds, a summary, a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ...files import require_ending
from ...show.text import counted
from ..common import check_place
from . import jammer_options

if TYPE_CHECKING:
    from ...radio.testbed.config import RadioConfig
    from ...radio.testbed.records import Round, RunRecord


def add(parser: argparse.ArgumentParser) -> None:
    """Add `--json` and `--save`."""
    parser.add_argument(
        "--json", action="store_true", help="print settings, summary and all rounds as JSON"
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help=(
            "write the same to FILE, also when the run ends early; "
            "ironarm.radio.testbed.records.RunRecord.load reads it"
        ),
    )


def show_results(
    config: RadioConfig,
    options: argparse.Namespace,
    play: Callable[[Callable[[Round], None], Callable[[str], None]], RunRecord],
) -> int:
    """Show rounds on standard error as they are played, then print the summary.

    `play` is called with what shows a round and what shows a line of text. The rounds
    are saved if `--save` says so, also when the run ends early.
    """
    from ...radio.testbed.live_view import LiveView

    if options.save:
        check_place("--save", options.save, "run.json")
        require_ending(options.save, ".json")  # now, not after the run
    played: list[Round] = []
    began = perf_counter()
    try:
        with LiveView(config) as view:

            def show(record: Round) -> None:
                played.append(record)
                view.show(record)

            result = play(show, view.say)
    except BaseException:  # whatever ends a run, the rounds played are worth keeping
        if options.save and played:
            _save_part(config, played, perf_counter() - began, options.save)
        raise
    if options.save:
        result.save(options.save)
    print(json.dumps(result.to_dict()) if options.json else table(result))
    if options.save and not options.json:
        print(f"\nwrote {options.save}")
    return 0


def table(result: RunRecord) -> str:
    """Return the summary as text."""
    summary = result.summary()
    jammer = jammer_options.words(result.config.jammer)
    lines = [
        f"{counted(summary['rounds'], 'round')} of {summary['policy']}, jammer {jammer}, seed "
        f"{summary['seed']}, {summary['seconds']:.1f} s",
        "",
        "channel     MHz  clean dB  measured dB  jammed dB  pulls",
    ]
    for channel, (mean, clean, jammed, pulls) in enumerate(
        zip(
            result.config.channels.means,
            summary["clean_sinr_db"],
            summary["jammed_sinr_db"],
            summary["pulls"],
            strict=True,
        )
    ):
        lines.append(
            f"{channel:7d}  {result.config.centres_hz[channel] / 1e6:6.1f}  {mean:8g}  "
            f"{'' if clean is None else format(clean, '.1f'):>11}  "
            f"{'' if jammed is None else format(jammed, '.1f'):>9}  {pulls:5d}"
        )
    lines += [
        "measured dB: the mean of the packets that were neither jammed nor missed",
        "jammed dB: the mean of the packets that were jammed and not missed",
        "",
        f"regret {summary['regret']:.0f} dB, best channel in {summary['optimal']:.1%} of all "
        f"rounds and {summary['optimal_last_tenth']:.1%} of the last tenth",
        f"{counted(summary['jammed'], 'packet')} jammed, {summary['missed']} missed, "
        f"{counted(summary['repeats'], 'round')} repeated; an ACK took {summary['ack_ms']:.2f} ms",
    ]
    return "\n".join(lines)


def _save_part(config: RadioConfig, played: list[Round], seconds: float, file: Path) -> None:
    from ...radio.testbed.records import RunRecord

    RunRecord(config, sorted(played), seconds).save(file)
    print(
        f"ended early; wrote the {counted(len(played), 'round')} played so far to {file}",
        file=sys.stderr,
        flush=True,
    )
