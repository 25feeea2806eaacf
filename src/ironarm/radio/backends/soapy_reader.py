"""A thread that reads a receiver without pause, and keeps the last seconds.

A radio does not wait: what is not read in time is lost, and with some drivers the
connection then never recovers. So this thread reads all the time.

What somebody waits for, or holds, is kept however long that takes, so no setting has to
fit the seconds that are kept.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from ...errors import InvalidInput, RadioFault

READ = 1024
"""Samples asked for at a time; few, because some drivers wait until all have come."""

TIMEOUT_US = 2000
"""Some drivers sleep this long, whole, whenever too little has come."""

TIMEOUT, OVERFLOW = -1, -4
"""SoapySDR's codes."""


class Reader:
    """Samples of a receiver by their number, counted from the first that was read.

    Parameters
    ----------
    read : called as read(buffer, timeout in microseconds); returns how many samples it
        put there, or a negative code as SoapySDR's readStream does.
    keep : how many samples are kept at least, if nobody holds more.
    silent_seconds : a radio that gives nothing for this long has failed.

    Examples
    --------
    >>> def read(buffer, timeout_us):
    ...     buffer[:] = 1
    ...     return len(buffer)
    >>> reader = Reader(read, keep=1 << 20)
    >>> reader.take(3000).sum()
    np.complex64(3000+0j)
    >>> reader.close()
    """

    def __init__(
        self, read: Callable[[np.ndarray, int], int], keep: int, silent_seconds: float = 5.0
    ) -> None:
        self._read, self._keep, self._silent = read, keep, silent_seconds
        self.count = 0
        """Samples read so far."""
        self.overflows = 0
        self._first = 0
        self._parts: deque[np.ndarray] = deque()
        self._held: list[int] = []
        self._changed = threading.Condition()
        self._ended = False
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._run, name="radio reader", daemon=True)
        self._thread.start()

    @contextmanager
    def hold(self, at: int | None = None) -> Iterator[int]:
        """Keep all samples from number `at` on (None: the next one) within the block.

        The block gets that number.
        """
        with self._changed:
            begin = self.count if at is None else at
            if begin < self._first:
                raise InvalidInput(
                    f"sample {begin} is no longer kept, the oldest is {self._first}; ask sooner, "
                    "or hold the samples until you have asked: `with radio.hold() as start`."
                )
            self._held.append(begin)
        try:
            yield begin
        finally:
            with self._changed:
                self._held.remove(begin)
                self._let_go()

    def take(self, count: int, at: int | None = None) -> np.ndarray:
        """Wait for `count` samples from number `at` on (None: the next ones)."""
        with self._changed, self.hold(at) as begin:
            self._wait_until(begin + count)
            position, parts = self.count, []
            # start at the end: mostly the last of thousands of parts are wanted
            for part in reversed(self._parts):
                position -= len(part)
                low, high = max(begin - position, 0), min(begin + count - position, len(part))
                if low < high:
                    parts.append(part[low:high])
                if position <= begin:
                    break
        return np.concatenate(parts[::-1]) if parts else np.empty(0, np.complex64)

    def wait_until(self, count: int) -> None:
        """Wait until `count` samples have been read."""
        with self._changed:
            self._wait_until(count)

    def close(self) -> None:
        """Stop reading, and wait for the thread to end.

        It waits at most a second, because a driver may hang.
        """
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(1.0)

    def _wait_until(self, count: int) -> None:
        while self.count < count:
            if self._failure is not None:
                raise RadioFault(
                    f"the radio cannot be read any more: {self._failure}. Check its cable or "
                    "address, and start again."
                )
            if self._ended:
                raise RadioFault("the radio was closed while somebody waited for its samples.")
            if not self._changed.wait(self._silent):
                raise RadioFault(
                    f"the radio gave no samples for {self._silent:g} s. Check its cable or "
                    "address and that nobody else uses it, and start again."
                )

    def _run(self) -> None:
        buffer = np.empty(READ, np.complex64)
        try:
            while not self._ended:
                got = self._read(buffer, TIMEOUT_US)
                if got >= 0:
                    self._put(buffer[:got].copy())
                elif got == OVERFLOW:
                    self.overflows += 1
                elif got != TIMEOUT:
                    self._fail(f"its driver answered with the error {got}")
                    return
        except Exception as error:
            self._fail(str(error))

    def _put(self, part: np.ndarray) -> None:
        with self._changed:
            self._parts.append(part)
            self.count += len(part)
            self._let_go()
            self._changed.notify_all()

    def _let_go(self) -> None:
        """Drop the parts that nobody can ask for any more."""
        needed = min([self.count - self._keep, *self._held])
        while self._parts and self._first + len(self._parts[0]) <= needed:
            self._first += len(self._parts.popleft())

    def _fail(self, reason: str) -> None:
        with self._changed:
            self._failure = reason
            self._changed.notify_all()
