"""`ironarm check`: one sentence about a policy of one's own."""

from ironarm.cli import main

HEAD = """
from dataclasses import dataclass
from ironarm.extend import IndexPolicy, UpperMedian
"""
GOOD = """
@dataclass(frozen=True)
class Mine(IndexPolicy):
    omega: float = 4.0
    estimator = UpperMedian
"""


def test_a_policy_that_keeps_its_contract(tmp_path, capsys):
    """It says so."""
    path = tmp_path / "mine.py"
    path.write_text(HEAD + GOOD)
    assert main(["check", f"{path}:Mine"]) == 0
    assert "keeps its contract" in capsys.readouterr().out


def test_an_index_policy_without_exploration(tmp_path, capsys):
    """It is told what is missing, without a traceback."""
    path = tmp_path / "mine.py"
    path.write_text(HEAD + GOOD.replace("omega", "b"))
    for command in (["check"], ["simulate", "--horizon", "10", "--policies"]):
        assert main([*command, f"{path}:Mine"]) == 2
        assert "give it a parameter `omega`, or a property `coefficient`" in capsys.readouterr().err
