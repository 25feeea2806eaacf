"""What several verbs do."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..bandits import Bandit, GaussianBandit
from ..errors import InvalidInput
from ..notation import bandit_from_text, numbers_from_text


def add_verb(verbs: Any, name: str, short: str, description: str, examples: str) -> Any:
    """Add a verb to the command line, and return its parser."""
    return verbs.add_parser(
        name,
        help=short,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_allow_code(parser: argparse.ArgumentParser) -> None:
    """Add `--allow-code`."""
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help="let the file name Python files, as in mine.py:MyPolicy; loading one runs it",
    )


def normal_arms(means: str, sigma: str) -> GaussianBandit:
    """Return normal arms from the texts of --means and --sigma."""
    spreads = numbers_from_text(sigma)
    return GaussianBandit(numbers_from_text(means), spreads[0] if len(spreads) == 1 else spreads)


def add_arms(parser: argparse.ArgumentParser) -> None:
    """Add `--bandit`, or `--means` and `--sigma`."""
    parser.add_argument(
        "--means",
        help="the arms' means, 1,2,3 or first:last:step (default: the paper's, 2:20:2)",
    )
    parser.add_argument("--sigma", help="standard deviation, one or one for each arm (default: 1)")
    parser.add_argument(
        "--bandit",
        metavar="B",
        help=(
            "arms of another kind, as 'BernoulliBandit([0.2, 0.7])' or mine.py:MyBandit; in the "
            "place of --means and --sigma"
        ),
    )


def arms_of(options: argparse.Namespace) -> Bandit:
    """Return the arms that the options describe."""
    if options.bandit is None:
        return normal_arms(options.means or "2:20:2", options.sigma or "1")
    if options.means or options.sigma:
        raise InvalidInput("--bandit is given beside --means or --sigma; leave one out.")
    return bandit_from_text(options.bandit)


def check_place(option: str, file: Path, example: str) -> None:
    """Refuse a file that cannot be written, before any round is played."""
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
    if file.exists() and not os.access(file, os.W_OK):
        raise InvalidInput(
            f"{option} {file} cannot be written: the file is there, and you may not change it. "
            "Choose another."
        )


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """On Ctrl-C, say where the finished cells are, and that the command can resume."""
    try:
        yield
    except KeyboardInterrupt:
        print(
            f"finished cells are kept in {out / 'cells'}; the same command resumes",
            file=sys.stderr,
        )
        raise
