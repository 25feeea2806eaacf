"""The contract of an attack.

An attack is an immutable description: a frozen dataclass with a probability `rho`. In
each round its own coin decides, independently of everything else, whether it may act.
Then it may replace the reward by anything, infinities included, and knows everything so
far. It changes what the policy sees; the regret is computed from the true means.

* `corrupt(e, a, x, u, v)` returns what the policy sees of arm `a` instead of the clean
  reward `x`. `u` and `v` are two uniform numbers in (0, 1) from the attack's own
  stream. A NaN counts as -inf.
* `observe(e, a, x, shown)` is called at the end of every round, attacked or not. Arm
  `a` was pulled and paid `x`; the policy was shown `shown`, and has learnt it. In an
  attacked round `x` is what `corrupt` was given. `observe` returns nothing and writes
  to `e.memory`. If rewards come late, the policy learns `shown` when it comes.
  Optional: None, and then it costs nothing.
* `hold(e, a, x, u, v)` returns by how many rounds an attacked reward comes later than
  it would have; inf: it never comes. It is called after `corrupt`, with the same
  arguments. Optional: None. `longest_hold` is the most rounds that it can return, inf
  apart.
* `shows(bandit)` may name, for each arm, the arm whose law the attacked reward `x` is
  drawn from, or one of the bandit's further laws. Optional: its own.
* `memory` is how many numbers `e.memory` holds between rounds, zero at the start of
  each trial. Optional: none.
* `start(bandit)` may return what `e.memory` holds at the start of each trial: as many
  numbers as it likes, some for each arm, or tables that depend on the bandit. Optional:
  `memory` zeros.
* `burst` is the mean length of the coin's runs of attacked rounds. Optional: 0, for a
  coin that is independent from round to round.
* `within_model` says whether the coin is independent, as the paper's model and every
  guarantee need. True except for attacks with bursts.

`e` holds every number that `constants` returns (`e.scale`), and

    e.t            the round, from 1
    e.arms         the number of arms
    e.means[a]     the true means, where they drift those of this round; so are
                   `e.best` and `e.runner_up`
    e.best         the best arm
    e.runner_up    the best of the others; with one arm, that arm
    e.pulls[a]     pulls of arm a, including this one
    e.estimate[a]  what the policy currently believes of arm a (EXP3: its log-weight)
    e.memory       the attack's own memory
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import PolicyFault
from ..marks import hot
from ..naming.own_code import name_of, reduced
from ..validation import number

if TYPE_CHECKING:
    from ..bandits import Bandit


class Attack:
    """The base of all attacks; docs/own-policy.md says how to write one."""

    rho: float
    memory: ClassVar[int] = 0
    burst: ClassVar[float] = 0.0
    within_model: ClassVar[bool] = True
    observe: Callable[..., object] | None = None
    hold: Callable[..., float] | None = None

    @property
    def longest_hold(self) -> int:
        """The most rounds by which `hold` delays a reward that comes at all."""
        return 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", number("rho", self.rho, at_least=0, below=1))

    def constants(self) -> dict[str, float]:
        """Return the numbers that `corrupt` reads as `e.name`.

        By default these are all parameters but rho.
        """
        try:
            return {name: float(value) for name, value in self.parameters.items() if name != "rho"}
        except (TypeError, ValueError):
            raise PolicyFault(
                f"{type(self).__name__} has a parameter that is not a number; give it a method "
                "`constants` that returns the numbers `corrupt` needs."
            ) from None

    def shows(self, bandit: Bandit) -> np.ndarray:
        """Return, for each arm, the number of the law of an attacked reward."""
        return np.arange(bandit.arms)

    def start(self, bandit: Bandit) -> np.ndarray:
        """Return what `e.memory` holds at the start of each trial."""
        return np.zeros(self.memory)

    @staticmethod
    @hot
    def corrupt(e, a, x, u, v):
        raise NotImplementedError

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, as plain data."""
        if not is_dataclass(self):
            raise PolicyFault(
                f"{type(self).__name__} is not a dataclass: write @dataclass(frozen=True) above it."
            )
        return {f.name: getattr(self, f.name) for f in dataclass_fields(self)}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return the attack as plain data."""
        return {
            "attack": name_of(type(self)),
            "parameters": {
                k: list(v) if isinstance(v, tuple) else v for k, v in self.parameters.items()
            },
        }

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self) or super().__reduce_ex__(protocol)

    def _set(self, **values: Any) -> None:
        """Store checked parameters; for use in `__post_init__` only."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


@hot
def no_estimate(e, a):
    """Say whether the policy believes nothing of arm a yet; its rewards may be late."""
    return e.pulls[a] == 0 or e.estimate[a] == -np.inf
