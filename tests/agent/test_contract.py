"""Live agents in memory and in files keep one contract; others are found out."""

import itertools

import pytest

import ironarm as ia
from ironarm.testing import check_agent


def test_an_agent_in_memory_keeps_it():
    """It is what the others are compared with, and does not depend on chance."""
    check_agent(ia.Agent)


@pytest.mark.parametrize("commit_within", [0, 5])
def test_an_agent_in_a_file_keeps_it(tmp_path, commit_within):
    """Whether each call waits for the disk or not."""
    numbers = itertools.count()
    made = []

    def make(policy, **more):
        path = tmp_path / f"{next(numbers)}.db"
        made.append(ia.DurableAgent(path, policy, commit_within=commit_within, **more))
        return made[-1]

    check_agent(make)
    for agent in made:
        agent.close()


class Forgetful(ia.Agent):
    """Says None where others say 0."""

    @property
    def rewards(self):
        return {arm: n or None for arm, n in super().rewards.items()}


class Lenient(ia.Agent):
    """Learns a value that cannot be."""

    def update(self, arm, reward, source=None):
        super().update(arm, 0.0 if reward != reward else reward, source)


class Hasty(ia.Agent):
    """Has learnt a part of a batch when it refuses the rest."""

    def learn_batch(self, rewards):
        for row in rewards:
            self.learn(*row)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Forgetful, "rewards gives .*'a': 0.* in Agent, and .*'a': None"),
        (Lenient, r"update\('a', nan\) is refused gives 'InvalidInput' in Agent, and 'nothing'"),
        (Hasty, "and nothing has changed gives True in Agent, and False"),
    ],
)
def test_one_that_differs_is_found_out(kind, message):
    """With the story, the call, what was expected and what came."""
    with pytest.raises(ia.IronarmError, match=message):
        check_agent(kind)
