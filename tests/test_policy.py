"""What a policy has by default: constants, a spread, a label, plain data."""

from dataclasses import dataclass

import pytest

import ironarm as ia
from ironarm.estimators import Mean
from ironarm.policies import POLICIES, from_dict
from ironarm.policy import require_policy


@dataclass(frozen=True)
class Example(ia.extend.Policy):
    """Parameters of every kind."""

    sigma: float = 2.0
    rounds: int = 3
    strict: bool = True
    kind: str = "a"
    ends: tuple[float, float] = (0.0, 1.0)
    horizon: int | None = None


def test_parameters_that_are_numbers_are_constants():
    """Text, tuples and None are not; True is 1."""
    assert Example().constants(2, None) == {"sigma": 2.0, "rounds": 3.0, "strict": 1.0}


def test_the_spread_is_sigma():
    """A policy without such a parameter has none."""
    assert Example(sigma=0.5).expected_spread == 0.5
    assert ia.EXP3().expected_spread is None


@pytest.mark.parametrize(
    ("policy", "spread"),
    [
        (ia.UCB(alpha=3, sigma=2), 2),
        (ia.RUCB(omega=9), 1.5),
        (ia.policies.CRUCB(alpha=0.1, sigma=3), 3),
    ],
    ids=lambda value: getattr(value, "label", None),
)
def test_the_spread_of_an_index_policy(policy, spread):
    """It is sigma, or half the root of omega."""
    assert policy.expected_spread == spread


def test_the_estimator_is_the_mean():
    """Unless a policy names another."""
    assert Example().estimator is Mean


def test_label_shows_what_differs_from_the_defaults():
    """As text that the command line reads."""
    assert Example(sigma=1.5, ends=(-1.0, 1.0)).label == "Example(sigma=1.5, ends=(-1, 1))"


def test_plain_data_and_back():
    """Tuples become lists, as in JSON, and are tuples again."""
    policy = ia.TsallisINF(reward_range=(-1, 1), variance="reduced")
    assert policy.to_dict()["parameters"]["reward_range"] == [-1, 1]
    assert from_dict(policy.to_dict()) == policy


def test_a_horizon_comes_from_the_parameter_or_from_the_simulation():
    """Without either the error says what to do."""
    assert Example(horizon=7)._rounds(9) == 7
    assert Example()._rounds(9) == 9
    with pytest.raises(ia.InvalidInput, match=r"give Example\(horizon=...\), .* decisions\."):
        Example()._rounds(None)


@pytest.mark.parametrize(
    "policy",
    [
        ia.policies.CRIMED(epsilon=0.1),
        ia.EXP3(),
        ia.policies.BARBAR(),
        ia.policies.MultiLayerRace(),
        ia.policies.SAO(),
    ],
    ids=str,
)
def test_an_agent_needs_the_horizon(policy):
    """Of policies that plan for it."""
    with pytest.raises(ia.InvalidInput, match="needs to know how long it will run"):
        ia.Agent(policy, arms=2)


def test_what_is_not_a_policy_is_refused():
    """So is one whose parameters could change."""
    with pytest.raises(ia.InvalidInput, match="expected a policy"):
        require_policy("UCB")

    @dataclass
    class Loose(ia.extend.Policy):
        size: float = 1.0

    with pytest.raises(ia.InvalidInput, match="frozen dataclass"):
        require_policy(Loose())


@pytest.mark.parametrize("name", POLICIES)
def test_an_experimental_policy_says_so_first(name):
    """In the docstring; the others do not."""
    policy = POLICIES[name]
    assert policy.experimental == ("**Experimental.**" in policy.__doc__)
