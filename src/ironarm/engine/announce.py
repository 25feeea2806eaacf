"""Say what is compiled, why, and how long it took.

On standard error, unless whoever has a progress bar says it there.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from . import kept

TICK = 2.0
"""Seconds between two signs of life."""
STILL = "still "
"""How these begin."""
_say: ContextVar[Callable[[str], None] | None] = ContextVar("say", default=None)


@contextmanager
def announced_by(say: Callable[[str], None]) -> Iterator[None]:
    """Let `say` get what is compiled meanwhile, each as text."""
    token = _say.set(say)
    try:
        yield
    finally:
        _say.reset(token)


@contextmanager
def compiling(what: str, why: str, left: Callable[[], str] | None = None) -> Iterator[None]:
    """Announce what is compiled inside, show signs of life, and say how long it took.

    What is announced inside is a part of that, and not said again. `left` says what is
    not done yet.
    """
    say = _say.get() or _on_standard_error
    say(f"compiling {what} ({reason(why)})")
    started, done = time.monotonic(), threading.Event()

    def tick() -> None:
        while not done.wait(TICK):
            say(f"{STILL}compiling {left() if left else what}, {time.monotonic() - started:.0f} s")

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    token = _say.set(_nothing)
    try:
        yield
    finally:
        _say.reset(token)
        done.set()
        ticking.join()
        say(f"compiled in {time.monotonic() - started:.1f} s")


def listed(names: Sequence[str]) -> str:
    """Return names in a line that stays short."""
    names = list(dict.fromkeys(names))
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _nothing(_: str) -> None:
    """What this says has been said."""


def _on_standard_error(text: str) -> None:
    if sys.stderr is not None:
        print(f"ironarm: {text}", file=sys.stderr, flush=True)


def reason(why: str) -> str:
    """Return why something is compiled, and whether once for all."""
    return why if kept.directory() is None else f"{why}; kept for the next time"
