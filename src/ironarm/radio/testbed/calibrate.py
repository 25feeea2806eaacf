"""Calibration: which noise puts each channel at its target SINR.

The path gains are unknown, so calibration measures. A bench can do one thing: send
packets in a channel with the noise source at a level, and return the measured SINRs.
Everything is linear in power, so for each channel

    1 / SINR = floor + slope * level,

where the floor is the receiver's own noise over the packet's power and the slope the
path gain of the noise source over that of the transmitter. Two measurements give both:
one with the noise source off, and one with it on, at a level that is raised until it
shows. Then level = (1 / target - floor) / slope. A target above the floor's SINR cannot
be reached by adding noise; the error names the floor. The packets' wander is chosen so
that the SINR has the wanted spread. Finally all channels are measured again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...errors import BadFile, InvalidInput
from ...files import json_fault, write_whole
from ...validation import number, whole
from ..signal.compiled_chain import CompiledChain
from ..signal.medium import CENTRES_HZ, Medium
from ..signal.randomness import key
from ..signal.receiver import Receiver
from ..signal.sinr_law import estimator_bias
from ..signal.waveform import STANDARD

TARGETS_DB = (41.0, 37.0, 35.0, 31.0, 28.0)
FORMAT = 1
MOST_PACKETS = 100_000
"""In one measurement; on devices that takes minutes."""


class UnreachableTarget(InvalidInput):
    """A channel cannot reach its target.

    Its floor lies below the target, or the noise source is too weak.
    """


class Bench(Protocol):
    """What calibration asks of a testbed, simulated or real."""

    def measure(self, channel: int, level: float, wander_db: float, packets: int) -> np.ndarray:
        """Send packets in a channel, and return their SINRs in dB.

        Their levels wander by `wander_db`. The noise source is at a linear power level
        (0: off, 1: full).
        """


@dataclass
class SimulatedBench:
    """A bench on the simulated medium.

    It ignores the medium's noise levels. Calibration finds out its floor and path
    gains.
    """

    medium: Medium
    receiver: Receiver
    sent: int = 0

    @classmethod
    def of(cls, medium: Medium) -> SimulatedBench:
        """Return a bench with the usual receiver."""
        return cls(medium, Receiver(medium.format))

    def measure(self, channel: int, level: float, wander_db: float, packets: int) -> np.ndarray:
        """Send packets; each has a new key."""
        noise = [0.0] * len(CENTRES_HZ)
        noise[channel] = level
        # packets have unit power, so a path gain divides the noise instead
        n0 = (
            replace(self.medium, noise=noise).n0(channel)
            / self.medium.gain("transmitter", channel) ** 2
        )
        keys = np.array([key(self.medium.seed, 0, self.sent + i) for i in range(packets)])
        self.sent += packets
        return CompiledChain(self.receiver).sinr(keys, n0, 0.0, wander_db)


@dataclass(frozen=True)
class CalibratedChannel:
    """What calibration found for one channel.

    Powers are linear, relative to the noise source's full level; SINRs are in dB.
    """

    centre_hz: float
    target_db: float
    floor_db: float
    slope: float
    level: float
    measured_db: float
    measured_spread_db: float

    def __post_init__(self) -> None:
        for name in (
            "centre_hz",
            "target_db",
            "floor_db",
            "slope",
            "measured_db",
            "measured_spread_db",
        ):
            number(name, getattr(self, name))
        number("level", self.level, at_least=0, at_most=1)


@dataclass(frozen=True)
class Calibration:
    """Noise levels and wander that put the channels at their targets, with a check."""

    channels: tuple[CalibratedChannel, ...]
    wander_db: float
    spread_db: float
    made: str
    note: str = ""

    def __post_init__(self) -> None:
        number("wander_db", self.wander_db, at_least=0, at_most=20)
        number("spread_db", self.spread_db, above=0)
        if not isinstance(self.made, str) or not isinstance(self.note, str):
            raise InvalidInput(f"made and note must be text, got {self.made!r} and {self.note!r}.")

    @property
    def levels(self) -> tuple[float, ...]:
        """The noise source's level for each channel."""
        return tuple(channel.level for channel in self.channels)

    def save(self, path: str | Path) -> None:
        """Write the calibration as a JSON file, whole or not at all."""
        data = {"ironarm_calibration": FORMAT, **asdict(self)}
        write_whole(Path(path), (json.dumps(data, indent=2) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Calibration:
        """Read a calibration, or say what is wrong with the file."""
        try:
            data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise BadFile(
                f"{path} cannot be read: {error.strerror}. Make one with `ironarm radio calibrate`."
            ) from None
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{path} is not a calibration file: {json_fault(error)}.") from None
        if not isinstance(data, dict) or data.pop("ironarm_calibration", None) != FORMAT:
            raise BadFile(
                f"{path} is not a calibration file of this version of ironarm; make a new one "
                "with `ironarm radio calibrate`."
            )
        try:
            return cls(
                **{
                    **data,
                    "channels": tuple(CalibratedChannel(**channel) for channel in data["channels"]),
                }
            )
        except (TypeError, KeyError, InvalidInput) as error:
            raise BadFile(
                f"{path} is damaged ({str(error).rstrip('.')}); make a new one with `ironarm "
                "radio calibrate`."
            ) from None


def calibrate(
    bench: Bench,
    targets_db: Sequence[float] = TARGETS_DB,
    spread_db: float = 1.0,
    *,
    packets: int = 400,
    tolerance_db: float = 0.2,
    note: str = "",
    centres_hz: Sequence[float] = CENTRES_HZ,
) -> Calibration:
    """Find and verify the noise levels that put clean channels at their targets.

    Parameters
    ----------
    bench : what is calibrated.
    targets_db : the mean SINR wanted in each channel, in dB.
    spread_db : the standard deviation wanted, in dB.
    packets : sent for each measurement; the mean of 400 is known to 0.05 dB.
    tolerance_db : how far a verified mean may be from its target.
    note : kept in the file, for example devices and cables.
    centres_hz : of the channels, for the file.

    Examples
    --------
    >>> gains = {
    ...     "transmitter": (-40, -42, -41, -43, -40),
    ...     "noise": (-30, -35, -33, -31, -30),
    ... }
    >>> found = calibrate(
    ...     SimulatedBench.of(
    ...         Medium(noise=(0,) * 5, floor=1e-9, gains_db=gains, seed=5)
    ...     )
    ... )
    >>> [round(channel.measured_db) for channel in found.channels]
    [41, 37, 35, 31, 28]
    """
    targets = [number("a target", target) for target in targets_db]
    number("spread_db", spread_db, above=0)
    number("tolerance_db", tolerance_db, above=0)
    packets = whole("packets", packets, at_least=20, below=MOST_PACKETS + 1)
    to_verify = (4 * spread_db / tolerance_db) ** 2
    if to_verify > MOST_PACKETS:
        raise InvalidInput(
            f"a tolerance of {tolerance_db:g} dB where packets spread by {spread_db:g} dB takes "
            f"{to_verify:.2g} packets in each channel, and {MOST_PACKETS:,} is the most; choose "
            f"{4 * spread_db / math.sqrt(MOST_PACKETS):.2g} dB or more."
        )
    found: list[tuple[float, float, float]] = []
    spreads: list[float] = []
    for channel, target in enumerate(targets):
        silent = bench.measure(channel, 0.0, 0.0, packets)
        floor = _inverse(silent)
        wanted = 10 ** (-target / 10)
        if wanted < floor:
            raise UnreachableTarget(
                f"channel {channel} cannot reach {target:g} dB: with the noise source off it has "
                f"{_db(floor):.1f} dB, its floor. Raise the transmitter's gain, or lower the "
                "target."
            )
        slope = _slope(bench, channel, floor, wanted, packets)
        level = (wanted - floor) / slope
        if level > 1:
            raise UnreachableTarget(
                f"channel {channel} cannot come down to {target:g} dB: with the noise source at "
                f"full level it has {_db(floor + slope):.1f} dB. Raise its gain."
            )
        found.append((floor, slope, level))
        spreads.append(float(np.std(bench.measure(channel, level, 0.0, packets), ddof=1)))
    own = math.sqrt(float(np.mean(np.square(spreads))))
    if spread_db < own * (1 - 3 / math.sqrt(2 * packets * len(targets))):
        raise UnreachableTarget(
            f"the SINRs spread by {own:.2f} dB by themselves; a spread of {spread_db:g} dB cannot "
            "be reached. Choose a larger one."
        )
    wander = math.sqrt(max(spread_db**2 - own**2, 0.0))
    calibrated = []
    for channel, (target, (floor, slope, level)) in enumerate(zip(targets, found, strict=True)):
        sinr = bench.measure(channel, level, wander, max(packets, math.ceil(to_verify)))
        if abs(float(sinr.mean()) - target) > tolerance_db:
            raise UnreachableTarget(
                f"channel {channel} was set to {target:g} dB and then measured {sinr.mean():.2f} "
                f"dB, further off than {tolerance_db:g} dB: the bench is not steady, or not "
                "linear."
            )
        calibrated.append(
            CalibratedChannel(
                centres_hz[channel],
                target,
                _db(floor),
                slope,
                level,
                float(sinr.mean()),
                float(sinr.std(ddof=1)),
            )
        )
    return Calibration(
        tuple(calibrated),
        wander,
        float(spread_db),
        datetime.now(UTC).isoformat(timespec="seconds"),
        note,
    )


def _slope(bench: Bench, channel: int, floor: float, wanted: float, packets: int) -> float:
    """Return how much 1/SINR grows with the noise level, measured near the target."""
    level = 1e-6
    for _ in range(20):
        heard = _inverse(bench.measure(channel, level, 0.0, packets))
        slope = (heard - floor) / level
        if 0.5 * (wanted - floor) <= heard - floor <= 2 * (wanted - floor) or (
            level >= 1 and heard <= 2 * wanted
        ):
            if slope > 0:
                return slope
            raise UnreachableTarget(
                f"channel {channel} does not react to the noise source at full level; check its "
                "cable, its frequency and its gain."
            )
        # raise the level a hundredfold until the noise shows, then go to the target
        level = min(
            1.0, 100 * level if heard < 2 * floor and heard < wanted else (wanted - floor) / slope
        )
    raise UnreachableTarget(
        f"channel {channel} does not react to the noise source in proportion to its level; check "
        "that nothing is overdriven."
    )


def _inverse(sinr_db: np.ndarray) -> float:
    """Return 1 / SINR from the mean of measurements in dB.

    Their small bias, that of the standard packet, is removed.
    """
    return float(10 ** (-(float(np.mean(sinr_db)) - estimator_bias(STANDARD.known_count)) / 10))


def _db(power: float) -> float:
    return -10 * math.log10(power)
