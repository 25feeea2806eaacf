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
    """The paper's radio attack: noise over the packet of a round.

    For bandits with jammed laws, such as `ia.RadioBandit`.

    The policy sees the SINR that the receiver measures while the packet is jammed: the
    reward comes from the jammed channel's law.

    Within a channel, every jammed packet gets noise of the same power. By default each
    channel has its own power, the one that brings its mean SINR down to the bandit's
    `jammed`. The paper reports jammed means from 5 to 10 dB, and `ia.RadioBandit` has
    10 dB in the best channel and 5 dB in the worst: the noise arrives 10 dB weaker than
    a packet in the one and 5 dB weaker in the other. With `same_power` it arrives
    equally strong in all channels, and leaves all of them at about 7.5 dB.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    strategy : "any" jams the channel in use, as in the paper's text; "best" only the
        best channel; a list of channel numbers, such as [0, 3], only those. (In the
        radio testbed's command line and configuration, a list means something else: a
        probability for each channel.)
    same_power : whether the noise has the same power in all channels: the mean, in dB,
        of the default powers. Sent and received power are then both the same, because
        this bandit's paths do not differ. The paths of `ironarm radio run` do, and
        there `--same-power` refers to the power that is sent.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.RadioBandit()
    >>> ia.attacks.Jammer(rho=0.3, strategy="best").shows(bandit).tolist()
    [5, 1, 2, 3, 4]
    >>> default, same = (
    ...     ia.attacks.Jammer(0.3, same_power=same) for same in (False, True)
    ... )
    >>> [round(bandit.mean_of(law), 2) for law in default.shows(bandit)]
    [10.0, 8.75, 7.5, 6.25, 5.0]
    >>> [round(bandit.mean_of(law), 1) for law in same.shows(bandit)]
    [7.5, 7.5, 7.5, 7.5, 7.5]
    """

    rho: float
    strategy: str | Sequence[int] = "any"
    same_power: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.same_power, bool):
            raise InvalidInput(f"same_power must be True or False, got {self.same_power!r}.")
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
        jammed = getattr(bandit, "same_power_laws" if self.same_power else "jammed_laws", None)
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
