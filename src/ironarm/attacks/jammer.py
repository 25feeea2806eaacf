"""Jamming: noise on top of a radio packet, before it is received."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidInput
from ..marks import hot
from ..validation import whole
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class Jammer(Attack):
    """The paper's radio attack: noise of fixed power over the packet of a round.

    For bandits with jammed laws, such as `ia.RadioBandit`.

    The policy then sees the SINR that the receiver measures while that packet is
    jammed: the reward comes from the jammed channel's law.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    strategy : "any" jams the channel in use, as in the paper's text; "best" only the
        best channel; a list of channel numbers, such as [0, 3], only those. (In the
        radio testbed's command line and configuration a list is something else: a
        probability for each channel.)

    Examples
    --------
    >>> import ironarm as ia
    >>> ia.Jammer(rho=0.3, strategy="best").shows(ia.RadioBandit()).tolist()
    [5, 1, 2, 3, 4]
    """

    rho: float
    strategy: str | Sequence[int] = "any"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.strategy in ("any", "best"):
            return
        if (
            isinstance(self.strategy, str)
            or not isinstance(self.strategy, Sequence)
            or not len(self.strategy)
        ):
            raise InvalidInput(
                "strategy must be 'any', 'best' or a list of channel numbers such as [0, 3], got "
                f"{self.strategy!r}."
            )
        channels = tuple(
            whole(
                "a channel number of strategy (a list names the channels that are jammed)", channel
            )
            for channel in self.strategy
        )
        if len(set(channels)) < len(channels):
            raise InvalidInput(
                f"strategy names a channel twice, got {list(channels)}; a list here has the "
                "numbers of the channels to jam, not a probability for each: [0] is the first "
                "alone."
            )
        self._set(strategy=channels)

    def constants(self) -> dict[str, float]:
        """Return nothing: `shows` alone decides what the policy sees."""
        return {}

    def shows(self, bandit: Bandit) -> np.ndarray:
        shown = np.arange(bandit.arms)
        if self.rho == 0:
            return shown
        jammed = getattr(bandit, "jammed_laws", None)
        if jammed is None:
            raise InvalidInput(
                "a Jammer needs a bandit whose channels can be jammed, for example "
                f"ia.RadioBandit(), got {bandit!r}."
            )
        for channel in (
            range(bandit.arms)
            if self.strategy == "any"
            else [bandit.best]
            if self.strategy == "best"
            else self.strategy
        ):
            if int(channel) >= bandit.arms:
                raise InvalidInput(
                    f"strategy is a list of channel numbers and names channel {channel}; the "
                    f"bandit's channels are numbered 0 to {bandit.arms - 1}."
                )
            shown[int(channel)] = jammed[int(channel)]
        return shown

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        return x
