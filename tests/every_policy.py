"""One policy of every kind that ironarm has, for tests that go through all of them.

Their parameters are such that a hundred rounds with rewards between 0 and 3 lead
each of them beyond its start.

A new policy needs a line here, a naive twin (tests/naive) and a recording of its bits
(tests/simulation/test_recorded.py). From here it comes to `check_policy`, to the
comparison with its twin, to that recording and to the files of agents.
"""

from __future__ import annotations

from collections.abc import Iterable

import ironarm as ia

EVERY_POLICY: tuple[ia.extend.Policy, ...] = (
    ia.MedEUCB(b=1, omega=1, block=40),
    ia.MedEpsilonGreedy(c=1),
    ia.UCB(alpha=0.5, sigma=0.5),
    ia.EpsilonGreedy(c=1),
    ia.RUCB(omega=4),
    ia.EXP3(gamma=0.3),
    ia.CatoniUCB(variance=0.1),
    ia.TrimmedUCB(alpha=0.125, omega=1),
    ia.TrimmedEpsilonGreedy(alpha=0.125, c=1),
    ia.policies.CRUCB(alpha=0.125, sigma=1),
    ia.policies.HuberUCB(epsilon=0.01, sigma=0.3),
    ia.policies.MedianOfMeansUCB(v=0.01),
    ia.policies.TruncatedMeanUCB(u=0.1),
    ia.IMED(sigma=2),
    ia.policies.CRIMED(epsilon=0.02, sigma=2, horizon=300),
    ia.policies.CRIMEDStar(epsilon=0.02, sigma=1),
    ia.CountIMED(epsilon=0.175, sigma=0.5),
    ia.CoherentIMED(),
    ia.policies.ThompsonGaussian(sigma=1),
    ia.KLUCB(reward_range=(0, 3)),
    ia.policies.BernoulliIMED(reward_range=(0, 3)),
    ia.policies.ThompsonBeta(reward_range=(0, 3)),
    ia.TsallisINF(),
    ia.policies.EXP3PlusPlus(),
    ia.policies.BARBAR(horizon=300, scale=0.2, delta=0.5),
    ia.TrustThompson(slots=32),
    ia.RestartingIMED(probes=0.05, alarm_rate=0.05),
    ia.policies.SlidingMedUCB(window=60, b=0.5, omega=1),
    ia.policies.SlidingWindowUCB(window=60, xi=0.5, reward_range=(0, 4)),
    ia.policies.DiscountedUCB(discount=0.97, xi=0.5, reward_range=(0, 4)),
    ia.policies.GLRKLUCB(step=3, delta=0.9, exploration=0.1, reward_range=(0, 4)),
    ia.policies.MUCB(window=8, threshold=1.5, exploration=0.1, reward_range=(0, 4)),
)


def not_among(policies: Iterable[ia.extend.Policy]) -> list[ia.extend.Policy]:
    """Return those of a kind that is not among the given ones."""
    kinds = {type(policy) for policy in policies}
    return [policy for policy in EVERY_POLICY if type(policy) not in kinds]
