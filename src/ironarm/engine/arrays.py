"""Compiled functions that take arrays, and tuples of them.

Compiled code is called with whole numbers and floats alone. So the arguments become a
record, whose address is handed over; a named tuple becomes a record inside it.

Loops over arrays are vectorised, and a third faster on a newer processor; loops over
rounds gain little. So only these functions are compiled for two levels of x86-64.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from functools import cache, partial
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from ..marks import hot
from . import entry_point, objects
from .entry_point import EntryPoint
from .linking import Linker, MadeByNumba, is_own
from .record import DTYPES, Field, Layout

KIND_OF = {np.dtype(dtype): kind for kind, dtype in DTYPES.items()}

# filled in below
function: Any = None
arguments_at: Any = None


@hot
def call(address):
    """Call the function with the arguments of the record at that address."""
    function(*arguments_at(address))


class Arrays:
    """A marked function, compiled for each kind of arguments that it is called with.

    It returns nothing: it fills arrays. Arrays are contiguous, of one dimension.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._calls: dict[_Kind, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> None:
        """Call it; other threads run meanwhile."""
        self.bound(*arguments)()

    def bound(self, *arguments: Any) -> Callable[[], None]:
        """Return a call with these arguments, for many calls with the same arrays."""
        kind = _kind_of(arguments)
        if kind not in self._calls:
            with entry_point.alone():  # where nothing is kept, each thread would compile it
                if kind not in self._calls:
                    self._calls[kind] = self._entry_point(kind).load()
        call, (address, *alive) = self._calls[kind], _block(kind, arguments)

        def again(*_: Any, alive: Any = (alive, arguments)) -> None:
            call(address)

        return again

    def entry_point(self, *arguments: Any) -> EntryPoint:
        """Return what is compiled for arguments like these."""
        return self._entry_point(_kind_of(arguments))

    def _entry_point(self, kind: _Kind) -> EntryPoint:
        steps = {"function": self._function, "arguments_at": _arguments_at(kind)}
        linker = Linker((__name__,), steps)
        name = self._function.__name__
        own, level = is_own(self._function), objects.level_here()
        return EntryPoint(linker, call, name, "i*", name, own, level)


def bound(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Return a call of what `machine.compiled` returns, to be made many times."""
    if isinstance(function, Arrays):
        return function.bound(*arguments)
    return partial(function, *arguments)


class Held:
    """A named tuple of arrays that is handed over many times."""

    def __init__(self, values: Any) -> None:
        self.values, self.kind = values, _kind_of(values)
        self.address, *self.alive = _block(self.kind, values)

    def __reduce__(self) -> Any:
        return Held, (self.values,)  # a copy has addresses of its own


class _Kind(NamedTuple):
    """What decides how arguments lie in a record: a letter and a kind for each."""

    names: tuple[str, ...]
    kinds: tuple[Any, ...]
    """A kind of number, of an array in a pair with "elsewhere", or that of a tuple."""


def _kind_of(values: Iterable[Any]) -> _Kind:
    names: Any = getattr(values, "_fields", None) or [f"a{i}" for i in range(len(values))]  # type: ignore[arg-type]
    # of a list: tuples made from iterators pile up in CPython's store of used ones
    return _Kind(tuple(names), tuple([_kind_of_one(value) for value in values]))


def _kind_of_one(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return KIND_OF[value.dtype], "elsewhere"
    if isinstance(value, Held):
        return value.kind
    if isinstance(value, tuple):
        return _kind_of(value)
    return "float" if isinstance(value, float) else "int"


@cache
def _layout(kind: _Kind) -> Layout:
    fields = []
    for name, each in zip(kind.names, kind.kinds, strict=True):
        if isinstance(each, _Kind):
            fields.append(Field(name, "int"))  # its address
        elif isinstance(each, tuple):
            fields.append(Field(name, *each))
        else:
            fields.append(Field(name, each))
    return Layout("Arguments", fields)


@cache
def _words(kind: _Kind) -> Struct:
    """Return how the block of such arguments is packed: as `_layout` says."""
    letters = (
        "qq" if type(each) is tuple else "d" if each == "float" else "q" for each in kind.kinds
    )
    return Struct("q" + "".join(letters))


def _block(kind: _Kind, values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the address of a record with these arguments, and what must stay alive.

    It is packed at once: filling a `Record` takes as long as computing ten packets.
    """
    words: list[Any] = [0]  # the number of arms
    alive: list[Any] = []
    for each, value in zip(kind.kinds, values, strict=True):
        if isinstance(value, Held):
            words.append(value.address)  # the caller's arguments keep it alive
        elif isinstance(each, _Kind):
            address, *inside = _block(each, value)
            words.append(address)
            alive += inside
        elif isinstance(each, tuple):
            assert value.flags.c_contiguous
            words.append(value.__array_interface__["data"][0])
            words.append(value.size)
        else:
            words.append(value)
    block = array("q", _words(kind).pack(*words))
    return block.buffer_info()[0], block, *alive


def _arguments_at(kind: _Kind) -> MadeByNumba:
    """Return a compiled function: the address of such a record -> its arguments."""
    layout = _layout(kind)
    inside = {
        name: _layout(each)
        for name, each in zip(kind.names, kind.kinds, strict=True)
        if isinstance(each, _Kind)
    }

    def make() -> Any:
        from .record_type import contents_at

        return contents_at(layout, kind.names, inside)

    keys = " ".join(f"{name} {each.key}" for name, each in inside.items())
    return MadeByNumba(f"arguments {layout.key} {keys}", make)
