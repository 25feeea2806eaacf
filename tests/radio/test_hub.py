"""The medium's process passes over what makes no sense, and goes on."""

import numpy as np
import pytest

from ironarm.radio.hub import Hub
from ironarm.radio.messages import decoded, encoded
from ironarm.radio.settings import Settings

HUGE = 10**400


class Socket:
    """Delivers messages, then the end of the run."""

    def __init__(self, messages):
        self.waiting, self.told = [*messages, ("rx", {"op": "finish"}, None)], []

    def poll(self, _):
        return True

    def recv_multipart(self):
        role, fields, samples = self.waiting.pop(0)
        return [role.encode(), *encoded(fields, samples)]

    def send_multipart(self, parts):
        self.told.append((parts[0].decode(), decoded(parts[1:]).fields))

    def close(self):
        pass


PACKET = {"op": "announce", "round": 3, "attempt": 0, "channel": 0}
BURST = {"op": "transmit", "round": 3, "attempt": 0, "rate_hz": 2 * 5e6 / 12, "frequency_hz": 1200e6, "gain_db": 0.0}


@pytest.mark.parametrize(
    ("role", "fields"),
    [
        *(("tx", {**PACKET, name: value}) for name in ("round", "attempt", "channel") for value in (float("inf"), float("nan"), HUGE, -1, "x", None)),
        ("tx", {**PACKET, "round": 2**32}),
        *(("tx", {**BURST, name: value}) for name in ("gain_db", "rate_hz", "frequency_hz") for value in (float("inf"), HUGE, "x")),
        ("tx", {**BURST, "gain_db": 201}),
        ("rx", {"op": "record", "rounds": [{"round": float("inf")}]}),
        ("rx", {"op": "record", "rounds": [{"round": HUGE}]}),
        ("noise", {"op": "noise", "levels": [HUGE] * 5}),
        ("noise", {"op": "noise", "levels": [float("inf")] * 5}),
    ],
)
def test_a_malformed_message_is_passed_over(role, fields, capsys):
    """With a line that says from whom; before, Infinity ended the process."""
    hub = Hub(Settings.of({"processes": {"port": 0}}))
    hub._socket.close()
    before = [("tx", PACKET, None)] if fields["op"] == "transmit" else []
    hub._socket = Socket([*before, (role, fields, np.ones(100))])
    hub.serve()
    assert "makes no sense" in capsys.readouterr().err
    assert hub.sent is None
    assert not hub.records


@pytest.mark.parametrize("bad", [np.nan, np.inf, complex(0, np.nan)])
def test_a_burst_that_is_not_finite_is_refused(bad, capsys):
    """And what was on the air stays there."""
    hub = Hub(Settings.of({"processes": {"port": 0}}))
    hub._socket.close()
    hub._socket = Socket([("tx", PACKET, None), ("tx", BURST, np.ones(100)), ("tx", {**BURST, "id": 7}, np.array([1, bad, 1]))])
    hub.serve()
    assert "makes no sense: a burst must have finite samples, got 1 of 3" in capsys.readouterr().err
    assert [len(emission.signal.samples) for emission in hub.air.emissions] == [100]


def test_a_burst_that_makes_sense_is_taken(capsys):
    """The one that the malformed ones are made of."""
    hub = Hub(Settings.of({"processes": {"port": 0}}))
    hub._socket.close()
    hub._socket = Socket([("tx", PACKET, None), ("tx", BURST, np.ones(100))])
    hub.serve()
    assert (hub.sent, capsys.readouterr().err) == ((3, 0), "")
