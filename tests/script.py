"""Scripts as modules: they are no part of a package."""

import importlib
import importlib.util
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


@contextmanager
def script_of(path):
    """Lend a script from anywhere; what it adds to the path goes again."""
    place = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    module, before = importlib.util.module_from_spec(place), sys.path[:]
    try:
        place.loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = before
