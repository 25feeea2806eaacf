"""Safety: what a real radio needs before it transmits, and what switches it off.

The testbed's own band, 1200 to 1202 MHz, is reserved worldwide for aeronautical
radionavigation, and jamming is unlawful nearly everywhere. So the default is
simulation, which needs nothing of this. On hardware every node that transmits
(transmitter, noise source, jammer) needs a `Permit`:

* a list of bands, a gain cap, and how the signal is kept from others: `setup =
  "conducted"` (cables and attenuators), `"shielded"` (a closed box) or `"licensed"` (on
  the air);
* the same word once more on the command line, `--acknowledge-transmitting conducted`,
  because a file can be copied without being read.

`GuardedRadio` holds a radio to its permit. `Watchdog` switches off on exit, on an
exception, and when the heartbeat is lost.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self

import numpy as np

from ...errors import InvalidInput
from ...validation import choice, did_you_mean, number
from .protocol import Closing, Radio, RadioInfo

SETUPS = ("conducted", "shielded", "licensed")
OPTION = "--acknowledge-transmitting"
RESERVED_HZ = ((960e6, 1215e6, "aeronautical radionavigation"),)
"""Bands in which nobody gets a licence for an experiment.

The testbed's default channels lie in this one.
"""


@dataclass(frozen=True)
class TransmitRules:
    """What a configuration allows its transmitting nodes: its table `[hardware]`.

    Parameters
    ----------
    bands_hz : pairs (lowest, highest) in Hz; all of a signal must lie within one of
        them.
    max_gain_db : no transmit gain is set above this, in dB.
    setup : "conducted", "shielded" or "licensed".

    Examples
    --------
    >>> rules = TransmitRules(
    ...     bands_hz=[(1199.5e6, 1202.5e6)], max_gain_db=30, setup="conducted"
    ... )
    >>> permit = rules.permit("conducted", node="jammer")
    >>> permit.check_gain(45)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ironarm.errors.InvalidInput: the jammer's gain of 45 dB is above the configured ...
    """

    bands_hz: Sequence[tuple[float, float]]
    max_gain_db: float
    setup: str

    def __post_init__(self) -> None:
        choice("setup", self.setup, SETUPS)
        number("max_gain_db", self.max_gain_db)
        if (
            not isinstance(self.bands_hz, Sequence)
            or isinstance(self.bands_hz, str)
            or not self.bands_hz
        ):
            raise InvalidInput(
                "the band list is empty; name the bands in which this set-up may transmit, for "
                "example bands_mhz = [[1199.5, 1202.5]] in [hardware]."
            )
        for band in self.bands_hz:
            if not isinstance(band, Sequence) or isinstance(band, str) or len(band) != 2:
                raise InvalidInput(f"a band must be a pair [lowest, highest], got {band!r}.")
            low, high = (number("a band's edge", edge, above=0) for edge in band)
            if low >= high:
                raise InvalidInput(f"a band must be [lowest, highest], got {band!r}.")
            for begin, end, service in RESERVED_HZ:
                if self.setup == "licensed" and low < end and high > begin:
                    raise InvalidInput(
                        f"the band {low / 1e6:g} to {high / 1e6:g} MHz overlaps {begin / 1e6:g} to "
                        f"{end / 1e6:g} MHz, which is reserved worldwide for {service}: nothing "
                        'of this may go on the air there. Use setup = "conducted" or "shielded", '
                        "or other frequencies."
                    )
        object.__setattr__(
            self, "bands_hz", tuple((float(low), float(high)) for low, high in self.bands_hz)
        )

    @classmethod
    def from_table(cls, table: dict[str, Any] | None) -> TransmitRules:
        """Return the rules of a table `[hardware]`; the error names a missing key."""
        examples = {
            "bands_mhz": "bands_mhz = [[1199.5, 1202.5]]",
            "max_gain_db": "max_gain_db = 30",
            "setup": 'setup = "conducted"',
        }
        table = table or {}
        for name, example in examples.items():
            if name not in table:
                close = next((key for key in table if did_you_mean(key, [name])), None)
                raise InvalidInput(
                    f"transmitting on hardware needs {name} in the table [hardware] of the "
                    f"configuration; add a line such as {example!r}."
                    + (f" Did you mean {name!r} by {close!r}?" if close else "")
                )
        bands = table["bands_mhz"] if isinstance(table["bands_mhz"], list | tuple) else []
        in_hz: list[Any] = [
            [number("a band's edge", edge, above=0) * 1e6 for edge in band]
            if isinstance(band, list | tuple)
            else band
            for band in bands
        ]
        return cls(in_hz, table["max_gain_db"], table["setup"])

    def permit(self, acknowledged: str | None, node: str = "transmitter") -> Permit:
        """Return the permit for a node, if the command line acknowledges the set-up."""
        if acknowledged is None:
            raise InvalidInput(
                f"the {node} transmits on hardware, which must be acknowledged on the command "
                f"line: check that the set-up is {self.setup} as configured, then add {OPTION} "
                f"{self.setup}."
            )
        if acknowledged != self.setup:
            raise InvalidInput(
                f"{OPTION} says {acknowledged!r}, but the configuration says setup = "
                f"{self.setup!r}; check which is true, and make both the same."
            )
        return Permit(self, node)


@dataclass(frozen=True)
class Permit:
    """Permission for one node to transmit within the rules."""

    rules: TransmitRules
    node: str

    def check_frequency(
        self, frequency_hz: float, width_hz: float, translation_hz: float = 0.0
    ) -> None:
        """Refuse a signal that does not lie within one of the bands.

        With a translation, what the device itself sends must do so too: without a
        transverter that is on the air.
        """
        for shift in (0.0, translation_hz):
            low, high = frequency_hz + shift - width_hz / 2, frequency_hz + shift + width_hz / 2
            if not any(begin <= low and high <= end for begin, end in self.rules.bands_hz):
                bands = ", ".join(
                    f"{begin / 1e6:g} to {end / 1e6:g} MHz" for begin, end in self.rules.bands_hz
                )
                who = (
                    f"the {self.node}'s device itself (frequency_translation_hz = {shift:g})"
                    if shift
                    else f"the {self.node}"
                )
                raise InvalidInput(
                    f"{who} would transmit from {low / 1e6:g} to {high / 1e6:g} MHz, outside of "
                    f"the configured bands ({bands}). Tune to one of these (base_mhz in "
                    "[channels]), or correct bands_mhz in [hardware]."
                )

    def check_gain(self, gain_db: float | None) -> None:
        """Refuse a gain above the cap.

        None, for a device without a gain that can be set, is refused too: its power is
        unknown.
        """
        if gain_db is None:
            raise InvalidInput(
                f"the {self.node}'s device has no gain that can be set, so max_gain_db cannot be "
                "kept; set digital_gain = true in [hardware]."
            )
        if not gain_db <= self.rules.max_gain_db:
            raise InvalidInput(
                f"the {self.node}'s gain of {gain_db:g} dB is above the configured cap, "
                f"{self.rules.max_gain_db:g} dB. Lower the gain, or raise max_gain_db in "
                "[hardware] if the attenuators allow it."
            )


class GuardedRadio(Closing):
    """A radio that transmits only within its permit; without a permit it only receives.

    It is a `Radio` itself.

    Parameters
    ----------
    radio : the radio behind it.
    permit : None for a receiver.
    width_hz : how much spectrum a burst takes around the tuned frequency; the testbed's
        channels have 500 kHz.
    """

    def __init__(self, radio: Radio, permit: Permit | None, width_hz: float = 500e3) -> None:
        self.radio, self.permit, self.width_hz = radio, permit, width_hz
        self._silent = False

    def tune(self, frequency_hz: float) -> None:
        """Tune, if the permit allows it there."""
        if self.permit:
            self.permit.check_frequency(frequency_hz, self.width_hz)
        self.radio.tune(frequency_hz)

    def set_gain(self, gain_db: float) -> None:
        """Set the gain, up to the cap."""
        if self.permit:
            self.permit.check_gain(gain_db)
        self.radio.set_gain(gain_db)

    def transmit(self, samples: np.ndarray, at: int | None = None) -> None:
        """Transmit, if there is a permit and the device's own report lies within it."""
        if self.permit is None:
            raise InvalidInput(
                "this radio was opened without a permit to transmit; it only receives. Fill in "
                f"[hardware] of the configuration, and add {OPTION} with the set-up."
            )
        if self._silent:
            raise InvalidInput(
                f"the {self.permit.node} was switched off (its heartbeat was lost, or it was "
                "closed) and does not transmit any more; start the node again."
            )
        info = self.radio.info()
        self.permit.check_frequency(info.frequency_hz, self.width_hz)
        self.permit.check_gain(info.gain_db)
        self.radio.transmit(samples, at)

    def receive(self, count: int, at: int | None = None) -> np.ndarray:
        """Receive; needs no permit."""
        return self.radio.receive(count, at)

    def info(self) -> RadioInfo:
        """Return what the device reports."""
        return self.radio.info()

    def close(self) -> None:
        """Switch off; nothing is transmitted after this."""
        self._silent = True
        self.radio.close()


