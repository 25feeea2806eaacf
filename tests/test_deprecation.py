"""A public name that is to go says so, at the line of the code that uses it."""

import inspect
import sys
import types
import warnings

import pytest

from ironarm.deprecation import deprecated

MESSAGE = "Agent.pull() is deprecated since ironarm 0.4 and will be removed in 0.5; use select()."
OURS = """
from dataclasses import dataclass
from ironarm.deprecation import deprecated

def pull():
    deprecated("Agent.pull()", instead="select()", since="0.4", removed_in="0.5")

def pull_twice_removed():
    pull()

@dataclass
class Pulled:
    arm: int = 0

    def __post_init__(self):
        pull()
"""


@pytest.fixture
def ours(monkeypatch):
    """A module of ironarm with things that are to go."""
    module = types.ModuleType("ironarm.made_up")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(OURS, vars(module))
    return module


@pytest.mark.parametrize("name", ["pull", "pull_twice_removed", "Pulled"])
def test_the_warning_is_at_the_callers_line(ours, name):
    """However many of ironarm's functions, or a dataclass's, lie between."""
    with pytest.warns(DeprecationWarning, match="pull") as caught:
        line = inspect.currentframe().f_lineno + 1
        getattr(ours, name)()
    assert [(str(w.message), w.filename, w.lineno) for w in caught] == [(MESSAGE, __file__, line)]


def test_it_is_shown_once_for_a_line(ours):
    """A loop does not fill the screen."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            ours.pull()
    assert len(caught) == 1


def test_the_callers_own_function_is_not_passed_over():
    """Called from outside ironarm, it warns there: a package may borrow it."""
    with pytest.warns(DeprecationWarning, match="x is deprecated") as caught:
        deprecated("x", instead="y", since="0.1", removed_in="0.2")
    assert caught[0].filename == __file__
