"""Specs of scenarios: ours are sound, and a bad one gets a sentence."""

import pytest

from ironarm.errors import BadFile, InvalidInput
from ironarm.lab.scenarios.spec import read_spec, shipped

GOOD = """
title = "t"
about = "a"
goal = "min"
unit = "seconds"
law = "lognormal"
spread = 0.3
requests = 100
[[deployments]]
name = "a"
value = 1.0
[[deployments]]
name = "b"
value = 2.0
changes = [{ from = 51, value = 0.5 }]
[[deployments]]
name = "c"
value = 0.2
from = 91
"""


def test_ours_cover_what_breaks_routers():
    """One for each kind of trouble, and one without any."""
    specs = {name: read_spec(name) for name in shipped()}
    assert not specs["calm"].corrupt
    assert {one.reading is None for one in specs["suppressed"].corrupt} == {True, False}
    assert specs["delayed"].late > 0
    assert specs["degradation"].best(1000) != specs["degradation"].best(1001)
    assert specs["new-deployment"].names[specs["new-deployment"].best(1001)] == "new"
    assert specs["poisoned-scores"].goal == "max"
    assert all(spec.requests == 2000 for spec in specs.values())


def test_who_is_there_and_who_is_best(tmp_path):
    """Before and after each change."""
    (tmp_path / "x.toml").write_text(GOOD)
    spec = read_spec(tmp_path / "x.toml")
    assert spec.changes == [1, 51, 91]
    assert [spec.names[spec.best(t)] for t in (1, 50, 51, 90, 91, 100)] == list("aabbcc")
    assert spec.present(90) == [0, 1]
    assert spec.present(91) == [0, 1, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('goal = "min"', 'goal = "least"', "goal must be"),
        ("spread = 0.3", "", "needs the field 'spread'"),
        ("spread = 0.3", "spred = 0.3", "Did you mean 'spread'"),
        ("value = 2.0", "value = -2.0", "value must be above 0"),
        ("from = 51", "from = 1", "from must be a whole number of at least 2"),
        ("from = 51", "from = 101", "from must be"),
        ('name = "b"', 'name = "a"', "'a' appears twice"),
        ("from = 91", 'from = 91\n[[corrupt]]\nshare = 2\non = "any"\nnever = true', "share must"),
        ("from = 91", 'from = 91\n[[corrupt]]\nshare = 1\non = "d"\nnever = true', "on names 'd'"),
        ("from = 91", 'from = 91\n[[corrupt]]\nshare = 1\non = "any"', "needs either reading"),
        (
            "from = 91",
            'from = 91\n[[corrupt]]\nshare = 1\non = "any"\nreading = [2, 1]',
            "reading must be at least 2",
        ),
        ("value = 1.0", "value = 1.0\nuntil = 60", "fewer than two deployments"),
    ],
)
def test_a_bad_spec_gets_a_sentence(old, new, message, tmp_path):
    """With the file's name."""
    path = tmp_path / "x.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(InvalidInput, match=message) as caught:
        read_spec(path)
    assert str(path) in str(caught.value)


def test_a_spec_that_is_not_there(tmp_path):
    """By name or by path."""
    with pytest.raises(InvalidInput, match="Did you mean 'stalls'"):
        read_spec("stals")
    with pytest.raises(BadFile, match="cannot be read"):
        read_spec(tmp_path / "none.toml")
