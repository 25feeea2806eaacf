"""What several verbs do."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, OtherReward, StoreError, UnknownDecision

if TYPE_CHECKING:
    from ..bandits import Bandit, GaussianBandit

EXIT_CODES = """\
exit codes:
  0  done
  2  the call is wrong: an option, an arm, a reward, a file of another kind; nothing changed
  3  the decision is not open: unknown, cancelled, expired, or it has a different reward
  4  the agent's file does not exist, or cannot be read or written now; nothing was stored
"""
"""Of the verbs that scripts call."""


def exit_code(work: Callable[[], None]) -> int:
    """Do some work, and return the exit code that tells a script how it went."""
    try:
        work()
        return 0
    except (UnknownDecision, OtherReward, StoreError, OSError) as error:
        print(f"ironarm: {error}", file=sys.stderr)
        return 4 if isinstance(error, (StoreError, OSError)) else 3


def describe(parser: argparse.ArgumentParser, description: str, examples: str) -> None:
    """Say what a verb does, and show examples."""
    parser.description, parser.epilog = description, examples


def add_allow_code(parser: argparse.ArgumentParser) -> None:
    """Add `--allow-code`."""
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help="let the file refer to Python files, as in mine.py:MyPolicy; loading one runs it",
    )


def normal_arms(means: str, sigma: str) -> GaussianBandit:
    """Return normal arms from the texts of --means and --sigma."""
    from ..bandits import GaussianBandit
    from ..naming.notation import numbers_from_text

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
            "arms of another kind, such as 'BernoulliBandit([0.2, 0.7])' or mine.py:MyBandit; "
            "instead of --means and --sigma"
        ),
    )


def arms_of(options: argparse.Namespace) -> Bandit:
    """Return the arms that the options describe."""
    from ..bandits import bandit_from_text

    if options.bandit is None:
        return normal_arms(options.means or "2:20:2", options.sigma or "1")
    if options.means or options.sigma:
        raise InvalidInput("--bandit replaces --means and --sigma; leave one of them out.")
    return bandit_from_text(options.bandit)


def add_feedback(parser: argparse.ArgumentParser) -> None:
    """Add who sends rewards, and how late they come."""
    parser.add_argument(
        "--sources",
        type=int,
        metavar="N",
        help="N sources send the rewards, and rho is the share of them that is corrupt",
    )
    parser.add_argument(
        "--zipf", type=float, help="their traffic falls like 1/rank^ZIPF (default: equal)"
    )
    parser.add_argument(
        "--active", type=float, help="how many times as much corrupt sources send (default: 1)"
    )
    parser.add_argument("--delay", type=float, metavar="MEAN", help="mean delay of rewards, rounds")
    parser.add_argument("--lost", type=float, help="share of rewards that never come")
    parser.add_argument("--expire", type=int, help="cancel a decision after this many rounds")


def feedback_from(options: argparse.Namespace) -> dict[str, Any]:
    """Return the sources and the delay that the options describe."""
    from ..simulation.feedback import feedback_of

    sources = {"count": options.sources, "zipf": options.zipf, "active": options.active}
    delay = {"mean": options.delay, "lost": options.lost, "expire": options.expire}
    given = {
        name: {key: value for key, value in table.items() if value is not None}
        for name, table in (("sources", sources), ("delay", delay))
    }
    if given["sources"] and options.sources is None:
        raise InvalidInput("--zipf and --active describe sources; give --sources too.")
    return feedback_of("the options", {name: table or None for name, table in given.items()})


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
            f"{option} {file} cannot be written: the file exists and is read-only. Choose another."
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
