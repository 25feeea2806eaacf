"""The medium of a round has the channels and rates of the simulated medium."""

import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.network.round_medium import RoundMedium
from ironarm.radio.signal.medium import Medium
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import SYMBOL_RATE
from ironarm.radio.testbed.nodes import TxNode

from ..simulated_radio import SimulatedRadio


def test_frequencies_and_rates_that_the_medium_does_not_have_are_refused():
    """Each with a sentence that names those it has."""
    medium = RoundMedium(Medium(noise=[1e-3] * 5))
    with pytest.raises(InvalidInput, match=r"no channel at 1203 MHz"):
        medium.hear(1203e6, 2 * SYMBOL_RATE, 10)
    with pytest.raises(InvalidInput, match=r"got 1,000,000"):
        medium.hear(1202e6, 1e6, 10)


def test_a_transmitter_at_three_samples_a_symbol_is_heard_at_two():
    """And its packet is gone when the next round begins."""
    medium = RoundMedium(Medium(noise=[1e-3] * 5))
    TxNode(SimulatedRadio(medium, rate_hz=3 * SYMBOL_RATE), sps=3).send(0, 0, 4)
    assert Receiver().receive(medium.hear(1202e6, 2 * SYMBOL_RATE, 900)).round == 0
    medium.begin(1)
    assert not Receiver().receive(medium.hear(1202e6, 2 * SYMBOL_RATE, 900)).detected
