"""A policy as a machine: its compiled entry points and the layout of its state.

Without the JIT (NUMBA_DISABLE_JIT=1) the same entry points are plain Python around the
policy's own functions, so that a debugger stops in the policy's own file.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np

from ..errors import PolicyFault
from ..estimators import Estimator
from ..estimators.structures.pool import move_slots
from ..marks import hot, mark_of
from ..naming.own_faults import raised_in
from ..policy import Policy
from . import announce, late, learning, loop, waiting
from .arrays import Arrays, Held
from .entry_point import EntryPoint
from .faults import place_of, refusals_explained
from .linking import CALL_ATTACK, Linker, is_own, record_at
from .record import Field, Layout, Record, declared, size_names
from .switches import DISABLED

ARGUMENTS = {
    "choose": "s, t, g",
    "update": "s, a, x",
    "recount": "s, a",
    "owed": "s, t",
    "welcome": "s, a",
    "settle": "s, t",
    "add": "s, a, x",
    "room": "s, a",
}
STEPS = ("choose", "update", "recount", "owed", "welcome", "settle")
ENTRIES = {  # the types of their arguments; see `shim.py`
    "run": "iiiiiii*",
    "run_observed": "iiiiiii*",
    "run_late": "iiiiiii*",
    "select": "iiif",
    "observe": "iiffiii",
    "adjust": "iii",
    "rebuild": "iifi",
    "repack": "i",
}
PARTS = (learning, late, loop)  # the files that leave names open
HEADER = (
    Field("rounds", "int", "here"),
    Field("live", "int"),
    Field("stream", "word", "here", width=4),
    Field("pool", "float", "elsewhere"),
    Field("larger_pool", "float", "elsewhere"),
)
ENGINE_FIELDS = {
    "n": "int[arms]",
    "rewards": "int[arms]",
    "estimate": "float[arms]",
    "unrewarded": "int[1]",
    "chance": "float[1]",
    "source": "cache int[1]",
    "fresh": "cache int[1]",
    "owing": "int[arms]",
    "owing_arms": "int[1]",
}


@hot
def always_room(s, a):
    """Nothing is held, so there is always room."""
    return True


@hot
def nothing_held(s, pool, larger):
    """Nothing to move."""


@hot
def move_all_slots(s, pool, larger):
    """Move what the estimator holds."""
    s.pool_used[0] = move_slots(pool, larger, s.slot_start, s.slot_room, s.slot_size)


class Machine:
    """The compiled entry points for one kind of policy with one estimator."""

    def __init__(
        self,
        policy: type[Policy],
        estimator: type[Estimator] | None,
        constants: tuple[str, ...],
        plain: bool,
        sizes: tuple[tuple[str, float], ...] = (),
    ) -> None:
        self.policy, self.estimator, self.plain = policy, estimator, plain
        fields = fields_of(policy, estimator)
        self.fields = [
            declared(name, text, dict(sizes)) for name, text in {**ENGINE_FIELDS, **fields}.items()
        ]
        named = [field.name for field in (*HEADER, *self.fields)] + ["arms", *constants]
        twice = {name for name in named if named.count(name) > 1} | fields.keys() & ENGINE_FIELDS
        if twice:
            raise PolicyFault(
                f"the name {sorted(twice)[0]!r} is used twice in the policy's state; rename the "
                "field or the constant."
            )
        numbers = [Field(name, "float") for name in constants]
        self.layout = Layout("State", [*HEADER, *numbers, *self.fields])
        steps = {name: _step(policy, name) for name in STEPS}
        steps["room"] = _step(estimator, "room") if estimator else always_room
        steps["repack_slots"] = (
            move_all_slots if estimator and estimator.holds_rewards else nothing_held
        )
        steps["estimate_reward"] = learning.no_estimate
        if estimator:
            steps["estimate_reward"] = learning.estimate_by_adding
            steps["add"] = _step(estimator, "add")
        if plain:
            self._plain = _plain_functions(steps)
        else:
            self._linker = _linker(steps, self.layout)
        self._calls: dict[str, Callable[..., Any]] = {}

    def entry_point(self, name: str) -> EntryPoint:
        """Return what an entry point is compiled from."""
        kind = self.policy.__name__
        return EntryPoint(
            self._linker,
            getattr(loop, name),
            f"{kind}_{name}",
            ENTRIES[name],
            f"{kind}'s {name}",
            is_own(self.policy),
        )

    def is_there(self, name: str) -> bool:
        """Say whether an entry point need not be compiled any more."""
        return self.plain or name in self._calls or self.entry_point(name).is_there()

    def needed(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return these entry points and what they cannot do without."""
        holds = self.estimator and self.estimator.holds_rewards
        return (*names, "repack") if holds else tuple(names)

    def announced(self, names: Sequence[str]) -> AbstractContextManager[None]:
        """Announce once that these are compiled, if they are not all there."""
        missing = [name for name in names if not self.is_there(name)]
        if not missing:
            return nullcontext()
        why = self.entry_point(missing[0]).why_not()
        return announce.compiling(self.policy.__name__, why)

    def handle(self, record: Record) -> Any:
        """Return what an entry point gets for a record: its address, if compiled."""
        return record if self.plain else record.address

    def call(self, name: str) -> Callable[..., Any]:
        """Return an entry point, compiled on first use."""
        if self.plain:
            return quiet(self._plain[name])
        if name not in self._calls:
            with refusals_explained(
                self.policy.__name__, self.policy.choose, tuple(self.layout.fields)
            ):
                self._calls[name] = self.entry_point(name).load()
        return self._calls[name]


