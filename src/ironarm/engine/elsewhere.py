"""Start another process that calls a function of ours, to compile or to run cells.

What it compiles goes to the cache that all processes share. The other Python starts
isolated (`-I`): it imports nothing from the folder where this process happens to run,
and obeys no PYTHON... variable. Only then it gets this process's own paths, without
those that depend on that folder.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

START = (
    "import importlib, json, sys; module, name, path, request = json.loads(sys.argv[1]); "
    "sys.path[:] = path; getattr(importlib.import_module(module), name)(request)"
)


def command(
    task: Callable[[dict[str, Any]], None],
    request: dict[str, Any],
    path: Sequence[str] | None = None,
) -> list[str]:
    """Return the command that calls a function of a module with a request, as JSON.

    `path` is where it imports from; by default this process's own paths.
    """
    known = [entry for entry in path or sys.path if os.path.isabs(entry)]
    text = json.dumps([task.__module__, task.__name__, known, request])
    return [sys.executable, "-I", "-c", START, text]
