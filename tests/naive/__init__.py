"""The policies and a trial of a simulation, written as plainly as their formulas.

They are slow, and easy to check by eye. Nothing here uses ironarm's estimators, rules
or engine loop. Each arm has one sorted list of rewards, its estimate is computed from
that list when it changes, and every index is computed in every round. Random numbers
come from the same stream in the same order as the real policy's, through the plain
functions of `ironarm.random`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ironarm.engine.streams import streams
from ironarm.engine.tape import Tape
from ironarm.simulation.sources import Senders

from .base import Naive, lower_median, upper_median
from .evidence import corrupted_kl_table
from .upper_confidence import catoni_alpha, catoni_root

__all__ = [
    "TWINS",
    "catoni_alpha",
    "catoni_root",
    "corrupted_kl_table",
    "lower_median",
    "play",
    "twin_of",
    "upper_median",
]

# every naive policy of this folder, by the name that it shares with ironarm's
TWINS = {
    name: twin
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py"))
    for name, twin in vars(import_module(f".{path.stem}", __name__)).items()
    if isinstance(twin, type) and issubclass(twin, Naive)
}


def twin_of(policy, arms, horizon, g):
    """Return the naive version of a policy, with its own copy of the stream."""
    parameters = policy.parameters
    name = type(policy).__name__
    assert name in TWINS, f"{name} has no naive twin: write a class of that name in tests/naive/"
    return TWINS[name](arms, parameters.pop("horizon", None) or horizon, g.copy(), **parameters)


def play(policy, bandit, attack, horizon, seed, trial, senders_of=None):
    """Play the policy's twin in one trial; return its choices and what it saw.

    With `senders_of`, a description of sources, they send the rewards.
    """
    noise_stream, attack_stream, policy_stream, sender_stream = streams(seed, trial, 4)
    with np.errstate(over="ignore"):
        tape = Tape(horizon, attack.rho, bandit.location_scale is not None, attack.burst)
        tape.rewind(noise_stream, attack_stream)
        noise, coin, numbers = tape.next(horizon)
        if senders_of is not None:
            drawn = Senders(senders_of, attack.rho, horizon)
            drawn.rewind(sender_stream)
            senders = drawn.next(coin).tolist()
    clean = [bandit.rewards(arm, noise).tolist() for arm in range(bandit.arms)]
    shows = attack.shows(bandit).tolist()
    twin = twin_of(policy, bandit.arms, horizon, policy_stream)
    pulls = [0] * bandit.arms
    scene = SimpleNamespace(
        arms=bandit.arms,
        best=bandit.best,
        runner_up=bandit.runner_up,
        means=bandit.means.tolist(),
        pulls=pulls,
        memory=attack.start(bandit),
        **attack.constants(),
    )
    choices, seen = [], []
    for t in range(1, horizon + 1):
        arm = twin.select(t)
        pulls[arm] += 1
        x = before = clean[arm][t - 1]
        if coin[t - 1]:
            scene.t, scene.estimate = t, twin.estimates
            before = clean[shows[arm]][t - 1]
            x = attack.corrupt(scene, arm, before, *numbers[3 * t - 2 : 3 * t].tolist())
        if senders_of is None:
            twin.update(arm, x)
        else:
            twin.update(arm, x, senders[t - 1])
        if attack.observe is not None:
            scene.t, scene.estimate = t, twin.estimates
            attack.observe(scene, arm, before, x)
        choices.append(arm)
        seen.append(x)
    return choices, seen
