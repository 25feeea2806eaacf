"""Hashes of code: what is kept on disk must not outlive the code that made it.

The hash behind a simulation's result covers the simulator, the engine and the files
that define the policy, its estimator, the attack and the bandit. From there it follows
the names that each file uses. So an edit of one policy makes that policy's results
stale, and no others. A page depends on whole folders: see `source_texts`.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType

WORDS_ONLY = frozenset(
    f"ironarm.{name}"
    for name in (
        "errors",
        "validation",
        "files",
        "naming.kind",
        "naming.by_name",
        "naming.own_code",
        "naming.own_faults",
        "engine.announce",
        "engine.faults",
    )
)
"""Modules that decide what errors say, or what is found, not what is computed."""


def code_fingerprint(*kinds: type) -> str:
    """Return a hash of the code behind these classes and behind the simulator.

    >>> from ironarm import RUCB, UCB
    >>> code_fingerprint(UCB) == code_fingerprint(RUCB)
    False
    """
    return _fingerprint(kinds)


@cache
def _fingerprint(kinds: tuple[type, ...]) -> str:
    from ..engine import entry_point, loop
    from . import simulate, trial

    packages = {"ironarm", *(kind.__module__.partition(".")[0] for kind in kinds)}
    waiting = [
        entry_point.__name__,
        loop.__name__,
        trial.__name__,
        *(base.__module__ for kind in kinds for base in kind.__mro__),
    ]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        # a package's own file is a list of names; following it would reach every policy
        if (
            name
            and name not in reached | WORDS_ONLY
            and not hasattr(sys.modules[name], "__path__")
            and (name.partition(".")[0] in packages or not _is_library(name))
        ):
            reached.add(name)
            waiting += [_home(value) for value in vars(sys.modules[name]).values()]
    # `simulate`'s own module is hashed but not followed: it imports all there is
    texts = [_source(simulate.__module__), *(_source(name) for name in sorted(reached))]
    return hash_of(*texts, *entry_point.compiler_sources())[:16]


def hash_of(*texts: str) -> str:
    """Return a hash of texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def source_texts(*folders: Path) -> list[str]:
    """Return the code and the templates in folders, for `hash_of`."""
    return [
        path.read_text(encoding="utf-8")
        for folder in folders
        for path in sorted(folder.rglob("*.*"))
        if path.suffix in (".py", ".html")
    ]


def _home(value: object) -> str:
    """Return the name of the module that a value is or comes from, "" for data."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name if isinstance(name, str) and name in sys.modules else ""


def _is_library(name: str) -> bool:
    """Say whether a module is Python's own or installed; then its version is enough."""
    file = getattr(sys.modules[name], "__file__", None)
    return file is None or any(Path(file).is_relative_to(place) for place in _library_places())


@cache
def _library_places() -> tuple[str, ...]:
    return tuple(sysconfig.get_path(place) for place in ("stdlib", "purelib", "platlib"))


def _source(name: str) -> str:
    loaded = getattr(sys.modules[name], "__ironarm_source__", None)
    if loaded is not None:  # what was run, whatever its file holds by now
        return str(loaded)
    try:
        return inspect.getsource(sys.modules[name])
    # typed at a prompt: there is no source, so its results are never found again
    except (OSError, TypeError):
        return f"{name} {id(sys.modules[name])}"
