"""The contract of a policy.

A policy is an immutable description: a frozen dataclass of parameters. It compares,
hashes, prints and serialises, and holds no state. Its steps are small functions over a
state `s`. They are written once, and the engine compiles them for the simulator and for
live agents:

* `choose(s, t, g)` returns the arm for round t (from 1). `g` is the policy's random
  stream, for the functions of `ironarm.random`.
* `update(s, a, x)` learns the reward `x` of arm `a`. `x` is never NaN but may be
  infinite. The engine has counted it and the estimator has taken it, so `s.rewards[a]`,
  `s.n[a]` and `s.estimate[a]` include it. A policy without an estimator writes
  `s.estimate[a]` itself.
* `recount(s, a)` is called when `s.n[a]` has changed without a reward: a live decision
  was made or cancelled. Optional.
* `owed(s, t)` returns how many forced pulls of each arm the schedule has planned up to
  the window around round t. When arms join or leave, every arm that is short of it gets
  the missing pulls first. Optional.
* `welcome(s, a)` sets the policy's own fields for an arm that joins late. Optional; by
  default they are zero.
* `settle(s, t)` brings `s.estimate` up to date if the policy computes it lazily.
  Optional.

For K arms, `s` holds every number that `constants` returns (`s.omega`), every array in
`fields` and in the estimator's fields, and

    s.arms         K
    s.n[a]         rewards of arm a plus its open decisions: what an exploration
                   bonus counts. The engine counts; policies only read
    s.rewards[a]   rewards of arm a
    s.estimate[a]  the estimator's current value, -inf before the first reward
    s.unrewarded   [0]: how many arms have no reward yet
    s.chance       [0]: `choose` sets it to the probability of its choice if `update`
                   needs it; in `update` it is the probability of the rewarded decision
    s.source       [0]: in `update`, who sent the reward: a whole number, or -1 if
                   nobody said. Live it is a hash of the source's name, up to 2**62
    s.live         1 behind an agent, and in a simulation whose rewards come late or
                   have sources; else 0
    s.stream       the policy's random stream, which `choose` has as `g`; for `update`

Fields are declared as text, `"float[arms]"`, `"int[1]"`, `"float[arms*4]"`, and start
at zero. In `"float[arms*4]"` the numbers of arm a are those from 4 * a to 4 * a + 3:
they move with the arm when others join or leave. A size may be a parameter:
`"float[arms*window]"` with a whole number `window`; each value of it is compiled once.
Declare a field that can be recomputed as `"cache int[1]"`: it is not saved, and zero
must mean "not known".

Most policies need only a part of this. `IndexPolicy`, `DecayingGreedy`, `EpochPolicy`,
`ImedPolicy` and `RangedPolicy` in `ironarm.rules` hold what a kind of policy shares.
"""

# marked functions are plain arithmetic on arrays; Numba types them
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any, ClassVar

import numpy as np

from .errors import InvalidInput, PolicyFault
from .estimators import Estimator, Mean
from .marks import hot
from .naming.own_code import name_of, reduced
from .validation import NUMBERS, instance


