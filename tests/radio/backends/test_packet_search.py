"""The packet of a round is found wherever it lies in a recording, and read in full."""

import numpy as np
import pytest

from ironarm.radio.backends.packet_search import ROOM, ends, listen, listen_to_train
from ironarm.radio.signal.randomness import complex_normals, key
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import HALF_SPAN, STANDARD, modulate

RECEIVER = Receiver(sps=3)
PACKET = (STANDARD.length + 2 * HALF_SPAN) * 3


class Recording:
    """Packets (number, place) in noise 30 dB below them."""

    def __init__(self, *packets, noise=1e-3):
        self.samples = np.sqrt(noise) * complex_normals(key(3), 12 * PACKET)
        for number, place in packets:
            burst = modulate(STANDARD.symbols(number), 3, place % 1)
            self.samples[int(place) : int(place) + len(burst)] += burst

    def receive(self, count, at):
        return self.samples[at : at + count]


@pytest.mark.parametrize(
    "place", [0, 1.5, 3, 3.1, 3.2, 3.4, 3.6, 4, 4.5, 5, 600, PACKET - 0.5, PACKET + 3.3]
)
def test_a_packet_is_read_in_full_wherever_it_lies(place):
    """Also where a window ends a few samples before the packet does.

    1 dB is 4 standard deviations, and the seed is fixed.
    """
    report = listen(Recording((7, PACKET + place)), RECEIVER, 7, at=0, samples=8 * PACKET)
    assert (report.round, report.crc_ok) == (7, True)
    assert report.sinr_db == pytest.approx(30, abs=1)
    assert ends(report, RECEIVER) == pytest.approx(2 * PACKET + place, abs=2)


def test_times_are_counted_from_where_the_search_began():
    """Not from the window that the packet was found in; a heartbeat comes with each."""
    beats = []
    recording = Recording((7, 5 * PACKET))
    report = listen(
        recording, RECEIVER, 7, at=PACKET, samples=8 * PACKET, meanwhile=lambda: beats.append(1)
    )
    assert ends(report, RECEIVER) == pytest.approx(5 * PACKET, abs=2)
    assert len(beats) in (4, 5)
    train = listen_to_train(recording, RECEIVER, range(7, 8), at=PACKET, samples=8 * PACKET)
    assert ends(train[7], RECEIVER) == pytest.approx(5 * PACKET, abs=2)


def test_packets_of_other_rounds_are_passed_over():
    recording = Recording((6, 500), (7, 5000))
    assert listen(recording, RECEIVER, 7, at=0, samples=8 * PACKET).round == 7
    assert listen(recording, RECEIVER, 6, at=0, samples=8 * PACKET).round == 6
    assert not listen(recording, RECEIVER, 8, at=0, samples=8 * PACKET).detected


def test_a_packet_that_cannot_be_read_is_reported_with_its_sinr():
    """At 0 dB most headers are lost; the packet is there all the same."""
    report = listen(Recording((7, 3000), noise=1.0), RECEIVER, 7, at=0, samples=8 * PACKET)
    assert report.detected
    assert report.sinr_db == pytest.approx(0, abs=2)


def test_no_packet_of_a_train_is_missed():
    """The weaker of two packets is found beside the preamble of the other.

    It doesn't matter where the windows lie; one may cut the preamble off.
    """
    for begin in range(PACKET, 2 * PACKET, 9):
        recording = Recording((8, begin + PACKET + 2 * ROOM * 3))
        before = 1.6 * modulate(STANDARD.symbols(7), 3)
        recording.samples[begin : begin + len(before)] += before
        train = listen_to_train(recording, RECEIVER, range(7, 9), at=0, samples=6 * PACKET)
        assert train.keys() == {7, 8}, begin
        assert min(report.sinr_db for report in train.values()) > 25, begin
