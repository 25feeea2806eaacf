"""Options that several subverbs of `ironarm radio` share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...naming import own_code
from ...radio.network.messages import BY_HAND
from ..common import add_allow_code

if TYPE_CHECKING:
    from ...radio.testbed.config import RadioConfig


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add `--config`."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the configuration, as TOML; docs/radio.md lists all settings",
    )
    add_allow_code(parser)


def read_config(options: argparse.Namespace, *more: Any) -> RadioConfig:
    """Return the configuration of `--config`; its policy may be in a Python file."""
    from ...radio.testbed.config import RadioConfig

    folder = options.config.parent if options.config else "."
    with own_code.allowed(folder, options.allow_code):
        return RadioConfig.read(options.config, *more)


def add_run_name(parser: argparse.ArgumentParser) -> None:
    """Add `--run`."""
    parser.add_argument(
        "--run",
        default=BY_HAND,
        metavar="NAME",
        help=(
            "the run it belongs to, the same for all its nodes; nodes of other runs are refused "
            f"(default: {BY_HAND})"
        ),
    )


def add_acknowledgement(parser: argparse.ArgumentParser) -> None:
    """Add `--acknowledge-transmitting`."""
    parser.add_argument(
        "--acknowledge-transmitting",
        metavar="SETUP",
        help=(
            "needed for real radios: repeat the configured setup, conducted, shielded or licensed"
        ),
    )
