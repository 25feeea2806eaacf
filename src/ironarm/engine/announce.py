"""Say what is compiled, why, and how long it took.

On standard error, unless whoever has a progress bar says it there.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from . import kept

TICK = 2.0
"""Seconds between two signs of life."""
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
def compiling(what: str, why: str) -> Iterator[None]:
    """Announce what is compiled inside, and say how long it took."""
    say, text = _say.get(), f"compiling {what} ({reason(why)})"
    if say is not None:
        say(text)
        yield
        return
    _print(f"ironarm: {text} ...")
    started, done = time.monotonic(), threading.Event()

    def tick() -> None:
        while not done.wait(TICK):
            _print(f" {time.monotonic() - started:.0f} s ...")

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        yield
    finally:
        done.set()
        ticking.join()
        _print(f" {time.monotonic() - started:.1f} s\n")


def reason(why: str) -> str:
    """Return why something is compiled, and whether once for all."""
    return why if kept.directory() is None else f"{why}; kept for the next time"


def _print(text: str) -> None:
    if sys.stderr is not None:
        print(text, end="", file=sys.stderr, flush=True)
