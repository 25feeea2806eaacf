"""Strategies hit the packets that they name, as often as they say."""

import numpy as np
import pytest

from ironarm.errors import BadFile, InvalidInput
from ironarm.radio.testbed.closed_loop import run
from ironarm.radio.testbed.config import RadioConfig
from ironarm.radio.testbed.jamming import FromTrace, strategy_of
from ironarm.radio.testbed.nodes import JammerNode


def configured(**changes):
    return RadioConfig.read(
        None, {"rounds": 300, "seed": 5, "agent": {"policy": "MedEUCB(block=90)"}, **changes}
    )


@pytest.mark.parametrize(
    ("strategy", "rho", "channels"),
    [("any", 0.2, 5), ("best", 0.2, 1), ([0, 0.2, 0.2, 0, 0], 0.9, 2)],
)
def test_strategies(strategy, rho, channels):
    """They hit their channels as often as they should, whatever came before."""
    jammer = JammerNode(strategy_of(configured(jammer={"strategy": strategy, "rho": rho})), seed=3)
    hits = np.array(
        [[jammer.decide(number, channel) for number in range(2000)] for channel in range(5)]
    )
    shares = hits.mean(axis=1)
    assert (shares > 0).sum() == channels
    assert shares[shares > 0] == pytest.approx(0.2, abs=0.036)  # four standard errors
    again = JammerNode(jammer.strategy, seed=3)
    assert again.decide(1500, int(np.argmax(shares))) == hits[np.argmax(shares), 1500]
    assert again.truth == {1500: bool(hits[np.argmax(shares), 1500])}


def test_the_same_power_is_sent_in_all_channels():
    """The mean, in dB, of what is sent by default; the paths decide what arrives.

    They differ by 4 dB from channel to channel, so jammed means do too.
    """
    default, same = (configured(jammer={"same_power": power}) for power in (False, True))
    sent = [default.jam_power_db(channel) for channel in range(5)]
    assert max(sent) - min(sent) == pytest.approx(7.73, abs=0.01)
    assert [same.jam_power_db(channel) for channel in range(5)] == [np.mean(sent)] * 5
    paths = default.paths
    arrives = np.mean(sent) + np.array(paths.jammer) - np.array(paths.transmitter)
    jammed = run(
        configured(
            rounds=500,
            agent={"policy": "EpsilonGreedy(c=100)"},
            jammer={"strategy": "any", "rho": 1.0, "same_power": True},
        )
    ).summary()["jammed_sinr_db"]
    # about 100 packets each with a spread of 1 dB: four standard errors
    assert jammed == pytest.approx(-arrives, abs=0.4)


def test_what_has_no_same_power_is_refused():
    """A channel that is not jammed, and gains of a device that differ."""
    for wrong, message in (
        ({"jammer": {"same_power": 1}}, "same_power must be true or false, got 1"),
        (
            {"channels": {"jammed": [10, 8, 7, 31, 5]}, "jammer": {"same_power": True}},
            "in channel 3 it has none",
        ),
        (
            {
                "hardware": {"gains_db": {"jammer": [1, 2, 3, 4, 5]}},
                "jammer": {"same_power": True},
            },
            "gains in .hardware.gains_db. differ",
        ),
    ):
        with pytest.raises(InvalidInput, match=message):
            configured(**wrong)
    alike = {"hardware": {"gains_db": {"jammer": [3] * 5}}, "jammer": {"same_power": True}}
    assert configured(**alike).jammer.same_power


def test_a_trace_is_followed(tmp_path):
    """Line by line, over and over; a bad line is named."""
    path = tmp_path / "trace.txt"
    path.write_text("none\nany\n0 3\n")
    result = run(configured(rounds=9, jammer={"strategy": f"trace:{path}"}))
    assert [record.jammed for record in result.rounds] == [False, True, True] * 3
    for lines, message in (
        (["any", "5"], "line 2 of the trace"),
        (["al"], "line 1"),
        ([""], "line 1"),
        ([], "empty"),
    ):
        with pytest.raises(InvalidInput, match=message):
            FromTrace.from_lines(*lines)
    path.write_text("any\n0, 1\n")
    with pytest.raises(
        BadFile,
        match=(
            r"trace\.txt: line 2 of the trace must be .* with blanks between them, such as 0 3; "
            r"got '0, 1'"
        ),
    ):
        FromTrace.read(path)
    path.write_bytes(b"\xef\xbb\xbfany\r\nnone\r\n")  # as some editors write it
    assert FromTrace.read(path) == FromTrace.from_lines("any", "none")
    with pytest.raises(BadFile, match="cannot be read"):
        run(configured(jammer={"strategy": "trace:no-such-file"}))
