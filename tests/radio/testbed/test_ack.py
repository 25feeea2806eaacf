"""The ACK link loses, repeats, and never sends twice."""

import threading
import time

import numpy as np
import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.network.messages import (
    dealer,
    decoded,
    encoded,
    router,
)
from ironarm.radio.network.processes import free_port
from ironarm.radio.network.round_medium import RoundMedium
from ironarm.radio.signal.medium import Medium
from ironarm.radio.testbed.ack import AckClient, AckServer, InProcessAck
from ironarm.radio.testbed.nodes import TxNode

from ..simulated_radio import SimulatedRadio


def test_the_same_ack_twice_is_one_packet():
    """A lost answer makes the receiver ask again; the transmitter sends once."""
    medium = RoundMedium(Medium(noise=[1e-3] * 5))
    node = TxNode(SimulatedRadio(medium))
    link = InProcessAck(node.send, loss=0.6, retries=20, seed=1)
    for number in range(20):
        assert link.request(number, 0, 1).arrived
    assert len(medium.emissions) == 20
    node.send(19, 1, 2)
    assert len(medium.emissions) == 21


def test_requests_and_answers_are_lost_alike():
    """Of 1,000 tries half arrive, and half of the others were heard nevertheless.

    Each within four standard errors.
    """
    heard = []
    link = InProcessAck(lambda *request: heard.append(request), loss=0.5, retries=0, seed=1)
    assert sum(link.request(number, 0, 1).arrived for number in range(1000)) == pytest.approx(
        500, abs=63
    )
    assert len(heard) == pytest.approx(750, abs=55)


def test_a_late_answer_is_not_taken_for_the_next():
    """The answer to round 2 comes while round 3 is asked for: passed over."""
    address = f"tcp://127.0.0.1:{free_port()}"
    transmitter, got = router(address), []
    lost, client = (
        AckClient(address, timeout_seconds=0.05, retries=0),
        AckClient(address, timeout_seconds=20, retries=0),
    )
    try:
        assert not lost.request(2, 0, 0).arrived
        thread = threading.Thread(target=lambda: got.append(client.request(3, 1, 0)))
        thread.start()
        while decoded((message := transmitter.recv_multipart())[1:]).fields["round"] != 3:
            pass
        for stale in ({"round": 2, "attempt": 1}, {"round": 3, "attempt": 0}, {"round": "3"}):
            transmitter.send_multipart([message[0], *encoded(stale)])
        thread.join(0.3)
        assert got == []
        transmitter.send_multipart([message[0], *encoded({"round": 3, "attempt": 1})])
        thread.join()
        assert got[0].arrived
    finally:
        for end in (transmitter, lost, client):
            end.close()


def test_acks_over_zeromq():
    """Latency is reported, lost answers are asked for again, late ones are ignored.

    Nonsense is not answered.

    An ACK without a server is lost, after its tries.
    """
    address = f"tcp://127.0.0.1:{free_port()}"
    heard, ended, silent = [], threading.Event(), {(1, 0): 1}

    def send(number, attempt, channel):
        heard.append((number, attempt, channel))
        silent[number, attempt] = silent.get((number, attempt), 0) - 1
        return silent[number, attempt] < 0

    server = AckServer(address, send)
    thread = threading.Thread(target=lambda: [server.serve(20) for _ in iter(ended.is_set, True)])
    thread.start()
    client = AckClient(address, timeout_seconds=1.0, retries=2)
    stranger = dealer()
    stranger.connect(address)
    try:
        for nonsense in (
            [b"x"],
            [b"\xff", b""],
            [b"[1]", b""],
            encoded({"round": "1"}),
            encoded({"round": -1, "attempt": 0, "channel": 0}),
        ):
            stranger.send_multipart(nonsense)
        first = client.request(0, 0, 3)
        assert (first.arrived, first.tries) == (True, 1)
        assert 0 < first.seconds < 1
        second = client.request(1, 0, 4)
        assert (second.arrived, second.tries) == (True, 2)
        assert second.seconds >= 1
        assert heard == [(0, 0, 3), (1, 0, 4), (1, 0, 4)]
        assert not stranger.poll(0)
    finally:
        ended.set()
        thread.join()
        server.close()
        stranger.close(0)
        client.close()
    beats = []
    lost = AckClient(
        address, timeout_seconds=0.1, retries=1, meanwhile=lambda: beats.append(time.monotonic())
    )
    assert lost.request(2, 0, 0)[::2] == (False, 2)
    assert len(beats) >= 4
    lost.close()


def test_a_transmitter_of_another_run_refuses(capsys):
    """With a sentence on both sides, and no packet."""
    address, heard = f"tcp://127.0.0.1:{free_port()}", []
    server = AckServer(address, lambda *request: heard.append(request) or True, run="mine")
    client = AckClient(
        address, timeout_seconds=20, retries=0, meanwhile=lambda: server.serve(0), run="yours"
    )
    try:
        with pytest.raises(
            InvalidInput,
            match=(
                rf"the transmitter at {address} belongs to the run 'mine', and this node to the "
                r"run 'yours'; set another port"
            ),
        ):
            client.request(0, 0, 3)
    finally:
        server.close()
        client.close()
    assert heard == []
    assert (
        capsys.readouterr().err
        == "tx: refused a request of another run, 'yours'; this is the run 'mine'\n"
    )


def test_messages_are_data():
    """Samples survive as 32-bit parts; what is no message is None."""
    message = decoded(encoded({"op": "x"}, np.array([1 + 2j])))
    assert (message.op, message.payload) == ("x", np.array([1 + 2j], "<c8").tobytes())
    assert [
        decoded(parts) for parts in ([], [b"{}"], [b"{", b""], [b"[]", b""], [b"[" * 100_000, b""])
    ] == [None] * 5