def fields_of(policy: type[Policy], estimator: type[Estimator] | None) -> dict[str, str]:
    """Return the fields that a policy and its estimator declare."""
    if not isinstance(policy.fields, dict):
        getter = getattr(policy.fields, "fget", None)
        where = place_of(getter.__code__) if getter else ""
        raise PolicyFault(
            f"{where}{policy.__name__}.fields must be a dictionary in the class, got "
            f"{type(policy.fields).__name__}; a size that depends on a parameter is written like "
            "'float[arms*window]'."
        )
    if estimator is not None and not (
        isinstance(estimator, type) and issubclass(estimator, Estimator)
    ):
        raise PolicyFault(
            f"{policy.__name__}.estimator must be a class of ironarm.extend, such as LowerMedian, "
            f"or None, got {estimator!r}."
        )
    return {**(estimator.fields if estimator else {}), **policy.fields}


def _linker(steps: dict[str, Any], layout: Layout) -> Linker:
    """Return what compiles the loop with these steps."""
    records = {
        "state_at": record_at(layout),
        "stretch_at": record_at(loop.STRETCH),
        "post_at": record_at(late.POST),
        "waiting_at": record_at(waiting.WAITING),
    }
    names = {**steps, **records, "call_attack": CALL_ATTACK}
    return Linker(tuple(part.__name__ for part in PARTS), names)


def _step(owner: Any, name: str) -> Callable[..., Any]:
    function = getattr(owner, name)
    if function is Policy.choose:
        raise PolicyFault(
            f"{owner.__name__} has no `choose`: write one, with @staticmethod and @hot above it."
        )
    if len(inspect.signature(function).parameters) != ARGUMENTS[name].count(",") + 1:
        raise PolicyFault(
            f"{owner.__name__}.{name} must take ({ARGUMENTS[name]}), as a @staticmethod; got "
            f"{inspect.signature(function)}."
        )
    if not mark_of(function):
        raise PolicyFault(
            f"{owner.__name__}.{name} is not marked: write @staticmethod and @hot above it, and "
            "let it take the state, not self."
        )
    return function


def _plain_functions(steps: dict[str, Any]) -> dict[str, Any]:
    """Return the functions of the loop, uncompiled, with a policy's steps filled in."""

    def view(record: Record) -> Any:
        return record.view

    def call_attack(attack: Any, scene: Any, *values: Any) -> float:
        try:
            return float(attack(*values, scene))
        except Exception as error:
            raise PolicyFault(f"the attack failed: {raised_in(error)}.") from error

    records = dict.fromkeys(("state_at", "stretch_at", "post_at", "waiting_at"), view)
    written = {name: value for part in PARTS for name, value in vars(part).items()}
    names = {**written, **records, "call_attack": call_attack}
    for name, value in written.items():
        if mark_of(value):
            names[name] = types.FunctionType(value.__code__, names, name, None, value.__closure__)
    for name, step in steps.items():
        names[name] = names[step.__name__] if step.__module__ == learning.__name__ else step
    return names


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let plain Python overflow and divide by zero without a warning."""

    def call(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


@cache
def _machine(
    policy: Any, estimator: Any, constants: tuple[str, ...], plain: bool, sizes: Any
) -> Machine:
    return Machine(policy, estimator, constants, plain, sizes)


_plain_wanted = ContextVar("plain", default=False)


@contextmanager
def uncompiled() -> Iterator[None]:
    """Make the machines created inside plain Python, as if the JIT were off."""
    token = _plain_wanted.set(True)
    try:
        yield
    finally:
        _plain_wanted.reset(token)


def machine_for(
    policy: Policy, constants: dict[str, float], estimator: type[Estimator] | None = None
) -> Machine:
    """Return the machine of a policy; machines are shared by all policies of a kind.

    Policies whose fields have different sizes are of different kinds: where an array
    lies is compiled in.
    """
    kind: Any = type(policy)
    used: Any = estimator or policy.estimator
    sizes = tuple(
        (name, constants[name])
        for name in sorted(size_names(fields_of(kind, used).values()))
        if name in constants
    )
    return _machine(kind, used, tuple(constants), DISABLED or _plain_wanted.get(), sizes)


def held(values: Any) -> Any:
    """Return what `compiled` functions take in place of a named tuple, but faster."""
    return values if DISABLED else Held(values)


def compiled(function: Callable[..., Any]) -> Arrays | Callable[..., Any]:
    """Return a marked module-level function that takes arrays, compiled when called."""
    return quiet(function) if DISABLED else _compiled(function)


@cache
def _compiled(function: Callable[..., Any]) -> Arrays:
    return Arrays(function)
