"""One policy of every kind that ironarm has, for tests that go through all of them.

Their parameters are such that a hundred rounds with rewards between 0 and 3 lead
each of them beyond its start.

A policy's naive twin (tests/naive) says which parameters these are: its `example`. From
here it comes to `check_policy`, to the comparison with its twin, to the recording of
its bits (tests/simulation/test_recorded.py) and to the files of agents.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import Parameter, signature

import ironarm as ia
from tests.naive import TWINS

# a twin may inherit from another one, whose example is not its own
EVERY_POLICY: tuple[ia.extend.Policy, ...] = tuple(
    TWINS[name].example
    for name in ia.policies.__all__
    if name in TWINS and type(TWINS[name].example).__name__ == name
)


def usual(example: ia.extend.Policy) -> ia.extend.Policy:
    """Return a policy of the same kind with all its default values."""
    given = [
        name
        for name, parameter in signature(type(example)).parameters.items()
        if parameter.default is Parameter.empty
    ]
    return type(example)(**{name: getattr(example, name) for name in given})


USUAL: tuple[ia.extend.Policy, ...] = (
    *map(usual, EVERY_POLICY),
    ia.RUCB(median="upper"),
    ia.policies.CRUCB(alpha=0.1, mean="shorth"),
    ia.policies.SlidingMedUCB(window=2000),
    ia.policies.SlidingWindowUCB(window=2000),
)
"""The policies whose machine code comes with ironarm: all with their default values,
other estimators, and the sizes of our studies.
"""
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
