"""A receiver on hardware waits for its packet in the device's time, not its own."""

import numpy as np
import pytest

from ironarm.radio.network.node_process import _waited_for
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import STANDARD, modulate
from ironarm.radio.testbed.config import RadioConfig

RECEIVER = Receiver(sps=3)
RATE = 1_250_000
AT = 5000
"""The sample from which on the packet was asked for."""


class Radio:
    """Heard a packet `begins` seconds after it was asked for; `now` is the present."""

    def __init__(self, begins, now):
        self.radio, self._now = self, now
        rng = np.random.default_rng(3)
        noise = rng.normal(size=(2, AT + int(4 * RATE))).astype(np.float32)
        self.samples = 0.02 * (noise[0] + 1j * noise[1])
        burst, first = modulate(STANDARD.symbols(7), 3), AT + round(begins * RATE)
        self.samples[first : first + len(burst)] += burst

    def now(self):
        return AT + round(self._now * RATE)

    def receive(self, count, at):
        return self.samples[at : at + count]


class Client:
    """Counts heartbeats, and keeps what it is to tell."""

    def __init__(self):
        self.told, self.beats = [], 0

    def tell(self, fields):
        self.told.append(fields)

    def beat(self):
        self.beats += 1


def waited_for(radio, attempt=0, **hardware):
    client = Client()
    config = RadioConfig.of({"hardware": {"listen_seconds": 0.2, **hardware}})
    return _waited_for(config, client, radio, RECEIVER, 7, attempt, AT), client


def test_a_packet_is_found_that_came_before_its_ack():
    """The ACK took 0.9 s; listen_seconds, 0.2, begin after it.

    The noise of 2 s still lasted.
    """
    (sinr, missed), client = waited_for(Radio(begins=0.8, now=0.9), jam_seconds=2.0)
    assert (sinr, missed) == (pytest.approx(31, abs=1.5), False)
    assert client.beats > 100  # or the medium would miss the receiver meanwhile
    assert client.told == []


def test_a_packet_that_came_later_than_its_noise_is_no_reward():
    """By the samples: the noise of 0.1 s began after the packet was asked for.

    At the fourth attempt it lasts 0.8 s, which is enough.
    """
    radio = Radio(begins=0.5, now=0.6)
    measured, client = waited_for(radio)
    assert measured is None
    assert client.told == [{"op": "late", "round": 7, "attempt": 0}]
    (sinr, missed), client = waited_for(radio, attempt=3)
    assert (sinr, missed) == (pytest.approx(31, abs=1.5), False)
    assert client.told == []


def test_a_packet_that_never_comes_is_missed():
    measured, client = waited_for(Radio(begins=3.0, now=0.1))
    assert measured == (-20.0, True)
    assert client.told == []
