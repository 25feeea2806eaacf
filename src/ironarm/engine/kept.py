"""Where compiled code is kept between processes.

Numba keeps compiled code in a directory that a "locator" names. By itself it notices
an edit only in the file of the outermost function. Here the name of every compiled
function carries a hash of all that it reaches (`linking.py`), so code compiled from an
edited helper is never found again, and the locator only has to name the directory.

The directory must be one that nobody else can write: `$IRONARM_CACHE_DIR`, or `ironarm`
in the user's cache directory. Without one, each process compiles for itself.
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any


class NotKept(RuntimeWarning):
    """Compiled code cannot be kept for other processes."""


def cache_directory() -> Path:
    """Return where compiled code is kept."""
    chosen = os.environ.get("IRONARM_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "ironarm"


def _problem(directory: Path) -> str | None:
    """Create the directory if need be; return why it cannot be used, or None."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.stat()
    except OSError as error:
        return f"it cannot be created ({error.strerror})"
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return "it belongs to another user, who could put code there"
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o022:
        return "other users can write to it and could put code there; run: chmod go-w on it"
    if not os.access(directory, os.W_OK | os.X_OK):
        return "it is read-only"
    _remove_foreign(directory)
    return None


def _remove_foreign(directory: Path) -> None:
    """Remove files that somebody else has put there, or could change.

    The directory may have been open to all before. Nobody else can write to it now, so
    one look is enough.
    """
    if not hasattr(os, "getuid"):
        return
    foreign = []
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # another process has just given it its name
            if stat.S_ISDIR(status.st_mode):
                continue  # nothing is loaded from a folder inside
            if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o022:
                foreign.append(entry)
    for entry in foreign:
        Path(entry.path).unlink(missing_ok=True)
    if foreign:
        warnings.warn(
            f"{directory} held {len(foreign)} files that belong to other users or could be "
            f"changed by them, such as {foreign[0].name}; they were removed, and nothing of them "
            "was run.",
            NotKept,
            stacklevel=2,
        )


@cache
def directory() -> Path | None:
    """Return the directory for compiled code, or None if there is none to be had."""
    try:
        place = cache_directory()
        problem = _problem(place)
    except RuntimeError:
        place, problem = Path("~/.cache/ironarm"), "this user has no home directory"
    if problem is None and _cache_class() is None:
        problem = "this release of Numba keeps compiled code in a way that ironarm does not know"
    if problem:
        warnings.warn(
            f"compiled code cannot be kept in {place}: {problem}. Each process compiles it "
            "again; set IRONARM_CACHE_DIR to a directory of your own.",
            NotKept,
            stacklevel=2,
        )
        return None
    return place


@cache
def _cache_class() -> Any:
    """Return Numba's cache for our directory; None if it is built differently."""
    try:
        from numba.core import config
        from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize  # noqa: B018
        FunctionCache._load_overload  # noqa: B018
    except (ImportError, AttributeError):
        return None

    class Locator(_CacheLocator):  # type: ignore[misc]
        def __init__(self, function: Callable[..., Any]) -> None:
            self._py_file = function.__code__.co_filename

        def get_cache_path(self) -> str:
            return str(directory() or tempfile.gettempdir())

        def get_source_stamp(self) -> str:
            return ""  # the function's name says it all

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Locator:
            return cls(py_func)

    class Implementation(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

        def __init__(self, function: Callable[..., Any]) -> None:
            # NUMBA_CACHE_LOCATOR_CLASSES is for functions that Numba locates itself
            chosen = getattr(config, "CACHE_LOCATOR_CLASSES", "")
            config.CACHE_LOCATOR_CLASSES = ""
            try:
                super().__init__(function)
            finally:
                config.CACHE_LOCATOR_CLASSES = chosen

    class Kept(FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def load_overload(self, signature: Any, target_context: Any) -> Any:
            # Numba would first import all that could be compiled, which takes longer
            # than loading all policies. Machine code needs only Numba's runtime.
            rtsys.initialize(target_context)
            try:
                return self._load_overload(signature, target_context)
            except Exception:  # damaged, whatever pickle makes of that: compile again
                for path in self._files():
                    with suppress(OSError):  # a folder, for example
                        path.unlink(missing_ok=True)
                return None

        def _files(self) -> Iterator[Path]:
            return Path(self.cache_path).glob(f"*{self._py_func.__name__}-*")

        def save_overload(self, signature: Any, data: Any) -> None:
            try:
                super().save_overload(signature, data)
                for path in self._files():
                    path.chmod(0o600)  # whatever the umask allows others
            except OSError as error:
                warnings.warn(f"compiled code cannot be kept ({error}).", NotKept, stacklevel=2)

    return Kept


def place_for(function: Callable[..., Any]) -> Any:
    """Return where to keep a compiled function whose name carries its hash."""
    return None if directory() is None else _cache_class()(function)


def is_kept(name: str) -> bool:
    """Say whether a compiled function of that name is likely to be on disk."""
    place = directory()
    return place is not None and any(place.glob(f"*{name}-*.nbi"))


def for_next_time() -> str:
    """Return what to add where something is said to be compiled, if it is kept."""
    return "" if directory() is None else " (kept for the next time)"
