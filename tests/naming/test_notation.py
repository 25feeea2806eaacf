"""Policies and attacks as text: values may stand without their names, as in Python."""

import pytest

import ironarm as ia
from ironarm.attacks import attack_from_text
from ironarm.bandits import bandit_from_text
from ironarm.errors import InvalidInput
from ironarm.policies import policy_from_text


def test_values_without_names_are_those_of_the_call_in_python():
    """The first for the first parameter, and names after them."""
    assert policy_from_text("CountIMED.for_rho(rho, sigma=2)", rho=0.125) == ia.CountIMED.for_rho(
        0.125, sigma=2
    )
    assert policy_from_text("MedEUCB(8, 2.5)") == ia.MedEUCB(8, 2.5)
    assert attack_from_text("OppositeUniform(0.2, 100)", None) == ia.OppositeUniform(0.2, 100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MedEUCB(8, b=4)", "has b twice; leave one out"),
        ("MedEUCB(1, 2, 3, 4)", "has 4 values; MedEUCB takes b, omega, block"),
        ("MedUCB(8)", "unknown policy 'MedUCB'.*Did you mean 'MedEUCB'"),
        ("UCB.for_rho(0.1)", "unknown policy 'UCB.for_rho'"),
        ("MedEUCB(*b)", "cannot read the policy"),
        ("lab/mine.py", "lab/mine.py does not exist. .* like mine.py:MyPolicy"),
        ("CountIMED.for_rho", "needs rho: write for example 'CountIMED.for_rho"),
        ("MedEUCB(**b)", "cannot read the policy"),
    ],
)
def test_mistakes_get_a_sentence(text, message):
    """Which name is unknown, or what is there twice or too often."""
    with pytest.raises(InvalidInput, match=message):
        policy_from_text(text)


def test_other_ways_to_make_a_bandit_take_values_without_names():
    """As classes do."""
    drifting = bandit_from_text("DriftingBandit.linear([0, 4], [4, 0], horizon=400, steps=4)")
    assert drifting.table[2].tolist() == [2, 2]
    permuted = bandit_from_text("DriftingBandit.permutations([0, 1, 5], 4, 20000)")
    assert len(permuted.times) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DriftingBandit.linear(horizon=9)", r"needs start, for example .*\(start=\[0, 1\]\)"),
        ("DriftingBandit.linear([0, 4], [4, 0])", r"needs horizon, .*\(horizon=1000\)"),
        ("DriftingBandit([1, 9])", r"needs means, .*\(means=\[\[0, 1\], \[1, 0\]\]\)"),
    ],
)
def test_a_missing_parameter_is_shown_as_what_it_is(text, message):
    """A list as a list, a whole number as one."""
    with pytest.raises(InvalidInput, match=message):
        bandit_from_text(text)


def test_numbers_that_no_float_can_hold_are_refused():
    """As any other bad input."""
    with pytest.raises(ia.InvalidInput, match="too large"):
        policy_from_text(f"UCB(alpha=1{'0' * 400}*1)")
