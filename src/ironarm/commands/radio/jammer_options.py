"""The jammer on the command line: `--jammer`, `--rho` and `--same-power`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ...errors import InvalidInput

if TYPE_CHECKING:
    from ...radio.testbed.config import JammerConfig


def add(parser: argparse.ArgumentParser, rho: float) -> None:
    """Describe the options."""
    parser.add_argument(
        "--rho",
        type=float,
        help=f"probability that any, best and the like jam a packet (default: {rho:g})",
    )
    parser.add_argument(
        "--jammer",
        metavar="STRATEGY",
        help=(
            "any, best (only packets in the best channel), a probability for each of the five "
            "channels as 0.1,0,0,0,0, or trace:FILE, a line for each round (default: any); "
            "docs/radio.md lists all"
        ),
    )
    parser.add_argument(
        "--same-power",
        action="store_true",
        default=None,
        help=(
            "jam all channels with the same power (default: each with the power that brings it "
            "to its jammed mean)"
        ),
    )


def changes(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say, as the configuration's table [jammer] has it."""
    from ...naming.notation import numbers_from_text

    said: dict[str, Any] = {
        name: value
        for name in ("rho", "same_power")
        if (value := getattr(options, name)) is not None
    }
    if options.jammer is not None:
        listed = options.jammer[:1].isdigit() or options.jammer[:1] == "."
        said["strategy"] = numbers_from_text(options.jammer) if listed else options.jammer
    return said


def check_rho(options: argparse.Namespace, jammer: JammerConfig) -> None:
    """Refuse a rho that would have no effect."""
    from ...radio.testbed.jamming import uses_rho

    if options.rho is not None and not uses_rho(jammer):
        raise InvalidInput(
            f"--rho has no effect with the jammer {words(jammer)}, which decides by itself what "
            "to jam; leave it out, or use another jammer, such as --jammer any."
        )


def words(jammer: JammerConfig) -> str:
    """Return a jammer in words, with rho only where it has an effect."""
    from ...radio.testbed.jamming import uses_rho

    if not isinstance(jammer.strategy, str):
        whom = ",".join(f"{probability:g}" for probability in jammer.strategy)
    elif uses_rho(jammer):
        whom = f"{jammer.strategy!r} with rho = {jammer.rho:g}"
    else:
        whom = repr(jammer.strategy)
    return f"{whom}, the same power in all channels" if jammer.same_power else whom
