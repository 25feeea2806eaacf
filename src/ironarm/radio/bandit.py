"""The testbed as a bandit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..attacks import Attack
from ..bandits.base import Bandit, finite_means
from ..engine.announce import announced_by
from ..engine.interrupts import interrupts_wait
from ..engine.machine import compiled
from ..errors import InvalidInput
from ..show.text import counted
from ..validation import choice, number
from .signal.compiled_chain import CompiledChain
from .signal.kernels import measure_symbols
from .signal.randomness import fold
from .signal.receiver import Receiver
from .signal.sinr_law import SinrLaw, estimator_bias, estimator_spread

TIERS = ("iq", "symbol", "analytic")
SELF_NOISE = 1.23e-7
"""Power that a packet without noise leaves, over the packet's: 69 dB below it.

The cause is that pulses are cut off (mean over all delays, 2 samples a symbol).
"""


JAMMED = (10, 8.75, 7.5, 6.25, 5)
"""The default of `jammed`, for the default channels."""


class RadioBandit(Bandit):
    """Five radio channels whose rewards are the SINRs of QPSK packets, in dB.

    Each reward is one packet of 392 symbols. Three tiers agree in their means to 0.05
    dB:

    * "iq": the packet is shaped, sent over a path with delay, carrier offset, phase and
      noise, found again, synchronised and measured; about 30 microseconds;
    * "symbol": only noise on the known symbols, and the fit of the gain; about 3
      microseconds;
    * "analytic": the law of the measurement itself, through its inverse distribution
      function.

    A packet's level varies by a normal number of decibels, so that the clean rewards
    have the standard deviation `spread`. `ia.attacks.Jammer` jams packets in the
    medium: noise is added to the packet before it is received. All other attacks change
    the number that the receiver reports.

    **When not to use it:** for rewards of another kind, or if you only need the regret.
    The rewards are close to normal, so `GaussianBandit` with sigma 1 gives nearly the
    same regret thousands of times faster.

    Parameters
    ----------
    tier : "iq", "symbol" or "analytic".
    means : mean SINR of each clean channel, in dB, from which the regret is computed;
        at most 60.
    jammed : mean SINR of each channel when it is jammed, in dB; at least 0, and not
        above the clean one. It sets the jammer's power in each channel. With
        `ia.attacks.Jammer(same_power=True)` the power is the same in all channels.
    spread : standard deviation of the clean SINR, in dB; at most 20, and at least 0.25,
        the spread of the measurement itself (more below 15 dB).
    missed : the reward of a packet that the receiver does not find, in dB. It finds all
        packets at 0 dB, 999 of 1,000 at -3 dB, 19 of 20 at -6 dB, and reports no less
        than -8 dB.

    Examples
    --------
    >>> import ironarm as ia
    >>> bandit = ia.RadioBandit(tier="analytic")
    >>> policies = [ia.MedEUCB(block=200), ia.UCB()]
    >>> result = ia.simulate(
    ...     policies,
    ...     bandit,
    ...     ia.attacks.Jammer(0.3, strategy="best"),
    ...     horizon=2000,
    ...     trials=5,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.optimal[:, :, -1].mean(axis=1).round(1).tolist()
    [0.8, 0.0]
    """

    def __init__(
        self,
        tier: str = "iq",
        means: Iterable[float] = (41, 37, 35, 31, 28),
        jammed: Iterable[float] = (10, 8.75, 7.5, 6.25, 5),
        spread: float = 1.0,
        missed: float = -20.0,
    ) -> None:
        self.tier = choice("tier", tier, TIERS)
        self.means = finite_means(means)
        self.jammed = finite_means(jammed)
        if tuple(self.jammed) == JAMMED and len(JAMMED) != len(self.means):
            raise InvalidInput(
                f"give jammed too: it needs {counted(len(self.means), 'number')}, one for each "
                f"mean; its default has {len(JAMMED)}."
            )
        if len(self.jammed) != len(self.means):
            raise InvalidInput(
                f"jammed must have one number for each of the {len(self.means)} means, got "
                f"{len(self.jammed)}."
            )
        if not ((self.means >= 0) & (self.means <= 60)).all():
            raise InvalidInput(
                "means must be between 0 and 60 dB, what this waveform can carry and the "
                f"receiver can measure, got {self.means.tolist()}."
            )
        if not (self.jammed >= 0).all():
            raise InvalidInput(
                "jammed must be at least 0 dB, where the receiver still finds all packets, got "
                f"{self.jammed.tolist()}."
            )
        if not (self.jammed <= self.means).all():
            raise InvalidInput(
                "jammed must not be above means, because a jammer only adds noise; got "
                f"{self.jammed.tolist()} for the means {self.means.tolist()}."
            )
        self.receiver = Receiver(floor_db=number("missed", missed, at_most=Receiver.detect_db))
        self.missed = self.receiver.floor_db
        self.spread = number("spread", spread, above=0, at_most=20)
        own = max(estimator_spread(self.known, mean) for mean in self.means)
        if self.spread < own:
            raise InvalidInput(
                f"spread must be at least {own:.3f} dB, the spread of the measurement itself on "
                f"{self.known} symbols, got {self.spread:g}."
            )
        self.wander_db = np.array(
            [
                math.sqrt(self.spread**2 - estimator_spread(self.known, mean) ** 2)
                for mean in self.means
            ]
        )
        self.n0 = np.array([self._noise_for(mean) for mean in self.means])
        self.jam = np.array([self._noise_for(mean) for mean in self.jammed]) - self.n0

    @property
    def known(self) -> int:
        """The symbols that a measurement rests on, N."""
        return self.receiver.format.known_count

    @property
    def law_count(self) -> int:
        """The clean channels, the jammed ones, and those jammed with the same power."""
        return 3 * self.arms

    @property
    def jammed_laws(self) -> np.ndarray:
        """For each arm, the number of the law it has when it is jammed."""
        return np.arange(self.arms, 2 * self.arms)

    @property
    def same_power_laws(self) -> np.ndarray:
        """The same for a jammer whose power is the same in all channels."""
        if not (self.jam > 0).all():
            channel = int(np.argmin(self.jam))
            raise InvalidInput(
                "same_power takes the mean of the jammer's powers in dB, and in channel "
                f"{channel} it has none: its jammed mean is its clean one, "
                f"{self.means[channel]:g} dB. Set it lower in jammed."
            )
        return np.arange(2 * self.arms, 3 * self.arms)

    @property
    def same_power(self) -> float:
        """The jamming power, over a packet's, that is the same in all channels."""
        return float(10 ** np.log10(self.jam).mean())

    def jam_of(self, law: int) -> float:
        """Return the power of the jamming in a law, over a packet's; 0 if clean."""
        kind, channel = divmod(law, self.arms)
        return (0.0, float(self.jam[channel]), self.same_power if kind == 2 else 0.0)[kind]

    def mean_of(self, law: int) -> float:
        """Return the mean SINR of a law, in dB."""
        kind, channel = divmod(law, self.arms)
        if kind < 2:
            return float((self.means, self.jammed)[kind][channel])
        noise = 10 ** (-(self.means[channel] - estimator_bias(self.known)) / 10)
        return estimator_bias(self.known) - 10 * math.log10(noise + self.same_power)

    @property
    def stretch(self) -> int | None:
        """Render few rounds at a time, because unused packets are wasted work."""
        return None if self.tier == "analytic" else 16

    @cached_property
    def laws(self) -> tuple[SinrLaw, ...]:
        """The clean rewards' laws, those of the analytic tier."""
        return self._laws[: self.arms]

    @cached_property
    def _laws(self) -> tuple[SinrLaw, ...]:
        count = self.law_count if (self.jam > 0).all() else 2 * self.arms
        return tuple(
            SinrLaw(self.mean_of(law), float(self.wander_db[law % self.arms]), self.known)
            for law in range(count)
        )

    @cached_property
    def _chain(self) -> CompiledChain:
        return CompiledChain(self.receiver)

    def prepare(self, say: Callable[[str], None]) -> None:
        """Compile the chain before threads ask for it."""
        if self.tier == "iq":
            self._chain.prepare(say)
        if self.tier == "symbol":
            with interrupts_wait(), announced_by(say):
                self.rewards(0, np.array([0.5]))

    def rewards(self, arm: int, noise: np.ndarray) -> np.ndarray:
        """Return the SINRs of packets; `arm` is an arm or another of the laws.

        The bits of a noise number are the packet's key.
        """
        if self.tier == "analytic":
            if self._laws[arm].average < self.receiver.detect_db - 5:
                # no packet is found this far down, where the law is not accurate
                return np.full(len(noise), self.missed)
            sinr = self._laws[arm].ppf(noise)
            return np.where(sinr >= self.receiver.detect_db, sinr, self.missed)
        channel = arm % self.arms
        keys = fold((np.asarray(noise) * 2.0**52).astype(np.uint64), channel + 1)
        jam = self.jam_of(arm)
        if self.tier == "iq":
            return self._chain.sinr(
                keys,
                self.n0[channel],
                jam,
                self.wander_db[channel],
                (keys >> np.uint64(32)).astype(np.int64),
            )
        out = np.empty(len(keys))
        floats, places = np.zeros(5 * self.known, np.float32), np.zeros(self.known, np.int64)
        compiled(measure_symbols)(
            keys,
            float(self.n0[channel]),
            jam,
            float(self.wander_db[channel]),
            floats,
            places,
            out,
        )
        return np.where(out >= self.receiver.detect_db, out, self.missed)

    def _noise_for(self, mean: float) -> float:
        """Return the noise, N0, at which the measured SINR has that mean.

        The measurement includes the self-noise of the pulses.
        """
        return float(
            10 ** (-(mean - estimator_bias(self.known)) / 10)
            - (SELF_NOISE if self.tier == "iq" else 0.0)
        )

    def picture(self, kind: str, attacks: Sequence[Attack] = ()) -> Any:
        """Draw the testbed (matplotlib), as studies show it.

        Parameters
        ----------
        kind : "setup", nodes and channels, clean and under the attacks; "spectrogram",
            power over time and frequency under the first attack; or "constellation", a
            packet's symbols, clean and jammed.
        """
        from .testbed import figures  # draws with matplotlib, an extra

        choice("kind", kind, ("setup", "spectrogram", "constellation"))
        if kind == "constellation":
            return figures.constellation(self)
        if kind == "spectrogram":
            return figures.spectrogram(self, attacks[0])
        return figures.setup(self, *attacks)

    def to_dict(self) -> dict[str, Any]:
        """Return the bandit as plain data."""
        numbers = {
            "means": self.means.tolist(),
            "jammed": self.jammed.tolist(),
            "spread": self.spread,
            "missed": self.missed,
        }
        return {"bandit": "RadioBandit", "tier": self.tier, **numbers}

    def __repr__(self) -> str:
        return (
            f"RadioBandit(tier={self.tier!r}, means={self.means.tolist()}, "
            f"jammed={self.jammed.tolist()}, spread={self.spread:g})"
        )
