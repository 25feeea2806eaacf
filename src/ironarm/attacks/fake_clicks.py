"""Fake clicks: an attacked reward is 0 or 1, with a rate that the attacker chooses."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidInput
from ..marks import hot
from ..validation import number, optional
from .base import Attack

LEFT_ALONE = -1.0
NO_SHIFT = -1.0


@dataclass(frozen=True)
class FakeClicks(Attack):
    """Bots that click: an attacked reward becomes 1 with some probability, else 0.

    You choose that probability for the best arm, the runner-up and all others. By
    default it is 0 on the best arm and 1 on the others, which moves the rates as far as
    rewards of 0 and 1 allow: from p to (1 - rho) p on the best arm and to (1 - rho) p +
    rho on any other. No attack does more to rewards of 0 and 1, because their rate is
    all they carry.

    With `shift` the bots are subtle: they click at the arm's own rate minus the shift
    on the best arm, plus the shift on any other. So a single bot hardly differs from a
    person.

    With `length` attacked rounds come in runs, as in `Bursts`. The attack is then
    **outside the model**: `within_model` is False.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    best : probability of a click on the best arm in an attacked round, 0 to 1; None
        leaves its rewards alone.
    runner_up : the same on the best of the other arms.
    others : the same on any other arm.
    shift : how far the bots' rates are from the arms', 0 to 1; the rates are clipped to
        [0, 1]. It replaces the three probabilities.
    length : the mean length of a run of attacked rounds, >= 1 and >= rho/(1 - rho);
        None for a coin that is independent from round to round.

    Examples
    --------
    Three arms that can be told apart up to rho = 0.167, and not beyond:

    >>> import ironarm as ia
    >>> bandit = ia.BernoulliBandit([0.3, 0.5, 0.7])
    >>> for rho in (0.1, 0.25):
    ...     result = ia.simulate(
    ...         ia.KLUCB(),
    ...         bandit,
    ...         ia.attacks.FakeClicks(rho=rho),
    ...         horizon=20_000,
    ...         trials=20,
    ...         seed=1,
    ...         progress=False,
    ...     )
    ...     print(round(float(result.optimal[0, :, -1].mean()), 2))
    0.97
    0.02
    """

    rho: float
    best: float | None = 0.0
    runner_up: float | None = 1.0
    others: float | None = 1.0
    shift: float | None = None
    length: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = (self.best, self.runner_up, self.others)
        if self.shift is not None and given != (0.0, 1.0, 1.0):
            raise InvalidInput(
                "give a shift, or probabilities for best, runner_up and others, got both: "
                f"shift={self.shift!r}, best={self.best!r}, runner_up={self.runner_up!r}, "
                f"others={self.others!r}. Leave one of them out."
            )
        self._set(
            **{
                name: optional(number, name, getattr(self, name), at_least=0, at_most=1)
                for name in ("best", "runner_up", "others", "shift")
            },
            length=optional(number, "length", self.length, at_least=1),
        )
        if self.length is not None and self.length < self.rho / (1 - self.rho):
            raise InvalidInput(
                f"length must be at least rho/(1 - rho), which is {self.rho / (1 - self.rho):g} "
                f"for a rho of {self.rho:g}, got {self.length:g}."
            )

    @property
    def burst(self) -> float:  # type: ignore[override]
        return self.length or 0.0

    @property
    def within_model(self) -> bool:  # type: ignore[override]
        return self.length is None

    def constants(self) -> dict[str, float]:
        return {
            "on_best": LEFT_ALONE if self.best is None else self.best,
            "on_runner_up": LEFT_ALONE if self.runner_up is None else self.runner_up,
            "on_others": LEFT_ALONE if self.others is None else self.others,
            "shift": NO_SHIFT if self.shift is None else self.shift,
        }

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        if e.shift >= 0.0:
            rate = e.means[a] - e.shift if a == e.best else e.means[a] + e.shift
        else:
            rate = e.on_best if a == e.best else e.on_runner_up if a == e.runner_up else e.on_others
            if rate < 0.0:
                return x
        return 1.0 if u < rate else 0.0
