"""Files that appear whole or not at all, and data that JSON can hold."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO


def write_whole(path: Path, data: bytes) -> None:
    """Write a file such that readers see the old one or the new one, never a part.

    This holds after a crash too.
    """
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write to that replaces `path` when the block ends.

    After an exception in the block, `path` is as it was.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    # opened like any new file, so that the system applies the umask
    file = open(temporary, "xb")  # noqa: SIM115
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def json_ready(data: Any, non_finite: Callable[[float], Any] = str) -> Any:
    """Return data as dicts, lists, texts and numbers that JSON has.

    JSON has no infinities and no NaN; `non_finite` returns what replaces them, by
    default the texts "inf", "-inf" and "nan". Dataclasses become dicts, and so does
    everything with a method `to_dict`.

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
