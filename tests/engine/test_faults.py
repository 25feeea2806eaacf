"""A policy that cannot be compiled is told the line of its own file, and why."""

import sys

import pytest

import ironarm as ia
from ironarm.engine.state import State
from ironarm.naming import own_code
from ironarm.policies import policy_from_text

HEAD = """from dataclasses import dataclass
from ironarm.extend import Policy, hot

@dataclass(frozen=True)
class Mine(Policy):
"""
CHOOSE = """    @staticmethod
    @hot
    def choose(s, t, g):
        {}
        return {}
"""


def with_body(body, value="0"):
    return HEAD + CHOOSE.format(body, value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (with_body("x = 1", "0.0"), r"mine.py, line 10: `choose` must return a whole .* 0.0"),
        (with_body("x = t", "x * 0.5"), r"mine.py, line 10: `choose` must return a whole number"),
        (with_body("if t > 3: return 1", "t / 2"), r"line 10: .* returns the result of /"),
        (
            with_body("if t > 3: return t", "t * 0.5"),
            r"line 6: `choose` must return a whole .*; it returns in lines 9 and 10",
        ),
        (with_body("x = float('a')"), r"could not convert string to float"),
        (with_body("if t > 3: return 1", "None"), r"line 10: .* here it returns None"),
        (with_body("import math", "int(math.sqrt(t))"), r"line 9: Mine.choose imports 'math'"),
        (with_body("s.omga[0] = 1"), r"line 9: Unknown attribute 'omga'.*\(declare it"),
        (with_body("x = [1, t]", "x[0]"), r"line 9: compiled steps cannot create lists"),
        (with_body("x = nowhere"), r"line 9: Mine.choose uses 'nowhere', which is not defined"),
        (with_body("x = 1", "s.n[0.5]"), r"line 10: .*arrays are indexed by whole numbers"),
        (with_body("s.estimate[0.5] = 1.0", "0"), r"line 9: .*arrays are indexed by whole numbers"),
        (with_body("with s: pass"), r"mine.py, line \d: Illegal use of context-manager"),
        (
            HEAD
            + "    @property\n    def fields(self):\n        return {}\n\n"
            + with_body("")[len(HEAD) :],
            r"mine.py, line 6: Mine.fields must be a dictionary in the class, got property",
        ),
    ],
)
def test_the_line_and_the_reason_are_named(code, message, tmp_path, monkeypatch):
    """In the author's file, not in the engine's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(code)
    with own_code.allowed():
        policy = policy_from_text("mine.py:Mine")
    with pytest.raises(ia.errors.PolicyFault, match=message) as raised:
        State(policy, 3).call("select")
    assert "candidate" not in str(raised.value)
    assert len(str(raised.value)) < 300
