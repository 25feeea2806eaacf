"""Results made up for tests of claims."""

import numpy as np

import ironarm as ia
from ironarm.lab.kit.evidence import Evidence
from ironarm.simulation.simulate import checkpoint_rounds

HORIZON = 100_000
ROUNDS = checkpoint_rounds(HORIZON)


def result(curves, last_tenth=1.0, optimal=1.0):
    """A result of one policy whose regret is `curves`, array (trial, checkpoint)."""
    curves = np.asarray(curves, float)
    trials = len(curves)
    return ia.Result(
        policies=({"policy": "made up", "parameters": {}},),
        rounds=ROUNDS,
        regret=curves[None],
        optimal=np.full((1, *curves.shape), optimal),
        pulls=np.zeros((1, trials, 2), np.int64),
        last_tenth=np.broadcast_to(np.asarray(last_tenth, float), (1, trials)).copy(),
        specification={"policies": [{"policy": "made up"}]},
        seconds=None,
    )


def noisy(curve, trials=200, spread=0.05, seed=1):
    """Trials around a curve: each a multiple of it, close to 1."""
    return (1 + spread * np.random.default_rng(seed).standard_normal((trials, 1))) * np.asarray(
        curve, float
    )


def log_curve(size=400):
    return size * np.log(ROUNDS + 1.0)


def linear_curve(rate=2.0):
    return rate * ROUNDS.astype(float)


def evidence(trials=200, **results):
    return Evidence(results, trials)
