"""`ironarm reproduce`: a study with its claims, as a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

EXAMPLES = """\
examples:
  ironarm reproduce --out results
  ironarm reproduce --trials 100 --workers 2
"""


def add(verbs: Any) -> None:
    """Describe the options."""
    reproduce = verbs.add_parser(
        "reproduce",
        help="the paper's synthetic experiment",
        description="Run the paper's synthetic experiment (nine policies, rho 0.125 and 0.3, T = 100,000); print its tables and draw its figures.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    reproduce.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="folder for figures and results (default: results)")
    reproduce.add_argument("--trials", type=int, default=20, help="independent repetitions (default: 20, the paper's)")
    reproduce.add_argument("--workers", type=int, help="threads (default: one for each processor)")
    reproduce.add_argument("--seed", type=int, default=2020, help="a whole number (default: 2020)")


def run(options: argparse.Namespace) -> int:
    """Run the study."""
    from ..studies.synthetic import reproduce

    reproduce(options.out, trials=options.trials, workers=options.workers, seed=options.seed)
    return 0
