"""Compiled functions that take arrays, and tuples of them.

Compiled code is called with whole numbers and floats alone. So the arguments become a
record, whose address is handed over; a named tuple becomes a record inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..marks import hot
from .entry_point import EntryPoint
from .linking import Linker, MadeByNumba, is_own
from .record import DTYPES, Field, Layout, Record

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
        kind = _kind_of(arguments)
        if kind not in self._calls:
            self._calls[kind] = self._entry_point(kind).load()
        record, inner = _record(kind, arguments)
        self._calls[kind](record.address)
        del inner  # what the record points to has been alive until here

    def entry_point(self, *arguments: Any) -> EntryPoint:
        """Return what is compiled for arguments like these."""
        return self._entry_point(_kind_of(arguments))

    def _entry_point(self, kind: _Kind) -> EntryPoint:
        steps = {"function": self._function, "arguments_at": _arguments_at(kind)}
        linker = Linker((__name__,), steps)
        name = self._function.__name__
        return EntryPoint(linker, call, name, "i*", name, is_own(self._function))


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


def _record(kind: _Kind, values: Iterable[Any]) -> tuple[Record, list[Any]]:
    """Return the record of these arguments, and those inside it, to be kept alive."""
    inner: list[Any] = []
    contents = {}
    for name, each, value in zip(kind.names, kind.kinds, values, strict=True):
        if isinstance(each, _Kind):
            inner.append(_record(each, value))
            value = inner[-1][0].address
        contents[name] = value
    return Record(_layout(kind), 0, **contents), inner


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
