"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def _usual_mode() -> int:
    """Return the mode that new files have here.

    The umask can only be read by setting it, which is not safe in threads: once, at
    import.
    """
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


_MODE = _usual_mode()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that others see the old one or all of the new one, never a
    part; also after a crash.
    """
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes its place when all is written; after an
    exception nothing is there but what was.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _MODE)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
