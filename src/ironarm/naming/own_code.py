"""Policies, attacks and bandits that are not built in.

Text names them in one of two ways:

* `path/to/file.py:Class(parameter=1)`, a class in a Python file;
* `Class(parameter=1)`, a class of an installed package that lists it under one of the
  entry points `ironarm.policies`, `ironarm.attacks` and `ironarm.bandits`.

Loading a file runs it. So a file is loaded only inside `allowed`, which the command
line opens for what its user typed, and for the text of a TOML file if the user said
`--allow-code`. Nothing else opens it: a saved result or agent that names a file gets
the class only if this process has loaded the file already.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput
from ..validation import did_you_mean
from .kind import Kind

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

IN_FILE = re.compile(r"(?P<path>.*?\.py):(?P<rest>.*)", re.DOTALL)
PREFIX = "ironarm_own_"
"""What the names of modules begin with that were loaded from files."""

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)
_loaded: dict[str, ModuleType] = {}


@contextmanager
def allowed(folder: str | Path = ".", when: bool = True) -> Iterator[None]:
    """Let text name Python files in this block; paths are relative to `folder`.

    Without `when` nothing changes, so a command can pass its `--allow-code` on.
    """
    token = _folder.set(Path(folder)) if when else None
    try:
        yield
    finally:
        if token is not None:
            _folder.reset(token)


def split(text: str) -> tuple[str, str]:
    """Return the path of a Python file in front of a name, or "", and the rest.

    >>> split("lab/mine.py:MyPolicy(b=2)"), split("UCB(alpha=1)")
    (('lab/mine.py', 'MyPolicy(b=2)'), ('', 'UCB(alpha=1)'))
    """
    found = IN_FILE.fullmatch(text.strip())
    return (found["path"], found["rest"].strip()) if found else ("", text.strip())


def placed(text: str) -> str:
    """Return text with an absolute path inside `allowed`, for processes elsewhere."""
    path, rest = split(text)
    folder = _folder.get()
    return f"{(folder / path).resolve()}:{rest}" if path and folder is not None else text


def find(kind: Kind[Any], name: str) -> Any:
    """Return the class of that name, from a file or an installed package, or None."""
    path, name = split(name)
    if path:
        return _in_file(kind, path, name)
    for point in installed(kind):
        if point.name == name:
            return _of_package(kind, point)
    return None


def installed(kind: Kind[Any]) -> list[EntryPoint]:
    """Return what installed packages offer, by name."""
    from importlib.metadata import entry_points  # slow: with it come zip files and e-mail

    return sorted(entry_points(group=kind.group), key=lambda point: point.name)


def names_in(kind: Kind[Any], module: ModuleType) -> list[str]:
    """Return the names of the policies, attacks or bandits that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, kind.base)
        and value.__module__ == module.__name__
    ]


def load_file(path: str) -> ModuleType:
    """Run a Python file as a module, once in a process, and return it.

    The path is relative to the folder of `allowed`. Outside of it, only a file that
    has been loaded already is returned.
    """
    written = _tidy(path)
    folder = _folder.get()
    if folder is None:
        if written in _loaded:
            return _loaded[written]
        raise InvalidInput(
            f"{path} is Python code, which a data file may not run by default. If you trust it, "
            "add --allow-code to the command."
        )
    place = folder / path
    require_file(path)
    try:
        source = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(
            f"{place} cannot be read: {reason}. Expected a Python file, for example "
            "mine.py:MyPolicy."
        ) from None
    return load_source(written, str(place.resolve()), source)


def is_here(name: str) -> bool:
    """Say whether the code behind a name may be used: built in, loaded, or allowed."""
    path = split(name)[0]
    return not path or _folder.get() is not None or _tidy(path) in _loaded


def require_file(path: str) -> None:
    """Refuse the path of a file that is not there."""
    place = (_folder.get() or Path()) / path
    if not place.exists():
        raise InvalidInput(
            f"{place} does not exist. Write your own like mine.py:MyPolicy, with the path of its "
            "file."
        )


def load_source(written: str, file: str, source: str) -> ModuleType:
    """Run source code as a module, once in a process, and return it.

    `written` is the path in the user's text, `file` where the code comes from. In a
    worker on another machine there is no such file; the source is enough.
    """
    digest = hashlib.sha256(f"{file}\n{source}".encode()).hexdigest()[:12]
    stem = re.sub(r"\W", "_", Path(file).stem)
    name = f"{PREFIX}{stem}_{digest}"
    if name in sys.modules:
        _loaded[written] = sys.modules[name]
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = file
    module.__dict__["__ironarm_path__"] = written
    module.__dict__["__ironarm_source__"] = source
    # a traceback, and whoever asks for the source, sees what was run
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    folder = str(Path(file).parent)
    if folder not in sys.path and Path(folder).is_dir():
        sys.path.append(folder)  # for what the file imports from beside itself
    sys.modules[name] = module
    try:
        exec(compile(source, file, "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception | SystemExit):
            raise
        raise InvalidInput(f"{written} cannot be loaded: {_reason(error, file)}.") from error
    _loaded[written] = module
    return module


def is_behind(error: BaseException) -> bool:
    """Say whether an error passed through a file that was loaded here."""
    files = {module.__file__ for module in _loaded.values()}
    return any(frame.filename in files for frame in traceback.extract_tb(error.__traceback__))


def name_of(kind: type) -> str:
    """Return the name under which text finds a class, with its file's path if any."""
    path = getattr(sys.modules.get(kind.__module__), "__ironarm_path__", None)
    return f"{path}:{kind.__qualname__}" if path else kind.__name__


def reduced(value: Any) -> Any:
    """Return how to pickle an object whose class is in a loaded file; None if it isn't.

    Worker processes, also on other machines, then load the file's source first.
    """
    module = sys.modules.get(type(value).__module__)
    written = getattr(module, "__ironarm_path__", None)
    if module is None or written is None:
        return None
    return _rebuilt, (
        written,
        module.__file__,
        module.__dict__["__ironarm_source__"],
        type(value).__qualname__,
        dict(vars(value)),
    )


def _rebuilt(written: str, file: str, source: str, name: str, values: dict[str, Any]) -> Any:
    kind = getattr(load_source(written, file, source), name)
    made = object.__new__(kind)
    vars(made).update(values)
    return made


def _in_file(kind: Kind[Any], path: str, name: str) -> Any:
    module = load_file(path)
    known = names_in(kind, module)
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, kind.base):
        return found
    if not known:
        raise InvalidInput(
            f"{path} defines no {kind.word}; expected a subclass of {kind.contract}."
        )
    raise InvalidInput(
        f"{path} has no {kind.word} {name!r}; write it like {path}:{known[0]}. It has "
        f"{', '.join(known)}.{did_you_mean(name, known)}"
    )


def _of_package(kind: Kind[Any], point: EntryPoint) -> Any:
    where = f"the installed {kind.word} {point.name!r} ({point.value})"
    try:
        found = point.load()
    except Exception as error:
        raise InvalidInput(
            f"{where} cannot be loaded: {type(error).__name__}: {error}. Update or remove "
            "its package."
        ) from error
    if not (isinstance(found, type) and issubclass(found, kind.base)):
        raise InvalidInput(f"{where} is not a subclass of {kind.contract}, got {found!r}.")
    return found


def _tidy(path: str) -> str:
    return os.path.normpath(path).replace(os.sep, "/")


def _reason(error: BaseException, file: str) -> str:
    """Return what went wrong in a user's file, with the last of its lines involved."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return f"line {lines[-1]}: {text}" if lines else text
