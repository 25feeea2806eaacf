"""How things look in a notebook: tables in HTML, and a bar of progress.

Names come from users, so every text is escaped, and dollar signs are not taken for
mathematics.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

# notebooks look for mathematics between dollar signs, but not inside these
TEXT_ONLY = 'class="tex2jax_ignore mathjax_ignore"'


def in_notebook() -> bool:
    """Return whether this runs in a notebook: a kernel of IPython, not its terminal.

    IPython is not imported for it.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def html_table(
    head: Sequence[str],
    body: Iterable[Sequence[str]],
    *,
    caption: str = "",
    bold: Sequence[int] = (),
    texts: Sequence[int] = (0,),
) -> str:
    """Return a table in HTML.

    Parameters
    ----------
    caption : a line above it.
    bold : numbers of the rows in bold letters.
    texts : numbers of the columns that hold text, which stands to the left.
    """

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="text-align: {"left" if i in texts else "right"}">{escape(cell)}</{tag}>'
            for i, cell in enumerate(row)
        )

    above = f"<p {TEXT_ONLY}>{escape(caption)}</p>" if caption else ""
    top = f"<thead><tr>{cells('th', head)}</tr></thead>" if head else ""
    rows = "".join(
        f"<tr{' style=' + chr(34) + 'font-weight: bold' + chr(34) if i in bold else ''}>"
        f"{cells('td', row)}</tr>"
        for i, row in enumerate(body)
    )
    return f"{above}<table {TEXT_ONLY}>{top}<tbody>{rows}</tbody></table>"


class NotebookBar:
    """A bar of progress in the output of the cell that is running."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._output = display(HTML(""), display_id=True)

    def show(self, what: str, share: float, left: str) -> None:
        """Show what is being done, how much of it is done, and the time left."""
        self._output.update(
            self._html(
                f'<div {TEXT_ONLY}>{escape(what)} <progress value="{share:.4f}" max="1">'
                f"</progress> {100 * share:.0f} %{escape(left)}</div>"
            )
        )

    def close(self) -> None:
        """Take the bar away."""
        self._output.update(self._html(""))
