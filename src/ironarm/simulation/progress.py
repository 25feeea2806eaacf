"""A progress bar on a terminal, plain lines in a pipe, silence for short work."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

QUIET_SECONDS = 2.0
LINE_EVERY = 10.0


class Progress:
    """Progress of `total` steps on standard error. `show`: True always, False never, None only on a terminal; nothing appears in the first two seconds."""

    def __init__(self, what: str, total: int, show: bool | None = None) -> None:
        self._what, self._total, self._done = what, total, 0
        self._terminal = sys.stderr.isatty()
        self._wanted = self._terminal if show is None else show
        self._started = self._last_line = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def note(self, what: str) -> None:
        """Say what is being done now."""
        self._what = what
        self.refresh()

    def announce(self, what: str) -> None:
        """Say at once what is being done now, because it will take its time and cannot report on the way."""
        self._what = what
        if self._wanted and self._terminal:
            self._show()
        elif self._wanted:
            print(what, file=sys.stderr, flush=True)

    def advance(self) -> None:
        """Count one step."""
        self._done += 1

    def refresh(self) -> None:
        """Bring the display up to date."""
        now = time.monotonic()
        if not self._wanted or now - self._started < QUIET_SECONDS:
            return
        if self._terminal:
            self._show()
        elif now - self._last_line >= LINE_EVERY:
            self._last_line = now
            print(f"{self._what}: {self._done} of {self._total}, {now - self._started:.0f} s", file=sys.stderr, flush=True)

    def _show(self) -> None:
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=self._done, description=self._what)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self._what, total=self._total)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
