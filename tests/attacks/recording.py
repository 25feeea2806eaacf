"""What a policy sees in the compiled loop, and what an independent coin allows."""

from dataclasses import dataclass

import numpy as np

import ironarm as ia
from ironarm.engine.streams import streams
from ironarm.simulation.trial import Simulation, Trials
from tests.test_random import taken

ROUNDS, SEED = 20_000, 9  # two stretches of tape
BANDIT = ia.GaussianBandit([1.0, 5.0, 3.0])


@dataclass(frozen=True)
class Recorder(ia.extend.Policy):
    """Pulls all arms in turn, whatever they pay, and keeps what it sees."""

    fields = {"seen": f"float[{ROUNDS}]", "count": "int[1]"}

    @staticmethod
    @ia.extend.hot
    def choose(s, t, g):
        return (t - 1) % s.arms

    @staticmethod
    @ia.extend.hot
    def update(s, a, x):
        s.seen[s.count[0]] = x
        s.count[0] += 1


def seen(attack, bandit=BANDIT):
    """What a policy sees in the compiled loop, round by round."""
    return player(attack, bandit).state.view.seen.copy()


def player(attack, bandit=BANDIT):
    """Return the recording policy after one trial."""
    simulation = Simulation((Recorder(),), bandit, attack, ROUNDS, SEED, np.array([ROUNDS, 0]))
    trials = Trials(simulation)
    trials.play(0, lambda: False)
    return trials.players[0]


def coin_rounds(rho):
    """Return an independent coin's rounds: every third number of the stream < rho."""
    words = taken(streams(SEED, 0)[1].tolist(), 3 * ROUNDS)[::3]
    return np.array([((word >> 12) + 0.5) * 2.0**-52 < rho for word in words])
