"""The closed loop adds up, alone and with radios, and repeats what an ACK has lost."""

import numpy as np
import pytest

import ironarm as ia
from ironarm.errors import BadFile, NodeLost
from ironarm.radio.testbed import closed_loop
from ironarm.radio.testbed.closed_loop import CompiledTestbed, run
from ironarm.radio.testbed.config import RadioConfig
from ironarm.radio.testbed.records import RunRecord

from ..simulated_radio import RadioTestbed

MEANS = [41, 37, 35, 31, 28]


def configured(**changes):
    return RadioConfig.read(
        None, {"rounds": 300, "seed": 5, "agent": {"policy": "MedEUCB(block=90)"}, **changes}
    )


@pytest.mark.parametrize("same_power", [False, True])
def test_a_closed_loop_is_the_same_with_radios(same_power):
    """Nodes with radios make the same choices and measure the compiled chain's SINRs.

    Clean ones agree to 0.1 dB, jammed ones in the mean: their noise differs, by 0.45 dB
    in spread.
    """
    config = configured(jammer={"same_power": same_power})
    compiled, radios = run(config), run(config, RadioTestbed(config))
    assert radios.channels.tolist() == compiled.channels.tolist()
    jammed = np.array([record.jammed for record in compiled.rounds])
    assert jammed.tolist() == [record.jammed for record in radios.rounds]
    difference = np.array(
        [a.sinr_db - b.sinr_db for a, b in zip(radios.rounds, compiled.rounds, strict=True)]
    )
    assert np.abs(difference[~jammed]).max() < 0.1
    assert abs(difference[jammed].mean()) < 0.3  # 37 packets: four standard errors
    assert difference[jammed].std() < 0.8  # the same paths; with others the wander makes it 1.4


def test_records_and_summary_add_up():
    """Regret comes from the configured means; jammed packets read their SINR."""
    result = run(configured(rounds=1000, jammer={"rho": 0.3}))
    assert [record.round for record in result.rounds] == list(range(1000))
    assert np.allclose(
        [record.regret for record in result.rounds],
        np.cumsum(41 - np.array(MEANS)[result.channels]),
    )
    assert all(record.reward == record.sinr_db and not record.missed for record in result.rounds)
    summary = result.summary()
    assert summary["pulls"] == np.bincount(result.channels, minlength=5).tolist()
    assert summary["jammed"] == sum(record.jammed for record in result.rounds)
    assert 0.25 < summary["jammed"] / 1000 < 0.35  # binomial: three and a half standard errors
    for channel, jammed in enumerate([10, 8.75]):
        sinr = [
            record.sinr_db
            for record in result.rounds
            if record.channel == channel and record.jammed
        ]
        assert np.mean(sinr) == pytest.approx(jammed, abs=4 / np.sqrt(len(sinr)))


def test_the_agent_never_sees_the_jammer():
    """It learns only the SINR: a bare agent with the same rewards makes its choices."""
    result = run(configured(jammer={"rho": 0.3, "strategy": "best"}))
    agent = ia.Agent(ia.MedEUCB(block=90), arms=5, seed=5)
    for record in result.rounds:
        assert agent.select() == record.channel
        agent.update(record.channel, record.reward)
    assert {record.channel for record in result.rounds if record.jammed} == {0}


def test_missed_packets_are_an_outcome_with_a_floor_reward():
    """Jammed so hard that nothing is found."""
    config = configured(rounds=100, jammer={"rho": 0.5}, channels={"missed": -12})
    testbed = CompiledTestbed(config)
    testbed._jam = [1000.0] * 5  # -30 dB; less than 0 dB cannot be asked for
    result = run(config, testbed)
    assert {record.missed for record in result.rounds if record.jammed} == {True}
    assert {record.reward for record in result.rounds if record.missed} == {-12.0}
    assert result.summary()["missed"] == result.summary()["jammed"] > 20


def test_a_lost_ack_repeats_the_round_and_feeds_nothing():
    """With three quarters of the tries lost, channels and rewards are the same."""
    lossless, lossy = run(configured()), run(configured(ack={"loss": 0.75, "retries": 1}))
    assert [record[:7] for record in lossy.rounds] == [record[:7] for record in lossless.rounds]
    repeats = [record.repeats for record in lossy.rounds]
    # geometric: four standard errors
    assert sum(repeats) / 300 == pytest.approx(0.75**2 / (1 - 0.75**2), rel=0.4)
    assert lossless.summary()["repeats"] == 0


def test_a_transmitter_that_never_answers(monkeypatch):
    """Ends the run with a sentence."""
    monkeypatch.setattr(closed_loop, "MOST_REPEATS", 3)
    with pytest.raises(NodeLost, match="round 0 was repeated 3 times"):
        run(configured(ack={"loss": 0.999, "retries": 0}))


def test_a_packet_of_another_round_is_none():
    """The header's round must be the present one."""
    bed = RadioTestbed(configured(jammer={"rho": 0}))
    bed.announce(7, 0, 2)
    assert bed.measure(8, 2) == (-20.0, True)
    sinr, missed = bed.measure(7, 2)
    assert (sinr, missed) == (pytest.approx(35, abs=3), False)


def test_a_run_is_saved_and_loaded(tmp_path):
    """Round by round; other files are refused."""
    result = run(configured(rounds=20))
    result.save(tmp_path / "run.json")
    again = RunRecord.load(tmp_path / "run.json")
    assert (again.rounds, again.config, again.seconds) == (
        result.rounds,
        result.config,
        result.seconds,
    )
    (tmp_path / "other.json").write_text("[]")
    for name in ("other.json", "none.json"):
        with pytest.raises(BadFile):
            RunRecord.load(tmp_path / name)
    (tmp_path / "deep.json").write_text("[" * 10**5 + "]" * 10**5)
    with pytest.raises(BadFile, match="nested too deeply"):
        RunRecord.load(tmp_path / "deep.json")
