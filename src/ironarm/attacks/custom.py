"""A user's own attack: one function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidInput
from ..validation import number, whole
from .base import Attack


@dataclass(frozen=True)
class CustomAttack(Attack):
    """An attack from one function, `corrupt(e, a, x, u, v)`.

    It returns what the policy sees. `help(ironarm.attacks.base)` says what `e` holds.
    Marked with `@ia.hot` the function is compiled and as fast as the built-in attacks.
    Any other callable works too, at a few microseconds for each attacked round. It is
    called in the order of the rounds, and from several threads when `simulate` has
    several workers, so it must not keep state of its own: use `e.memory`.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    function : the function.
    numbers : parameters that the function reads as `e.name`.
    cells : how many numbers `e.memory` holds; they are zero at the start of each trial.

    Examples
    --------
    >>> import ironarm as ia
    >>> @ia.hot
    ... def shove(e, a, x, u, v):
    ...     return x - e.size if a == e.best else x
    >>> attack = ia.CustomAttack(0.2, shove, {"size": 30})
    >>> bandit = ia.GaussianBandit(means=[0, 5])
    >>> result = ia.simulate(
    ...     [ia.UCB(), ia.MedEUCB()],
    ...     bandit,
    ...     attack,
    ...     horizon=2000,
    ...     trials=5,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.stuck.mean(axis=1).tolist()
    [1.0, 0.0]
    """

    rho: float
    function: Callable[..., float]
    numbers: dict[str, float] = field(default_factory=dict, hash=False)
    cells: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise InvalidInput(
                f"function must be callable as function(e, a, x, u, v), got {self.function!r}."
            )
        self._set(cells=whole("cells", self.cells))
        self._set(numbers={name: number(name, value) for name, value in self.numbers.items()})

    @property
    def memory(self) -> int:  # type: ignore[override]
        return self.cells

    def constants(self) -> dict[str, float]:
        return dict(self.numbers)

    @property
    def corrupt(self) -> Callable[..., float]:  # type: ignore[override]
        return self.function

    def to_dict(self) -> dict[str, Any]:
        name = getattr(self.function, "__qualname__", repr(self.function))
        return {
            "attack": "CustomAttack",
            "parameters": {"rho": self.rho, "function": name, **self.numbers},
        }
