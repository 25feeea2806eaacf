"""Policies and attacks by name and parameters, as data and command lines give them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from ..errors import InvalidInput
from ..validation import did_you_mean
from . import own_code
from .kind import Kind
from .own_faults import failures_of

T = TypeVar("T")


def make_by_name(kind: Kind[T], name: str, parameters: dict[str, Any]) -> T:
    """Make what a table lists under a name, or suggest what was meant.

    A name that the table lacks may be that of one's own code; see `own_code.py`.
    """
    maker = require(kind, name)
    known = inspect.signature(maker).parameters
    for parameter in parameters:
        if parameter not in known:
            raise InvalidInput(
                f"{name} has no parameter {parameter!r}; it has "
                f"{', '.join(known) or 'none'}.{did_you_mean(parameter, known)}"
            )
    for parameter, taken in known.items():
        if taken.default is taken.empty and parameter not in parameters:
            raise InvalidInput(
                f"{name} needs {parameter}, for example {name}({parameter}={_example(taken)})."
            )
    with failures_of(maker, kind.word) if name not in kind.table else nullcontext():
        return maker(**parameters)


def _example(parameter: inspect.Parameter) -> str:
    """Return a value that a parameter could have, by its annotation."""
    kind = str(getattr(parameter.annotation, "__name__", parameter.annotation))
    if parameter.name == "means" or kind.startswith(("Iterable", "Sequence", "list", "tuple")):
        return "[[0, 1], [1, 0]]" if kind.count("Iterable") > 1 else "[0, 1]"
    return "1000" if kind == "int" else "0.2"


def require(kind: Kind[T], name: str) -> Callable[..., T]:
    """Return what `find` finds; refuse an unknown name, and suggest what was meant."""
    maker = find(kind, name)
    if maker is None:
        raise InvalidInput(
            f"unknown {kind.word} {name!r}; expected one of "
            f"{', '.join(kind.table)}.{did_you_mean(name, kind.table)} One of your own is written "
            f"like {kind.example}."
        )
    return maker


def find(kind: Kind[T], name: str) -> Callable[..., T] | None:
    """Return what makes the thing of that name: a class, its `for_rho`, or None."""
    if name in kind.table:
        return kind.table[name]
    plain = name.removesuffix(".for_rho")
    found = kind.table.get(plain) or own_code.find(kind, plain)
    return found if plain == name else getattr(found, "for_rho", None)