class Policy:
    """The base of all policies; docs/own-policy.md says how to write one."""

    estimator: ClassVar[type[Estimator] | None] = Mean
    """What feeds `s.estimate`; None if the policy keeps it itself."""
    fields: ClassVar[dict[str, str]] = {}
    """The arrays that the policy keeps."""
    weighs_by_chance: ClassVar[bool] = False
    """Whether `update` needs the probability with which the decision was made."""
    reads_source: ClassVar[bool] = False
    """Whether `update` reads who sent the reward."""
    experimental: ClassVar[bool] = False
    """Whether formulas are not fully checked; the docstring then says which."""
    needs: ClassVar[dict[str, str] | None] = None
    """What you must know about the rewards or the attack to set the parameters.

    By the parameter's name, in a word or two: "sigma", "bound on rho", "range". It is
    {} if you need to know nothing, and None if that is not stated.
    """
    family: ClassVar[tuple[str, str]] = ("", "")
    """The rule by which it explores, and by what it judges an arm.

    In a few words, as other policies say it: "upper confidence", "median".
    """
    use_when: ClassVar[str] = ""
    """When to use it; one line, which may name other policies and pages of docs/."""

    def constants(self, arms: int, horizon: int | None) -> dict[str, float]:
        """Return the numbers that the steps read as `s.name`.

        By default these are the parameters that are numbers. Raise `InvalidInput` here
        if the parameters do not fit the number of arms.
        """
        return {k: float(v) for k, v in self.parameters.items() if isinstance(v, NUMBERS)}

    @staticmethod
    @hot
    def choose(s, t, g):
        """Return the arm for round t."""
        raise NotImplementedError

    @staticmethod
    @hot
    def update(s, a, x):
        """Learn the reward x of arm a."""

    @staticmethod
    @hot
    def recount(s, a):
        """Take note that `s.n[a]` has changed without a reward."""

    @staticmethod
    @hot
    def owed(s, t):
        """Return the forced pulls of each arm that are planned up to round t."""
        return 0

    @staticmethod
    @hot
    def welcome(s, a):
        """Set the policy's own fields for an arm that joins late."""

    @staticmethod
    @hot
    def settle(s, t):
        """Bring `s.estimate` up to date."""

    def mirrored(self) -> Policy:
        """Return the policy for negated rewards, as an agent that minimises feeds them.

        It differs only if a parameter describes the range of the rewards.
        """
        return self

    @property
    def expected_spread(self) -> float | None:
        """The standard deviation of clean rewards that the parameters are made for.

        By default this is the parameter `sigma`. None if the policy has no such scale.
        """
        return getattr(self, "sigma", None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, as plain data."""
        if not is_dataclass(self):
            raise PolicyFault(
                f"{type(self).__name__} is not a dataclass: write @dataclass(frozen=True) above it."
            )
        return {f.name: getattr(self, f.name) for f in dataclass_fields(self)}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that `ironarm.policies.from_dict` reads back."""
        return {
            "policy": name_of(type(self)),
            "parameters": {
                k: list(v) if isinstance(v, tuple) else v for k, v in self.parameters.items()
            },
        }

    @property
    def label(self) -> str:
        """The name with the parameters that differ from the defaults, for tables."""
        changed = [
            f"{f.name}={short_value(getattr(self, f.name))}"
            for f in dataclass_fields(self)  # type: ignore[arg-type]
            if getattr(self, f.name) != f.default
        ]
        return type(self).__name__ + (f"({', '.join(changed)})" if changed else "")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self) or super().__reduce_ex__(protocol)

    @staticmethod
    def _check_saved(fields: dict[str, np.ndarray]) -> None:
        """Raise ValueError if the policy's own fields, from a file, cannot be.

        Compiled code does not check whether an index is in bounds.
        """

    def _set(self, **values: Any) -> None:
        """Store checked parameters; only for `__post_init__`."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _rounds(self, horizon: int | None, or_else: str = "") -> int:
        """Return the parameter `horizon`, or the simulation's; refuse if both lack."""
        rounds: int | None = getattr(self, "horizon", None) or horizon
        if rounds is None:
            name = type(self).__name__
            raise InvalidInput(
                f"{name} needs to know how long it will run: give {name}(horizon=...), the number "
                f"of decisions{or_else}."
            )
        return rounds


def require_policy(value: object, more: str = "") -> None:
    """Refuse what is not a policy, and a policy whose parameters can change.

    The message ends in `more`, which begins with a space.
    """
    instance("a policy", value, Policy, "ia.MedEUCB()", more)
    frozen = getattr(type(value), "__dataclass_params__", None)
    if frozen is None or not frozen.frozen or "__dataclass_fields__" not in vars(type(value)):
        raise InvalidInput(
            f"{type(value).__name__} must be a frozen dataclass: write @dataclass(frozen=True) "
            "above the class."
        )


def short_value(value: Any) -> str:
    """Return a parameter as short text that the command line reads back."""
    if isinstance(value, tuple):
        return f"({', '.join(map(short_value, value))})"
    return f"{value:g}" if isinstance(value, float) else repr(value)
