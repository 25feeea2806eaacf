"""Scripts of `tests/` as modules: they are no part of the package `tests`."""

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent


@contextmanager
def script(name):
    """Lend a script, which imports others beside it by their names."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "tests"))
