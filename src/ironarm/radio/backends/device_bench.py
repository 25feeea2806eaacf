"""Calibration's bench on real devices.

The transmitter, the noise source and the receiver of a configuration all run in this
process. Packets are sent in trains, which is faster than one at a time: noise begins,
the train is sent within it, and the next train waits until the noise is over. All
bursts end by themselves, so nothing stays on the air if this process dies. The end of
the `with` block switches the devices off.

A busy computer may send packets later than it should. So the time between noise and
packets is counted in samples that the receiver has heard, which is right for radios of
any speed, and whatever came too late, or not at all, is sent again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
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
from .packet_search import ROOM, ends, listen_to_train

TRAIN = 100
"""Packets in one burst: 0.1 s."""

TRIES = 10
"""How often packets are sent that did not arrive, or not within their noise."""

LONGEST_SECONDS = 10.0
"""Noise that begins longer than this before its packets is not made longer still."""

SILENT_TRIES = 3
"""How often a train is sent of which nothing arrives; then noise is the reason."""

SURE_DB = 10.0
"""If packets arrive with more than this, others are not missed because of noise."""


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
        self._usual_margin = round(seconds(config, "jam_seconds") * SYMBOL_RATE)
        self._margin = self._usual_margin
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
        arrived: list[float] = []
        for _ in range(TRIES):
            for sent in range(len(arrived), packets, TRAIN):
                arrived += self._train(channel, min(TRAIN, packets - sent))
            missed = packets - len(arrived)
            sure = bool(arrived) and float(np.mean(arrived)) > SURE_DB
            if not (missed and sure):
                break
        floor = [self._receiver.floor_db] * missed
        # a few would spoil the mean; many mean too much noise
        measured = np.array(arrived if missed <= packets // 50 else arrived + floor)
        self._say(
            f"channel {channel}, noise level {level:.3g}: {measured.mean():.2f} dB"
            + (f", {missed} of {packets} packets missed" if missed else "")
        )
        if missed and (sure or not level):
            raise RadioFault(
                f"{missed} of {packets} packets in channel {channel} did not arrive, and noise is "
                "not the reason; check cables, frequencies and gains."
            )
        return measured

    def _train(self, channel: int, packets: int) -> list[float]:
        """Send packets under noise, wait until it is over, and return the SINRs.

        A packet that did not arrive has none. The noise begins before the packets and
        ends after them. If they came later than that, they are sent again under noise
        that lasts longer.
        """
        numbers = range(self._sent, self._sent + packets)
        self._sent += packets
        gap = np.zeros(2 * ROOM * SPS)
        train = np.concatenate(
            [part for number in numbers for part in (self._transmitter.packet(number), gap)]
        )
        for times in range(1, TRIES + 1):
            self._noise.symbols = len(train) // SPS + 2 * self._margin
            with self._radio.radio.hold() as began:
                self._noise.act(numbers[0], channel)
                at = self._radio.radio.now()
                self._transmitter.radio.transmit(train)
                # the train is on its way; wait for its end, and for that of the noise
                until = max(at + self._noise.symbols * SPS, self._radio.radio.now() + len(train))
                longest = until - at + self._margin * SPS
                heard = Heard(self._radio.receive(longest + 2 * STANDARD.length * SPS, at=at))
            found = listen_to_train(heard, self._receiver, numbers, 0, longest).values()
            # the noise began after `began`
            over = began + self._noise.symbols * SPS
            late = any(at + ends(report, self._receiver) > over for report in found)
            if late and self._noise.levels[channel]:
                self._margin = min(2 * self._margin, round(LONGEST_SECONDS * SYMBOL_RATE))
            elif found or times >= SILENT_TRIES:
                self._margin = max(round(0.8 * self._margin), self._usual_margin)
                return [report.sinr_db for report in found]
        raise RadioFault(
            f"{TRIES} times packets came later than the noise around them, which lasted up to "
            f"{self._noise.symbols / SYMBOL_RATE:.3g} s: this computer is too busy. Calibrate "
            "when it is not."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
