"""Late and signed rewards, played by hand: the plain version of `run_late`.

The policy's own live calls decide and learn, as behind an agent. Everything else, what
is attacked, who sends it and when it comes, is written here as plainly as it reads.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from ironarm.engine.loop import CANCELLED
from ironarm.engine.state import State
from ironarm.engine.streams import streams
from ironarm.engine.tape import Tape
from ironarm.simulation.delay import Delay, Waits
from ironarm.simulation.sources import Senders


def play_by_hand(policy, bandit, attack, horizon, seed, trial, sources=None, delay=None):
    """Return the choices of one trial, and rewards (arm, x, sender) as they came."""
    noise_stream, attack_stream, policy_stream, sender_stream, wait_stream = streams(seed, trial, 5)
    tape = Tape(horizon, attack.rho, bandit.location_scale is not None, attack.burst)
    tape.rewind(noise_stream, attack_stream)
    noise, coin, draws = tape.next(horizon)
    senders, waits = [-1] * horizon, [0] * horizon
    if sources is not None:
        drawn = Senders(sources, attack.rho, horizon)
        drawn.rewind(sender_stream)
        senders = drawn.next(coin).tolist()
    delay = delay or Delay()
    drawn = Waits(delay, horizon)
    drawn.rewind(wait_stream)
    waits = drawn.next(horizon).tolist()
    state = State(policy, bandit.arms, horizon, live=True)
    state.renew(policy_stream)
    scene = SimpleNamespace(
        arms=bandit.arms,
        best=bandit.best,
        runner_up=bandit.runner_up,
        means=bandit.means,
        estimate=state.view.estimate,
        pulls=state.view.n,
        memory=attack.start(bandit).copy(),
        **attack.constants(),
    )
    on_the_way = {}
    choices, came = [], []
    for t in range(1, horizon + 1):
        arm = state.select()
        choices.append(arm)
        chance = float(state.view.chance[0])
        x = clean = float(bandit.rewards(arm, noise[t - 1 : t])[0])
        wait = waits[t - 1]
        if coin[t - 1]:
            scene.t = t
            clean = float(bandit.rewards(attack.shows(bandit)[arm], noise[t - 1 : t])[0])
            u, v = draws[3 * t - 2 : 3 * t]
            x = attack.corrupt(scene, arm, clean, u, v)
            if attack.hold is not None:
                held = attack.hold(scene, arm, clean, u, v)
                wait = -1 if held == np.inf or wait < 0 else wait + int(held)
        if delay.expire and (wait < 0 or wait > delay.expire):
            on_the_way.setdefault(t + delay.expire, []).append((arm, None, -1, 1.0))
        elif wait >= 0:
            on_the_way.setdefault(t + wait, []).append((arm, x, senders[t - 1], chance))
        for arm, shown, sender, chance in on_the_way.pop(t, []):
            if shown is None:
                state.adjust(CANCELLED, arm)
                continue
            state.observe(arm, shown, chance, sender)
            came.append((arm, shown, sender))
        if attack.observe is not None:
            scene.t = t
            attack.observe(scene, choices[-1], clean, x)
    return choices, came
