"""Draw the figures of README and docs: `python docs/make/figures.py [NAME...]`.

docs/gallery.md has the code of each figure, in a block under a line such as

    <!-- figure: regret-under-attack -->

Each block is run and leaves `figure`. It is drawn twice, for light and for dark pages,
into docs/figures; `drawn.json` beside them has the code's hash and the ends of all
lines, so that a test can tell whether a figure is up to date.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

from ironarm.files import write_whole
from ironarm.show.figures import pyplot
from ironarm.show.looks import DARK

DOCS = Path(__file__).resolve().parent.parent
GALLERY = DOCS / "gallery.md"
FOLDER = DOCS / "figures"
DRAWN = FOLDER / "drawn.json"
BLOCK = re.compile(r"<!-- figure: ([\w-]+) -->\n+```python\n(.*?)```", re.DOTALL)
INK, PAPER = "#d7dbe2", "#16181d"


def codes() -> dict[str, str]:
    """Return the code of each figure of the gallery, by name."""
    return dict(BLOCK.findall(GALLERY.read_text()))


def drawn(code: str) -> Any:
    """Run the code of a figure and return the figure."""
    names: dict[str, Any] = {}
    pyplot()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, str(GALLERY), "exec"), names)
    return names["figure"]


def ends(figure: Any) -> list[str]:
    """Return the end of each line of a figure, to four digits."""
    found = []
    for axes in figure.axes:
        for line in axes.get_lines():
            x, y = line.get_data()
            if len(x):
                found.append(f"{line.get_label()}: {float(x[-1]):.4g}, {float(y[-1]):.4g}")
    return found


def digest(code: str) -> str:
    """Return the hash of a figure's code."""
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def svg(figure: Any, dark: bool) -> bytes:
    """Return a figure as SVG, with letters as outlines and without a ground."""
    if dark:
        _darken(figure)
    buffer = io.BytesIO()
    with pyplot().rc_context({"svg.fonttype": "path"}):
        figure.savefig(
            buffer, format="svg", metadata={"Date": None}, transparent=True, bbox_inches="tight"
        )
    return re.sub(rb"[ \t]+\n", b"\n", buffer.getvalue())


def _darken(figure: Any) -> None:
    """Change the colours of all that would vanish on a dark ground."""
    from matplotlib.colors import to_hex

    for artist in figure.findobj():
        for part in ("color", "facecolor", "edgecolor"):
            get, change = getattr(artist, f"get_{part}", None), getattr(artist, f"set_{part}", None)
            if get is None or change is None:
                continue
            try:
                colour = to_hex(get()).upper()
            except (ValueError, TypeError):
                continue  # several colours, as a collection has
            if colour in ("#000000", "#262626"):
                change(INK)
            elif colour == "#FFFFFF":
                change(PAPER)
            elif colour in DARK:
                change(DARK[colour])
    for axes in figure.axes:
        axes.tick_params(colors=INK, which="both")
        for spine in axes.spines.values():
            spine.set_edgecolor(INK)


def main() -> int:
    """Draw the figures that are named, or all."""
    chosen = codes()
    record = json.loads(DRAWN.read_text()) if DRAWN.exists() else {}
    unknown = set(sys.argv[1:]) - set(chosen)
    if unknown:
        print(f"docs/gallery.md has no figure {', '.join(unknown)}; it has {', '.join(chosen)}.")
        return 2
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or chosen:
        print(f"drawing {name}", flush=True)
        figure = drawn(chosen[name])
        record[name] = {"code": digest(chosen[name]), "ends": ends(figure)}
        for dark in (False, True):
            write_whole(FOLDER / f"{name}-{'dark' if dark else 'light'}.svg", svg(figure, dark))
        pyplot().close(figure)
    record = {name: record[name] for name in chosen if name in record}
    write_whole(DRAWN, (json.dumps(record, indent=1) + "\n").encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
