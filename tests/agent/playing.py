"""Agents to test, and how they are played."""

import numpy as np

import ironarm as ia

POLICIES = [
    ia.MedEUCB(b=1, block=60),
    ia.MedEpsilonGreedy(c=2),
    ia.UCB(),
    ia.EpsilonGreedy(c=2),
    ia.RUCB(median="upper"),
    ia.EXP3(horizon=500, reward_range=(-3, 6)),
    ia.CatoniUCB(),
    ia.TrimmedUCB(alpha=0.2),
    ia.TrimmedEpsilonGreedy(alpha=0.2, c=2),
    ia.policies.ThompsonGaussian(),
    ia.TsallisINF(reward_range=(-3, 6)),
    ia.TsallisINF(reward_range=(-3, 6), variance="reduced"),
    ia.policies.EXP3PlusPlus(reward_range=(-3, 6)),
    ia.policies.BARBAR(horizon=500, scale=0.5, reward_range=(-3, 6)),
    ia.policies.MultiLayerRace(horizon=500, scale=0.01, reward_range=(-3, 6)),
    ia.policies.SAO(horizon=500, beta=1.2, reward_range=(-3, 6)),
    ia.policies.CRUCB(alpha=0.2),
    ia.policies.CRUCB(alpha=0.2, mean="shorth"),
    ia.policies.HuberUCB(epsilon=0.01),
    ia.policies.MedianOfMeansUCB(v=0.3),
    ia.policies.TruncatedMeanUCB(u=1, epsilon=0.5),
]

NAMES = ["a", "b", "c", "d"]


def rewards(seed, count):
    values = np.random.default_rng(seed).normal(size=count)
    values[::11] = np.inf
    values[5::17] = -np.inf
    return values.tolist()


def play(agent, values):
    chosen = []
    for x in values:
        arm = agent.select()
        chosen.append(arm)
        agent.update(arm, x + agent.arms.index(arm))
    return chosen
