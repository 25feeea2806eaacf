"""Errors in code of one's own, as a sentence that names the file and the line.

A policy's steps, its `constants` and its `__post_init__` are its author's. Whatever
they raise becomes a `PolicyFault`, which the command line prints as one sentence; the
error itself is its cause.
"""

from __future__ import annotations

import importlib.util
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import IronarmError, PolicyFault
from .own_code import name_of, split

PACKAGE = Path(__file__).parents[1]
WRITTEN_BY_AUTHORS = ("policies", "attacks", "rules")
"""The folders of this package in which a line can be the author's mistake."""


def failed(kind: Any, error: Exception, what: str = "policy") -> PolicyFault:
    """Return what to raise, from `error`, when code of this class has raised it.

    It is that of a policy, an attack or a bandit.
    """
    found = f"{kind.__qualname__} failed: {raised_in(error)}."
    if what != "policy":
        return PolicyFault(f"{found} Fix that line of the {what}.")
    name = name_of(kind).removesuffix(".for_rho")
    check = f"`ironarm check {name}`" if split(name)[0] else "`ironarm.testing.check_policy`"
    return PolicyFault(f"{found} Fix that line, and check the policy with {check}.")


@contextmanager
def failures_of(kind: Any, what: str = "policy") -> Iterator[None]:
    """Turn what code of this class raises in the block into a `PolicyFault`."""
    try:
        yield
    except IronarmError:
        raise
    except Exception as error:
        raise failed(kind, error, what) from error


def constants_of(policy: Any, arms: int, horizon: int | None) -> dict[str, float]:
    """Return a policy's constants, which its author may compute."""
    with failures_of(type(policy)):
        constants: dict[str, float] = policy.constants(arms, horizon)
        return constants


def raised_in(error: BaseException) -> str:
    """Return an error with the last of the author's lines that it passed through.

    Compiled code leaves its lines in the traceback too.
    """
    text = f"{type(error).__name__}: {error}".removesuffix(": ").rstrip(".")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_authors(frame.filename):
            return f"{place(frame.filename, frame.lineno)}{text}"
    return text


def place(file: str, line: int | str | None) -> str:
    """Return "file.py, line 12: ", for the beginning of a sentence about code."""
    return f"{Path(file).name}, line {line}: "


def is_authors(file: str) -> bool:
    """Say whether a file is a policy's or an attack's, not Python's or a library's."""
    path = Path(file).resolve()
    if path.is_relative_to(PACKAGE):
        return path.parent.name in WRITTEN_BY_AUTHORS
    return not any(path.is_relative_to(folder) for folder in _libraries()) and not (
        path.is_relative_to(Path(os.__file__).resolve().parent)
        and not {"site-packages", "dist-packages"} & set(path.parts)
    )


@cache
def _libraries() -> list[Path]:
    """Return the folders of the libraries that an author's code goes through."""
    found = (importlib.util.find_spec(name) for name in ("numba", "numpy", "llvmlite"))
    return [Path(spec.origin).resolve().parent for spec in found if spec and spec.origin]
