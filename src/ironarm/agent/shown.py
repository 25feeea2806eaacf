"""An agent as text and as a table in a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..show.notebook import html_table
from ..show.text import counted
from .core import Core

HEAD = ("arm", "rewards", "open", "estimate")


def as_text(core: Core, name: str = "Agent(") -> str:
    """Return a title and a row for each arm; the best one is marked."""
    best = core.best()
    rows = [HEAD, *_cells(core)]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    marks = [" ", *("*" if arm == best else " " for arm in core.names)]
    lines = [
        f"{mark} {row[0]:<{widths[0]}}  " + "  ".join(f"{row[k]:>{widths[k]}}" for k in range(1, 4))
        for mark, row in zip(marks, rows, strict=True)
    ]
    return "\n".join([_title(core, name), *lines])


def as_html(core: Core) -> str:
    """Return the same as an HTML table."""
    bold = [core.number_of(core.best())]
    return html_table(HEAD, _cells(core), caption=_title(core, "Agent("), bold=bold)


def _title(core: Core, name: str) -> str:
    goal = ", minimizing" if core.minimize else ""
    return f"{name}{core.policy!r}, {counted(core.decisions, 'decision')}{goal})"


def _cells(core: Core) -> list[Sequence[str]]:
    """Return a row of texts for each arm."""
    estimates, rewards, waiting = core.estimates, core.rewards, core.waiting
    return [
        (
            str(arm),
            str(rewards[arm]),
            str(waiting[arm]),
            "-" if math.isnan(estimates[arm]) else f"{estimates[arm]:.6g}",
        )
        for arm in core.names
    ]
