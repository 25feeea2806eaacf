"""Packages whose names load their modules when they are first used (PEP 562).

Such a package lists its names as imports under `if TYPE_CHECKING:`. Type checkers and
editors read these; Python skips them, and `Names` reads them as text. So each name
stands once, and importing a package takes a millisecond, however much is in it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib._bootstrap import _DeadlockError  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Names:
    """The names of a package, in the order of its imports, and how each is loaded.

    A name must not be that of a module of the package, since Python itself gives a
    package an attribute for each of its modules that is loaded.
    """

    def __init__(self, package: str, file: str) -> None:
        self.package = package
        loader: Any = getattr(sys.modules[package], "__loader__")  # noqa: B009 -- or a zip's
        tree = ast.parse(loader.get_data(file))
        self._modules = {
            alias.name: f".{statement.module or alias.name}"
            for block in tree.body
            if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
            for statement in block.body
            if isinstance(statement, ast.ImportFrom) and statement.level == 1
            for alias in statement.names
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def get(self, name: str) -> Any:
        """Return what has a name, a package's `__getattr__`."""
        if name not in self._modules:
            raise AttributeError(f"module {self.package!r} has no attribute {name!r}")
        module = self._load(name)
        value = getattr(module, name, module)
        setattr(sys.modules[self.package], name, value)  # from now on it is found at once
        return value

    def _load(self, name: str) -> ModuleType:
        """Load the module of a name.

        Threads that import modules of each other at the same time are told that they
        would wait for each other for ever. One of them then tries again.
        """
        for _ in range(100):
            with suppress(_DeadlockError):
                return import_module(self._modules[name], self.package)
        return import_module(self._modules[name], self.package)

    def all(self) -> list[str]:
        """Return all names that the package has, its `__dir__`."""
        return sorted({*self, *vars(sys.modules[self.package])})


class Classes(Mapping[str, type[T]], Generic[T]):
    """Classes of a package by name; each is loaded when it is asked for."""

    def __init__(self, names: Names, without: tuple[str, ...] = ()) -> None:
        self._package = names.package
        self._names = dict.fromkeys(name for name in names if name not in without)

    def __getitem__(self, name: str) -> type[T]:
        if name not in self._names:
            raise KeyError(name)
        found: type[T] = getattr(sys.modules[self._package], name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def has(self, kind: type) -> bool:
        """Say whether a class is one of these, not of the same name."""
        return kind.__name__ in self and self[kind.__name__] is kind
