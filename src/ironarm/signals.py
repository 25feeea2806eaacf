"""How the command line ends when it is told to: with 128 + the signal's number, without
a traceback, and after all that was begun is put away.

A program that imports ironarm keeps its own ways: nothing here touches its signals.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

TOLD_TO_END = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""SIGHUP comes when a terminal or a connection is closed; Windows has none."""


def _end_quietly_while_loading() -> None:
    """Let Ctrl-C end the command line at once while its modules are loaded: nothing
    is begun that would have to be put away. Without effect in any other program.
    """
    if (
        _is_command()
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, _leave)


@contextmanager
def ended_by_exceptions() -> Iterator[None]:
    """Within, Ctrl-C is a KeyboardInterrupt again, and the other signals that tell to
    end are a SystemExit: so the cursor comes back, and no temporary file or process is
    left.

    A signal that somebody handles already, or that is ignored as nohup does, is left as
    it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in TOLD_TO_END:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _raise)
    try:
        yield
    except OSError as error:
        first: BaseException | None = error
        while first is not None and not isinstance(first, SystemExit):
            first = first.__context__
        # told to end because the terminal was closed, and then there was nothing to
        # write to
        raise first or error from None
    finally:
        for number in TOLD_TO_END:
            if signal.getsignal(number) is _raise:
                signal.signal(number, signal.SIG_DFL)


def _is_command() -> bool:
    """Return whether this process is `ironarm ...` or `python -m ironarm ...`."""
    arguments = getattr(sys, "argv", [])
    # of the script, or of the module after -m, among Python's own options
    place = len(sys.orig_argv) - len(arguments)
    return (
        bool(arguments)
        and place > 0
        and os.path.splitext(os.path.basename(sys.orig_argv[place]))[0] == "ironarm"
    )


def _leave(number: int, _: Any) -> NoReturn:
    os._exit(128 + number)


def _raise(number: int, _: Any) -> NoReturn:
    # a closed terminal may send several; the second must not stop what the first began
    # to put away
    for other in TOLD_TO_END:
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


_end_quietly_while_loading()
