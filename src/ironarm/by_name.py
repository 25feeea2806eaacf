"""Policies and attacks by name and parameters, as data and command lines give them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .errors import InvalidInput
from .validation import did_you_mean

T = TypeVar("T")


def make_by_name(
    what: str, table: Mapping[str, Callable[..., T]], name: str, parameters: dict[str, Any]
) -> T:
    """Make what a table lists under a name, or suggest what was meant."""
    if name not in table:
        raise InvalidInput(
            f"unknown {what} {name!r}; expected one of "
            f"{', '.join(table)}.{did_you_mean(name, table)}"
        )
    known = inspect.signature(table[name]).parameters
    for parameter in parameters:
        if parameter not in known:
            raise InvalidInput(
                f"{name} has no parameter {parameter!r}; it has "
                f"{', '.join(known)}.{did_you_mean(parameter, known)}"
            )
    for parameter, taken in known.items():
        if taken.default is taken.empty and parameter not in parameters:
            raise InvalidInput(f"{name} needs {parameter}, for example {name}({parameter}=0.2).")
    return table[name](**parameters)
