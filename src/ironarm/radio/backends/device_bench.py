"""Calibration's bench on real devices.

The transmitter, the noise source and the receiver of a configuration all run in this
process. Packets are sent in trains, which is faster than one at a time: noise begins,
the train is sent within it, and the next train waits until the noise is over. All
bursts end by themselves, so nothing stays on the air if this process dies. The end of
the `with` block switches the devices off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import Any, Self

import numpy as np

from ...errors import InvalidInput, RadioFault
from ..signal.receiver import Receiver
from ..signal.waveform import STANDARD, SYMBOL_RATE
from ..testbed.config import CHANNELS, RadioConfig
from ..testbed.nodes import NoiseNode
from .hardware import (
    SPS,
    check_devices,
    device_transmitter,
    open_radio,
    seconds,
)
from .packet_search import ROOM, listen_to_train

TRAIN = 100
"""Packets in one burst: 0.1 s."""

TRIES = 5
"""How often a burst is sent that the computer was too slow for."""


class Heard:
    """What a radio has received, to be looked through."""

    def __init__(self, samples: np.ndarray) -> None:
        self._samples = samples

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return `count` samples from number `at` on, fewer at the end."""
        return self._samples[at or 0 : (at or 0) + count]


class DeviceBench:
    """A `Bench` on the devices of a configuration.

    A context manager: the end of its block switches the devices off.

    Parameters
    ----------
    config : names the devices.
    acknowledged : the set-up's word from the command line; without it no device is
        touched.
    say : called with a line of text after each measurement.
    """

    def __init__(
        self,
        config: RadioConfig,
        acknowledged: str | None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        if not check_devices(config) or not config.processes.noise_node:
            raise InvalidInput(
                "calibrating devices needs one for the noise source: name it as noise in "
                "[hardware.devices], and leave out noise_node = false in [processes]."
            )
        self._settings, self._say, self._sent = config, say, 0
        self._margin = round(seconds(config, "jam_seconds") * SYMBOL_RATE)
        self._receiver = Receiver(sps=SPS, floor_db=config.channels.missed)
        with ExitStack() as opened:
            transmitter = opened.enter_context(open_radio(config, "tx", acknowledged))
            noise = opened.enter_context(open_radio(config, "noise", acknowledged))
            self._radio: Any = opened.enter_context(open_radio(config, "rx", None))
            for radio in (transmitter, noise):
                opened.callback(radio.close)  # before the receiver, whose driver may hang
            self._transmitter = device_transmitter(config, transmitter, calibrating=True)
            self._noise = NoiseNode(
                [0.0] * CHANNELS, config.seed, noise, SPS, centres_hz=config.centres_hz
            )
            self._opened = opened.pop_all()

    def note(self) -> str:
        """Return the devices and their gains, for the calibration file."""
        radios = {"tx": self._transmitter.radio, "noise": self._noise.radio, "rx": self._radio}
        reports = {role: radio.info() for role, radio in radios.items() if radio is not None}
        return "; ".join(
            f"{role}: {info.driver} {info.serial}"
            + ("" if info.gain_db is None else f", {info.gain_db:g} dB")
            for role, info in reports.items()
        )

    def measure(self, channel: int, level: float, wander_db: float, packets: int) -> np.ndarray:
        """Send packets in trains, and measure each."""
        for radio in (self._transmitter.radio, self._radio):
            radio.tune(self._settings.centres_hz[channel])
        self._transmitter.wander_db, self._noise.levels = wander_db, (level,) * CHANNELS
        trains = [
            self._train(channel, min(TRAIN, packets - sent)) for sent in range(0, packets, TRAIN)
        ]
        measured = np.array([sinr for train in trains for sinr in train])
        arrived = measured[measured > self._receiver.floor_db]
        missed = len(measured) - len(arrived)
        if missed <= packets // 50:
            measured = arrived  # a few would spoil the mean; many mean too much noise
        self._say(
            f"channel {channel}, noise level {level:.3g}: {measured.mean():.2f} dB"
            + (f", {missed} of {packets} packets missed" if missed else "")
        )
        if missed and not level:
            raise RadioFault(
                f"{missed} of {packets} packets in channel {channel} did not arrive although "
                "there was no noise; check cables, frequencies and gains."
            )
        return measured

    def _train(self, channel: int, packets: int) -> list[float]:
        """Send packets under noise, wait until it is over, and return the SINRs.

        The noise begins before the packets and ends after them. If the packets took
        longer than the noise lasts, they are sent again.
        """
        numbers = range(self._sent, self._sent + packets)
        self._sent += packets
        gap = np.zeros(2 * ROOM * SPS)
        train = np.concatenate(
            [part for number in numbers for part in (self._transmitter.packet(number), gap)]
        )
        self._noise.symbols = len(train) // SPS + 2 * self._margin
        longest = (self._noise.symbols + self._margin) * SPS
        for _ in range(TRIES):
            began = monotonic()
            self._noise.act(numbers[0], channel)
            at = self._radio.radio.now()
            self._transmitter.radio.transmit(train)
            covered = (
                monotonic() - began < self._noise.symbols / SYMBOL_RATE
                or not self._noise.levels[channel]
            )
            # Receive everything before searching it: on a busy computer the search may
            # take longer than the radio keeps samples.
            heard = Heard(self._radio.receive(longest + 2 * STANDARD.length * SPS, at=at))
            if covered:
                return listen_to_train(heard, self._receiver, numbers, 0, longest)
        raise RadioFault(
            f"{TRIES} times packets took longer to be sent than the noise around them lasts: this "
            "computer is too busy. Make jam_seconds in [hardware] longer."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
