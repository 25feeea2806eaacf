"""Signal handling of the command line: SIGTERM, SIGHUP and SIGINT exit with 128 + n.

They clean up first and print no traceback. Importing this module changes nothing; a
program that imports ironarm keeps its own handlers.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

TOLD_TO_END = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""A closed terminal or connection sends SIGHUP; Windows has none."""


@contextmanager
def ended_by_exceptions() -> Iterator[None]:
    """Raise SystemExit on SIGTERM and SIGHUP, so that the block can clean up.

    The cursor comes back, and no temporary file or process is left. A signal that is
    handled already, or ignored as nohup does, stays as it is. Ctrl-C raises
    KeyboardInterrupt anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in TOLD_TO_END:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _raise)
    try:
        yield
    except OSError as error:
        first: BaseException | None = error
        while first is not None and not isinstance(first, SystemExit):
            first = first.__context__
        # the terminal was closed, which sent the signal, and cannot be written to
        raise first or error from None
    finally:
        for number in TOLD_TO_END:
            if signal.getsignal(number) is _raise:
                signal.signal(number, signal.SIG_DFL)


def _raise(number: int, _: Any) -> NoReturn:
    # a closed terminal may send several; the second must not stop the cleaning up
    for other in TOLD_TO_END:
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)
