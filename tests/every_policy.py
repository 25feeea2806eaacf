"""One policy of every kind that ironarm has, for tests that go through all of them.

Their parameters are such that a hundred rounds with rewards between 0 and 3 lead
each of them beyond its start.

A policy's naive twin (tests/naive) says which parameters these are: its `example`. From
here it comes to `check_policy`, to the comparison with its twin, to the recording of
its bits (tests/simulation/test_recorded.py) and to the files of agents.
"""

from __future__ import annotations

from collections.abc import Iterable

import ironarm as ia
from tests.naive import TWINS

# a twin may inherit from another one, whose example is not its own
EVERY_POLICY: tuple[ia.extend.Policy, ...] = tuple(
    TWINS[name].example
    for name in ia.policies.__all__
    if name in TWINS and type(TWINS[name].example).__name__ == name
)
TO_DO = (
    "has no naive twin with an example: write a class of that name in a file of tests/naive/, and "
    "in it the policy that tests shall try, such as `example = ia.RUCB(omega=4)`"
)


def left_out() -> set[str]:
    """Return the names of the policies that are not there."""
    return set(ia.policies.__all__) - {type(policy).__name__ for policy in EVERY_POLICY}


def not_among(policies: Iterable[ia.extend.Policy]) -> list[ia.extend.Policy]:
    """Return those of a kind that is not among the given ones."""
    kinds = {type(policy) for policy in policies}
    return [policy for policy in EVERY_POLICY if type(policy) not in kinds]
