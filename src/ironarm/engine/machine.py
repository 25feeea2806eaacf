"""A policy as a machine: its compiled entry points and the layout of its state.

Without the JIT (NUMBA_DISABLE_JIT=1) the same entry points are plain Python around the
policy's own functions, so that a debugger stops in the policy's own file.
"""

from __future__ import annotations

import inspect
import math
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import PolicyFault
from ..estimators import Estimator
from ..estimators.structures.pool import move_slots
from ..marks import hot, mark_of
from ..policy import Policy
from ..rules import highest_index, kinetic_tree
from . import units
from .layout import Layout

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
SCAN_UP_TO = 64  # arms; beyond, a kinetic tree finds the highest index
MANY_ARMS = units.StandIns(
    {
        highest_index.highest_line: kinetic_tree.highest_line,
        highest_index.line_moved: kinetic_tree.line_moved,
    }
)
LOOP = Path(__file__).with_name("loop.py")


@hot
def no_estimate(s, a, x):
    """The policy keeps its own estimates."""


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
        many: bool,
        plain: bool,
    ) -> None:
        from . import jit

        self.policy, self.estimator, self.plain = policy, estimator, plain
        self.layout = Layout(
            {**(estimator.fields if estimator else {}), **policy.fields}, constants
        )
        functions = {name: _step(policy, name) for name in STEPS}
        functions["room"] = _step(estimator, "room") if estimator else always_room
        functions["repack_slots"] = (
            move_all_slots if estimator and estimator.holds_rewards else nothing_held
        )
        if estimator:
            functions["add"] = _step(estimator, "add")
        else:
            functions["estimate_reward"] = no_estimate
        text = LOOP.read_text(encoding="utf-8")
        if plain:
            namespace = _plain_namespace(functions, self.layout, jit)
            exec(compile(text, str(LOOP), "exec"), namespace)
        else:
            name = units.write_unit(
                f"{policy.__module__.rpartition('.')[2]}_{policy.__name__}",
                functions,
                self.layout.bind_source() + (_ESTIMATE_REWARD if estimator else "") + text,
                MANY_ARMS if many else units.NO_STAND_INS,
            )
            namespace = vars(units.load_unit(name))
            self._unit = name
        I, F, G = jit.INTS, jit.FLOATS, jit.WORDS
        B = jit.BYTES
        run = (
            I,
            F,
            F,
            G,
            I,
            F,
            B,
            F,
            F,
            B,
            F,
            F,
            I,
            jit.types.int64,
            jit.types.int64,
            F,
            F,
            I,
            I,
            F,
            F,
        )
        signatures = {
            "run": run,
            "select": (I, F, F, G),
            "observe": (
                I,
                F,
                F,
                jit.types.int64,
                jit.types.float64,
                jit.types.float64,
                jit.types.int64,
            ),
            "reward": (I, F, F, jit.types.int64, jit.types.float64),
            "adjust": (I, F, F, jit.types.int64, jit.types.int64),
            "rebuild": (I, F, F, jit.types.int64, jit.types.float64, jit.types.int64),
            "repack": (I, F, F, F),
        }
        self._namespace, self._signatures, self._calls = (
            namespace,
            signatures,
            dict[str, Callable[..., Any]](),
        )

    def on_disk(self) -> bool:
        """Say whether the simulator's loop need not be compiled any more."""
        # looking through the directory takes milliseconds
        return self.plain or "run" in self._calls or units.is_compiled(self._unit, "run")

    def call(self, name: str) -> Callable[..., Any]:
        """Return an entry point, compiled on first use."""
        if self.plain:
            return quiet(self._namespace[name])
        if name not in self._calls:
            from . import jit

            try:
                with interrupts_wait():
                    self._calls[name] = jit.bare_call(self._namespace[name], self._signatures[name])
            except jit.NumbaError as error:
                raise PolicyFault(
                    f"{self.policy.__name__} cannot be compiled: {reason(error)}"
                ) from error
        return self._calls[name]


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C, and what else raises an exception from outside, wait until the
    block is over: inside a compiler it can be swallowed, and leave something half
    compiled.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [
        getattr(signal, name)
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
        if hasattr(signal, name)
    ]
    before = {
        number: handler for number in numbers if callable(handler := signal.getsignal(number))
    }
    arrived: list[int] = []
    for number in before:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


