"""A progress bar on a terminal or in a notebook, plain lines in a pipe.

Short work is silent.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from ..engine.announce import STILL
from ..show.notebook import NotebookBar, in_notebook

QUIET_SECONDS = 2.0
LINE_EVERY = 10.0
NOTEBOOK_EVERY = 0.2
"""Seconds; each picture of the bar is a message to the browser."""


class Progress:
    """Progress of `total` steps on standard error, or in a notebook.

    `show`: True always, False never, None only on a terminal or in a notebook; nothing
    appears in the first two seconds. `step` names this work where it is one of several
    steps, as in "step 1 of 3": the time left is then the step's.
    """

    def __init__(self, what: str, total: float, show: bool | None = None, step: str = "") -> None:
        self._step = f"{step}: " if step else ""
        self._what, self._total, self._done = what, total, 0.0
        self._notebook = in_notebook()
        self._terminal = sys.stderr.isatty()
        self._wanted = (self._terminal or self._notebook) if show is None else show
        self._by_default = show is None
        self._started = self._last_line = time.monotonic()
        self._bar: Any = None
        self._notebook_bar: NotebookBar | None = None
        self._task: Any = None
        self._said: set[str] = set()
        self._preparing = False

    def __enter__(self) -> Progress:
        return self

    def note(self, what: str) -> None:
        """Say what is being done now."""
        self._what = what
        if self._preparing and not self._done:
            self.restart(self._total)  # what went before was announced, and is no step
        self._preparing = False
        self.refresh()

    def announce(self, what: str) -> None:
        """Say at once what is being done; it takes long and reports nothing.

        In a pipe the same is said once only.
        """
        self._what, self._preparing = what, True
        if self._wanted and (self._terminal or self._notebook):
            self._show()
        elif self._wanted and what not in self._said:
            self._said.add(what)
            print(f"{self._step}{what}", file=sys.stderr, flush=True)

    def compiling(self, what: str) -> None:
        """Say what is compiled; in a pipe also where nobody asked for progress.

        It takes seconds, and happens once: whoever waits shall know why.
        """
        alive = what.startswith(STILL)
        if alive and not self._terminal and time.monotonic() - self._last_line < LINE_EVERY:
            return
        self._last_line = time.monotonic()
        if self._wanted or not self._by_default:
            self.announce(what)
        elif what not in self._said:
            self._said.add(what)
            print(f"ironarm: {self._step}{what}", file=sys.stderr, flush=True)

    def advance(self, steps: float = 1) -> None:
        """Count steps that are done."""
        self._done += steps

    def extend(self, steps: float) -> None:
        """Count steps that nobody knew of before."""
        self._total += steps
        if self._bar is not None:
            self._bar.update(self._task, total=self._total)

    def restart(self, total: float) -> None:
        """Start counting again; the time until now does not count."""
        self._total, self._done = total, 0.0
        self._started = self._last_line = time.monotonic()
        if self._bar is not None:
            self._bar.reset(self._task, total=total)

    def refresh(self) -> None:
        """Bring the display up to date."""
        now = time.monotonic()
        if not self._wanted or now - self._started < QUIET_SECONDS:
            return
        if self._terminal or self._notebook:
            self._show()
        elif now - self._last_line >= LINE_EVERY:
            self._last_line = now
            share, left = self._share()
            print(
                f"{self._step}{self._what}: {100 * share:.0f} %, {now - self._started:.0f} s{left}",
                file=sys.stderr,
                flush=True,
            )

    def _share(self) -> tuple[float, str]:
        """Return the share that is done, and in words how long the rest takes."""
        share = self._done / self._total if self._total else 1.0
        passed = time.monotonic() - self._started
        if share <= 0.02:
            return share, ""
        left = f", about {max(0.0, passed * (1 / share - 1)):.0f} s left"
        return share, f"{left} in this step" if self._step else left

    def _show(self) -> None:
        if self._notebook:
            self._show_in_notebook()
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=self._done, description=f"{self._step}{self._what}")

    def _show_in_notebook(self) -> None:
        if self._notebook_bar is None:
            self._notebook_bar = NotebookBar()
        elif time.monotonic() - self._last_line < NOTEBOOK_EVERY:
            return
        self._last_line = time.monotonic()
        self._notebook_bar.show(f"{self._step}{self._what}", *self._share())

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        self._bar = RichProgress(
            *columns, console=Console(stderr=True), transient=True, speed_estimate_period=60
        )
        self._bar.start()
        self._task = self._bar.add_task(f"{self._step}{self._what}", total=self._total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._notebook_bar is not None:
            self._notebook_bar.close()
        self._bar = self._notebook_bar = None  # it may be used again


class Portion(Progress):
    """A part of larger work; each of its steps counts as `weight` of the whole's."""

    def __init__(self, whole: Progress, what: str, weight: float) -> None:
        self._whole, self._label, self._weight = whole, what, weight

    def note(self, what: str) -> None:
        """The whole says which part is at work."""
        self._whole.note(self._label)

    def announce(self, what: str) -> None:
        """Say at once, and in which part."""
        self._whole.announce(f"{self._label}: {what}")

    def compiling(self, what: str) -> None:
        """Say what is compiled, and for which part."""
        self._whole.compiling(f"{self._label}: {what}")

    def advance(self, steps: float = 1) -> None:
        """Count steps, by their weight."""
        self._whole.advance(self._weight * steps)

    def refresh(self) -> None:
        """Bring the whole's display up to date."""
        self._whole.refresh()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass
