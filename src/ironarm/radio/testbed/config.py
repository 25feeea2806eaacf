"""The testbed's configuration: a TOML file, checked before anything runs.

docs/radio.md lists all tables and keys with their defaults, and a test compares that
list with the classes here.
"""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...errors import BadFile, InvalidInput
from ...files import json_fault
from ...naming import own_code
from ...naming.own_faults import constants_of
from ...policies import Policy, policy_from_text
from ...validation import number, whole
from ..signal.medium import CENTRES_HZ, Medium
from ..signal.receiver import Receiver
from ..signal.sinr_law import estimator_bias, estimator_spread
from ..signal.waveform import STANDARD
from .hardware_table import CHANNELS, check_hardware, check_keys

T = TypeVar("T")


@dataclass(frozen=True)
class Channels:
    """Where the channels are, and what they are to look like, in dB."""

    base_mhz: float = CENTRES_HZ[0] / 1e6
    means: tuple[float, ...] = (41.0, 37.0, 35.0, 31.0, 28.0)
    jammed: tuple[float, ...] = (10.0, 8.75, 7.5, 6.25, 5.0)
    spread: float = 1.0
    missed: float = -20.0

    def __post_init__(self) -> None:
        number("base_mhz", self.base_mhz, above=0, at_most=1e6)
        # what the waveform can carry and the receiver can find
        _tuples(self, "means", "jammed", at_least=0, at_most=60)
        own = max(estimator_spread(STANDARD.known_count, mean) for mean in self.means)
        number("spread", self.spread, at_least=own, at_most=20)
        number("missed", self.missed, below=Receiver.detect_db)
        for mean, jammed in zip(self.means, self.jammed, strict=True):
            if not jammed <= mean:
                raise InvalidInput(
                    "jammed must not be above means, because a jammer only adds noise; got "
                    f"{jammed:g} for the mean {mean:g} dB."
                )


@dataclass(frozen=True)
class Paths:
    """Power gains from each emitter to the receiver, and the receiver's own noise.

    Gains are in dB, one for each channel.
    """

    transmitter: tuple[float, ...] = (-40.0, -42.0, -41.0, -43.0, -40.0)
    noise: tuple[float, ...] = (-30.0, -35.0, -33.0, -31.0, -30.0)
    jammer: tuple[float, ...] = (-38.0, -38.0, -39.0, -41.0, -40.0)
    floor: float = 1e-9

    def __post_init__(self) -> None:
        _tuples(self, "transmitter", "noise", "jammer", at_least=-200, at_most=200)
        number("floor", self.floor, at_least=0)


@dataclass(frozen=True)
class AgentConfig:
    """The policy, as on the command line."""

    policy: str = "MedEUCB(block=200)"

    def __post_init__(self) -> None:
        if not isinstance(self.policy, str):
            raise InvalidInput(
                f"policy must be text such as 'MedEUCB(block=200)', got {self.policy!r}."
            )
        object.__setattr__(self, "policy", own_code.placed(self.policy))


@dataclass(frozen=True)
class JammerConfig:
    """Which packets are jammed, and how strongly.

    `jamming.strategy_of` reads which, `RadioConfig.jam_power_db` how strongly.
    """

    strategy: str | tuple[float, ...] = "any"
    rho: float = 0.125
    same_power: bool = False

    def __post_init__(self) -> None:
        number("rho", self.rho, at_least=0, at_most=1)
        if not isinstance(self.strategy, str):
            _tuples(self, "strategy", each="probability", at_least=0, at_most=1)
        if not isinstance(self.same_power, bool):
            raise InvalidInput(f"same_power must be true or false, got {self.same_power!r}.")


@dataclass(frozen=True)
class AckConfig:
    """How long to wait for an ACK, and how often to ask before a round repeats."""

    timeout_seconds: float = 0.5
    retries: int = 3
    loss: float = 0.0

    def __post_init__(self) -> None:
        number("timeout_seconds", self.timeout_seconds, above=0)
        whole("retries", self.retries)
        number("loss", self.loss, at_least=0, below=1)


@dataclass(frozen=True)
class ProcessConfig:
    """Where the processes meet, and when one counts as lost."""

    host: str = "127.0.0.1"
    port: int = 5730
    ack_port: int = 5731
    heartbeat_seconds: float = 0.2
    lost_seconds: float = 2.0
    return_seconds: float = 30.0
    start_seconds: float = 120.0
    noise_node: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.host, str) or not self.host:
            raise InvalidInput(f"host must be text such as '127.0.0.1', got {self.host!r}.")
        for name in ("port", "ack_port"):
            whole(name, getattr(self, name), below=65536)
        number("heartbeat_seconds", self.heartbeat_seconds, above=0)
        number("lost_seconds", self.lost_seconds, at_least=2 * self.heartbeat_seconds)
        number("return_seconds", self.return_seconds, at_least=0)
        number("start_seconds", self.start_seconds, above=0)
        if not isinstance(self.noise_node, bool):
            raise InvalidInput(f"noise_node must be true or false, got {self.noise_node!r}.")


