"""Files that appear whole or not at all, and data that JSON can hold."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .errors import InvalidInput

PIECE = 500
"""Numbers that are written at a time."""
BUFFER = 2**20
"""Bytes that go to the disk at a time. Small writes starve other threads: each lets go
of Python's lock for so short a time that the others miss it, and start to wait anew."""


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file such that readers see the old one or the new one, never a part.

    This holds after a crash too. `mode` is what the umask takes permissions from.
    """
    with whole_file(path, mode) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file to write to that replaces `path` when the block ends.

    After an exception in the block, `path` is as it was.
    """
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name a file in it.")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        # opened like any new file, so that the system applies the umask; inside `try`,
        # for an interrupt can come as soon as the file is there
        with open(temporary, "xb", buffering=BUFFER, opener=partial(os.open, mode=mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def require_ending(path: Path, ending: str, more: str = "") -> None:
    """Refuse a file whose name promises another format than it would get."""
    if not path.is_dir() and path.suffix.lower() != ending:
        raise InvalidInput(
            f"{path} cannot be written: expected a file that ends in {ending}, got "
            f"{path.suffix or 'no ending'}.{more}"
        )


def json_fault(error: ValueError | RecursionError) -> str:
    """Return in words why what was read is no JSON for us."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it is not valid JSON"


def json_pieces(data: Any) -> Iterator[str]:
    """Return data that is `json_ready` as JSON, in pieces that take a millisecond.

    The C code behind `json.dumps` lets no other thread run meanwhile. Data may hold
    arrays: a long one as a list of numbers would hold up other threads as well.

    >>> "".join(json_pieces({"a": [1, 2.5, None], "b": {"c": "x"}}))
    '{"a": [1, 2.5, null], "b": {"c": "x"}}'
    """
    if isinstance(data, dict):
        before = "{"
        for key, value in data.items():
            yield f"{before}{json.dumps(str(key))}: "
            yield from json_pieces(value)
            before = ", "
        yield "}" if data else "{}"
    elif isinstance(data, list) and any(
        isinstance(value, (dict, list, np.ndarray)) for value in data
    ):
        before = "["
        for value in data:
            yield before
            yield from json_pieces(value)
            before = ", "
        yield "]"
    elif isinstance(data, (list, np.ndarray)):
        for first in range(0, max(1, len(data)), PIECE):
            some = data[first : first + PIECE]
            if isinstance(some, np.ndarray):
                some = json_ready(some.tolist())
            part = json.dumps(some, allow_nan=False)
            yield ("[" if first == 0 else ", ") + part[1:-1]
        yield "]"
    else:
        yield json.dumps(data, allow_nan=False)


def json_ready(data: Any, non_finite: Callable[[float], Any] = str) -> Any:
    """Return data as dicts, lists, texts and numbers that JSON has.

    JSON has no infinities and no NaN; `non_finite` returns what replaces them, by
    default the texts "inf", "-inf" and "nan". Dataclasses become dicts, and so does
    everything with a method `to_dict`. Arrays stay arrays, for `json_pieces`.

    >>> json_ready({"low": float("-inf"), "high": [1.5]})
    {'low': '-inf', 'high': [1.5]}
    """
    if isinstance(data, float):
        return data if math.isfinite(data) else non_finite(data)
    if hasattr(data, "to_dict"):
        data = data.to_dict()
    elif is_dataclass(data):
        data = {field.name: getattr(data, field.name) for field in fields(data)}
    if isinstance(data, dict):
        return {key: json_ready(value, non_finite) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [json_ready(value, non_finite) for value in data]
    return data
