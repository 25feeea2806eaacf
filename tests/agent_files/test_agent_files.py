"""Agents saved by every released version load, and go on with exactly the same choices.

`python -m tests.agent_files.write` adds the files of a new version.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.policies import POLICIES, REPLACED, policy_from_text
from tests.agent_files.write import AFTER
from tests.every_policy import EVERY_POLICY, TO_DO, left_out

HERE = Path(__file__).parent
SAVED = sorted(path for path in HERE.glob("*/*.json") if path.name != "next.json")


@pytest.mark.parametrize(
    "path",
    [p for p in SAVED if p.stem not in REPLACED],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
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
    assert sum(path.parent.name == "0.1.0" for path in SAVED) == 25


@pytest.mark.parametrize("name", REPLACED)
def test_an_agent_whose_policy_has_gone_goes_on_with_its_successor(name, tmp_path):
    """It keeps its rewards and open decisions, and finds the best arm by them."""
    path = HERE / "0.1.0" / f"{name}.json"
    saved = json.loads(path.read_text())
    successor = REPLACED[name]
    with pytest.warns(FutureWarning, match=f"{name} has been replaced by {successor}"):
        agent = ia.Agent.load(path)
    assert type(agent.policy).__name__ == successor
    assert list(agent.arms) == saved["arms"]
    assert [d.id for d in agent.open_decisions] == [id for id, *_ in saved["tickets"]]
    assert agent.best() == saved["arms"][int(np.argmax(saved["state"]["fields"]["estimate"]))]
    for id, *_ in saved["tickets"]:
        agent.learn(id, 2.0)
    for _ in range(100):
        arm = agent.select()
        agent.update(arm, {"a": 0.0, "b": 1.0, 3: 2.0, "late": 9.0}[arm])
    assert agent.best() == "late"
    agent.save(tmp_path / "again.json")
    assert type(ia.Agent.load(tmp_path / "again.json").policy).__name__ == successor


@pytest.mark.parametrize("damage", [{"rewards": None}, {"fields": {}}])
def test_a_damaged_file_of_a_policy_that_has_gone_is_refused(damage, tmp_path):
    """As any other: with a sentence."""
    saved = json.loads((HERE / "0.1.0" / "AdaptiveCountIMED.json").read_text())
    saved["state"].update(damage)
    (tmp_path / "bad.json").write_text(json.dumps(saved))
    with pytest.warns(FutureWarning), pytest.raises(ia.errors.BadFile, match="damaged"):
        ia.Agent.load(tmp_path / "bad.json")


def test_the_name_of_a_policy_that_has_gone_says_what_to_use():
    """In Python and as text."""
    with pytest.raises(AttributeError, match="replaced by CoherentIMED"):
        _ = ia.AdaptiveCountIMED
    with pytest.raises(ia.InvalidInput, match="replaced by CoherentIMED"):
        policy_from_text("AdaptiveCountIMED")


def test_every_policy_is_among_those_that_are_saved():
    """A new policy needs a naive twin with an example."""
    assert not left_out(), f"{left_out()} {TO_DO}"
    assert {type(policy).__name__ for policy in EVERY_POLICY} == set(POLICIES)
