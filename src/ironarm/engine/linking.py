"""From marked functions to compiled ones.

Each marked function is copied: the same code, but its global names stand for compiled
helpers. A hash of the code and of all that it reaches becomes part of the name under
which its machine code is kept. So an edit anywhere is noticed, nothing is read from
source files, and code typed at a prompt works too.

Hashing needs no compiler. Numba is loaded when something has to be compiled.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import math
import os
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..errors import PolicyFault
from ..marks import mark_of
from .faults import instead_of, place_of
from .record import Layout

STEPS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "IMPORT_NAME")
"""The steps that read names of modules and enclosing functions, or import."""
RAISE = dis.opmap["RAISE_VARARGS"]
_HASHING = threading.RLock()
NUMBERS = (bool, int, float, np.integer, np.floating)


@dataclass(frozen=True)
class MadeByNumba:
    """What only Numba can make; compiled code uses it under a name."""

    compiled_key: str
    make: Callable[[], Any]


def record_at(layout: Layout, dated: bool = False) -> MadeByNumba:
    """Return a compiled function: the address of such a record -> the record.

    A dated one also takes a round, and writes it into the field `t`.
    """

    def make() -> Any:
        from . import record_type

        return (record_type.dated_record_at if dated else record_type.record_at)(layout)

    return MadeByNumba(f"dated {layout.key}" if dated else layout.key, make)


def _call_attack() -> Any:
    from . import jit

    return jit.call_attack


CALL_ATTACK = MadeByNumba("call_attack", _call_attack)


def _names(code: types.CodeType) -> Iterator[str]:
    """Return the names that code may look up, attributes included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _text_of(code: types.CodeType) -> str:
    """Return code as text, without the places that it comes from."""
    constants = [_text_of(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return repr((code.co_code, code.co_exceptiontable, code.co_argcount, names, constants))


def _value_key(value: Any) -> str:
    """Return a text for what is no marked function."""
    if not _is_usable(value):
        return "unusable"  # it may hide a builtin of that name
    if isinstance(value, types.ModuleType):
        return value.__name__  # wherever it is installed
    known: str | None = getattr(value, "compiled_key", None)
    return known or _value_text(value)


def _value_text(value: Any) -> str:
    """Return a value as text that leaves nothing out, as `repr` may."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple | list):
        return f"{type(value)} {[_value_text(each) for each in value]}"
    if isinstance(value, float):
        return f"{type(value)} {float.hex(value)}"
    return f"{type(value)} {value!r}"


def _closure(function: Any) -> dict[str, Any]:
    cells = function.__closure__ or ()
    return {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True)
    }


class Linker:
    """Compiles marked functions.

    `steps` gives functions of the modules `templates` what their global names stand
    for: the loop is written once, and each policy fills in its own steps.
    """

    _in_progress: ClassVar[list[Any]] = []

    def __init__(
        self, templates: tuple[str, ...] = (), steps: Mapping[str, Any] | None = None
    ) -> None:
        self._templates, self._steps = templates, dict(steps or {})
        self._keys: dict[Any, str] = {}
        self._helpers: dict[Any, Any] = {}

    def _owner(self, function: Any) -> Linker:
        """Functions outside the templates are the same for all, and compiled once."""
        return self if function.__module__ in self._templates else COMMON

    def _known(self, function: Any) -> dict[str, Any]:
        """Return what the names stand for that a function may look up."""
        known = {**function.__globals__, **_closure(function), **self._steps}
        names = {*_names(function.__code__), *function.__code__.co_freevars}
        return {name: known[name] for name in sorted(names) if name in known}

    def _reached(self, function: Any) -> dict[str, Any]:
        """Return those that compiled code can use."""
        known = self._known(function)
        return {name: value for name, value in known.items() if _is_usable(value)}

    def key(self, function: Any) -> str:
        """Return a hash of a marked function and of all that it reaches."""
        with _HASHING:
            return self._key(function, ())[0]

    def _key(self, function: Any, callers: tuple[Any, ...]) -> tuple[str, bool]:
        """Return a hash, and whether it depends on who has asked.

        A name may be an attribute of the same name, so functions can seem to reach
        their callers, which are then left out. Such a hash is not kept for others.
        """
        owner = self._owner(function)
        if function in owner._keys:
            return owner._keys[function], False
        if function in callers:
            return "", function is not callers[-1]
        depends, callers = False, (*callers, function)
        parts = [str(function.__module__), str(mark_of(function)), _text_of(function.__code__)]
        parts.append(_value_text(function.__defaults__))
        if RAISE in function.__code__.co_code[::2]:  # the error will name its line
            code = function.__code__
            parts.append(f"{Path(code.co_filename).name} {list(code.co_lines())}")
        for name, value in owner._known(function).items():
            if _is_usable(value) and mark_of(value):
                text, left_out = owner._key(value, callers)
                depends = depends or left_out
            else:
                text = _value_key(value)
            parts.append(f"{name} {text}")
        key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        if not depends:
            owner._keys[function] = key
        return key, depends

    def look_again(self, function: Any) -> None:
        """Hash all that a function reaches again: a number may have been changed."""
        with _HASHING:
            before = {**COMMON._keys, **self._keys}
            COMMON._keys.clear()
            self._keys.clear()
            self.key(function)
            after = {**COMMON._keys, **self._keys}
            if any(before.get(each, key) != key for each, key in after.items()):
                COMMON._helpers.clear()
                self._helpers.clear()

    def _copy(self, function: Any) -> Any:
        """Return the function with compiled helpers behind its global names."""
        owner = self._owner(function)
        reached = {
            name: owner._compilable(value)
            for name, value in owner._reached(function).items()
            if not any(value is function for function in self._in_progress)
        }
        # Numba imports a function's module when it loads its machine code: give it one
        # that is always there
        names = {**reached, "__builtins__": builtins, "__name__": __name__}
        cells = tuple(types.CellType(reached[name]) for name in function.__code__.co_freevars)
        code, defaults = function.__code__, function.__defaults__
        copy = types.FunctionType(code, names, function.__name__, defaults, cells)
        name, key = function.__name__, self.key(function)
        copy.__qualname__ = f"{name}_cold{key}" if mark_of(function) == "cold" else f"{name}_{key}"
        return copy

    def _compilable(self, value: Any) -> Any:
        if isinstance(value, MadeByNumba):
            return value.make()
        return self._helper(value) if mark_of(value) else value

    def _helper(self, function: Any) -> Any:
        from . import jit

        owner = self._owner(function)
        if function not in owner._helpers:
            Linker._in_progress.append(function)  # an attribute may have its name
            try:
                owner._helpers[function] = jit.helper(owner._copy(function), str(mark_of(function)))
            finally:
                Linker._in_progress.pop()
        return owner._helpers[function]

    def compilable(self, function: Any) -> Any:
        """Return a function that Numba can compile, or refuse it in a sentence."""
        self._check(function, set())
        return self._copy(function)

    def _check(self, function: Any, seen: set[Any], callers: tuple[Any, ...] = ()) -> None:
        """Refuse names that compiled code cannot use, before the compiler is asked."""
        owner = self._owner(function)
        if function in seen:
            return
        seen.add(function)
        callers = (*callers, function)
        reached = owner._reached(function)
        known = {**function.__globals__, **_closure(function), **owner._steps}
        for step in _steps_in(function.__code__):
            name, line = str(step.argval), step.positions.lineno if step.positions else None
            where = f"{place_of(function.__code__, line)}{function.__qualname__}"
            if step.opname == "IMPORT_NAME":
                raise PolicyFault(
                    f"{where} imports {name!r}, which compiled code cannot do; import it at the "
                    "top of the file."
                )
            if name in reached and reached[name] in callers:
                raise PolicyFault(f"{where} calls itself through {name!r}; write a loop.")
            if name in reached:
                if mark_of(reached[name]):
                    owner._check(reached[name], seen, callers)
            elif name in known:
                raise PolicyFault(
                    f"{where} uses {name!r}, which cannot be compiled: {instead_of(known[name])}."
                )
            elif not hasattr(builtins, name):
                raise PolicyFault(f"{where} uses {name!r}, which is not defined.")


COMMON = Linker()


def _after_fork() -> None:
    """A thread that held the lock is not there any more."""
    global _HASHING
    _HASHING = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def is_own(author: Any) -> bool:
    """Say whether a class or a function is somebody's own, not ironarm's."""
    return not str(author.__module__).startswith(f"{__name__.partition('.')[0]}.")


def _is_usable(value: object) -> bool:
    return (
        isinstance(value, NUMBERS)
        or value is math
        or value is np
        or mark_of(value) is not None
        or hasattr(value, "compiled_key")
    )


def _steps_in(code: types.CodeType) -> Iterator[dis.Instruction]:
    """Return the steps that read names of modules and enclosing functions, or import.

    Those of inner functions are among them.
    """
    inner = (_steps_in(c) for c in code.co_consts if isinstance(c, types.CodeType))
    for step in chain(dis.get_instructions(code), *inner):
        if step.opname in STEPS and step.argval not in code.co_cellvars:
            yield step
