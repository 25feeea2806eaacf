"""From a marked function to one that can be called: loaded, or compiled.

Machine code has the name of its entry point, with a hash of all the code that it was
compiled from (`linking.py`). It is looked for in the package, then among what was
compiled here before. Only where there is none is Numba loaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import announce, kept, objects, shipped, switches
from .interrupts import interrupts_wait
from .linking import Linker

_ONE_AT_A_TIME = threading.RLock()  # as Numba's compiler itself


def _after_fork() -> None:
    """A thread that held the lock is not there any more."""
    global _ONE_AT_A_TIME
    _ONE_AT_A_TIME = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
COMPILER = ("jit.py", "linking.py", "record_type.py", "emit.py", "shim.py")
"""The files that decide how functions are compiled; most are loaded only then."""


def alone() -> AbstractContextManager[Any]:
    """Return the lock under which code is compiled and loaded."""
    return _ONE_AT_A_TIME


@dataclass(frozen=True)
class EntryPoint:
    """A marked function that Python calls, or an attack, which compiled code calls."""

    linker: Linker
    function: Callable[..., Any]
    label: str
    """What it is for, as it appears in the names of files."""
    signature: str
    """The types of its arguments; see `shim.py`."""
    what: str
    """What it is, as messages call it."""
    own: bool = False
    """Whether it is somebody's own, so that it cannot come with ironarm."""
    level: int = objects.USUAL
    """The level of x86-64 that it is compiled for."""

    @property
    def name(self) -> str:
        """What it is for, and the hash of its code."""
        python, key = str(sys.implementation.cache_tag), self.linker.key(self.function)
        end = "" if self.level == objects.USUAL else f"_v{self.level}"
        label = re.sub(r"[^A-Za-z0-9_]", "_", self.label)
        return f"{label}_{_hash(key, python, *compiler_sources())}{end}"

    def is_there(self) -> bool:
        """Say whether it need not be compiled any more."""
        name = self.name
        return shipped.has(name) or kept.is_kept(f"{name}-{_here(self.level)}")

    def load(self) -> Callable[..., Any]:
        """Return what Python calls."""
        with interrupts_wait(), _ONE_AT_A_TIME:
            address = self._address()
            if address is not None:
                return objects.callable_at(address, self.name)
            from . import jit

            with self._announced():
                public: Callable[..., Any] = jit.public_entry(self._compilable(), self.signature)
            return public

    def address(self) -> tuple[int, Any]:
        """Return where an attack's code is, and what must stay alive meanwhile.

        By address, so that attacks and policies are not compiled for each pair.
        """
        with interrupts_wait(), _ONE_AT_A_TIME:
            address = self._address()
            if address is not None:
                return address, None
            from . import jit

            with self._announced():
                return jit.public_pointer(self._compilable())

    def _address(self) -> int | None:
        """Return where the machine code is, loaded or just compiled.

        None if this release of Numba compiles in a way that we do not know.
        """
        name = self.name
        found = shipped.read(name) or self._kept(name)
        if found is None:
            from . import jit

            if not jit.knows_the_fast_way():
                return None
            self.linker.look_again(self.function)
            name = self.name  # of the numbers as they are now
            with self._announced():
                found = self.compiled(name), name
            kept.write(f"{name}-{_here(self.level)}", found[0])
        return objects.address_in(*found)

    def _kept(self, name: str) -> tuple[bytes, str] | None:
        if switches.PUBLIC_ONLY:
            return None
        code = kept.read(f"{name}-{_here(self.level)}")
        return None if code is None else (code, name)

    def compiled(self, name: str) -> bytes:
        """Return a new object file with a function of that name."""
        from . import emit, jit

        translated = jit.translated(self._compilable(), self.signature)
        return emit.object_of(translated, name, self.signature, self.level)

    def _announced(self) -> AbstractContextManager[None]:
        return announce.compiling(self.what, self.why_not())

    def why_not(self) -> str:
        """Return why it must be compiled."""
        return "your own code" if self.own else shipped.why_not(self.name)

    def _compilable(self) -> Any:
        return self.linker.compilable(self.function)


@cache
def compiler_sources() -> tuple[str, ...]:
    """Return what decides how functions are compiled, as text."""
    return tuple(Path(__file__).with_name(name).read_text("utf-8") for name in COMPILER)


@cache
def _here(level: int) -> str:
    """A hash of what compiles on this machine, and for which processor."""
    parts = [f"numpy {np.__version__}", f"checked {switches.CHECKED}"]
    for name in ("numba", "llvmlite"):
        # asking packages for their versions takes longer than loading a policy
        spec = importlib.util.find_spec(name)
        version = Path(spec.origin).with_name("_version.py") if spec and spec.origin else None
        parts.append(version.read_text("utf-8") if version and version.is_file() else name)
    return _hash(*parts, *objects.machine_code_for(level))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
