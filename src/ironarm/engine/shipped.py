"""The machine code that comes with the package: of its own policies and attacks.

`make objects` puts it here, one file for each entry point, in a folder for the kind of
system. A list for each version of Python, whose bytecode decides the names, has their
files and the hashes of these. A clone of the repository has none.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from functools import cache
from pathlib import Path

from . import objects, switches
from .switches import AS_SHIPPED

ENDING = ".o"
FOLDER = Path(__file__).with_name("shipped")


def place() -> Path:
    """Return the folder for systems like this one."""
    return FOLDER / f"{sys.platform}-{platform.machine().lower()}"


def list_for(python: str) -> Path:
    """Return the list of files for a version of Python, such as cpython-311."""
    return place() / f"{python}.json"


@cache
def _listed() -> dict[str, tuple[str, str]]:
    """Return file and hash of each entry point, by name."""
    if not AS_SHIPPED or objects.level_here() < objects.USUAL:
        return {}
    try:
        text = list_for(str(sys.implementation.cache_tag)).read_text("utf-8")
        return {name: (file, hash) for name, (file, hash) in json.loads(text).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def has(name: str) -> bool:
    """Say whether an entry point comes with the package."""
    return name in _listed()


def read(name: str) -> tuple[bytes, str] | None:
    """Return an entry point's object file and the name that the function has in it.

    That is the name under which the Python that built it knows the entry point. None if
    there is no file, or a damaged one.
    """
    if name not in _listed():
        return None
    file, hash = _listed()[name]
    try:
        data = (place() / file).read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != hash:
        return None
    return data, file.removesuffix(ENDING)


def why_not(name: str) -> str:
    """Return why something of ironarm's must be compiled."""
    if not AS_SHIPPED:
        return f"{switches.ASKED} asks for it"
    if not place().is_dir():
        return "this install has no machine code"
    if not _listed():
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        return f"this install has no machine code for Python {python}"
    if has(name):
        return "its file in this install is missing or damaged"
    return "its code or a size in it is not the usual one"
