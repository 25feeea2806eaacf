"""A real radio through SoapySDR, in this process.

What is set is read back, and a setting that the device ignored is an error: a driver
may accept 1200 MHz and stay where it was. Rates are also compared with the device's
list, because some drivers repeat any rate they are given.

Transmitting needs a permit (`safety.py`). The first burst switches the transmitter on.
`close`, the end of a `with` block, and the end of Python switch it off.

Untested, because it needs hardware: gains, rates other than 1.25 MS/s, devices that
only send or only receive. Missing: bursts at a given time, antenna selection, LO
offsets.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep
from typing import Any

import numpy as np

from ...errors import InvalidInput, RadioFault
from ...validation import number
from ..signal.medium import WIDTH_HZ
from .protocol import Closing, RadioInfo
from .safety import Permit
from .soapy_binding import bounds, bounds_text, soapy
from .soapy_reader import OVERFLOW, TIMEOUT, Reader

AMPLITUDE = 0.5
"""What the device gets for a sample of 1; received samples are divided by it.

Packets have peaks of 1.04, and devices work best at 0.5 to 0.7 of their full scale, 1.
"""

FREQUENCY_TOLERANCE_HZ = 500.0
"""A receiver finds carriers up to 13 kHz off; tuners have steps."""

RATE_TOLERANCE = 1e-5
GAIN_TOLERANCE_DB = 1.0
SETTLE_SECONDS = 0.02
KEEP_SECONDS = 2.0
WRITE_SECONDS = 5.0
"""A device that takes no sample of a burst for this long has failed."""
FIRST = 4096
"""Samples of a burst that a device is offered first, to know when it has begun."""

CLIPPED_SHARE = 0.01
UNDERFLOW = -7


class SoapyRadio(Closing):
    """One device of SoapySDR; a `Radio`.

    Parameters
    ----------
    arguments : which device, as "driver=uhd,serial=30F4A7B" or as a mapping; `ironarm
        radio probe` lists them.
    frequency_hz : what it is tuned to first, in Hz on the air.
    rate_hz : samples a second; 3 a symbol.
    gain_db : of the transmitter if there is a permit, else of the receiver, in dB. None
        leaves the receiver's as it is, and sets the transmitter's to its least.
    permit : permission to transmit; without it the radio only receives.
    frequency_translation_hz : the device's frequency minus the one on the air, where a
        transverter follows; -1180e6 makes 20 MHz of 1200 MHz.
    settle_seconds : seconds of samples that are thrown away after tuning.
    digital_gain : scale the samples instead of setting the device's gain. `gain_db` is
        then the power relative to 1, at most 0 dB. Devices without a gain transmit only
        this way, because the permit's cap must hold. A device with a gain is set to its
        least, which must be within the permit too.
    channel : of a device that has several.

    Examples
    --------
    >>> with SoapyRadio(
    ...     "driver=uhd", frequency_hz=1200e6, gain_db=30
    ... ) as radio:  # doctest: +SKIP
    ...     with radio.hold() as start:
    ...         samples = radio.receive(12_500, at=start)
    """

    def __init__(
        self,
        arguments: str | Mapping[str, str],
        *,
        frequency_hz: float,
        rate_hz: float = 1.25e6,
        gain_db: float | None = None,
        permit: Permit | None = None,
        frequency_translation_hz: float = 0.0,
        settle_seconds: float = SETTLE_SECONDS,
        digital_gain: bool = False,
        channel: int = 0,
    ) -> None:
        module = soapy()
        self.permit, self.translation_hz = (
            permit,
            number("frequency_translation_hz", frequency_translation_hz),
        )
        self.settle_seconds, self.channel = (
            number("settle_seconds", settle_seconds, at_least=0),
            channel,
        )
        self.name = (
            arguments
            if isinstance(arguments, str)
            else ",".join(f"{key}={value}" for key, value in arguments.items())
        )
        self.underruns = self.clipped = 0
        self._rx, self._tx, self._cf32, self._end_burst = (
            module.SOAPY_SDR_RX,
            module.SOAPY_SDR_TX,
            module.SOAPY_SDR_CF32,
            module.SOAPY_SDR_END_BURST,
        )
        self._digital_db = 0.0 if digital_gain else None
        if digital_gain and permit is None:
            raise InvalidInput(
                "digital_gain scales only what is sent, and this radio has no permit to transmit; "
                "leave it out."
            )
        self._reader: Reader | None = None
        self._streams: dict[int, Any] = {}
        self._sending, self._closing = threading.Lock(), threading.RLock()
        self._closed = self._let_go = False
        try:
            self._device = module.Device(self.name)
        except RuntimeError as error:
            raise InvalidInput(
                f"SoapySDR cannot open the device {self.name!r} ({error}); `ironarm radio probe` "
                "lists those it finds."
            ) from None
        atexit.register(self.close)
        try:
            self._main = self._tx if permit is not None else self._rx
            self._directions = [
                way
                for way in (self._rx, self._tx)
                if (way == self._main or way == self._rx)
                and self._device.getNumChannels(way) > channel
            ]
            if self._main not in self._directions:
                raise InvalidInput(
                    f"the device {self.name!r} has no channel {channel} to "
                    f"{self._word(self._main)} with."
                )
            self._set_rate(number("rate_hz", rate_hz, above=0))
            self._set_first_gain(gain_db)
            self.tune(frequency_hz)
        except BaseException:
            self.close()
            raise

    def _set_first_gain(self, gain_db: float | None) -> None:
        if self._digital_db is not None and self._has_gain():
            # scaling comes on top of whatever gain the device was left at
            self._set_device_gain(self._least_gain())
        if gain_db is not None:
            self.set_gain(gain_db)
        elif self.permit is not None and self._digital_db is None and self._has_gain():
            self.set_gain(self._least_gain())
        if self.permit is not None:
            self.permit.check_gain(self.info().gain_db)

    def tune(self, frequency_hz: float) -> None:
        """Tune to a frequency on the air, and wait until samples come from there."""
        frequency_hz = number("frequency_hz", frequency_hz, above=0)
        if self.permit is not None:
            self.permit.check_frequency(frequency_hz, WIDTH_HZ, self.translation_hz)
        self.check_range(frequency_hz)
        wanted = frequency_hz + self.translation_hz
        for way in self._directions:
            self._device.setFrequency(way, self.channel, wanted)
            got = self._device.getFrequency(way, self.channel)
            if abs(got - wanted) > FREQUENCY_TOLERANCE_HZ:
                raise InvalidInput(
                    f"the device {self.name!r} was told to {self._word(way)} at {wanted / 1e6:g} "
                    f"MHz and is at {got / 1e6:g} MHz; choose a frequency it has, or set "
                    "frequency_translation_hz if a transverter is behind it."
                )
        if self._reader is not None:
            self._reader.wait_until(self._reader.count + self._settling())

    def check_range(self, frequency_hz: float) -> None:
        """Refuse a frequency on the air that the device says it cannot tune to."""
        wanted = frequency_hz + self.translation_hz
        for way in self._directions:
            ranges = self._device.getFrequencyRange(way, self.channel)
            if len(ranges) and not any(one.minimum() <= wanted <= one.maximum() for one in ranges):
                translated = (
                    f" ({frequency_hz / 1e6:g} MHz on the air, frequency_translation_hz = "
                    f"{self.translation_hz:g})"
                    if self.translation_hz
                    else ""
                )
                raise InvalidInput(
                    f"the device {self.name!r} cannot {self._word(way)} at {wanted / 1e6:g} "
                    f"MHz{translated}; it can do {bounds_text(bounds(ranges), 1e6)} MHz. Choose "
                    "channels that it reaches (base_mhz), or set frequency_translation_hz if a "
                    "transverter is behind it."
                )

    def set_gain(self, gain_db: float) -> None:
        """Set the gain, the transmitter's if there is a permit, else the receiver's."""
        gain_db = number("gain_db", gain_db)
        if self.permit is not None:
            self.permit.check_gain(gain_db)
        if self._digital_db is not None:
            self._digital_db = number("gain_db", gain_db, at_most=0)
            return
        if not self._has_gain():
            raise InvalidInput(
                f"the device {self.name!r} has no gain that can be set; "
                f"{'leave out its gain' if self.permit is None else 'set digital_gain = true'}."
            )
        self._set_device_gain(gain_db)

    def now(self) -> int:
        """Return the number of the next sample."""
        return self._running().count

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Keep all samples from now on within the block, which gets the first's number.

        Begin it before you ask the other side to send, and pass the number to
        `receive`. A second of samples takes 10 MB.
        """
        with self._running().hold() as start:
            yield start

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Return `count` samples from number `at` on, or the next ones.

        The last two seconds are kept, and what is held.
        """
        return self._running().take(count, at) / np.float32(AMPLITUDE)

    def transmit(
        self, samples: np.ndarray, at: int | None = None, began: Callable[[], None] = lambda: None
    ) -> None:
        """Send a burst now; needs a permit.

        `began` is called when the device has taken the burst's first samples.
        """
        if self.permit is None:
            raise InvalidInput(
                f"the radio {self.name!r} has no permit to transmit and only receives; see "
                "[hardware] in the configuration, and docs/radio-hardware.md."
            )
        if at is not None:
            raise InvalidInput(
                "a radio of SoapySDR sends at once; bursts at a given time are not supported, "
                "leave out `at`."
            )
        info = self.info()
        self.permit.check_frequency(info.frequency_hz, WIDTH_HZ, self.translation_hz)
        self.permit.check_gain(info.gain_db)
        if self._has_gain():  # with digital_gain, info has the scaling only
            self.permit.check_gain(self._device.getGain(self._tx, self.channel))
        scaled = (AMPLITUDE * 10 ** ((self._digital_db or 0.0) / 20) * np.asarray(samples)).astype(
            np.complex64
        )
        size = np.abs(scaled)
        if not np.isfinite(size).all():
            raise InvalidInput("the samples of a burst must be finite numbers.")
        over = int((size > 1).sum())
        if over > CLIPPED_SHARE * len(scaled):
            raise InvalidInput(
                f"{over} of {len(scaled)} samples are beyond the radio's full scale, "
                f"{1 / AMPLITUDE:g}; send with less amplitude, and more gain if need be."
            )
        self.clipped += over
        self._write(
            np.ascontiguousarray(
                np.where(size > 1, scaled / np.maximum(size, 1), scaled), np.complex64
            ),
            began,
        )

    def info(self) -> RadioInfo:
        """Return what the device reports."""
        device, way = self._open_device(), self._main
        return RadioInfo(
            driver=f"soapy:{device.getDriverKey()}",
            serial=str(dict(device.getHardwareInfo()).get("serial", self.name)),
            frequency_hz=device.getFrequency(way, self.channel) - self.translation_hz,
            rate_hz=device.getSampleRate(way, self.channel),
            gain_db=self._digital_db
            if self._digital_db is not None
            else device.getGain(way, self.channel)
            if self._has_gain()
            else None,
            overflows=self._reader.overflows if self._reader is not None else 0,
            underruns=self.underruns,
        )

    def close(self) -> None:
        """Switch the transmitter off, then the receiver, and release the device.

        It may be called again, and from several threads.
        """
        self._closed = True  # a burst ends at its next piece
        with self._closing:
            if self._let_go:
                return
            # Runs from the last step to the first, even if one of them fails: a second
            # Ctrl-C must not leave the transmitter on.
            with ExitStack() as steps:
                steps.callback(self._let_device_go)
                steps.callback(self._end, self._rx)
                if self._reader is not None:
                    steps.callback(self._reader.close)
                steps.callback(self._end, self._tx)
                # don't wait longer for a burst that hangs in the driver
                if self._sending.acquire(timeout=1.0):
                    self._sending.release()

    def _write(self, samples: np.ndarray, began: Callable[[], None]) -> None:
        position, took = 0, monotonic()
        while position < len(samples):
            with self._sending:
                device = self._open_device()
                stream = self._stream(self._tx)
                # after the first samples offer all that is left: the driver takes what
                # it can, and the burst has no gaps
                piece = samples[position:] if position else samples[:FIRST]
                last = position + len(piece) == len(samples)
                wrote = device.writeStream(
                    stream,
                    [piece],
                    len(piece),
                    self._end_burst if last else 0,
                    timeoutUs=100_000,
                ).ret
                if wrote == UNDERFLOW:
                    self.underruns += 1
            if wrote > 0:
                if not position:
                    began()
                position, took = position + wrote, monotonic()
            elif (
                wrote not in (0, TIMEOUT, OVERFLOW, UNDERFLOW) or monotonic() - took > WRITE_SECONDS
            ):
                raise RadioFault(
                    f"the radio {self.name!r} takes no more samples to send (its driver answered "
                    f"{wrote}). Check its cable or address, and start again."
                )
            else:
                sleep(0.001)  # a driver may answer at once instead of waiting
        with self._sending:
            status = self._open_device().readStreamStatus(self._stream(self._tx), timeoutUs=0).ret
            self.underruns += status == UNDERFLOW

    def _running(self) -> Reader:
        """Return the reader, which the first call starts."""
        device = self._open_device()
        if self._reader is None:
            stream = self._stream(self._rx)
            rate = device.getSampleRate(self._rx, self.channel)
            self._reader = Reader(
                lambda buffer, timeout: int(
                    device.readStream(stream, [buffer], len(buffer), timeoutUs=timeout).ret
                ),
                keep=int(KEEP_SECONDS * rate),
            )
            self._reader.wait_until(self._settling())
        return self._reader

    def _settling(self) -> int:
        return int(self.settle_seconds * self._device.getSampleRate(self._rx, self.channel))

    def _stream(self, way: int) -> Any:
        if way not in self._streams:
            code: int | RuntimeError
            try:
                self._streams[way] = self._device.setupStream(way, self._cf32, [self.channel])
                code = self._device.activateStream(self._streams[way])
            except RuntimeError as error:
                code = error
            if code:
                raise RadioFault(
                    f"the device {self.name!r} cannot start to {self._word(way)} (its driver "
                    f"answered {code}). Check its cable or address, and start again."
                )
        return self._streams[way]

    def _end(self, way: int) -> None:
        stream = self._streams.get(way)
        if stream is not None:
            self._device.deactivateStream(stream)
            self._streams.pop(way, None)
            self._device.closeStream(stream)

    def _let_device_go(self) -> None:
        self._device.close()
        self._let_go = True
        atexit.unregister(self.close)

    def _set_rate(self, rate_hz: float) -> None:
        for way in self._directions:
            ranges = self._device.getSampleRateRange(way, self.channel)
            within = not len(ranges) or any(
                one.minimum() * (1 - RATE_TOLERANCE)
                <= rate_hz
                <= one.maximum() * (1 + RATE_TOLERANCE)
                for one in ranges
            )
            if within:
                self._device.setSampleRate(way, self.channel, rate_hz)
            got = self._device.getSampleRate(way, self.channel)
            if not within or abs(got / rate_hz - 1) > RATE_TOLERANCE:
                raise InvalidInput(
                    f"the device {self.name!r} cannot {self._word(way)} {rate_hz:g} samples a "
                    f"second; it can do {bounds_text(bounds(ranges))}, and is at {got:g}."
                )

    def _has_gain(self) -> bool:
        return len(self._device.listGains(self._main, self.channel)) > 0

    def _least_gain(self) -> float:
        return float(self._device.getGainRange(self._main, self.channel).minimum())

    def _set_device_gain(self, gain_db: float) -> None:
        """Set the device's own gain, read it back, and hold it against the permit."""
        self._device.setGain(self._main, self.channel, gain_db)
        got = self._device.getGain(self._main, self.channel)
        if abs(got - gain_db) > GAIN_TOLERANCE_DB:
            can = self._device.getGainRange(self._main, self.channel)
            raise InvalidInput(
                f"the device {self.name!r} was given a gain of {gain_db:g} dB and set {got:g} dB; "
                f"it can do {can.minimum():g} to {can.maximum():g} dB."
            )
        if self.permit is not None:
            # a device may round up to its next step
            self.permit.check_gain(got)

    def _open_device(self) -> Any:
        if self._closed:
            raise RadioFault(f"the radio {self.name!r} is closed; open it again.")
        return self._device

    def _word(self, way: int) -> str:
        return "transmit" if way == self._tx else "receive"
