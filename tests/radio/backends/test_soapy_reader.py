"""The thread that reads a radio, with a driver made of a few lines."""

import threading
import time

import numpy as np
import pytest

from ironarm.errors import InvalidInput, RadioFault
from ironarm.radio.backends.soapy_reader import OVERFLOW, TIMEOUT, Reader


def test_the_reader_counts_overflows_and_keeps_the_last_samples():
    """Samples are numbered; old ones are let go; a time-out is not an error."""
    codes = iter([None, OVERFLOW, TIMEOUT, None, None, OVERFLOW, None])
    position = 0

    def read(buffer, timeout_us):
        nonlocal position
        code = next(codes, TIMEOUT)
        if code is not None:
            time.sleep(0.001)
            return code
        buffer[:] = np.arange(position, position + len(buffer))
        position += len(buffer)
        return len(buffer)

    reader = Reader(read, keep=2048, silent_seconds=0.1)
    reader.wait_until(4096)
    assert np.array_equal(reader.take(1500, at=2100).real, np.arange(2100, 3600))
    assert (reader.count, reader.overflows) == (4096, 2)
    with pytest.raises(InvalidInput, match="sample 0 is no longer kept, the oldest is 2048"):
        reader.take(10, at=0)
    with pytest.raises(RadioFault, match=r"gave no samples for 0.1 s"):
        reader.take(10)
    reader.close()


class Driver:
    """Gives samples that are their numbers, 1024 at a time, as many as it may."""

    def __init__(self):
        self.given, self.allowed = 0, 0

    def read(self, buffer, timeout_us):
        if self.given >= self.allowed:
            time.sleep(0.0005)
            return TIMEOUT
        buffer[:] = np.arange(self.given, self.given + len(buffer))
        self.given += len(buffer)
        return len(buffer)


def test_more_can_be_taken_at_once_than_is_kept():
    """Whoever waits for samples gets them all, whatever the buffer was made for."""
    driver = Driver()
    reader = Reader(driver.read, keep=2048)
    driver.allowed = 100_000
    assert np.array_equal(reader.take(60_000, at=0).real, np.arange(60_000))
    with pytest.raises(InvalidInput, match=r"sample 0 is no longer kept.* radio.hold\(\)"):
        reader.take(10, at=0)
    reader.close()


def test_what_is_held_is_kept_until_the_block_ends():
    """Also by two at once, and while others are taken."""
    driver = Driver()
    reader = Reader(driver.read, keep=2048)
    driver.allowed = 4096
    reader.wait_until(4096)
    with reader.hold() as start:
        assert start == 4096
        driver.allowed = 20_480
        reader.wait_until(20_480)
        with reader.hold() as later:
            driver.allowed = 40_960
            reader.wait_until(40_960)
        assert later == 20_480
        assert np.array_equal(reader.take(100, at=start).real, np.arange(4096, 4196))
        assert len(reader._parts) == 36
    assert len(reader._parts) == 2
    with pytest.raises(InvalidInput, match="no longer kept"):
        reader.take(100, at=start)
    reader.close()


def test_a_driver_that_fails_is_named():
    reader = Reader(lambda buffer, timeout_us: -2, keep=10)
    with pytest.raises(RadioFault, match="answered with the error -2"):
        reader.take(10)
    reader.close()


def test_a_driver_that_hangs_does_not_hold_up_the_end():
    """What else is to be switched off comes after it."""
    hung = threading.Event()
    reader = Reader(lambda buffer, timeout: hung.wait() or 0, keep=100)
    began = time.monotonic()
    reader.close()
    assert time.monotonic() - began < 5
    hung.set()
