"""A long burst is sent in the background; its error is raised by the next call."""

import threading
from time import monotonic

import pytest

from ironarm.errors import RadioFault
from ironarm.radio.backends.in_background import InBackground


class Slow:
    """A device that takes a burst's first samples, and the rest when it is let to."""

    def __init__(self):
        self.done, self.frequency_hz, self.fails = threading.Event(), 0.0, False
        self.ready, self.begun = threading.Event(), False
        self.ready.set()

    def transmit(self, samples, at=None, began=lambda: None):
        self.ready.wait(5)
        self.begun = True
        began()
        self.done.wait(5)
        if self.fails:
            raise RadioFault("the radio takes no more samples.")

    def tune(self, frequency_hz):
        assert self.done.is_set()
        self.frequency_hz = frequency_hz

    def close(self):
        self.fails = True
        self.done.set()


def test_a_long_burst_does_not_hold_up_the_caller():
    """But the next tuning waits for its end."""
    device = Slow()
    with InBackground(device, 0.02) as radio:
        began = monotonic()
        radio.transmit([1])
        assert monotonic() - began < 2
        assert not device.done.is_set()
        threading.Timer(0.05, device.done.set).start()
        radio.tune(7.0)
        assert device.frequency_hz == 7.0


def test_a_burst_has_begun_when_transmit_returns():
    """However long that takes: a busy computer takes longer than it should."""
    device = Slow()
    with InBackground(device, 0.01) as radio:
        device.ready.clear()
        threading.Timer(0.3, device.ready.set).start()
        radio.transmit([1])
        assert device.begun


def test_a_burst_that_cannot_begin_is_an_error_at_once():
    class Broken(Slow):
        def transmit(self, samples, at=None, began=lambda: None):
            raise RadioFault("no.")

    with InBackground(Broken(), 5.0) as radio, pytest.raises(RadioFault, match="no"):
        radio.transmit([1])


def test_errors_are_raised_at_once_or_by_the_next_call():
    """And once."""
    device = Slow()
    radio = InBackground(device, 0.02)
    radio.transmit([1])
    device.fails = True
    device.done.set()
    with pytest.raises(RadioFault, match="takes no more"):
        radio.tune(7.0)
    with pytest.raises(RadioFault, match="takes no more"):
        radio.transmit([1])
    radio.tune(8.0)


def test_closing_ends_a_burst():
    """Its thread ends, and nothing is raised."""
    device = Slow()
    with InBackground(device, 0.02) as radio:
        radio.transmit([1])
    assert not [thread for thread in threading.enumerate() if thread.name == "burst"]
