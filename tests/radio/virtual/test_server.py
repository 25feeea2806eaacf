"""The virtual radio speaks the Red Pitaya's protocol, to a plain socket here."""

import contextlib
import fcntl
import socket
import struct
import termios
import threading
import time

import numpy as np
import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.backends.packet_search import listen
from ironarm.radio.signal.medium import Medium
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import STANDARD, modulate
from ironarm.radio.virtual.device import (
    RX_CONTROL,
    RX_SAMPLES,
    TX_CONTROL,
    TX_SAMPLES,
)
from ironarm.radio.virtual.server import VirtualRadio
from ironarm.radio.virtual.streaming_medium import BLOCK, FULL_SCALE, StreamingMedium

TARGETS_DB = (41, 37, 35, 31, 28)
MEDIUM = Medium(noise=[10 ** (-sinr / 10) for sinr in TARGETS_DB], seed=3)
RATE_CODE = 5


class Client:
    """One direction of a device, as the driver opens it."""

    def __init__(self, virtual, device, roles, frequency_hz, rate_code=RATE_CODE):
        self.links = []
        for role in roles:
            link = socket.create_connection(
                (virtual.host, int(virtual.arguments(device)["port"])), timeout=5
            )
            link.sendall(struct.pack("<I", role))
            self.links.append(link)
        self.tune(frequency_hz)
        self.links[0].sendall(struct.pack("<I", 1 << 28 | rate_code))

    def tune(self, frequency_hz):
        self.links[0].sendall(struct.pack("<I", int(frequency_hz)))

    def send(self, samples):
        self.links[1].sendall((samples / FULL_SCALE).astype(np.complex64).tobytes())

    def receive(self, count):
        data = b""
        while len(data) < 8 * count:
            part = self.links[1].recv(8 * count - len(data))
            if not part:
                break
            data += part
        return np.frombuffer(data, np.complex64)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for link in self.links:
            link.close()


def receiver_client(virtual, frequency_hz=20e6, **more):
    return Client(virtual, "receiver", (RX_CONTROL, RX_SAMPLES), frequency_hz, **more)


def sender_client(virtual, device="transmitter", frequency_hz=20e6):
    return Client(virtual, device, (TX_CONTROL, TX_SAMPLES), frequency_hz)


class Heard:
    """Samples by their number, from the first call on."""

    def __init__(self, client):
        self.client, self.samples = client, np.empty(0)

    def receive(self, count, at):
        if at + count > len(self.samples):
            self.samples = np.concatenate(
                [self.samples, self.client.receive(at + count - len(self.samples))]
            )
        return self.samples[at : at + count]


def packet_heard(client, number, samples=100_000):
    return listen(Heard(client), Receiver(sps=3), number, at=0, samples=samples)


def expected_stream(blocks, frequency_hz=1200e6):
    """Return what a receiver hears from the clock's beginning on, when nobody sends."""
    stream, heard = StreamingMedium(MEDIUM, ["transmitter", "jammer", "receiver"]), []
    for _ in range(blocks):
        heard.append(stream.hear("receiver", frequency_hz))
        stream.advance()
    return np.concatenate(heard)


@pytest.mark.parametrize("channel", [0, 4])
def test_a_burst_goes_from_one_device_to_another(channel):
    with (
        VirtualRadio(MEDIUM) as virtual,
        receiver_client(virtual, 20e6 + channel * 0.5e6) as ears,
        sender_client(virtual) as mouth,
    ):
        ears.receive(BLOCK)
        mouth.tune(20e6 + channel * 0.5e6)  # sent just before the samples, and valid for them
        mouth.send(modulate(STANDARD.symbols(77), 3))
        report = packet_heard(ears, 77)
    assert (report.round, report.crc_ok) == (77, True)
    # the spread is 0.25 dB, and the noise is new in each run: 1e-8 false alarms
    assert report.sinr_db == pytest.approx(TARGETS_DB[channel], abs=1.5)


def test_other_channels_are_not_heard():
    """Bursts in another channel or between channels are not heard.

    Between the channels there is only the receiver's own floor.
    """
    with (
        VirtualRadio(MEDIUM) as virtual,
        receiver_client(virtual, 20.5e6) as ears,
        sender_client(virtual) as mouth,
    ):
        for frequency in (20e6, 20.25e6):
            mouth.tune(frequency)
            mouth.send(modulate(STANDARD.symbols(1), 3))
        assert not packet_heard(ears, 1, 20_000).detected
        ears.tune(20.25e6)
        ears.receive(20 * BLOCK)
        assert not ears.receive(BLOCK).any()


