"""Where compiled code is kept between processes.

One file for each entry point. Its name carries a hash of all the code it was compiled
from (`linking.py`), and of what compiled it: code compiled from an edited helper is
never found again. Its first line has a hash of the rest, so a damaged file is compiled
anew.

The directory must be one that nobody else can write: `$IRONARM_CACHE_DIR`, or `ironarm`
in the user's cache directory. Without one, each process compiles for itself.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import warnings
from functools import cache
from pathlib import Path

from ..errors import InvalidInput
from ..files import write_whole

FIRST_LINE = "ironarm machine code 2"
OURS = re.compile(r"\w+-[0-9a-f]{16}\.o")
"""The names of files that are loaded from here; others are none of our business."""


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
            if stat.S_ISDIR(status.st_mode) or not OURS.fullmatch(entry.name):
                continue  # nothing of that name is loaded
            if _is_foreign(status):
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


def _is_foreign(status: os.stat_result) -> bool:
    """Say whether a file is somebody else's, or others can change it."""
    if not hasattr(os, "getuid"):
        return False
    return status.st_uid != os.getuid() or bool(stat.S_IMODE(status.st_mode) & 0o022)


@cache
def directory() -> Path | None:
    """Return the directory for compiled code, or None if there is none to be had."""
    try:
        place = cache_directory()
        problem = _problem(place)
    except RuntimeError:
        place, problem = Path("~/.cache/ironarm"), "this user has no home directory"
    if problem:
        warnings.warn(
            f"compiled code cannot be kept in {place}: {problem}. Each process compiles it "
            "again; set IRONARM_CACHE_DIR to a directory of your own.",
            NotKept,
            stacklevel=2,
        )
        return None
    return place


def _path(name: str) -> Path | None:
    place = directory()
    return None if place is None else place / f"{name}.o"


def read(name: str) -> bytes | None:
    """Return the object file of that name, None if there is none that can be trusted.

    It is looked at and read by one handle, so nobody can exchange it in between.
    """
    path = _path(name)
    if path is None:
        return None
    try:
        with open(path, "rb", opener=_open_own) as file:
            first, data = file.readline(400), file.read()
    except OSError:
        return None
    return data if first == _first_line(name, data) else None


def _open_own(path: str, flags: int) -> int:
    """Open a file, refusing one that somebody else could have written."""
    # nor wait for somebody to write, if it is a pipe
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or _is_foreign(status):
        os.close(handle)
        raise PermissionError(f"{path} is no file of this user's")
    return handle


def write(name: str, data: bytes) -> None:
    """Keep an object file; where that is impossible, say so and go on."""
    path = _path(name)
    if path is None:
        return
    try:
        write_whole(path, _first_line(name, data) + data, mode=0o600)
    except (OSError, InvalidInput) as error:
        warnings.warn(f"compiled code cannot be kept ({error}).", NotKept, stacklevel=2)


def _first_line(name: str, data: bytes) -> bytes:
    return f"{FIRST_LINE} {name} {hashlib.sha256(data).hexdigest()}\n".encode()


def is_kept(name: str) -> bool:
    """Say whether compiled code of that name is likely to be on disk."""
    path = _path(name)
    return path is not None and path.is_file()
