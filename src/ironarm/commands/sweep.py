"""`ironarm sweep`: many cells from a small file, in parallel, as Parquet."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..naming import own_code
from ..show.text import counted, wrapped
from .common import add_allow_code, describe

EXAMPLES = """\
a sweep file:
  policies = ["MedEUCB(b=[4, 8])", "TrimmedUCB(alpha=[rho, rho + 0.1])", "UCB"]
  attacks  = ["OppositeUniform(scale=1800)", "Infinite"]
  rho      = [0.125, 0.3]
  arms     = 10             # normal arms with the means gap, 2 gap, ...; or: means = [2, 4, 6]
  gap      = [0.5, 2]
  sigma    = 1
  horizon  = 10_000
  trials   = 50
  seed     = 7

examples:
  ironarm sweep sweep.toml                           into results/sweep
  ironarm sweep sweep.toml --trials 5 --out try
  ironarm sweep sweep.toml --dask                    on a Dask cluster of this machine
  ironarm sweep sweep.toml --dask tcp://host:8786 --out /shared/sweep
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        (
            "Simulate every combination that a TOML file lists, in parallel; write Parquet files. "
            "Finished cells are kept: the same command resumes."
        ),
        EXAMPLES,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the sweep, as TOML; see below")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for tables and finished cells (default: results/ and the file's name)",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes (default: one for each processor)"
    )
    parser.add_argument(
        "--dask",
        nargs="?",
        const="local",
        metavar="ADDRESS",
        help="use Dask: a cluster on this machine, or the scheduler at ADDRESS",
    )
    parser.add_argument(
        "--trials", type=int, metavar="N", help="independent repetitions, instead of the file's"
    )
    parser.add_argument(
        "--force", action="store_true", help="run all cells again, even finished ones"
    )
    add_allow_code(parser)


def run(options: argparse.Namespace) -> int:
    """Run the sweep, print its results at the horizon and where its tables are."""
    from ..lab.sweeps.file import read_sweep
    from ..lab.sweeps.sweep import run_sweep

    with own_code.allowed(options.file.parent, options.allow_code):
        cells = read_sweep(options.file, options.trials)
    out = options.out or Path("results") / options.file.stem
    trials, checkpoints = run_sweep(
        cells,
        out,
        workers=options.workers,
        dask=options.dask,
        force=options.force,
        progress=True,
    )

    from ..lab.sweeps.tables import final_table

    print(
        wrapped(
            f"{counted(len(cells), 'cell')}: {counted(cells[0].trials, 'trial')} of "
            f"{counted(cells[0].horizon, 'round')} each, seed {cells[0].seed}"
        )
        + "\n"
    )
    print(final_table(checkpoints))
    print(
        f"\nwrote {out / trials.name} (a row for each trial) and {out / checkpoints.name} (a row "
        "for each checkpoint)"
    )
    return 0
