"""Rewards that come late or never, in a simulation as in live use."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..engine.machine import compiled
from ..errors import InvalidInput
from ..random import fill_open_uniform
from ..validation import choice, number, optional, whole

LONGEST = 30
"""No delay is longer than so many times the mean plus one. A geometric one is longer
less than once in 1e13 times."""
NEVER = -1


@dataclass(frozen=True)
class Delay:
    """How late rewards come, and how many never do.

    A delay of d rounds means that d more decisions are made before the reward arrives.
    The rules are those of a live agent: rounds count decisions, estimates count
    rewards, and a policy's exploration bonus counts open decisions too.

    Parameters
    ----------
    mean : the mean delay, in rounds; a whole number if it is fixed.
    law : "geometric", where the reward arrives with the same probability in each round,
        or "fixed", where every delay is the same.
    lost : the share of rewards that never come, whatever their value. An attack can
        choose which rewards to suppress; see `ia.attacks.Suppress`.
    expire : cancel a decision that has no reward after this many rounds; its reward is
        then refused. None: decisions stay open for ever.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.GaussianBandit(means=[0, 1, 2])
    >>> late = ia.simulate(
    ...     ia.UCB(),
    ...     bandit,
    ...     delay=ia.Delay(mean=50),
    ...     horizon=1000,
    ...     trials=20,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> at_once = ia.simulate(
    ...     ia.UCB(), bandit, horizon=1000, trials=20, seed=1, progress=False
    ... )
    >>> bool(late.regret[0, :, -1].mean() > at_once.regret[0, :, -1].mean())
    True
    """

    mean: float = 0.0
    law: str = "geometric"
    lost: float = 0.0
    expire: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", number("mean", self.mean, at_least=0, at_most=1e7))
        object.__setattr__(self, "law", choice("law", self.law, ["geometric", "fixed"]))
        object.__setattr__(self, "lost", number("lost", self.lost, at_least=0, below=1))
        expire = optional(whole, "expire", self.expire, at_least=1, below=10**9)
        object.__setattr__(self, "expire", expire)
        if self.law == "fixed" and self.mean != round(self.mean):
            raise InvalidInput(
                "with law='fixed' every delay is mean, so it must be a whole number of rounds; "
                f"got {self.mean:g}."
            )
        if self.law == "fixed" and expire is not None and expire < self.mean:
            raise InvalidInput(
                f"with law='fixed', expire must be at least mean, or no reward ever arrives; got "
                f"{expire} and {self.mean:g}."
            )

    @property
    def longest(self) -> int:
        """The longest delay, in rounds."""
        if self.law == "fixed" or self.mean == 0:
            return round(self.mean)
        return math.ceil(LONGEST * (self.mean + 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return asdict(self)


class Waits:
    """The delays of a trial, round by round, the same for every policy."""

    def __init__(self, delay: Delay, length: int) -> None:
        self._delay = delay
        self._uniform, self._waits = np.empty(length), np.empty(length, np.int64)
        self._draw = compiled(fill_open_uniform)

    def rewind(self, stream: np.ndarray) -> None:
        """Begin a new trial."""
        self._stream = stream

    def next(self, rounds: int) -> np.ndarray:
        """Return the delays of the next rounds; those below 0 never end."""
        delay, uniform, waits = self._delay, self._uniform[:rounds], self._waits[:rounds]
        self._draw(self._stream, uniform)
        comes = uniform >= delay.lost
        if delay.law == "fixed" or delay.mean == 0:
            waits[:] = delay.longest
        else:
            # uniform again, given that the reward comes
            left = np.where(comes, (uniform - delay.lost) / (1 - delay.lost), 0.5)
            stays = math.log(delay.mean / (1 + delay.mean))
            with np.errstate(divide="ignore"):
                drawn = np.floor(np.log(left) / stays)
            waits[:] = np.minimum(drawn, delay.longest)
        waits[~comes] = NEVER
        return waits
