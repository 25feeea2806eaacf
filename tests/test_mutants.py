"""The mutants fit the code as it is: the command itself takes minutes."""

import ast
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
AT_LEAST = {"agent": 5, "service": 6, "engine": 5, "theory": 5, "lab": 4, "radio": 4}
sys.path.insert(0, str(ROOT / "tests"))  # the scripts are no modules of a package
try:
    import mutants
    import run_all
finally:
    sys.path.remove(str(ROOT / "tests"))


def each(mutant):
    return mutant.name


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=each)
def test_a_mutant_changes_one_place_and_is_python(mutant):
    """Its text is there once, and what comes of it can be run."""
    text = (ROOT / "src" / "ironarm" / mutant.file).read_text("utf-8")
    changed = mutant.applied(text)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=each)
def test_its_tests_are_there(mutant):
    """In a file that `make test` runs with the same settings as the command."""
    elsewhere = {*run_all.AS_RELEASED, *run_all.APART}
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert Path(file).match("test_*.py")
        assert elsewhere.isdisjoint({file, file.partition("/")[0]})
        tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        defined = {node.name for node in tree.body if isinstance(node, functions)}
        assert not name or name.partition("[")[0] in defined


def test_there_are_enough_of_them_everywhere():
    """Each with a name of its own."""
    assert len({mutant.name for mutant in mutants.MUTANTS}) == len(mutants.MUTANTS) >= 30
    rooms = Counter(mutant.room for mutant in mutants.MUTANTS)
    assert {room: min(rooms[room], least) for room, least in AT_LEAST.items()} == AT_LEAST


def test_a_change_that_no_longer_fits_is_refused():
    """With its name, so that it is easy to find."""
    mutant = mutants.MUTANTS[0]
    for text, count in (("", 0), (2 * mutant.old, 2)):
        with pytest.raises(ValueError, match=rf"{mutant.name}: its text is {count} times"):
            mutant.applied(text)