class Watchdog:
    """Calls `off` once, when it is not fed for `seconds` or when its block ends.

    Parameters
    ----------
    seconds : how long it may go without being fed, in seconds.
    off : what switches off; called once.
    on_starved : called after it, from the watchdog's thread, when the reason was
        hunger.
    from_first_feed : whether to wait for the first feeding however long it takes,
        instead of counting from the beginning of the block.

    Examples
    --------
    >>> switched_off = []
    >>> with Watchdog(5.0, lambda: switched_off.append(True)) as watchdog:
    ...     watchdog.feed()
    >>> switched_off, watchdog.starved
    ([True], False)
    """

    def __init__(
        self,
        seconds: float,
        off: Callable[[], None],
        on_starved: Callable[[], None] = lambda: None,
        *,
        from_first_feed: bool = False,
    ) -> None:
        self.seconds = number("seconds", seconds, above=0)
        self.starved = False
        self._off, self._on_starved, self._is_off = off, on_starved, False
        self._fed, self._from_first_feed = math.inf, from_first_feed
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def feed(self) -> None:
        """Say that all is well."""
        self._fed = monotonic()

    def _watch(self) -> None:
        while not self._ended.wait(
            max(0.0, min(self._fed + self.seconds - monotonic(), self.seconds))
        ):
            if monotonic() - self._fed >= self.seconds:
                self.starved = True
                self._switch_off()
                self._on_starved()
                return

    def _switch_off(self) -> None:
        with self._lock:
            if not self._is_off:
                self._is_off = True
                self._off()

    def __enter__(self) -> Self:
        if not self._from_first_feed:
            self.feed()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._switch_off()
        self._thread.join()
