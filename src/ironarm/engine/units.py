"""From marked functions to compiled modules on disk.

Numba can keep compiled code between processes only for functions in real files, and it
notices an edit only in the file of the outermost function: code compiled from an edited
helper would silently be the old one. So the engine writes its own files, "units": the
marked functions of one module, word for word, under a name that carries a hash of
everything they reach. An edit anywhere gives a new name; an old unit can be left over
but never be used.

Units live in a directory that only its owner can write: `$IRONARM_CACHE_DIR`, or
`ironarm` in the user's cache directory. If neither can be had, they go to a temporary
directory and are compiled anew by each process.
"""

from __future__ import annotations

import ast
import builtins
import dis
import hashlib
import importlib
import inspect
import math
import os
import stat
import sys
import tempfile
import textwrap
import types
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import PolicyFault
from ..files import write_whole
from ..marks import mark_of

PACKAGE = "ironarm_units"
EXTENDED_ARG, LOAD_GLOBAL = dis.opmap["EXTENDED_ARG"], dis.opmap["LOAD_GLOBAL"]


class NotKept(RuntimeWarning):
    """Compiled code cannot be kept for other processes."""


class StandIns:
    """Functions that take the place of others in the units that are written with
    them; compared by identity.
    """

    def __init__(self, pairs: dict[Callable[..., Any], Callable[..., Any]]) -> None:
        self._pairs = pairs

    def of(self, value: Any) -> Any:
        """Return what stands in for a value, or the value itself."""
        return self._pairs.get(value, value) if isinstance(value, types.FunctionType) else value


NO_STAND_INS = StandIns({})


def cache_directory() -> Path:
    """Return where compiled units are kept: `$IRONARM_CACHE_DIR`, or `ironarm` in
    the user's cache directory.
    """
    chosen = os.environ.get("IRONARM_CACHE_DIR")
    if chosen:
        directory = Path(chosen).expanduser()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        directory = (Path(base) if base else Path.home() / ".cache") / "ironarm"
    return directory


def _usable(directory: Path) -> str | None:
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
    return None


@lru_cache(maxsize=1)
def _package() -> Path:
    """Make the units' directory importable as a package of its own, and return it."""
    try:
        directory = cache_directory()
        problem = _usable(directory)
    except RuntimeError:
        directory, problem = Path("~/.cache/ironarm"), "this user has no home directory"
    if problem:
        fallback = tempfile.TemporaryDirectory(prefix="ironarm-")
        warnings.warn(
            f"compiled code cannot be kept in {directory}: {problem}. Each process compiles for "
            "itself; set IRONARM_CACHE_DIR to a directory of your own.",
            NotKept,
            stacklevel=2,
        )
        directory = Path(fallback.name)
        sys.modules.setdefault("_ironarm_temporary_units", types.ModuleType("_")).__dict__[
            "keep"
        ] = fallback
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(directory)]
    sys.modules[PACKAGE] = package
    return directory


def _parsed(text: str) -> tuple[str, ast.stmt]:
    text = textwrap.dedent(text)
    return text, ast.parse(text).body[0]


def _indented_block(function: Callable[..., Any]) -> str:
    """Return a function's text, found by its indentation: a fraction of the time that
    `inspect.getsource` takes to read every token.

    A line of code that is not indented ends it. Inside brackets or a string that is too
    early, but then what is cut off is missing and the text is no Python.
    """
    lines, start = inspect.findsource(inspect.unwrap(function))
    margin = len(lines[start]) - len(lines[start].lstrip())
    begun = False
    end = start
    for i in range(start, len(lines)):
        line = lines[i].strip()
        if not line or line.startswith("#"):
            continue
        if begun and len(lines[i]) - len(lines[i].lstrip()) <= margin:
            break
        begun = begun or not line.startswith("@")
        end = i
    return "".join(lines[start : end + 1])


def source_of(function: Callable[..., Any]) -> list[str]:
    """Return the lines of a marked function, without indentation; of its decorators
    only the mark is left, however it was imported.
    """
    try:
        try:
            text, definition = _parsed(_indented_block(function))
        except SyntaxError:
            text, definition = _parsed(inspect.getsource(function))
    except (OSError, TypeError, SyntaxError):
        definition = None
    if not isinstance(definition, ast.FunctionDef):
        raise PolicyFault(
            f"the source of {function.__qualname__} cannot be read, so it cannot be compiled. "
            "Write it with def, in a file or a notebook cell; code typed at the bare prompt has "
            "no source."
        )
    lines = text.splitlines()
    if mark_of(function) == "cold":
        first = definition.body[0]
        lines.insert(first.lineno - 1, " " * first.col_offset + "stay_out_of_line()")
    return [f"@{mark_of(function)}", *lines[definition.lineno - 1 :]]


