"""The medium's process passes over what makes no sense, and goes on."""

import numpy as np
import pytest

from ironarm.radio.network.hub import Hub
from ironarm.radio.network.messages import decoded, encoded
from ironarm.radio.testbed.config import RadioConfig

HUGE = 10**400


class Socket:
    """Delivers messages, then the end of the run."""

    def __init__(self, messages):
        self.waiting, self.told = [*messages, ("rx", {"op": "finish"}, None)], []

    def poll(self, _):
        return True

    def recv_multipart(self):
        role, fields, samples = self.waiting.pop(0)
        return [(role if "/" in role else f"bench/{role}").encode(), *encoded(fields, samples)]

    def send_multipart(self, parts):
        self.told.append((parts[0].decode(), decoded(parts[1:]).fields))

    def close(self):
        pass


RECORD = {"round": 0, "channel": 2, "sinr_db": 35.0, "missed": False, "reward": 35.0, "regret": 6.0}
PACKET = {"op": "announce", "round": 3, "attempt": 0, "channel": 0}
BURST = {
    "op": "transmit",
    "round": 3,
    "attempt": 0,
    "rate_hz": 2 * 5e6 / 12,
    "frequency_hz": 1200e6,
    "gain_db": 0.0,
}


@pytest.mark.parametrize(
    ("role", "fields"),
    [
        *(
            ("tx", {**PACKET, name: value})
            for name in ("round", "attempt", "channel")
            for value in (float("inf"), float("nan"), HUGE, -1, "x", None)
        ),
        ("tx", {**PACKET, "round": 2**32}),
        *(
            ("tx", {**BURST, name: value})
            for name in ("gain_db", "rate_hz", "frequency_hz")
            for value in (float("inf"), HUGE, "x")
        ),
        ("tx", {**BURST, "gain_db": 201}),
        ("rx", {"op": "record", "rounds": [{"round": float("inf")}]}),
        ("rx", {"op": "record", "rounds": [{"round": HUGE}]}),
        ("rx", {"op": "record", "rounds": [RECORD, {**RECORD, "round": 1, "channel": 5}]}),
        ("rx", {"op": "record", "rounds": [{**RECORD, "reward": float("nan")}]}),
        ("rx", {"op": "record", "rounds": [{**RECORD, "missed": 0}]}),
        ("rx", {"op": "record", "rounds": 3}),
        ("noise", {"op": "noise", "levels": [HUGE] * 5}),
        ("noise", {"op": "noise", "levels": [float("inf")] * 5}),
    ],
)
def test_a_malformed_message_is_passed_over(role, fields, capsys):
    """With a line that says from whom; before, Infinity ended the process."""
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}))
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
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}))
    hub._socket.close()
    hub._socket = Socket(
        [
            ("tx", PACKET, None),
            ("tx", BURST, np.ones(100)),
            ("tx", {**BURST, "id": 7}, np.array([1, bad, 1])),
        ]
    )
    hub.serve()
    assert "makes no sense: a burst must have finite samples, got 1 of 3" in capsys.readouterr().err
    assert [len(emission.signal.samples) for emission in hub.round_medium.emissions] == [100]


def test_a_packet_that_came_later_than_its_noise_is_reported(capsys):
    """To observers too; only the receiver can tell."""
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}))
    hub._socket.close()
    hub._socket = Socket([])
    for role in ("observer.a", "tx", "rx"):
        hub._arrived(role)
        hub._handle(role, decoded(encoded({"op": "late", "round": 3, "attempt": 0})))
    said = (
        "round 3 took longer than its packet's noise lasts, and is repeated with noise that lasts"
    )
    assert capsys.readouterr().err.count(said) == 1
    assert [message["what"] for _, message in hub._socket.told] == ["late"]


def test_a_record_with_fields_of_another_version_is_kept():
    """Without them, and without what the receiver may say of the jammer."""
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}))
    hub._socket.close()
    hub._socket = Socket(
        [
            ("observer", {"op": "watch"}, None),
            ("rx", {"op": "record", "rounds": [{**RECORD, "colour": "red", "jammed": True}]}, None),
        ]
    )
    hub.serve()
    kept = {**RECORD, "jammed": None, "repeats": 0, "ack_ms": 0.0}
    assert hub.records == {0: kept}
    assert ("bench/observer", {"op": "rounds", "rounds": [kept]}) in hub._socket.told


def test_who_is_back_is_told_how_long_it_was_silent(monkeypatch):
    """From its last word on, not from when it was reported."""
    now = [100.0]
    monkeypatch.setattr("ironarm.radio.network.hub.monotonic", lambda: now[0])
    hub = Hub(RadioConfig.of({"processes": {"port": 0, "lost_seconds": 2}}))
    hub._socket.close()
    hub._socket = Socket([])
    for role, now[0] in (
        ("observer.1", 100.0),
        ("tx", 100.0),
        ("observer.1", 103.0),
        ("tx", 104.5),
    ):
        hub._arrived(role)
    said = [message["text"] for _, message in hub._socket.told]
    assert said == [
        "the transmitter has been silent for 2 s; waiting 30 s for its return",
        "the transmitter is back after 4.5 s of silence",
    ]


def test_a_request_that_makes_no_sense_is_answered():
    """With the reason, so that nobody waits for ever."""
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}))
    hub._socket.close()
    hub._socket = Socket([("rx", {"op": "record", "rounds": [{"round": 0}], "id": 4}, None)])
    hub.serve()
    assert hub._socket.told[0] == (
        "bench/rx",
        {
            "op": "senseless",
            "id": 4,
            "reason": "the record of a round lacks channel, sinr_db, missed, reward, regret.",
        },
    )


def test_nodes_of_another_run_are_refused(capsys):
    """They are refused and not counted; standard error names each once."""
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}), run="mine")
    hub._socket.close()
    strangers = ["yours/jammer", "yours/jammer", "yours/mine/tx", "/tx"]
    hub._socket = Socket(
        [
            *((name, {"op": "alive"}, None) for name in strangers),
            ("mine/jammer", {"op": "alive"}, None),
            ("mine/rx", {"op": "finish"}, None),
        ]
    )
    hub.serve()
    assert sorted(hub.seen) == ["jammer", "rx"]
    assert [
        who for who, fields in hub._socket.told if fields == {"op": "refused", "run": "mine"}
    ] == strangers
    assert (
        capsys.readouterr().err.count(
            "medium: refused the jammer of another run, 'yours'; this is the run 'mine'"
        )
        == 1
    )


def test_a_burst_that_makes_sense_is_taken(capsys):
    """The one that the malformed ones are made of."""
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}))
    hub._socket.close()
    hub._socket = Socket([("tx", PACKET, None), ("tx", BURST, np.ones(100))])
    hub.serve()
    assert (hub.sent, capsys.readouterr().err) == ((3, 0), "")


@pytest.mark.parametrize("late", [{"attempt": 0}, {"round": 2}])
def test_a_burst_of_an_earlier_packet_is_not_taken_for_this_one(late):
    """The receiver would learn a reward of another attempt."""
    hub = Hub(RadioConfig.of({"processes": {"port": 0}}))
    hub._socket.close()
    now = {"attempt": 1}
    burst = {**BURST, **now, **late}
    hub._socket = Socket([("tx", {**PACKET, **now}, None), ("tx", burst, np.ones(100))])
    hub.serve()
    assert (hub.sent, hub.round_medium.emissions) == (None, [])
