"""Routers side by side on one scenario, live in a terminal or as lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from .play import Router, RouterScore, score, steps
from .scenario import Scenario

WINDOW = 100
"""Requests over which a share is shown."""
LINES = 8
"""Lines in a pipe."""
FRAMES = 20
"""Pictures a second."""
BAR = 24
"""Letters of a bar."""

View = Callable[[int, Mapping[str, "Course"]], None]


class Course:
    """How one router has done so far."""

    def __init__(self, scenario: Scenario, excess: list[list[float]]) -> None:
        self._names, self._excess = scenario.names, excess
        self._last: deque[bool] = deque(maxlen=WINDOW)
        self.chosen: list[int] = []
        self.lost = 0.0
        """The excess of all requests so far, added up."""
        self.recent: list[float] = []
        """After each request, the share of the last ones that went to the best."""

    def add(self, k: int) -> None:
        """Count a request that deployment number k served."""
        extra = self._excess[len(self.chosen)][k]
        self.chosen.append(k)
        self.lost += extra
        self._last.append(extra == 0)
        self.recent.append(sum(self._last) / len(self._last))

    @property
    def latest(self) -> str:
        """The name of the deployment that served the last request."""
        return self._names[self.chosen[-1]]


def side_by_side(
    routers: Mapping[str, Router], scenario: Scenario, view: View, seconds: float = 0.0
) -> dict[str, tuple[RouterScore, list[float]]]:
    """Let all routers serve each request, one request after the other.

    `view` is shown how they do; with `seconds` the requests are spread over that time.
    Returns the score of each, and its share on the best over the last requests.
    """
    excess = scenario.excess()
    courses = {name: Course(scenario, excess) for name in routers}
    playing = {name: steps(router, scenario) for name, router in routers.items()}
    began = time.monotonic()
    for request in range(1, scenario.requests + 1):
        for name, course in courses.items():
            course.add(next(playing[name]))
        view(request, courses)
        ahead = began + seconds * request / scenario.requests - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
    for rest in playing.values():
        next(rest, None)  # the run is over
    return {
        name: (score(scenario, course.chosen), course.recent) for name, course in courses.items()
    }


class PlainView:
    """A line now and then."""

    def __init__(self, scenario: Scenario) -> None:
        self._every = max(1, scenario.requests // LINES)

    def __enter__(self) -> View:
        return self._show

    def __exit__(self, *_: object) -> None:
        pass

    def _show(self, request: int, courses: Mapping[str, Course]) -> None:
        if request % self._every == 0:
            shares = (f"{name} {100 * one.recent[-1]:.0f} %" for name, one in courses.items())
            print(f"request {request:,}: {'; '.join(shares)}", flush=True)


class ChangingTable:
    """A table in the terminal that changes in its place."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._next = 0.0

    def __enter__(self) -> View:
        from rich.live import Live

        self._live = Live(auto_refresh=False)
        self._live.__enter__()
        return self._show

    def __exit__(self, *reason: Any) -> None:
        self._live.__exit__(*reason)

    def _show(self, request: int, courses: Mapping[str, Course]) -> None:
        now = time.monotonic()
        if now >= self._next or request == self._scenario.requests:
            self._next = now + 1 / FRAMES
            self._live.update(self._table(request, courses), refresh=True)

    def _table(self, request: int, courses: Mapping[str, Course]) -> Any:
        from rich.table import Table

        unit = "s" if self._scenario.unit == "seconds" else self._scenario.unit
        table = Table(title=f"request {request:,} of {self._scenario.requests:,}", box=None)
        table.add_column("router")
        table.add_column(f"on the best, last {WINDOW}", min_width=BAR + 6)
        table.add_column(f"lost, {unit}", justify="right")
        table.add_column("now", no_wrap=True)
        for name, course in courses.items():
            share = course.recent[-1]
            full = round(BAR * share)
            colour = "green" if share > 0.9 else "yellow" if share > 0.5 else "red"
            bar = f"[{colour}]{'█' * full}[/][dim]{'░' * (BAR - full)}[/] {100 * share:3.0f} %"
            table.add_row(name, bar, f"{course.lost:,.0f}", course.latest)
        return table


def view_for(scenario: Scenario) -> PlainView | ChangingTable:
    """Return the live view on a terminal, lines elsewhere."""
    return ChangingTable(scenario) if sys.stdout.isatty() else PlainView(scenario)
