"""Sums of clicks before a median: what they help against, and what not.

Five arms with click rates of 4 to 12 %. One event in five is fake: never a click on
the best arm, always one on the others. Lone bots come by an independent coin, bursts
in runs of 500 events on average. A policy on medians is fed the sum of m events at a
time and decides for all m; KLUCB is fed each event. The table has the share of events
of the second half that went to the best arm, mean over the runs.

    python docs/examples/clicks_in_sums.py
"""

import sys
import warnings

import numpy as np

import ironarm as ia

RATES, RHO, LENGTH, EVENTS = (0.04, 0.06, 0.08, 0.10, 0.12), 0.2, 500, 1_000_000
BEST = len(RATES) - 1


def fake_events(bursts, generator):
    """Return which events are fake."""
    u = generator.random(EVENTS)
    if not bursts:
        return u < RHO
    fake, now = np.empty(EVENTS, bool), bool(u[0] < RHO)
    for i, x in enumerate(u):
        now = x < 1 - 1 / LENGTH if now else x < RHO / ((1 - RHO) * LENGTH)
        fake[i] = now
    return fake


def share_with_sums(policy, m, bursts, seed):
    """Return the share of the best arm in the second half."""
    generator = np.random.default_rng(seed)
    fake = fake_events(bursts, generator)
    agent = ia.Agent(policy, arms=len(RATES), seed=seed)
    chosen = []
    for start in range(0, EVENTS - m + 1, m):
        arm = agent.select()
        clicks = generator.random(m) < RATES[arm]
        clicks[fake[start : start + m]] = arm != BEST
        agent.update(arm, float(clicks.sum()))
        chosen.append(arm == BEST)
    return np.mean(chosen[len(chosen) // 2 :])


def share_without_sums(bursts, runs):
    """Return the same for KLUCB, which is fed every event."""
    attack = ia.attacks.FakeClicks(RHO, length=LENGTH if bursts else None)
    result = ia.simulate(
        ia.KLUCB(),
        ia.BernoulliBandit(RATES),
        attack,
        horizon=EVENTS,
        trials=runs,
        seed=1,
        checkpoints=[EVENTS // 2],
        progress=False,
    )
    half, whole = result.optimal[0, :, 0], result.optimal[0, :, -1]
    return float((2 * whole - half).mean())


def main(runs=10):
    """Print the table."""
    warnings.simplefilter("ignore", ia.RewardWarning)
    print(f"{'':34}lone bots   bursts")
    print(f"{'KLUCB, each event':34}", end="")
    print(*(f"{share_without_sums(bursts, runs):9.2f}" for bursts in (False, True)))
    for m in (50, 200, 1000):
        for policy in (ia.CoherentIMED(), ia.MedEUCB(omega=4 * m * 0.1)):
            name = f"{type(policy).__name__}, sums of {m}"
            print(f"{name:34}", end="")
            for bursts in (False, True):
                shares = [share_with_sums(policy, m, bursts, seed) for seed in range(runs)]
                print(f"{np.mean(shares):9.2f}", end=" ")
            print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
