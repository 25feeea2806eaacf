"""What every policy promises.

A policy is an immutable description, a frozen dataclass of parameters. It compares,
hashes, prints and serialises; it holds no state. Its steps are small functions over a
state `s`, written once and compiled by the engine for the simulator and for live agents
alike:

* `choose(s, t, g)` returns the arm for round t (from 1). `g` is the policy's random
  stream for `ironarm.random`.
* `update(s, a, x)` learns the reward `x` of arm `a` (never NaN, may be infinite). When
  it is called, the estimator has already taken `x` and `s.estimate[a]` is new.
* `recount(s, a)` is told that `s.n[a]` has changed without a reward (live use: a
  decision was made or cancelled). Optional.
* `owed(s, t)` returns how many forced pulls the schedule has planned for each arm up to
  the window around round t; when arms join or leave, every arm short of it gets the
  missing ones first. Optional.
* `welcome(s, a)` sets the policy's own fields for an arm that joins late. Optional:
  they are zero.
* `settle(s, t)` brings `s.estimate` up to date where the policy keeps it lazily.
  Optional.

What `s` holds, for K arms: every parameter that `constants` returns (`s.omega`), every
array in `fields` and in the estimator's fields, and

    s.arms         K
    s.n[a]         rewards of arm a plus its open decisions: what an exploration bonus counts. The engine counts; policies only read
    s.rewards[a]   rewards of arm a
    s.estimate[a]  the estimator's current value, -inf before the first reward
    s.unrewarded   [0]: how many arms have no reward yet
    s.chance       [0]: set by `choose` to the probability of its choice, if `update` needs it; the reward's own chance is there in `update`
    s.live         1 behind an agent, 0 in a simulation

Fields are declared as text, `"float[arms]"`, `"int[1]"`, `"float[arms*4]"`, and start
at zero. A field that can be recomputed is declared as `"cache int[1]"`: it is not
saved, and zero must mean "not known".
"""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from typing import Any, ClassVar

from ..errors import InvalidInput
from ..estimators import Estimator, Mean
from ..marks import hot


class Policy:
    """The base of all policies; see the module's docstring for the contract."""

    fields: ClassVar[dict[str, str]] = {}
    weighs_by_chance: ClassVar[bool] = False
    """Whether `update` needs the probability with which the decision was made."""

    @property
    def estimator(self) -> type[Estimator] | None:
        """The estimator that feeds `s.estimate`; None if the policy keeps it itself."""
        return Mean

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        """Return the numbers that the steps read as `s.name`, for so many arms;
        refuse parameters that do not fit.
        """
        return {}

    @staticmethod
    @hot
    def choose(s, t, g):
        raise NotImplementedError

    @staticmethod
    @hot
    def update(s, a, x):
        pass

    @staticmethod
    @hot
    def recount(s, a):
        pass

    @staticmethod
    @hot
    def owed(s, t):
        return 0

    @staticmethod
    @hot
    def welcome(s, a):
        pass

    @staticmethod
    @hot
    def settle(s, t):
        pass

    def mirrored(self) -> Policy:
        """Return the policy for the negated rewards, which is what an agent that
        minimises feeds it: another one only if a parameter speaks of the rewards'
        range.
        """
        return self

    @property
    def expected_spread(self) -> float | None:
        """The standard deviation of clean rewards that the parameters are made for;
        None if the policy has no such scale.
        """
        return None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, as plain data."""
        return {f.name: getattr(self, f.name) for f in dataclass_fields(self)}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain data; `ironarm.policies.from_dict` reads it
        back.
        """
        return {
            "policy": type(self).__name__,
            "parameters": {
                k: list(v) if isinstance(v, tuple) else v for k, v in self.parameters.items()
            },
        }

    @property
    def label(self) -> str:
        """The name with the parameters that differ from the defaults: short, for
        tables and legends.
        """
        changed = [
            f"{f.name}={_short(getattr(self, f.name))}"
            for f in dataclass_fields(self)  # type: ignore[arg-type]
            if getattr(self, f.name) != f.default
        ]
        return type(self).__name__ + (f"({', '.join(changed)})" if changed else "")

    def _set(self, **values: Any) -> None:
        """Store checked parameters; for use in `__post_init__` only, a policy does
        not change afterwards.
        """
        for name, value in values.items():
            object.__setattr__(self, name, value)


def require_policy(value: object) -> None:
    """Refuse what is not a policy, or could change under the engine's hands."""
    if not isinstance(value, Policy):
        raise InvalidInput(f"expected a policy, for example ia.MedEUCB(), got {value!r}.")
    frozen = getattr(type(value), "__dataclass_params__", None)
    if frozen is None or not frozen.frozen or "__dataclass_fields__" not in vars(type(value)):
        raise InvalidInput(
            f"{type(value).__name__} must be a frozen dataclass: write @dataclass(frozen=True) "
            "above the class."
        )


def _short(value: Any) -> str:
    """Return a parameter as short text that the command line reads back."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))})"
    return f"{value:g}" if isinstance(value, float) else repr(value)
