"""`make quick` finds the tests of a change, whatever file it is in."""

from pathlib import Path

import pytest

from tests.script import ROOT, script

pytest.importorskip("grimp")


@pytest.fixture(scope="module")
def quick():
    """The script."""
    with script("quick") as found:
        yield found


def test_every_source_file_can_be_looked_up(quick):
    """Packages and modules, also those that only packages import."""
    for path in sorted(ROOT.glob("src/ironarm/**/*.py")):
        quick.touched([path.relative_to(ROOT)])


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("src/ironarm/estimators/median.py", "tests/estimators/test_median.py"),
        ("src/ironarm/lab/arena/arena.toml", "tests/lab/arena/test_arena.py"),
        ("src/ironarm/lab/studies/synthetic/claims.toml", "tests/lab/studies/test_claims.py"),
        ("tests/every_policy.py", "tests/policies/test_against_naive.py"),
        ("tests/naive/evidence.py", "tests/policies/test_against_naive.py"),
        ("docs/live.md", "docs/live.md"),
        ("src/ironarm/policies/rucb.py", "tests/policies"),
    ],
)
def test_a_change_touches_its_tests(quick, changed, expected):
    """By name, by what reads it, or itself."""
    steps = quick.touched([Path(changed)])
    assert any(expected in command for _, command, _ in steps)
