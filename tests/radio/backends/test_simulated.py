"""Simulated radios have what the medium has."""

import numpy as np
import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.backends.simulated import Air, SimulatedRadio
from ironarm.radio.signal.medium import (
    MIDDLE_HZ,
    WIDE_RATE,
    Medium,
    channelise,
)
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import SYMBOL_RATE
from ironarm.radio.testbed.nodes import TxNode


def test_simulated_radios_refuse_what_the_medium_does_not_have():
    """Frequencies, rates and wideband transmission; all channels can be heard at
    once.
    """
    air = Air(Medium(noise=[1e-3] * 5))
    with pytest.raises(InvalidInput, match=r"no channel at 1203 MHz"):
        SimulatedRadio(air).tune(1203e6)
    with pytest.raises(InvalidInput, match=r"got 1,000,000"):
        SimulatedRadio(air, rate_hz=1e6)
    wide = SimulatedRadio(air, "receiver", WIDE_RATE)
    with pytest.raises(InvalidInput, match="only receives"):
        wide.transmit(np.ones(12))
    TxNode(SimulatedRadio(air, rate_hz=3 * SYMBOL_RATE), sps=3).send(0, 0, 4)
    wide.tune(MIDDLE_HZ)
    heard = wide.receive(450 * 12)
    assert Receiver(sps=3).receive(channelise(heard, 4)).round == 0
    wide.tune(1200e6)
    with pytest.raises(InvalidInput, match="must be tuned to 1201 MHz"):
        wide.receive(1200)
