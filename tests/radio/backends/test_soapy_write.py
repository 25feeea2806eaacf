"""Long bursts through SoapySDR, on a stand-in that takes samples a few at a time."""

from types import SimpleNamespace

import numpy as np
import pytest

from ironarm.errors import RadioFault
from ironarm.radio.backends import soapy as module
from ironarm.radio.backends.soapy_reader import TIMEOUT

from .soapy_stand_in import opened, stand_in

END_BURST = 2


@pytest.fixture
def radio(monkeypatch):
    """A radio that takes 3000 samples at every second call; a call lasts 4 s."""
    kind, now, calls = stand_in(monkeypatch), [0.0], []

    def write(self, stream, buffers, count, flags, timeoutUs):
        now[0] += 4
        took = min(count, 3000) if len(calls) % 2 == 0 and not self.stuck else TIMEOUT
        calls.append((count, flags, took))
        self.sent += max(took, 0)
        return SimpleNamespace(ret=took)

    kind.writeStream, kind.stuck = write, False
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    monkeypatch.setattr(module, "sleep", lambda _: None)
    with opened(gain_db=5) as radio:
        radio.calls, radio.kind = calls, kind
        yield radio


def test_a_burst_may_last_longer_than_a_device_may_take_none_of_it(radio):
    """5 s without a sample taken is a fault; this burst takes far longer in all."""
    radio.transmit(np.full(20_000, 0.5))
    assert radio._device.sent == 20_000
    assert 4 * len(radio.calls) > 10 * module.WRITE_SECONDS


def test_a_device_that_takes_nothing_any_more_is_a_fault(radio):
    radio.kind.stuck = True
    with pytest.raises(RadioFault, match="takes no more samples to send"):
        radio.transmit(np.full(20_000, 0.5))


def test_a_burst_tells_when_it_has_begun(radio):
    """Once, and not before the device took its first samples.

    The device is told of the burst's end only with what reaches it.
    """
    begun = []
    radio.transmit(np.full(20_000, 0.5), began=lambda: begun.append(len(radio.calls)))
    assert begun == [1]
    offered = [(count, flags) for count, flags, _ in radio.calls]
    assert offered[:3] == [(module.FIRST, 0), (17_000, END_BURST), (17_000, END_BURST)]
