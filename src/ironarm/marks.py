"""Two marks for the small functions that ironarm compiles.

A function that runs in every round is `@hot`; one that runs rarely (growing memory,
refilling a window) is `@cold`. The marks change nothing: a marked function stays plain
Python that can be called, tested and stepped through. When a policy is first used,
`ironarm.engine` compiles the marked functions it reaches.

What a marked function may use: numbers, NumPy arrays by index, `math`, other marked
functions, and module-level numbers. No lists, no strings, no new arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def hot(function: F) -> F:
    """Mark a function that runs in every round: it is compiled into its caller."""
    function.__ironarm__ = "hot"  # type: ignore[attr-defined]
    return function


def cold(function: F) -> F:
    """Mark a function that runs rarely: it is compiled once and stays out of its
    callers' loops.
    """
    function.__ironarm__ = "cold"  # type: ignore[attr-defined]
    return function


def mark_of(value: object) -> str | None:
    """Return "hot" or "cold" for a marked function, None for anything else."""
    return getattr(value, "__ironarm__", None) if callable(value) else None
