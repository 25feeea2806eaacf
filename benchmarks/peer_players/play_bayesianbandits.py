"""bayesianbandits: an `Agent`, with `pull` and `update`."""

import random

import numpy as np
from bayesianbandits import (
    EXP3A,
    Agent,
    Arm,
    EpsilonGreedy,
    NormalInverseGammaRegressor,
    ThompsonSampling,
    UpperConfidenceBound,
)
from playing import Contender, in_range, serve


def agent_of(policy, seed, lam=1.0):
    """Return an agent as the documentation's first example makes it."""
    arms = [Arm(arm, learner=NormalInverseGammaRegressor(lam=lam)) for arm in range(10)]
    return Agent(arms, policy, random_seed=seed)


def live(agent, shown=float):
    """Return the two functions of an agent that sees shown(reward)."""
    return lambda: agent.pull()[0], lambda arm, reward: agent.update(np.array([shown(reward)]))


def thompson(value, seed):
    return live(agent_of(ThompsonSampling(), seed, lam=value))


def ucb(value, seed):
    return live(agent_of(UpperConfidenceBound(alpha=value), seed))


def epsilon_greedy(value, seed):
    return live(agent_of(EpsilonGreedy(epsilon=value), seed))


def exp3a(value, seed):
    return live(agent_of(EXP3A(eta=value), seed), in_range)


CONTENDERS = {
    "ThompsonSampling": Contender(thompson, "lam", 1.0, (1e-6, 1e-4, 1e-2, 1.0)),
    "UpperConfidenceBound": Contender(ucb, "alpha", 0.68, (0.5, 0.68, 0.84, 0.95)),
    "EpsilonGreedy": Contender(epsilon_greedy, "epsilon", 0.1),
    "EXP3A": Contender(exp3a, "eta", 1.0),
}


def loop(make):
    """Return a function that plays rounds as the documentation shows."""

    def play(rounds):
        agent = agent_of(make(), 1)
        for _ in range(rounds):
            (arm,) = agent.pull()
            agent.update(np.array([random.gauss(2 * arm + 2, 1)]))

    return play


SPEEDS = {
    "Agent, UpperConfidenceBound: pull, update": (loop(UpperConfidenceBound), 500),
    "Agent, ThompsonSampling: pull, update": (loop(ThompsonSampling), 500),
}

if __name__ == "__main__":
    serve(CONTENDERS, SPEEDS)