def test_a_driver_that_opens_sends_and_closes_at_once_is_heard():
    """UHD does so for each burst."""
    with VirtualRadio(MEDIUM) as virtual, receiver_client(virtual) as ears:
        ears.receive(BLOCK)
        for number in (8, 9):
            with sender_client(virtual) as mouth:
                mouth.send(modulate(STANDARD.symbols(number), 3))
            assert packet_heard(ears, number).round == number


def test_samples_may_come_in_pieces_of_any_length(monkeypatch):
    """Also when a piece ends within a sample, and nothing follows for a while."""
    taken = []
    monkeypatch.setattr(
        StreamingMedium, "send", lambda self, device, frequency_hz, samples: taken.append(samples)
    )
    sent = np.arange(500) * (1 + 0.5j)
    with VirtualRadio(MEDIUM) as virtual, sender_client(virtual, "jammer") as mouth:
        data = sent.astype(np.complex64).tobytes()
        for begin, end in ((0, 1003), (1003, 1006), (1006, 4000)):
            mouth.links[1].sendall(data[begin:end])
            time.sleep(0.02)
    assert np.array_equal(np.concatenate(taken), sent)


def test_a_burst_that_comes_in_parts_is_one_burst():
    """A busy computer hands it over late; the clock waits for the rest.

    Each half alone would have a delay, a carrier and a phase of its own, and the pause
    would tear the packet apart.
    """
    burst = modulate(STANDARD.symbols(5), 3)
    with (
        VirtualRadio(MEDIUM) as virtual,
        receiver_client(virtual) as ears,
        sender_client(virtual) as mouth,
    ):
        ears.receive(BLOCK)
        for part in (burst[:700], burst[700:701], burst[701:]):
            mouth.send(part)
            time.sleep(0.03)
        report = packet_heard(ears, 5)
    assert (report.round, report.crc_ok) == (5, True)
    assert report.sinr_db == pytest.approx(TARGETS_DB[0], abs=1.5)


def test_a_burst_that_is_over_does_not_stop_the_clock():
    """Nor does a device that is gone."""
    with VirtualRadio(MEDIUM) as virtual, receiver_client(virtual) as ears:
        for _ in range(2):
            with sender_client(virtual) as mouth:
                mouth.send(modulate(STANDARD.symbols(5), 3))
                began = time.monotonic()
                ears.receive(20 * BLOCK)
            assert time.monotonic() - began < 5


