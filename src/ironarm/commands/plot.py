"""`ironarm plot`: the figure of whatever ironarm has saved."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InvalidInput
from ..naming import own_code
from ..policies import policy_from_text
from .common import check_place, describe

EXAMPLES = """\
examples:
  ironarm plot result.npz                            into result.png
  ironarm plot result.npz -o fig3.pdf --what regret --column
  ironarm plot result.npz --policies UCB MedEUCB --labels usual robust --x linear
  ironarm plot results/sweep --where rho=0.3 gap=2   one panel for each setting
  ironarm plot run.json                              a run of `ironarm radio run --save run.json`
  ironarm plot recordings/testbed.sigmf-meta         a spectrogram
  ironarm plot agent.json                            what an agent knows of its arms
  ironarm plot agent.json --own 'mine.py:MyPolicy(b=2)'
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(parser, "Draw a file that ironarm has saved, of any kind.", EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE", help="what to draw; see below")
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="OUT",
        help="the figure: .pdf, .svg, .png (default: FILE's name with .png, beside it)",
    )
    parser.add_argument(
        "--what",
        choices=["regret", "optimal", "pulls"],
        help=(
            "regret or share of optimal pulls over the rounds, or pulls of each arm (default: "
            "the first two; for a sweep, regret)"
        ),
    )
    parser.add_argument(
        "--x", choices=["log", "linear"], help="axes of rounds and regret (default: log)"
    )
    parser.add_argument(
        "--policies",
        nargs="+",
        metavar="P",
        help="which policies, in which order, by label or by number from 0 (default: all)",
    )
    parser.add_argument(
        "--labels", nargs="+", metavar="L", help="other labels, one for each policy that is drawn"
    )
    parser.add_argument(
        "--where",
        nargs="+",
        metavar="COLUMN=VALUE",
        help="for a sweep: only rows with these values, such as rho=0.3",
    )
    parser.add_argument(
        "--own",
        metavar="POLICY",
        help="for an agent with a policy of your own: that policy, as mine.py:MyPolicy",
    )
    parser.add_argument(
        "--column", action="store_true", help="for print: as wide as a column, with 8-point text"
    )


def run(options: argparse.Namespace) -> int:
    """Draw the file and say where the figure is."""
    from ..draw_file import plot

    out = options.out or _beside(options.file)
    check_place("-o", out, "figure.png")
    with own_code.allowed():
        policy = None if options.own is None else policy_from_text(options.own)
    plot(
        options.file,
        out,
        policies=options.policies,
        labels=options.labels,
        what=options.what,
        x=options.x,
        where=_where(options.where),
        policy=policy,
        column=options.column,
    )
    print(f"wrote {out}")
    return 0


def _beside(file: Path) -> Path:
    return file / "regret.png" if file.is_dir() else file.with_suffix(".png")


def _where(texts: list[str] | None) -> dict[str, str] | None:
    if texts is None:
        return None
    pairs = [text.partition("=") for text in texts]
    for text, (column, equals, _) in zip(texts, pairs, strict=True):
        if not column or not equals:
            raise InvalidInput(f"--where must be COLUMN=VALUE, such as rho=0.3, got {text!r}.")
    return {column: value for column, _, value in pairs}
