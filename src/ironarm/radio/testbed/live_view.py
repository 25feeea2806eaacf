"""The live view of a run: a table in a terminal, lines where output is piped."""

from __future__ import annotations

import sys
from contextlib import suppress
from time import monotonic
from typing import Any, Self

from ..signal.medium import CENTRES_HZ
from .config import RadioConfig
from .records import Round

RENEW_SECONDS = 0.1


class LiveView:
    """Shows rounds as they come; a context manager.

    Parameters
    ----------
    config : of the run.
    terminal : None to find out whether standard error is one.

    Examples
    --------
    >>> with LiveView(
    ...     RadioConfig.of({"rounds": 1}), terminal=False, stream=sys.stdout
    ... ) as view:
    ...     view.show(Round(0, 2, 7.4, True, False, 7.4, 6.0))
    round     1  1201.0 MHz    7.4 dB  jammed  regret        6  pulls 0 0 1 0 0
    """

    def __init__(
        self, config: RadioConfig, terminal: bool | None = None, stream: Any = None
    ) -> None:
        self.config = config
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty() if terminal is None else terminal
        self._every = 1 if config.round_seconds >= 0.5 else max(1, config.rounds // 10)
        self.pulls = [0] * len(CENTRES_HZ)
        self._last = [float("nan")] * len(CENTRES_HZ)
        self._shown = 0.0
        self._record: Round | None = None
        self._live: Any = None

    def show(self, record: Round) -> None:
        """Take in a round."""
        self.pulls[record.channel] += 1
        self._last[record.channel] = record.sinr_db
        self._record = record
        if self._terminal:
            if monotonic() - self._shown >= RENEW_SECONDS:
                self._renew()
        elif (record.round + 1) % self._every == 0 or record.round + 1 == self.config.rounds:
            print(line(record, self.pulls, self.config), file=self._stream, flush=True)

    def say(self, text: str) -> None:
        """Show a line of text that stays."""
        if self._live is not None:
            self._live.console.print(text)
        else:
            print(text, file=self._stream, flush=True)

    def _renew(self) -> None:
        self._shown = monotonic()
        if self._record is None:
            return
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            # not sooner: it hides the cursor, and the first round may be long in coming
            self._live = Live(console=Console(file=self._stream), auto_refresh=False)
            self._live.start()
        self._live.update(table(self._record, self.pulls, self._last, self.config), refresh=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            # the terminal may be gone, which must not hide why the run ended
            with suppress(OSError):
                self._renew()
                self._live.stop()


def outcome(record: Round) -> str:
    """Return "missed", "jammed" or nothing."""
    return "missed" if record.missed else "jammed" if record.jammed else ""


def line(record: Round, pulls: list[int], config: RadioConfig) -> str:
    """Return a round as a line of text."""
    where = f"{config.centres_hz[record.channel] / 1e6:.1f} MHz"
    return (
        f"round {record.round + 1:5d}  {where}  {record.sinr_db:5.1f} dB  {outcome(record):6}  "
        f"regret {record.regret:8.0f}  pulls {' '.join(map(str, pulls))}"
    )


def table(record: Round, pulls: list[int], last: list[float], config: RadioConfig) -> Any:
    """Return what the terminal shows: a row for each channel."""
    from rich import box
    from rich.table import Table

    shown = Table(
        box=box.SIMPLE,
        title=(
            f"round {record.round + 1} of {config.rounds}   regret {record.regret:.0f} dB   "
            f"{config.agent.policy}"
        ),
        title_justify="left",
    )
    for name in ("channel", "MHz", "clean dB", "last dB", "pulls"):
        shown.add_column(name, justify="right")
    shown.add_column("", min_width=29)
    for channel, centre in enumerate(config.centres_hz):
        here = channel == record.channel
        note = f"<- {outcome(record) or 'now'}" if here else ""
        bar = "█" * round(22 * pulls[channel] / max(1, sum(pulls)))
        shown.add_row(
            str(channel),
            f"{centre / 1e6:.1f}",
            f"{config.channels.means[channel]:g}",
            f"{last[channel]:.1f}" if pulls[channel] else "",
            str(pulls[channel]),
            f"{bar} {note}".strip(),
            style="bold" if here else None,
        )
    return shown