def _globals_used(code: types.CodeType) -> set[str]:
    """Return the global names that a function reads."""
    names = set()
    high = 0
    # `dis.get_instructions` would take 0.2 s for the nine policies of the paper
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = high | low
        high = argument << 8 if operation == EXTENDED_ARG else 0
        if operation == LOAD_GLOBAL:
            names.add(code.co_names[argument >> 1])
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _globals_used(constant)
    return names


def _literal(value: object) -> str | None:
    """Return the text of a number as a module-level constant, or None if it is not
    one.
    """
    if isinstance(value, (np.integer, np.floating)):
        return (
            f"np.{type(value).__name__}({value.item()!r})"
            if math.isfinite(value)
            else f"np.float64({str(value)!r})"
        )
    if isinstance(value, (bool, int)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    return None


def _prelude(functions: dict[str, Callable[..., Any]], stand_ins: StandIns) -> list[str]:
    """Return the lines that give the functions the global names they use: numbers,
    modules, functions from other units.
    """
    lines: dict[str, str] = {}
    for function in functions.values():
        enclosing = inspect.getclosurevars(function).nonlocals
        known = {**function.__globals__, **enclosing}
        for name in sorted(_globals_used(function.__code__) | enclosing.keys()):
            if name in known:
                value = stand_ins.of(known[name])
                if functions.get(name) is value:
                    continue
                line = _line_for(function, name, value, stand_ins)
                if name in functions or lines.setdefault(name, line) != line:
                    raise PolicyFault(
                        f"{function.__qualname__} uses {name!r}, a name that means something else "
                        "elsewhere in the same policy; rename it."
                    )
            elif not hasattr(builtins, name):
                raise PolicyFault(f"{function.__qualname__} uses {name!r}, which is not defined.")
    return list(lines.values())


def _line_for(function: Callable[..., Any], name: str, value: object, stand_ins: StandIns) -> str:
    literal = _literal(value)
    if literal is not None:
        return f"{name} = {literal}"
    if isinstance(value, types.ModuleType) and value.__name__ in ("math", "numpy"):
        return f"import {value.__name__} as {name}"
    if mark_of(value):
        return f"from {PACKAGE}.{unit_of(value, stand_ins)} import {value.__name__} as {name}"  # type: ignore[attr-defined]
    raise PolicyFault(
        f"{function.__qualname__} uses {name!r}, which cannot be compiled: if it is a function, "
        "mark it with @hot or @cold; otherwise make it a number."
    )


@cache
def unit_of(function: Callable[..., Any], stand_ins: StandIns) -> str:
    """Return the name of the unit that holds a marked module-level function, writing
    it if need be.
    """
    module = sys.modules[function.__module__]
    functions = {
        name: value
        for name, value in vars(module).items()
        if mark_of(value)
        and value.__module__ == module.__name__
        and value.__name__ == name
        and stand_ins.of(value) is value
    }
    if functions.get(function.__name__) is not function:
        functions = {function.__name__: function}  # redefined or nested: a unit of its own
    return write_unit(module.__name__.rpartition(".")[2], functions, "", stand_ins)


def write_unit(
    stem: str,
    functions: dict[str, Callable[..., Any]],
    text: str,
    stand_ins: StandIns | None = None,
) -> str:
    """Write a unit of these functions followed by `text`, and return its name."""
    from . import jit

    body = "\n".join(
        [
            '"""Generated by ironarm; safe to delete."""',
            "import math",
            "import numpy as np",
            "from typing import NamedTuple",
            "from ironarm.engine.jit import attack_pointer, call_attack, carray, cold, floats_at, "
            "ints_at, entry, hot, part, stay_out_of_line",
            *_prelude(functions, stand_ins or NO_STAND_INS),
            "",
            *(_definition(name, f) for name, f in functions.items()),
            text,
        ]
    )
    key = hashlib.sha256(
        "\n".join([body, *_engine_sources(), jit.fingerprint(), sys.version]).encode()
    ).hexdigest()[:16]
    name = f"{stem.strip('_')}_{key}"
    path = _package() / f"{name}.py"
    if not path.exists():
        write_whole(path, body.encode())
        importlib.invalidate_caches()
    return name


@cache
def _engine_sources() -> tuple[str, ...]:
    """Return the text of the files that decide how units are compiled."""
    return tuple(
        Path(__file__).with_name(name).read_text(encoding="utf-8")
        for name in ("jit.py", "compiler.py")
    )


def _definition(name: str, function: Callable[..., Any]) -> str:
    """Return a function's text under that name."""
    lines = source_of(function)
    if function.__name__ != name:
        lines.append(f"{name} = {function.__name__}")
    return "\n".join(lines) + "\n"


def load_unit(name: str) -> types.ModuleType:
    """Import a unit."""
    _package()
    return importlib.import_module(f"{PACKAGE}.{name}")


def is_compiled(unit: str, function: str) -> bool:
    """Say whether compiled code of an entry point is likely to be on disk; only how
    fast it is to be had depends on it.
    """
    return any((_package() / "__pycache__").glob(f"{unit}.{function}-*.nbi"))
