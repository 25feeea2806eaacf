"""MABWiser: `predict` and `partial_fit`, a reward at a time."""

import random

from mabwiser.mab import MAB, LearningPolicy
from playing import Contender, serve

ARMS = list(range(10))


def live(policy, seed):
    """Return the two functions of a learning policy.

    It must be fitted before it predicts: on the first reward of each arm.
    """
    mab, first = MAB(ARMS, policy, seed=seed), []

    def select():
        return len(first) if len(first) < len(ARMS) else mab.predict()

    def update(arm, reward):
        if len(first) == len(ARMS):
            mab.partial_fit([arm], [reward])
            return
        first.append(reward)
        if len(first) == len(ARMS):
            mab.fit(ARMS, first)

    return select, update


def ucb(value, seed):
    return live(LearningPolicy.UCB1(alpha=value), seed)


def epsilon_greedy(value, seed):
    return live(LearningPolicy.EpsilonGreedy(epsilon=value), seed)


def thompson(value, seed):
    """It is for rewards of 0 and 1; `binarizer` makes them of others."""
    return live(LearningPolicy.ThompsonSampling(lambda arm, reward: reward >= value), seed)


CONTENDERS = {
    "UCB1": Contender(ucb, "alpha", 1, (0.1, 0.3, 1, 10, 100, 1000)),
    "EpsilonGreedy": Contender(epsilon_greedy, "epsilon", 0.1, (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)),
    "ThompsonSampling, binarizer": Contender(thompson, "threshold", None, (15, 17, 18, 19, 20, 21)),
}


def play_ucb(rounds):
    mab = MAB(ARMS, LearningPolicy.UCB1(alpha=1.25), seed=1)
    mab.fit(decisions=ARMS, rewards=[random.gauss(2 * arm + 2, 1) for arm in ARMS])
    for _ in range(rounds):
        arm = mab.predict()
        mab.partial_fit([arm], [random.gauss(2 * arm + 2, 1)])


SPEEDS = {"UCB1: predict, partial_fit": (play_ucb, 2_000)}

if __name__ == "__main__":
    serve(CONTENDERS, SPEEDS)
