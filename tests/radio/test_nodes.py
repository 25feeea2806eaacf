"""Nodes do their part, from their own random numbers."""

import numpy as np
import pytest

import ironarm as ia
from ironarm.errors import InvalidInput
from ironarm.radio.closed_loop import run
from ironarm.radio.medium import WIDE_RATE
from ironarm.radio.nodes import NoiseNode
from ironarm.radio.rx_agent import RxAgent
from ironarm.radio.settings import Settings

MEANS = [41, 37, 35, 31, 28]


def settings(**changes):
    return Settings.read(None, {"rounds": 300, "seed": 5, "agent": {"policy": "MedEUCB(block=90)"}, **changes})


def test_the_noise_source_fills_each_channel_at_its_level():
    """At 5 MS/s in the middle of all: within 10 % (5,000 samples: seven standard errors)."""
    levels = [1.0, 0.5, 0.1, 0.02, 0.3]
    heard = NoiseNode(levels, seed=1).samples(4500)
    spectrum, frequency = np.abs(np.fft.fft(heard)) ** 2, np.fft.fftfreq(len(heard), 1 / WIDE_RATE)
    inside = [spectrum[np.abs(frequency - (channel - 2) * 500e3) < 240e3].sum() / len(heard) ** 2 / 0.096 for channel in range(5)]
    assert inside == pytest.approx(levels, rel=0.1)
    assert spectrum[np.abs(frequency) > 1.26e6].max() < 1e-9


def test_a_receiver_that_was_restarted_learns_its_history_again():
    """And refuses one that is not its own."""
    result = run(settings(rounds=120))
    agent = RxAgent(ia.MedEUCB(block=90), MEANS, seed=5)
    agent.replay([(record.channel, record.reward) for record in result.rounds[:100]])
    assert (agent.regret, agent.decide()) == (result.rounds[99].regret, (100, result.rounds[100].channel))
    with pytest.raises(InvalidInput, match="in round 100 it used channel"):
        agent.replay([((result.rounds[100].channel + 1) % 5, 1.0)])
    with pytest.raises(InvalidInput, match="no decision to reward"):
        RxAgent(ia.UCB(), MEANS, seed=1).learn(1.0)
