"""What several verbs do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..bandits import GaussianBandit
from ..notation import numbers_from_text


def add_verb(verbs: Any, name: str, short: str, description: str, examples: str) -> Any:
    """Add a verb to the command line, and return its parser."""
    return verbs.add_parser(
        name,
        help=short,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def normal_arms(means: str, sigma: str) -> GaussianBandit:
    """Return normal arms from the texts of --means and --sigma."""
    spreads = numbers_from_text(sigma)
    return GaussianBandit(numbers_from_text(means), spreads[0] if len(spreads) == 1 else spreads)


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
