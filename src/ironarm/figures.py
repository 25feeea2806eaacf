"""How figures look: each policy has the same colour and line style in all of them.

Colours are Okabe and Ito's and Tol's muted ones, which colour-blind readers can tell
apart; dashes tell them apart in print, and relatives that share a colour.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from .errors import missing_extra
from .files import write_whole

ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE, BLACK = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
    "#000000",
)
SOLID, DASHED, DOTTED, DASH_DOT = "-", "--", ":", "-."

STYLES: dict[str, tuple[str, str]] = {
    "MedEUCB": (BLUE, SOLID),
    "MedEpsilonGreedy": (SKY, DASHED),
    "UCB": (RED, SOLID),
    "EpsilonGreedy": (ORANGE, DASHED),
    "RUCB": (GREEN, SOLID),
    "EXP3": (PURPLE, DOTTED),
    "CatoniUCB": (BLACK, DASH_DOT),
    "TrimmedUCB": ("#8C564B", SOLID),
    "TrimmedEpsilonGreedy": ("#999933", DASHED),
    "CRUCB": ("#CC6677", DASHED),
    "HuberUCB": ("#88CCEE", DASH_DOT),
    "MedianOfMeansUCB": ("#DDCC77", DASH_DOT),
    "TruncatedMeanUCB": ("#AA4499", DOTTED),
    "IMED": ("#882255", SOLID),
    "CRIMED": ("#44AA99", DASHED),
    "CRIMEDStar": ("#44AA99", SOLID),
    "CountIMED": ("#117733", DASHED),
    "AdaptiveCountIMED": ("#332288", DASH_DOT),
    "ThompsonGaussian": ("#CC6677", DASH_DOT),
    "TsallisINF": ("#AA4499", DASHED),
    "EXP3PlusPlus": (PURPLE, DASH_DOT),
    "BARBAR": ("#DDCC77", DOTTED),
}
_SPARE = [("#7F7F7F", SOLID), ("#7F7F7F", DASHED), ("#7F7F7F", DOTTED), ("#7F7F7F", DASH_DOT)]


class Styles:
    """Colour, line and marker for the policies of one figure.

    The same policy with other parameters keeps its colour and gets another line,
    dash-dotted first, and a marker.
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def next(self, policy: str) -> tuple[str, str, str]:
        """Return the style of the next line, which shows the policy of this name."""
        colour, line = STYLES.get(policy, _SPARE[len(self._seen) % len(_SPARE)])
        times = self._seen[policy] = self._seen.get(policy, -1) + 1
        lines = [line, *(other for other in (DASH_DOT, DOTTED, DASHED, SOLID) if other != line)]
        return colour, lines[times % 4], ("", "o", "s", "^")[times % 4]


# nothing in a figure's file may depend on when it was made
FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


def write_figure(figure: Any, folder: Path, name: str) -> dict[str, bytes]:
    """Write a figure as SVG, PDF and PNG into a folder, close it, return the files.

    The SVG has no background of its own.
    """
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")  # once is enough for three files
    written = {}
    for form, metadata in FORMATS.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=form, metadata=metadata, dpi=160, transparent=form == "svg")
        written[form] = buffer.getvalue()
        write_whole(folder / f"{name}.{form}", written[form])
    pyplot().close(figure)
    return written


def pyplot() -> Any:
    """Return matplotlib.pyplot, set up to draw to files; or say how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise missing_extra("plotting", "study") from None
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update(
        {
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "pdf.fonttype": 42,  # TrueType: journals refuse Type 3, and it can be searched
            "svg.fonttype": "none",
            "svg.hashsalt": "ironarm",
        }
    )
    return plt
