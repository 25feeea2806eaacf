"""Functions on arrays: what they are called with lies where compiled code reads it."""

import copy
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from ironarm.engine import objects, switches
from ironarm.engine.arrays import bound
from ironarm.engine.machine import compiled, held
from ironarm.extend import hot


class Table(NamedTuple):
    """Numbers and arrays of several kinds."""

    factor: float
    shift: int
    numbers: np.ndarray
    words: np.ndarray
    singles: np.ndarray


@hot
def combine(table, places, scale, out):
    """Fill `out` with something that depends on every argument."""
    for i in range(len(out)):
        x = table.factor * table.numbers[i] + table.shift + table.words[i] + table.singles[i]
        out[i] = (x + places[i]) * scale


def table(count):
    return Table(
        2.0,
        5,
        np.arange(count) / 2,
        np.arange(count, dtype=np.uint64),
        np.arange(count, dtype=np.float32) / 4,
    )


def expected(count, scale):
    i = np.arange(count)
    return (2.0 * i / 2 + 5 + i + i / 4 + 10 * i) * scale


@pytest.mark.parametrize("hold", [held, lambda values: values], ids=["held", "each time"])
@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_all_arguments_arrive(hold, count):
    """Numbers, arrays and tuples of them, for many calls too."""
    given, places, out = hold(table(count)), np.arange(count) * 10, np.full(count, np.nan)
    compiled(combine)(given, places, 3.0, out)
    assert np.array_equal(out, expected(count, 3.0))
    again = bound(compiled(combine), given, places, 0.5, out)
    del given
    for _ in range(2):
        out[:] = np.nan
        again()
        assert np.array_equal(out, expected(count, 0.5))


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_of_what_is_held_has_memory_of_its_own(twin):
    """An address must not survive what it leads to."""
    given, out = held(table(3)), np.empty(3)
    other = twin(given)
    del given
    compiled(combine)(other, np.arange(3) * 10, 1.0, out)
    assert np.array_equal(out, expected(3, 1.0))


@pytest.mark.skipif(switches.DISABLED, reason="nothing is compiled")
def test_they_are_compiled_for_the_best_level_that_the_processor_has(monkeypatch):
    """Under a name of its own; policies are always compiled for the usual level."""
    arguments = table(1), np.arange(1), 1.0, np.empty(1)
    for level, end in (objects.USUAL, ""), (objects.NEWER, "_v3"):
        monkeypatch.setattr(objects, "level_here", lambda level=level: level)
        entry = compiled(combine).entry_point(*arguments)
        assert (entry.level, entry.name.endswith("_v3")) == (level, end == "_v3")
