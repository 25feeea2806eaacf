"""One policy of every kind that ironarm has, for tests that go through all of them.

Their parameters are such that a hundred rounds with rewards between 0 and 3 lead
each of them beyond its start.

A new policy needs a line here, and nowhere else in the tests: from here it comes to
`check_policy`, to the comparison with its naive twin, to the recorded bits and to the
files of agents.
"""

from __future__ import annotations

from collections.abc import Iterable

import ironarm as ia

EVERY_POLICY: tuple[ia.Policy, ...] = (
    ia.MedEUCB(b=1, omega=1, block=40),
    ia.MedEpsilonGreedy(c=1),
    ia.UCB(alpha=0.5, sigma=0.5),
    ia.EpsilonGreedy(c=1),
    ia.RUCB(omega=4),
    ia.EXP3(gamma=0.3),
    ia.CatoniUCB(variance=0.1),
    ia.TrimmedUCB(alpha=0.125, omega=1),
    ia.TrimmedEpsilonGreedy(alpha=0.125, c=1),
    ia.CRUCB(alpha=0.125, sigma=1),
    ia.HuberUCB(epsilon=0.01, sigma=0.3),
    ia.MedianOfMeansUCB(v=0.01),
    ia.TruncatedMeanUCB(u=0.1),
    ia.IMED(sigma=2),
    ia.CRIMED(epsilon=0.02, sigma=2, horizon=300),
    ia.CRIMEDStar(epsilon=0.02, sigma=1),
    ia.CountIMED(epsilon=0.175, sigma=0.5),
    ia.CoherentIMED(),
    ia.ThompsonGaussian(sigma=1),
    ia.TsallisINF(),
    ia.EXP3PlusPlus(),
    ia.BARBAR(horizon=300, scale=0.2, delta=0.5),
)


def not_among(policies: Iterable[ia.Policy]) -> list[ia.Policy]:
    """Return those of a kind that is not among the given ones."""
    kinds = {type(policy) for policy in policies}
    return [policy for policy in EVERY_POLICY if type(policy) not in kinds]
