"""Interrupts that wait for a compiler."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2")
"""Signals whose handlers may raise, or call an agent."""


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C, and what else raises from outside, wait until the block is over.

    Inside a compiler it can be swallowed, and leave something half compiled; between
    two steps that belong together it would leave one of them undone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    before = {
        number: handler for number in numbers if callable(handler := signal.getsignal(number))
    }
    arrived: list[int] = []
    for number in before:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _raise_all(arrived)


def _raise_all(numbers: list[int]) -> None:
    """Let each be handled, whatever the handlers of others raise."""
    if numbers:
        try:
            signal.raise_signal(numbers[0])
        finally:
            _raise_all(numbers[1:])
