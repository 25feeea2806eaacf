"""Modules of live agents use nothing private of each other.

A name that begins with an underscore belongs to the module that defines it. So a part
can be changed by whoever reads that part alone.
"""

import ast
from pathlib import Path

import pytest

import ironarm

ROOT = Path(ironarm.__file__).parent
FOLDERS = ("agent", "service", "integrations")
PUBLIC = {"_asdict", "_replace", "_fields", "_getframe"}
"""Names of the standard library's own surface."""


def defined(tree):
    """Return the names that a module gives to functions, classes and attributes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            yield node.name
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
            yield node.attr if isinstance(node, ast.Attribute) else node.id


def foreign(text):
    """Return the private names of others that a module's text uses."""
    tree = ast.parse(text)
    own = PUBLIC.union(defined(tree))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("_") and not name.endswith("__") and name not in own:
                yield f"line {node.lineno}: {name}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_private_of_another_module_is_used(folder):
    """No `x._y`, and no import of `_y`, that another module defines."""
    found = {
        path.relative_to(ROOT).as_posix(): list(foreign(path.read_text("utf-8")))
        for path in sorted((ROOT / folder).rglob("*.py"))
    }
    assert found
    assert {name: uses for name, uses in found.items() if uses} == {}


def test_what_is_private_is_noticed():
    """Attributes and imports of others; not one's own, nor the standard library's."""
    text = """
from .b import _hidden, shown
class A:
    def __init__(self, b):
        self._own = b._state
    def f(self):
        return self._own, self.__class__, self._inherited
"""
    assert list(foreign(text)) == ["line 2: _hidden", "line 5: _state", "line 7: _inherited"]
