"""The jammer on the command line: `--jammer` and `--rho`."""

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


def changes(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say, as the configuration's table [jammer] has it."""
    from ...notation import numbers_from_text

    said: dict[str, Any] = {} if options.rho is None else {"rho": options.rho}
    if options.jammer is not None:
        listed = options.jammer[:1].isdigit() or options.jammer[:1] == "."
        said["strategy"] = numbers_from_text(options.jammer) if listed else options.jammer
    return said


def check_rho(options: argparse.Namespace, jammer: JammerConfig) -> None:
    """Refuse a rho that would have no effect."""
    from ...radio.testbed.jamming import uses_rho

    if options.rho is not None and not uses_rho(jammer):
        raise InvalidInput(
            f"--rho has no effect beside the jammer {words(jammer)}, which says itself what is "
            "jammed; leave it out, or use another, such as --jammer any."
        )


def words(jammer: JammerConfig) -> str:
    """Return a jammer in words, with rho only where it has an effect."""
    from ...radio.testbed.jamming import uses_rho

    if not isinstance(jammer.strategy, str):
        return ",".join(f"{probability:g}" for probability in jammer.strategy)
    return (
        f"{jammer.strategy!r} with rho = {jammer.rho:g}"
        if uses_rho(jammer)
        else repr(jammer.strategy)
    )
