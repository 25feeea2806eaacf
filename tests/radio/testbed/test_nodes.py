"""Nodes do their part, from their own random numbers."""

import numpy as np
import pytest

import ironarm as ia
from ironarm.errors import InvalidInput
from ironarm.radio.testbed.closed_loop import run
from ironarm.radio.testbed.config import RadioConfig
from ironarm.radio.testbed.jamming import strategy_of
from ironarm.radio.testbed.nodes import JammerNode, NoiseNode, TxNode
from ironarm.radio.testbed.rx_agent import RxAgent

MEANS = [41, 37, 35, 31, 28]


def configured(**changes):
    return RadioConfig.read(
        None, {"rounds": 300, "seed": 5, "agent": {"policy": "MedEUCB(block=90)"}, **changes}
    )


class Sent:
    """A radio that keeps what it was told."""

    def tune(self, frequency_hz):
        self.frequency_hz = frequency_hz

    def set_gain(self, gain_db):
        pass

    def transmit(self, samples):
        self.samples = samples


@pytest.mark.parametrize("node", ["noise", "jammer"])
def test_noise_has_its_level_in_the_channel_and_nothing_outside(node):
    """Within 5 % in the channel (ten standard errors), and a level of 0 is silence.

    A list of allowed bands may end beside the channel.
    """
    radio, centres = Sent(), [433e6 + channel * 500e3 for channel in range(5)]
    if node == "noise":
        NoiseNode([1.0, 0.5, 0.1, 0.0, 0.3], 1, radio, 3, 100_003, centres).act(7, 3)
        assert not hasattr(radio, "samples")
        NoiseNode([1.0, 0.5, 0.1, 0.0, 0.3], 1, radio, 3, 100_003, centres).act(7, 2)
    else:
        JammerNode(
            strategy_of(configured(jammer={"rho": 1.0})), 1, [0.0] * 5, radio, 3, 100_003, centres
        ).act(7, 2)
    assert radio.frequency_hz == 434e6
    assert len(radio.samples) == 300_009
    spectrum, frequency = (
        np.abs(np.fft.fft(radio.samples)) ** 2 / len(radio.samples),
        np.fft.fftfreq(len(radio.samples), 1 / 1.25e6),
    )
    assert spectrum[np.abs(frequency) < 245e3].mean() == pytest.approx(
        0.1 if node == "noise" else 1.0, rel=0.05
    )
    assert spectrum[np.abs(frequency) > 255e3].sum() < 1e-4 * spectrum.sum()


def test_a_transmitter_that_wanders_is_never_stronger_than_its_gain_allows():
    """Levels are at most 0 dB, with the mean -headroom and the spread asked for.

    2,000 packets: 5 standard errors.
    """
    node = TxNode(Sent(), wander_db=1.0, headroom_db=3.0, seed=4)
    plain = np.linalg.norm(TxNode(Sent()).packet(0))
    levels = np.array(
        [20 * np.log10(np.linalg.norm(node.packet(number)) / plain) for number in range(2000)]
    )
    assert levels.max() <= 1e-2  # the headers differ, and with them the energy, a little
    assert levels.mean() == pytest.approx(-3, abs=0.12)
    assert levels.std() == pytest.approx(1, abs=0.08)


def test_a_receiver_that_was_restarted_learns_its_history_again():
    """And refuses one that is not its own."""
    result = run(configured(rounds=120))
    agent = RxAgent(ia.MedEUCB(block=90), MEANS, seed=5)
    agent.replay([(record.channel, record.reward) for record in result.rounds[:100]])
    assert (agent.regret, agent.decide()) == (
        result.rounds[99].regret,
        (100, result.rounds[100].channel),
    )
    with pytest.raises(InvalidInput, match="in round 100 it used channel"):
        agent.replay([((result.rounds[100].channel + 1) % 5, 1.0)])
    with pytest.raises(InvalidInput, match="no decision to reward"):
        RxAgent(ia.UCB(), MEANS, seed=1).learn(1.0)
