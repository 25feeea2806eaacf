"""A transmitter is always switched off, whatever fails; SoapySDR is a stand-in."""

import threading

import numpy as np
import pytest

from .soapy_stand_in import opened, stand_in


@pytest.fixture
def device(monkeypatch):
    return stand_in(monkeypatch)


@pytest.fixture
def transmitter(device):
    """Return a radio that has sent a burst, and a list of its driver's later calls."""
    told = []
    device.deactivateStream = lambda self, stream: told.append("off")
    device.closeStream = lambda self, stream: told.append("closed")
    device.close = lambda self: told.append("let go")
    radio = opened()
    radio.transmit(np.ones(10))
    return radio, told


class Interrupted:
    """Stands for the lock of a burst: `close` is interrupted while it waits."""

    def acquire(self, timeout):
        raise KeyboardInterrupt


def test_an_interrupted_close_switches_off_all_the_same(transmitter):
    """As by a second Ctrl-C; what was done is not done again."""
    radio, told = transmitter
    radio._sending = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        radio.close()
    radio.close()
    assert told == ["off", "closed", "let go"]


def test_a_driver_that_fails_to_switch_off_is_let_go(transmitter, device):
    """Which is all that is left to do."""
    radio, told = transmitter

    def fail(self, stream):
        raise RuntimeError("no answer")

    device.deactivateStream = fail
    with pytest.raises(RuntimeError, match="no answer"):
        radio.close()
    assert told == ["let go"]


def test_who_closes_second_returns_when_it_is_off(transmitter, device):
    """A watchdog may be first, in its own thread."""
    radio, told = transmitter
    begun, end = threading.Event(), threading.Event()

    def slowly(self, stream):
        begun.set()
        end.wait(10)
        told.append("off")

    device.deactivateStream = slowly
    first = threading.Thread(target=radio.close)
    first.start()
    begun.wait(10)
    threading.Timer(0.1, end.set).start()
    radio.close()
    assert told == ["off", "closed", "let go"]
    first.join()