def test_the_parts_of_a_burst_have_one_path():
    """Sample by sample what the whole burst is, but not after its end, or elsewhere."""
    burst = modulate(STANDARD.symbols(5), 3) / FULL_SCALE
    streams = [StreamingMedium(MEDIUM, ["transmitter", "receiver"]) for _ in range(2)]
    streams[0].send("transmitter", 1200e6, burst)
    for part in (burst[:500], burst[500:]):
        streams[1].send("transmitter", 1200e6, part)
        streams[1].advance() if part is burst[:500] else None
    assert [len(stream.arrivals) for stream in streams] == [1, 1]
    whole, parts = (stream.arrivals[0] for stream in streams)
    assert (whole.start, len(whole.samples)) == (parts.start, len(parts.samples))
    assert np.array_equal(whole.samples, parts.samples)
    streams[1].send("transmitter", 1200.5e6, burst)  # another channel: another burst
    for _ in range(5):
        streams[1].advance()
    streams[1].send("transmitter", 1200.5e6, burst)  # the last one is over
    assert [arrival.start // BLOCK for arrival in streams[1].arrivals] == [5]
    assert not np.array_equal(streams[1].arrivals[0].samples, whole.samples)


def test_two_devices_send_at_once():
    """A jammer's noise around the packet sets its SINR; the spread is 0.28 dB."""
    noise = np.random.default_rng(5).normal(scale=np.sqrt(0.5 * 10 ** (-0.75)), size=(2, 250_000))
    with (
        VirtualRadio(MEDIUM) as virtual,
        receiver_client(virtual) as ears,
        sender_client(virtual) as mouth,
        sender_client(virtual, "jammer") as jammer,
    ):
        ears.receive(BLOCK)
        jammer.send(noise[0] + 1j * noise[1])  # sent first, by a device that has just connected
        mouth.send(modulate(STANDARD.symbols(5), 3))
        assert packet_heard(ears, 5).sinr_db == pytest.approx(7.5, abs=1.6)


def test_virtual_time_waits_for_a_slow_receiver():
    """The clock stands still while nobody reads, then continues without a gap.

    What comes is what the medium renders, sample by sample.
    """
    with VirtualRadio(MEDIUM) as virtual, receiver_client(virtual) as ears:
        first = ears.receive(5 * BLOCK)
        time.sleep(0.3)
        stood = virtual.stream.clock
        time.sleep(0.3)
        assert virtual.stream.clock == stood < 0.3 * 1.25e6
        heard = np.concatenate([first, ears.receive(stood + 20 * BLOCK)])
        assert virtual.overflows("receiver") == 0
    assert np.array_equal(heard, expected_stream(-(-len(heard) // BLOCK))[: len(heard)])


@pytest.mark.parametrize("realtime", [False, True])
def test_a_window_smaller_than_a_block_does_not_stop_the_stream(realtime):
    """The driver reads when all it wants is there, 8 kB, and not before.

    Here the window closes with less than that in it, again and again; nobody waits for
    the other for ever.
    """
    with VirtualRadio(MEDIUM, realtime=realtime) as virtual:
        links = [socket.socket() for _ in range(2)]
        with links[0], links[1]:
            for role, link in enumerate(links):
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 12_000)
                link.connect((virtual.host, int(virtual.arguments("receiver")["port"])))
                link.sendall(struct.pack("<I", role))
            links[0].sendall(struct.pack("<II", 20_000_000, 1 << 28 | RATE_CODE))
            reads, deadline = 0, time.monotonic() + 20
            while reads < 300 and time.monotonic() < deadline:
                if (
                    struct.unpack("i", fcntl.ioctl(links[1], termios.FIONREAD, b"\0" * 4))[0]
                    >= 8192
                ):
                    assert len(links[1].recv(8192, socket.MSG_WAITALL)) == 8192
                    reads += 1
                else:
                    time.sleep(0.002)
        assert reads == 300


def test_realtime_drops_what_is_not_read_in_time_and_counts_it():
    with VirtualRadio(MEDIUM, realtime=True) as virtual, receiver_client(virtual) as ears:
        ears.receive(BLOCK)
        time.sleep(0.5)
        dropped = virtual.overflows("receiver")
        assert dropped > 0.2 * 1.25e6 / BLOCK
        expected = expected_stream(3)[BLOCK : 3 * BLOCK]
        # what was queued is whole; the gap comes after it
        assert np.array_equal(ears.receive(2 * BLOCK), expected)
        assert len(ears.receive(100 * BLOCK)) == 100 * BLOCK  # and the stream goes on


def test_a_rate_that_the_medium_does_not_have_is_refused():
    """The protocol has no word for it: the connection is cut, and the reason kept."""
    with VirtualRadio(MEDIUM) as virtual, receiver_client(virtual, rate_code=4) as ears:
        assert len(ears.receive(BLOCK)) == 0
        assert "500000 samples a second" in virtual.complaints[0]


def test_a_stranger_is_cut_off():
    with VirtualRadio(MEDIUM) as virtual:
        link = socket.create_connection(
            (virtual.host, int(virtual.arguments("jammer")["port"])), timeout=5
        )
        with link:
            link.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                assert link.recv(1) == b""
        assert "jammer" in virtual.complaints[0]


def test_samples_that_are_not_finite_are_refused():
    """Nothing of them is on the air, and the client is cut off."""
    with VirtualRadio(MEDIUM) as virtual, sender_client(virtual, "jammer") as mouth:
        mouth.send(np.array([1, np.nan, 1]))
        with contextlib.suppress(ConnectionResetError):
            assert mouth.links[1].recv(1) == b""
        assert virtual.complaints == [
            "the device jammer sent samples that are not finite; none of them was put on the air."
        ]
        assert virtual.stream.waiting("jammer") == 0


def test_a_receiver_that_goes_away_does_not_stop_the_others():
    with (
        VirtualRadio(MEDIUM, ["transmitter", "receiver", "jammer"]) as virtual,
        receiver_client(virtual) as ears,
    ):
        with Client(virtual, "jammer", (RX_CONTROL, RX_SAMPLES), 20e6) as other:
            other.receive(BLOCK)
        assert len(ears.receive(50 * BLOCK)) == 50 * BLOCK


def test_closing_leaves_nothing_behind():
    before = set(threading.enumerate())
    virtual = VirtualRadio(MEDIUM)
    port = int(virtual.arguments("receiver")["port"])
    with receiver_client(virtual) as ears:
        ears.receive(BLOCK)
        virtual.close()
        virtual.close()
        assert len(ears.receive(1 << 20)) < 1 << 20  # the connection ended
    assert set(threading.enumerate()) == before
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_ports_and_names_are_checked():
    with VirtualRadio(MEDIUM) as virtual:
        taken = int(virtual.arguments("receiver")["port"])
        with pytest.raises(InvalidInput, match=f"port {taken} of 127.0.0.1 cannot be used"):
            VirtualRadio(MEDIUM, ["receiver"], ports=[taken])
    with pytest.raises(
        InvalidInput, match="ports must have one number for each of the 2 devices, got 1"
    ):
        VirtualRadio(MEDIUM, ["a", "b"], ports=[1])
    for names in (["a", "a"], ["a", "", "b"]):
        with pytest.raises(InvalidInput, match="a name of its own"):
            VirtualRadio(MEDIUM, names)