@dataclass(frozen=True)
class RadioConfig:
    """All of the configuration.

    Examples
    --------
    >>> config = RadioConfig.of({"rounds": 100, "jammer": {"rho": 0.3}})
    >>> config.rounds, config.jammer.rho, config.agent.policy
    (100, 0.3, 'MedEUCB(block=200)')
    >>> RadioConfig.of({"jammer": {"roh": 0.3}})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ironarm.errors.InvalidInput: unknown key 'roh' in [jammer]; ...
    """

    rounds: int = 2000
    seed: int = 1
    round_seconds: float = 0.0
    channels: Channels = field(default_factory=Channels)
    paths: Paths = field(default_factory=Paths)
    agent: AgentConfig = field(default_factory=AgentConfig)
    jammer: JammerConfig = field(default_factory=JammerConfig)
    ack: AckConfig = field(default_factory=AckConfig)
    processes: ProcessConfig = field(default_factory=ProcessConfig)
    hardware: dict[str, Any] | None = None
    calibration: str | None = None
    """A calibration file, whose noise levels are used instead of computed ones."""

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, at_least=1, below=2**32)
        whole("seed", self.seed, below=2**63)
        number("round_seconds", self.round_seconds, at_least=0, at_most=1e6)
        if self.hardware is not None:
            check_hardware(self.hardware)
        if self.jammer.same_power:
            self._check_same_power()

    @classmethod
    def of(cls, data: dict[str, Any]) -> RadioConfig:
        """Return the config that a file's content describes."""
        config = cls.recorded(data)
        # imported here because it imports this module
        from .jamming import uses_rho

        uses_rho(config.jammer)  # raises if there is no such strategy
        # raises if the policy does not fit; the receiver's agent knows no horizon
        constants_of(config.policy, CHANNELS, None)
        return config

    @classmethod
    def recorded(cls, data: dict[str, Any]) -> RadioConfig:
        """Return the config of a saved run, whose policy's code need not be here."""
        tables = {
            "channels": Channels,
            "paths": Paths,
            "agent": AgentConfig,
            "jammer": JammerConfig,
            "ack": AckConfig,
            "processes": ProcessConfig,
        }
        return _made(
            cls,
            "the configuration",
            {
                key: _made(tables[key], f"[{key}]", value) if key in tables else value
                for key, value in data.items()
            },
        )

    @classmethod
    def read(
        cls,
        path: str | Path | None,
        changes: dict[str, Any] | None = None,
        otherwise: dict[str, Any] | None = None,
    ) -> RadioConfig:
        """Return the configuration of a file (TOML, or JSON by its name).

        `changes` replaces what the file says, and `otherwise` holds where neither
        speaks: numbers by name, tables key by key.
        """
        data = _merged(
            _merged(otherwise or {}, {} if path is None else _content(Path(path))), changes or {}
        )
        try:
            return cls.of(data)
        except InvalidInput as error:
            if path is None:
                raise
            raise InvalidInput(f"{path}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the config as plain data, which `of` reads."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def check_for_processes(self) -> None:
        """Refuse what has no effect where the nodes are processes."""
        if self.ack.loss:
            raise InvalidInput(
                f"loss in [ack], {self.ack.loss:g}, is for a run in one process; between "
                "processes ACKs are lost by themselves. Leave it out."
            )

    @property
    def policy(self) -> Policy:
        """The policy."""
        return policy_from_text(self.agent.policy)

    @property
    def known_policy(self) -> Policy | None:
        """The policy, or None if its code is not here."""
        try:
            return self.policy
        except InvalidInput:
            return None

    @property
    def policy_name(self) -> str:
        """What the policy is called, without the path of its file."""
        return own_code.split(self.agent.policy)[1]

    @property
    def centres_hz(self) -> tuple[float, ...]:
        """The channels' centres on the air.

        The simulated medium knows channels by number only, and keeps its own.
        """
        return tuple(self.channels.base_mhz * 1e6 + centre - CENTRES_HZ[0] for centre in CENTRES_HZ)

    def uncalibrated_medium(self) -> Medium:
        """Return the medium before calibration: paths and floor, noise source off."""
        gains = {
            "transmitter": self.paths.transmitter,
            "noise": self.paths.noise,
            "jammer": self.paths.jammer,
        }
        return Medium([0.0] * CHANNELS, self.paths.floor, gains, 0.0, self.seed)

    def medium(self) -> Medium:
        """Return the medium with the noise levels that put the channels at their means.

        They come from the calibration file if there is one, else from the paths.
        """
        medium = self.uncalibrated_medium()
        levels, wander_db = self._calibrated() if self.calibration else self._computed(medium)
        return Medium(levels, medium.floor, medium.gains_db, wander_db, self.seed)

    def _calibrated(self) -> tuple[tuple[float, ...], float]:
        # imported here because it imports this module
        from .calibrate import Calibration

        found = Calibration.load(str(self.calibration))
        if len(found.channels) != CHANNELS:
            raise BadFile(
                f"{self.calibration} has {len(found.channels)} channels; expected {CHANNELS}."
            )
        for setting, mean in zip(found.channels, self.channels.means, strict=True):
            if abs(setting.target_db - mean) > 0.01:
                raise InvalidInput(
                    f"{self.calibration} was made for "
                    f"{[round(s.target_db, 2) for s in found.channels]} dB, the configuration "
                    f"says means = {list(self.channels.means)}. Calibrate again, or make both the "
                    "same."
                )
        if abs(found.channels[0].centre_hz - self.centres_hz[0]) > 1:
            raise InvalidInput(
                f"{self.calibration} was made for channels from "
                f"{found.channels[0].centre_hz / 1e6:g} MHz on, the configuration says base_mhz = "
                f"{self.channels.base_mhz:g}. Calibrate again, or make both the same."
            )
        return found.levels, found.wander_db

    def _computed(self, medium: Medium) -> tuple[tuple[float, ...], float]:
        known = STANDARD.known_count
        levels = []
        for channel, mean in enumerate(self.channels.means):
            level = (
                _noise(mean) * medium.gain("transmitter", channel) ** 2 - medium.floor
            ) / medium.gain("noise", channel) ** 2
            if level < 0:
                reach = -10 * math.log10(medium.floor / medium.gain("transmitter", channel) ** 2)
                raise InvalidInput(
                    f"channel {channel} cannot reach {mean:g} dB: without the noise source it has "
                    f"{reach:.1f} dB. Raise its transmitter gain in [paths], or lower the mean."
                )
            levels.append(level)
        own = [estimator_spread(known, mean) ** 2 for mean in self.channels.means]
        return tuple(levels), math.sqrt(max(self.channels.spread**2 - float(np.mean(own)), 0.0))

    def jam_power_db(self, channel: int) -> float:
        """Return the power that the jammer sends in a channel, in dB.

        It gives the channel its jammed mean. With `same_power` it is the mean over the
        channels, the same in all of them, and the paths decide what arrives.
        """
        medium = self.uncalibrated_medium()
        powers_db = []
        for one in range(CHANNELS) if self.jammer.same_power else [channel]:
            wanted = (
                _noise(self.channels.jammed[one]) - _noise(self.channels.means[one])
            ) * medium.gain("transmitter", one) ** 2
            powers_db.append(10 * math.log10(max(wanted, 1e-30) / medium.gain("jammer", one) ** 2))
        return sum(powers_db) / len(powers_db)

    def _check_same_power(self) -> None:
        """Refuse what has no power that is the same in all channels."""
        for channel, mean in enumerate(self.channels.means):
            if self.channels.jammed[channel] == mean:
                raise InvalidInput(
                    "same_power in [jammer] takes the mean of the jammer's powers in dB, and in "
                    f"channel {channel} it has none: its jammed mean is its clean one, {mean:g} "
                    "dB. Set it lower in jammed."
                )
        gains = (self.hardware or {}).get("gains_db", {}).get("jammer")
        if isinstance(gains, list | tuple) and len(set(gains)) > 1:
            raise InvalidInput(
                "same_power in [jammer] wants the same power in all channels, and the jammer's "
                f"gains in [hardware.gains_db] differ, got {list(gains)!r}. Give one gain, or "
                "leave out same_power."
            )


def _noise(mean: float) -> float:
    """Return the noise, over the packet's power, at which the SINR has that mean."""
    return float(10 ** (-(mean - estimator_bias(STANDARD.known_count)) / 10))


def _content(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadFile(f"the configuration {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not a configuration: it is not text.") from None
    try:
        data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except RecursionError as error:
        raise BadFile(f"{path} is not a configuration: {json_fault(error)}.") from None
    except ValueError as error:
        raise BadFile(
            f"{path} is not valid {'JSON' if path.suffix == '.json' else 'TOML'}: {error}."
        ) from None
    if not isinstance(data, dict):
        raise BadFile(f"{path} is not a configuration: it has no names and values.")
    return data


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return two configurations as one, tables key by key.

    Where both have a value, the one above holds.
    """
    merged = dict(below)
    for key, value in above.items():
        merged[key] = (
            {**below[key], **value}
            if isinstance(value, dict) and isinstance(below.get(key), dict)
            else value
        )
    return merged


def _made(kind: type[T], where: str, table: Any) -> T:
    """Return a table's content as its class, or say which key is unknown."""
    check_keys(where, table, [entry.name for entry in fields(kind)])  # type: ignore[arg-type]
    return kind(**table)


def _tuples(
    config: Any,
    *names: str,
    each: str = "number",
    at_least: float = -math.inf,
    at_most: float = math.inf,
) -> None:
    """Check that each setting has one number within the bounds for each channel.

    The numbers are kept as a tuple.
    """
    for name in names:
        values = getattr(config, name)
        if not isinstance(values, list | tuple) or len(values) != CHANNELS:
            raise InvalidInput(
                f"{name} must be a list with one {each} for each of the {CHANNELS} channels, got "
                f"{values!r}."
            )
        object.__setattr__(
            config,
            name,
            tuple(
                number(f"a value of {name}", value, at_least=at_least, at_most=at_most)
                for value in values
            ),
        )
