"""Radios on the simulated medium in one process, and a testbed made of them.

`radio run` measures packets in compiled code. These classes take the long way, through
nodes, radios, samples and the NumPy receiver, so that tests can compare the two, and
can watch what a node transmits.
"""

import numpy as np

from ironarm.errors import InvalidInput
from ironarm.radio.backends.protocol import Closing, RadioInfo
from ironarm.radio.network.round_medium import (
    RoundMedium,
    channel_centred_at,
    samples_per_symbol,
)
from ironarm.radio.signal.medium import CENTRES_HZ, MIDDLE_HZ, Emission, Samples, window_symbols
from ironarm.radio.signal.receiver import Receiver, judged
from ironarm.radio.signal.waveform import SYMBOL_RATE
from ironarm.radio.testbed.jamming import strategy_of
from ironarm.radio.testbed.nodes import JammerNode, TxNode


class SimulatedRadio(Closing):
    """A `Radio` on a `RoundMedium` that it shares with others."""

    def __init__(self, medium, emitter="transmitter", rate_hz=2 * SYMBOL_RATE):
        self.medium, self.emitter, self.rate_hz = medium, emitter, rate_hz
        self.sps = samples_per_symbol(rate_hz)
        self.frequency_hz, self.gain_db = MIDDLE_HZ, 0.0
        self._closed = False

    def tune(self, frequency_hz):
        channel_centred_at(frequency_hz)
        self.frequency_hz = frequency_hz

    def set_gain(self, gain_db):
        self.gain_db = gain_db

    def transmit(self, samples, at=None):
        if self._closed:
            raise InvalidInput("this radio is closed.")
        self.medium.emit(
            Emission(
                Samples(np.asarray(samples), self.sps),
                channel_centred_at(self.frequency_hz),
                self.emitter,
                self.gain_db,
                moving=self.emitter == "transmitter",
            )
        )

    def receive(self, count, at=None):
        return self.medium.hear(self.frequency_hz, self.rate_hz, count)

    def info(self):
        return RadioInfo("simulated", self.emitter, self.frequency_hz, self.rate_hz, self.gain_db)

    def close(self):
        if not self._closed:
            self._closed = True
            self.medium.silence(self.emitter)


class RadioTestbed:
    """Does what `CompiledTestbed` does, with nodes and simulated radios."""

    def __init__(self, config):
        self.medium = RoundMedium(config.medium())
        powers = [config.jam_power_db(channel) for channel in range(len(CENTRES_HZ))]
        self.jammer = JammerNode(
            strategy_of(config), config.seed, powers, SimulatedRadio(self.medium, "jammer")
        )
        self.transmitter = TxNode(SimulatedRadio(self.medium))
        self.radio = SimulatedRadio(self.medium, "receiver")
        self.receiver = Receiver(floor_db=config.channels.missed)

    def announce(self, round_number, attempt, channel):
        """Jam and send; the jammer goes first, as in the hub."""
        if self.transmitter.is_sent(round_number, attempt):
            return
        self.medium.begin(round_number)
        self.radio.tune(CENTRES_HZ[channel])
        self.jammer.act(round_number, channel)
        self.transmitter.send(round_number, attempt, channel)

    def measure(self, round_number, channel):
        """Receive samples, and measure the packet in them."""
        count = window_symbols(self.receiver.format) * self.receiver.sps
        return judged(self.receiver, self.radio.receive(count), round_number)
