"""Figures: the styles of their lines, and how they are written."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, missing_extra
from ..files import write_whole
from .looks import DASH_DOT, DASHED, DOTTED, LINES, MARKERS, OWN, SOLID, Look, styles


class Styles:
    """Colour, line and marker for the policies of one figure.

    A built-in policy has the same colour in every figure. With other parameters it
    keeps it and gets another line, dash-dotted first. Policies that are not built in
    get the colours that the figure's built-in policies leave free, one after another.
    No two lines have both the same dashes and the same marker, so they can be told
    apart without colours too.

    Parameters
    ----------
    policies : the names of all policies of the figure, as far as they are known.

    Examples
    --------
    >>> styles = Styles(["MedEUCB", "Mine", "Yours"])
    >>> styles.next("Mine"), styles.next("Yours"), styles.next("MedEUCB")
    (('#FF0055', '-', ''), ('#AA00FF', '--', ''), ('#0072B2', '-', 'o'))
    """

    def __init__(self, policies: Iterable[str] = ()) -> None:
        self._seen: dict[str, int] = {}
        self._built_in = styles()
        self._taken = {self._built_in[name][0] for name in policies if name in self._built_in}
        self._own = 0
        self._looks: set[tuple[str, str]] = set()

    def next(self, policy: str) -> Look:
        """Return the style of the next line, which shows the policy of this name."""
        times = self._seen[policy] = self._seen.get(policy, -1) + 1
        if policy in self._built_in:
            colour, line = self._built_in[policy]
            lines = [line, *(other for other in (DASH_DOT, DOTTED, DASHED, SOLID) if other != line)]
            line = lines[times % 4]
        else:
            free = [colour for colour in OWN if colour not in self._taken] or OWN
            colour, line, times = free[0], LINES[self._own % 4], 0
            self._own += 1
        self._taken.add(colour)
        if self._taken.issuperset(OWN):
            self._taken.clear()
        first = min(times, 3)
        marker = next(
            (
                marker
                for marker in MARKERS[first:] + MARKERS[:first]
                if (line, marker) not in self._looks
            ),
            MARKERS[times % len(MARKERS)],
        )
        self._looks.add((line, marker))
        return colour, line, marker


def looks_of(kinds: Mapping[str, str]) -> dict[str, Look]:
    """Return how lines look, from their names and the names of their policies' classes.

    Of each class, the line with the class's name or else the first one gets the class's
    own look; then come those with other parameters.

    >>> looks_of({"MedEUCB.for_rho": "MedEUCB", "MedEUCB": "MedEUCB"})["MedEUCB"]
    ('#0072B2', '-', '')
    """
    chosen = Styles(kinds.values())
    plain: dict[str, str] = {}
    for name, kind in kinds.items():
        plain.setdefault(kind, kind if kinds.get(kind) == kind else name)
    order = sorted(kinds, key=lambda name: plain[kinds[name]] != name)
    made = {name: chosen.next(kinds[name]) for name in order}
    return {name: made[name] for name in kinds}


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


def check_format(path: Path) -> str:
    """Return the format that a file's ending asks for; refuse what cannot be drawn."""
    pyplot()
    from matplotlib.backend_bases import FigureCanvasBase

    form = path.suffix.lower().removeprefix(".")
    if form not in FigureCanvasBase.filetypes:
        raise InvalidInput(
            f"the figure cannot be written to {path}: its name must end with .pdf, .svg, .png or "
            f"another format that matplotlib writes, got {path.suffix or 'no ending'}."
        )
    return form


def save_figure(figure: Any, path: str | Path, dpi: int = 150) -> None:
    """Write a figure to a file, whole or not at all, in the format of its ending.

    Fonts go into a PDF as TrueType, which journals ask for.
    """
    path = Path(path)
    form = check_format(path)
    buffer = io.BytesIO()
    with pyplot().rc_context({"pdf.fonttype": 42}):
        figure.savefig(buffer, format=form, metadata=FORMATS.get(form), dpi=dpi)
    try:
        write_whole(path, buffer.getvalue())
    except OSError as error:
        raise InvalidInput(f"the figure cannot be written to {path}: {error.strerror}.") from None


def plain_label(name: str) -> str:
    """Return a name as a label, in which a dollar sign is a dollar sign."""
    return name.replace("$", r"\$")


def set_ticks(axes: Any) -> None:
    """Give a logarithmic axis of less than two decades more than powers of ten."""
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() == "log" and high < 100 * low:
            every = [step * 10**k for k in range(-3, 9) for step in (1, 2, 5)]
            ticks = [tick for tick in every if low <= tick <= high]
            axis.set_ticks(ticks, [f"{tick:,g}" for tick in ticks])
        axis.set_minor_formatter("")  # hidden labels still slow the layout down


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
