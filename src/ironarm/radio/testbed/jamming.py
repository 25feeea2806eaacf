"""Which packets a jammer hits.

A strategy decides from the round, the channel in use and one uniform number of the
jammer's own. A new one is one class, and one line in `strategy_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...errors import BadFile, InvalidInput
from ...validation import did_you_mean, number, whole
from .config import CHANNELS, RadioConfig


class Strategy(Protocol):
    """What a jammer does."""

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Return whether it jams the packet of this round in this channel; `u` is
        uniform in (0, 1).
        """


@dataclass(frozen=True)
class AnyPacket:
    """Any packet with probability rho, as the paper's text says."""

    rho: float

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Hit without looking."""
        return u < self.rho


@dataclass(frozen=True)
class OnlyBest:
    """Packets in the best channel with probability rho; all other channels are left
    alone.
    """

    rho: float
    best: int

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Hit the best channel."""
        return channel == self.best and u < self.rho


@dataclass(frozen=True)
class PerChannel:
    """Each channel with a probability of its own."""

    rhos: Sequence[float]

    def __post_init__(self) -> None:
        for rho in self.rhos:
            number("a channel's probability", rho, at_least=0, at_most=1)

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Hit as often as the channel says."""
        return u < self.rhos[channel]


@dataclass(frozen=True)
class FromTrace:
    """What a trace says for each round: "none", "any", or the channels that are jammed,
    such as "0" or "0 3". After its end it starts again.

    >>> trace = FromTrace.of("none", "any", "0 3")
    >>> [trace.hits(round, 3, 0.5) for round in range(4)], trace.hits(2, 1, 0.5)
    ([False, True, True, False], False)
    """

    rounds: tuple[frozenset[int], ...]

    @classmethod
    def of(cls, *lines: str) -> FromTrace:
        """Return the trace with these lines."""
        if not lines:
            raise InvalidInput(
                "the trace is empty; it needs a line for at least one round: none, any, or "
                "channel numbers."
            )
        return cls(tuple(_channels(line, place) for place, line in enumerate(lines)))

    @classmethod
    def read(cls, path: str | Path) -> FromTrace:
        """Return the trace in a text file, a line for each round; a byte-order mark,
        which some editors write, is passed over.
        """
        try:
            lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
        except OSError as error:
            raise BadFile(f"the trace {path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise BadFile(f"the trace {path} is not text.") from None
        try:
            return cls.of(*lines)
        except InvalidInput as error:
            raise BadFile(f"{path}: {error}") from None

    def hits(self, round_number: int, channel: int, u: float) -> bool:
        """Look it up."""
        return channel in self.rounds[round_number % len(self.rounds)]


def strategy_of(config: RadioConfig) -> Strategy:
    """Return the strategy that the config name."""
    name, rho = config.jammer.strategy, config.jammer.rho
    if not isinstance(name, str):
        return PerChannel(name)
    if name == "any":
        return AnyPacket(rho)
    if name == "best":
        means = config.channels.means
        return OnlyBest(rho, max(range(len(means)), key=means.__getitem__))
    if name.startswith("trace:"):
        return FromTrace.read(name.removeprefix("trace:"))
    raise InvalidInput(
        "the jammer's strategy must be 'any', 'best', 'trace:FILE' or a list with a probability "
        "for each channel (not channel numbers), got "
        f"{name!r}.{did_you_mean(name, ['any', 'best', 'trace'])}"
    )


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
