"""A user's own attack: one function, or two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput
from ..validation import number, whole
from .base import Attack

if TYPE_CHECKING:
    from ..bandits import Bandit


@dataclass(frozen=True)
class CustomAttack(Attack):
    """An attack from one function, `corrupt(e, a, x, u, v)`.

    It returns what the policy sees. `help(ironarm.attacks.base)` says what `e` holds.
    Mark it with `@ia.extend.hot` and it is compiled, as fast as the built-in attacks.
    Any other callable works too, at a few microseconds for each attacked round. It is
    called in the order of the rounds, and from several threads when `simulate` has
    several workers, so it must not keep state of its own: use `e.memory`.

    This function is called in attacked rounds only. To see all rewards, give a second
    one, `observe(e, a, x, shown)`. It is called at the end of every round with the arm,
    its reward, and what the policy was shown. It writes what it wants to keep to
    `e.memory`. Mark both or neither: if one is plain Python, Python calls both.

    Parameters
    ----------
    rho : probability of an attack in a round, 0 <= rho < 1.
    function : the function.
    numbers : parameters that the functions read as `e.name`.
    cells : how many numbers `e.memory` holds; they are zero at the start of each trial.
    observe : the second function; None for none.
    cells_per_arm : how many more numbers `e.memory` holds for each arm. Those of arm a
        begin at `cells + a * cells_per_arm`.

    Examples
    --------
    >>> import ironarm as ia
    >>> @ia.extend.hot
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

    This one remembers the last reward of each arm, and shows the best arm's for any
    other, and the runner-up's for the best:

    >>> @ia.extend.hot
    ... def remember(e, a, x, shown):
    ...     e.memory[a] = x
    >>> @ia.extend.hot
    ... def swap(e, a, x, u, v):
    ...     return e.memory[e.runner_up if a == e.best else e.best]
    >>> attack = ia.CustomAttack(0.4, swap, observe=remember, cells_per_arm=1)
    >>> result = ia.simulate(
    ...     [ia.UCB(), ia.RUCB()],
    ...     bandit,
    ...     attack,
    ...     horizon=2000,
    ...     trials=5,
    ...     seed=1,
    ...     progress=False,
    ... )
    >>> result.pulls.mean(axis=1).round().tolist()
    [[419.0, 1581.0], [451.0, 1549.0]]
    """

    rho: float
    function: Callable[..., float]
    numbers: dict[str, float] = field(default_factory=dict, hash=False)
    cells: int = 0
    observe: Callable[..., object] | None = None
    cells_per_arm: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise InvalidInput(
                f"function must be callable as function(e, a, x, u, v), got {self.function!r}."
            )
        if self.observe is not None and not callable(self.observe):
            raise InvalidInput(
                "observe must be callable as observe(e, a, x, shown), or None, got "
                f"{self.observe!r}."
            )
        self._set(
            cells=whole("cells", self.cells),
            cells_per_arm=whole("cells_per_arm", self.cells_per_arm),
        )
        self._set(numbers={name: number(name, value) for name, value in self.numbers.items()})

    def start(self, bandit: Bandit) -> np.ndarray:
        return np.zeros(self.cells + self.cells_per_arm * bandit.arms)

    def constants(self) -> dict[str, float]:
        return dict(self.numbers)

    @property
    def corrupt(self) -> Callable[..., float]:  # type: ignore[override]
        return self.function

    def to_dict(self) -> dict[str, Any]:
        steps = {"function": self.function, "observe": self.observe}
        names = {
            name: getattr(step, "__qualname__", repr(step))
            for name, step in steps.items()
            if step is not None
        }
        return {
            "attack": "CustomAttack",
            "parameters": {"rho": self.rho, **names, **self.numbers},
        }
