"""Which packets a jammer hits.

How to add a strategy is in `docs/radio.md`, "A new jamming strategy".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from ...errors import BadFile, InvalidInput, PolicyFault
from ...validation import did_you_mean, number, whole
from .config import CHANNELS, JammerConfig, RadioConfig


class Strategy(ABC):
    """Decides from the round, the channel and one uniform number what is jammed."""

    uses_rho: ClassVar[bool] = False
    """Whether rho has an effect on it."""

    argument: ClassVar[str] = ""
    """What follows the name and a colon, such as FILE in trace:FILE."""

    @classmethod
    def of(cls, argument: str, config: RadioConfig) -> Self:
        """Return the strategy that `[jammer]` names, with what follows the colon."""
        try:
            return cls(config.jammer.rho) if cls.uses_rho else cls()  # type: ignore[call-arg]
        except TypeError as error:
            raise PolicyFault(
                f"{cls.__name__} cannot be made ({error}): set uses_rho = True if its only field "
                "is rho, or write its own `of`."
            ) from error

    @abstractmethod
    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Return whether it jams this round's packet; `u` is uniform in (0, 1).

        `u` is the jammer's own random number of that round. Keep no state: a jammer
        that is restarted in the middle of a run must make the same choices again.
        """


@dataclass(frozen=True)
class AnyPacket(Strategy):
    """Jams any packet with probability rho, as the paper says."""

    rho: float
    uses_rho = True

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Ignore the channel."""
        return u < self.rho


@dataclass(frozen=True)
class OnlyBest(Strategy):
    """Jams packets in the best channel with probability rho, and no others."""

    rho: float
    best: int
    uses_rho = True

    @classmethod
    def of(cls, argument: str, config: RadioConfig) -> Self:
        """Find the best channel in the configuration."""
        means = config.channels.means
        return cls(config.jammer.rho, means.index(max(means)))

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Hit only the best channel."""
        return channel == self.best and u < self.rho


@dataclass(frozen=True)
class PerChannel(Strategy):
    """Jams each channel with a probability of its own."""

    rhos: Sequence[float]

    def __post_init__(self) -> None:
        for rho in self.rhos:
            number("a channel's probability", rho, at_least=0, at_most=1)

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Use the channel's probability."""
        return u < self.rhos[channel]


@dataclass(frozen=True)
class FromTrace(Strategy):
    """Follows a trace, which has a line for each round and starts again at its end.

    A line is "none", "any", or the numbers of the jammed channels, such as "0 3".

    >>> trace = FromTrace.from_lines("none", "any", "0 3")
    >>> [trace.hits(round, 3, 0.5) for round in range(4)], trace.hits(2, 1, 0.5)
    ([False, True, True, False], False)
    """

    rounds: tuple[frozenset[int], ...]
    argument = "FILE"

    @classmethod
    def of(cls, argument: str, config: RadioConfig) -> Self:
        """Read the trace from a text file."""
        return cls.read(argument)

    @classmethod
    def from_lines(cls, *lines: str) -> Self:
        """Return the trace with these lines."""
        if not lines:
            raise InvalidInput(
                "the trace is empty; it needs a line for at least one round: none, any, or "
                "channel numbers."
            )
        return cls(tuple(_channels(line, place) for place, line in enumerate(lines)))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the trace in a text file; a byte-order mark is skipped."""
        try:
            lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
        except OSError as error:
            raise BadFile(f"the trace {path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise BadFile(f"the trace {path} is not text.") from None
        try:
            return cls.from_lines(*lines)
        except InvalidInput as error:
            raise BadFile(f"{path}: {error}") from None

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Look the round up."""
        return channel in self.rounds[round_number % len(self.rounds)]


STRATEGIES: dict[str, type[Strategy]] = {"any": AnyPacket, "best": OnlyBest, "trace": FromTrace}
"""The strategies that have a name. A list of probabilities is a `PerChannel`."""


def strategy_of(config: RadioConfig) -> Strategy:
    """Return the strategy that a configuration names."""
    if not isinstance(config.jammer.strategy, str):
        return PerChannel(config.jammer.strategy)
    found, argument = _named(config.jammer.strategy)
    return found.of(argument, config)


def uses_rho(jammer: JammerConfig) -> bool:
    """Return whether rho has an effect on a jammer."""
    return isinstance(jammer.strategy, str) and _named(jammer.strategy)[0].uses_rho


def _named(text: str) -> tuple[type[Strategy], str]:
    """Return the strategy that a text names, and what follows its colon."""
    name, _, argument = text.partition(":")
    found = STRATEGIES.get(name)
    if found is None or bool(argument) != bool(found.argument):
        known = [f"{key}:{one.argument}".rstrip(":") for key, one in STRATEGIES.items()]
        raise InvalidInput(
            f"the jammer's strategy must be {', '.join(map(repr, known))} or a list with a "
            "probability for each channel (not channel numbers), got "
            f"{text!r}.{did_you_mean(name, list(STRATEGIES))}"
        )
    return found, argument


def _channels(line: str, place: int) -> frozenset[int]:
    words = line.split()
    if words == ["none"]:
        return frozenset()
    if words == ["any"]:
        return frozenset(range(CHANNELS))
    try:
        return frozenset(whole("a channel", int(word), below=CHANNELS) for word in words or ["?"])
    except ValueError:  # InvalidInput too
        raise InvalidInput(
            f"line {place + 1} of the trace must be none, any, or channel numbers from 0 to "
            f"{CHANNELS - 1} with blanks between them, such as 0 3; got {line!r}."
        ) from None