_ESTIMATE_REWARD = """
@hot
def estimate_reward(s, a, x):
    estimate = add(s, a, x)
    s.estimate[a] = estimate if estimate == estimate else -np.inf

"""


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


def _plain_namespace(
    functions: dict[str, Callable[..., Any]], layout: Layout, jit: Any
) -> dict[str, Any]:
    """Return what loop.py needs to run uncompiled."""

    def bind(ints: np.ndarray, floats: np.ndarray, pool: np.ndarray) -> Any:
        return layout.view(ints, floats, pool)

    def same(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def nothing() -> None:
        pass

    namespace: dict[str, Any] = {
        "np": np,
        "math": math,
        "bind": bind,
        "hot": same,
        "cold": same,
        "entry": same,
        "call_attack": jit.call_attack,
        "stay_out_of_line": nothing,
        **functions,
    }
    if "add" in functions:
        exec(_ESTIMATE_REWARD, namespace)
    return namespace


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let plain Python wrap round and divide by zero as compiled code does, without
    a warning.
    """

    def call(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


HINTS = {
    "of type the state": "declare it in `fields`, or return it from `constants`",
    "of type the scene": "give it to CustomAttack as a number, or return it from `constants`",
    "NRT required": "compiled steps cannot create lists, arrays or text",
    "getitem": (
        "`choose` must return a whole number on every path, and arrays are indexed by whole numbers"
    ),
}


def reason(error: Exception) -> str:
    """Return the lines of a compiler's message that say what and where."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [
        re.sub(r"State\((?:[^()]|\([^()]*\))*\)", "the state", line)
        for line in lines
        if line.strip("^~ ") and not line.startswith("Failed in nopython")
    ]
    lines = [re.sub(r"Scene\((?:[^()]|\([^()]*\))*\)", "the scene", line) for line in lines]
    hint = next(
        (f" ({hint})" for text, hint in HINTS.items() if any(text in line for line in lines)), ""
    )
    told = [line for line in lines if not line.startswith(("File ", "During:", "raised from"))]
    return " / ".join(dict.fromkeys(told))[:400].rstrip(" /") + hint


@cache
def _machine(
    policy: Any, estimator: Any, constants: tuple[str, ...], many: bool, plain: bool
) -> Machine:
    return Machine(policy, estimator, constants, many, plain)


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
    policy: Policy, constants: dict[str, float], arms: int, estimator: type[Estimator] | None = None
) -> Machine:
    """Return the machine of a policy; machines are shared by all policies of a kind."""
    from . import jit

    kind: Any = type(policy)
    used: Any = estimator or policy.estimator
    return _machine(
        kind, used, tuple(constants), arms > SCAN_UP_TO, jit.DISABLED or _plain_wanted.get()
    )


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a marked module-level function, compiled as an entry point of its own."""
    from . import jit

    return quiet(function) if jit.DISABLED else _compiled(function)


def is_on_disk(function: Callable[..., Any]) -> bool:
    """Say whether a marked module-level function need not be compiled any more."""
    from . import jit

    return jit.DISABLED or units.is_compiled(_unit(function), function.__name__)


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return units.load_unit(_unit(function)).call  # type: ignore[no-any-return]


@cache
def _unit(function: Callable[..., Any]) -> str:
    name = function.__name__
    return units.write_unit(
        f"{function.__module__.rpartition('.')[2]}_{name}",
        {name: function},
        f"call = entry({name}.py_func)\n",
    )
