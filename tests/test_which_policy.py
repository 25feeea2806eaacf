"""One answer to "which policy?", everywhere."""

import json
import re
from pathlib import Path

import pytest

import ironarm as ia
from ironarm.cli import main
from ironarm.policies import policy_from_text
from ironarm.which_policy import ADVICE, as_markdown, as_text, default_policy, for_rewards

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/which-policy.md"])
def test_pages_have_the_table(page):
    """What `ironarm.which_policy.as_markdown()` returns stands there."""
    assert as_markdown() in (ROOT / page).read_text()


def test_the_command_ends_with_the_table(capsys):
    """`ironarm policies` prints all of it; its JSON stays a list of policies."""
    assert main(["policies"]) == 0
    printed = capsys.readouterr().out.partition("Which policy?")[2]
    assert printed.strip() == as_text()
    assert all(advice.use.partition("(")[0] in printed for advice in ADVICE)
    assert main(["policies", "--json"]) == 0
    assert {"MedEUCB", "UCB"} < {entry["name"] for entry in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize("advice", ADVICE, ids=lambda advice: advice.use)
def test_what_is_advised_exists(advice):
    """Each line can be written in code."""
    text = re.sub(r"\((rho\b)", r"(rho=0.2", advice.use).replace("...", "1")
    assert isinstance(policy_from_text(text), ia.extend.Policy)


def test_an_agent_without_a_policy_has_the_default_one():
    """Agents need only names; without names they say what is missing."""
    assert ia.Agent(arms=["a", "b"]).policy == default_policy() == ia.CoherentIMED()
    with pytest.raises(ia.InvalidInput, match="arms is missing; give a list of names"):
        ia.Agent()
    with pytest.raises(ia.InvalidInput, match="policy"):
        ia.Agent(["a", "b"])


def test_the_first_row_is_the_default():
    """And the warning on 0/1 rewards gives the table's answer."""
    assert repr(default_policy()) == ADVICE[0].use
    agent = ia.Agent(arms=["a", "b"], seed=1)
    with pytest.warns(ia.RewardWarning, match=re.escape(for_rewards("0 or 1"))):
        for i in range(300):
            agent.update(agent.select(), float(i % 3 == 0))
