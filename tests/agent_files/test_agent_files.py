"""Agents saved by every released version load, and go on with exactly the same choices.

`python -m tests.agent_files.write` adds the files of a new version.
"""

import json
from pathlib import Path

import pytest

import ironarm as ia
from ironarm.policies import POLICIES
from tests.agent_files.write import AFTER
from tests.every_policy import EVERY_POLICY

HERE = Path(__file__).parent
SAVED = sorted(path for path in HERE.glob("*/*.json") if path.name != "next.json")


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_saved_agent_goes_on_as_it_did(path):
    """It learns what was open when it was saved, then makes the recorded choices."""
    expected = json.loads((path.parent / "next.json").read_text())[path.stem]
    agent = ia.Agent.load(path)
    for id, reward in expected["learn"]:
        agent.learn(id, float(reward))
    chosen = []
    for _, reward in expected["rounds"]:
        chosen.append(agent.select())
        agent.update(chosen[-1], float(reward))
    assert chosen == [arm for arm, _ in expected["rounds"]]
    assert len(chosen) == AFTER


def test_no_file_has_gone():
    """Every agent whose choices are recorded is there, the first version's included."""
    for folder in {path.parent for path in SAVED}:
        recorded = json.loads((folder / "next.json").read_text())
        assert sorted(recorded) == sorted(p.stem for p in SAVED if p.parent == folder)
    assert sum(path.parent.name == "0.1.0" for path in SAVED) == 24


def test_every_policy_is_among_those_that_are_saved():
    """A new policy needs a line in tests/every_policy.py."""
    assert {type(policy).__name__ for policy in EVERY_POLICY} == set(POLICIES)
