"""SMPyBandits: `choice` and `getReward`; for speed an `Evaluator`."""

import random

import numpy as np
from playing import RANGE, Contender, serve
from SMPyBandits.Arms import Gaussian
from SMPyBandits.Environment import Evaluator
from SMPyBandits.Policies import (
    EpsilonGreedy,
    Exp3PlusPlus,
    Thompson,
    TsallisInf,
    UCBalpha,
)
from SMPyBandits.Policies.Posterior import Gauss

KNOWN = {"lower": RANGE[0], "amplitude": RANGE[1] - RANGE[0]}
"""The range of the rewards, which the adversarial policies must know."""


def live(make, seed):
    """Return the two functions of a policy. It draws from the global generators."""
    np.random.seed(seed)
    random.seed(seed)
    policy = make()
    policy.startGame()
    return policy.choice, policy.getReward


def ucb(value, seed):
    return live(lambda: UCBalpha(10, alpha=value), seed)


def thompson(value, seed):
    return live(lambda: Thompson(10, posterior=Gauss, amplitude=value), seed)


def epsilon_greedy(value, seed):
    return live(lambda: EpsilonGreedy(10, epsilon=value), seed)


def tsallis_inf(value, seed):
    """Not tuned: with alpha = 1/2 it is the algorithm of its paper."""
    return live(lambda: TsallisInf(10, alpha=value, **KNOWN), seed)


def exp3_plus_plus(value, seed):
    return live(lambda: Exp3PlusPlus(10, alpha=value, **KNOWN), seed)


CONTENDERS = {
    "UCBalpha": Contender(ucb, "alpha", 4, (0.01, 0.1, 1, 4, 100, 1e4, 1e6)),
    "Thompson, Gauss": Contender(thompson, "amplitude", 1.0, (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)),
    "EpsilonGreedy": Contender(epsilon_greedy, "epsilon", 0.1, (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)),
    "TsallisInf": Contender(tsallis_inf, "alpha", 0.5),
    "Exp3PlusPlus": Contender(exp3_plus_plus, "alpha", 3, (0.3, 1, 3, 10)),
}


def play_evaluator(rounds):
    arms = {"arm_type": Gaussian, "params": [(float(mean), 1.0) for mean in range(2, 21, 2)]}
    policy = {"archtype": UCBalpha, "params": {"alpha": 2.1}}
    how = {"horizon": rounds, "repetitions": 1, "n_jobs": 1, "verbosity": 0}
    evaluator = Evaluator({**how, "environment": [arms], "policies": [policy]})
    for number, environment in enumerate(evaluator.envs):
        evaluator.startOneEnv(number, environment)


SPEEDS = {"UCBalpha in an Evaluator": (play_evaluator, 10_000)}

if __name__ == "__main__":
    serve(CONTENDERS, SPEEDS)
