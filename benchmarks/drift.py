"""Policies for arms that change: their regret, how late changes are found, probes.

    python benchmarks/drift.py             # all tables, about ten minutes
    python benchmarks/drift.py --quick     # a tenth of the trials
    python benchmarks/drift.py --seed 50000  # other random numbers and changes

**Regret.** The paper's arms under its attack exchange their means five times in 100,000
rounds. The yardstick is six fresh segments: six times the regret that `CoherentIMED`
has in a sixth of the rounds, without a change.

**Changes of the leader.** The same, with other changes in each trial. A change is found
if the policy starts anew before the next; how late is counted in rounds. Every other
start is a false alarm. A change is followed if the last 1,000 rounds before the next
one have mostly pulled the new best arm, whether an alarm rang or not.

**A rise that only probes can see.** The leader stays at 20, and the arm with mean 2
rises in round 20,001. The price is the regret of the first 20,000 rounds beyond that
without probes.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np

import ironarm as ia
from ironarm.engine.state import State
from ironarm.engine.streams import streams

MEANS = list(range(2, 21, 2))
SCALE = 1800.0


def play(
    policy: ia.extend.Policy, bandit: ia.DriftingBandit, rho: float, rounds: int, seed: int
) -> tuple[list[int], np.ndarray]:
    """Play one trial; return the rounds of its restarts, and the regret after each."""
    g = np.random.default_rng(seed)
    noise = g.normal(size=rounds).tolist()
    attacked = (g.random(rounds) < rho).tolist()
    shift = (SCALE * g.random(rounds)).tolist()
    state = State(policy, bandit.arms, rounds)
    state.renew(streams(seed, 0)[2])
    view = state.view
    restarts, known, lost = [], 0, np.empty(rounds)
    rows = [row.tolist() for row in bandit.table]
    ends = [*bandit.times[1:], rounds + 1]
    k = 0
    for t in range(1, rounds + 1):
        k += t == ends[k]
        means = rows[k]
        best = max(means)
        arm = state.select()
        x = means[arm] + noise[t - 1]
        if attacked[t - 1]:
            x = -shift[t - 1] if means[arm] == best else shift[t - 1]
        state.observe(arm, x)
        lost[t - 1] = best - means[arm]
        if view.restarts[0] != known:
            known = int(view.restarts[0])
            restarts.append(t)
    return restarts, np.cumsum(lost)


def regrets(trials: int, seed: int, rounds: int = 100_000) -> None:
    ranged = {"reward_range": (-1, 23)}
    policies = {
        ia.RestartingIMED(): 1,
        ia.RestartingIMED(restart="arm"): 10,
        ia.RestartingIMED(probes=0.01): 10,
        ia.policies.SlidingMedUCB(window=2000, b=1.5): 10,
        ia.policies.SlidingWindowUCB(window=2000, **ranged): 10,
        ia.policies.DiscountedUCB(discount=0.999, **ranged): 10,
        ia.policies.GLRKLUCB(changes=5, **ranged): 40,
        ia.policies.MUCB(changes=5, **ranged): 10,
        ia.CoherentIMED(): 10,
    }
    bandit = ia.DriftingBandit.permutations(MEANS, 5, rounds, seed=16 + seed)
    print(f"regret at 100,000 rounds with 5 changes, seed {seed}")
    for rho in (0.0, 0.125, 0.3):
        attack = ia.OppositeUniform(rho=rho, scale=SCALE)
        still = ia.GaussianBandit(MEANS)
        shared = {"attack": attack, "workers": 1, "progress": False}
        fresh = ia.simulate(
            ia.CoherentIMED(),
            still,
            horizon=rounds // 6,
            trials=trials,
            seed=160302 + seed,
            **shared,
        )
        six = 6 * fresh.regret[0, :, -1].mean()
        print(f"rho = {rho}: six fresh segments of CoherentIMED, {trials} trials: {six:,.0f}")
        for policy, fewer in policies.items():
            played = max(2, trials // fewer)
            result = ia.simulate(
                policy, bandit, horizon=rounds, trials=played, seed=160301 + seed, **shared
            )
            final = result.regret[0, :, -1]
            mean = final.mean()
            print(
                f"  {policy.label:60} {played:4} trials {mean:9,.0f}  largest "
                f"{final.max():9,.0f}  ratio {mean / six:.2f}",
                flush=True,
            )
        long = ia.simulate(
            [ia.CoherentIMED(), ia.RestartingIMED()],
            still,
            horizon=rounds,
            trials=trials,
            seed=160303 + seed,
            **shared,
        ).regret[:, :, -1]
        print(
            f"  no change at all, {trials} trials: CoherentIMED {long[0].mean():,.0f}, "
            f"RestartingIMED {long[1].mean():,.0f}, ratio {long[1].mean() / long[0].mean():.3f}\n",
            flush=True,
        )


def leader_changes(trials: int, seed: int, rounds: int = 100_000) -> None:
    print(f"changes of the leader, 5 in 100,000 rounds, {trials} trials")
    print("rho    found  followed  of      rounds late: median  95 %  largest   false alarms")
    for rho in (0.125, 0.3):
        late, false, changes, followed = [], 0, 0, 0
        for trial in range(trials):
            bandit = ia.DriftingBandit.permutations(MEANS, 5, rounds, seed=1000 + trial + seed)
            restarts, lost = play(ia.RestartingIMED(), bandit, rho, rounds, 730_000 + trial + seed)
            times = [*bandit.times[1:], rounds + 1]
            changes += 5
            false += len(restarts)
            for begin, end in pairwise(times):
                found = [t for t in restarts if begin <= t < end]
                followed += np.count_nonzero(np.diff(lost[end - 1002 : end - 1]) == 0) > 500
                if found:
                    late.append(found[0] - begin + 1)
                    false -= 1
        print(
            f"{rho:<6} {len(late):5}  {followed:8}  {changes:<6} {np.median(late):19.0f} "
            f"{np.quantile(late, 0.95):5.0f} {max(late):8}   {false}"
        )


def rises(trials: int, seed: int, rounds: int = 100_000, at: int = 20_000) -> None:
    print("\nthe arm with mean 2 rises in round 20,001; the leader stays at 20")
    print("rho    rises to  probes   found      rounds late: median  95 %     price a round")
    for rho in (0.125, 0.3):
        base = np.mean(
            [
                play(
                    ia.RestartingIMED(),
                    ia.DriftingBandit([1], [MEANS]),
                    rho,
                    at,
                    740_000 + i + seed,
                )[1][-1]
                for i in range(trials)
            ]
        )
        for height in (21, 24):
            table = [MEANS, [height, *MEANS[1:]]]
            bandit = ia.DriftingBandit([1, at + 1], table)
            for probes in (0.0, 0.01, 0.03, 0.1):
                late, cost = [], []
                for i in range(trials):
                    restarts, regret = play(
                        ia.RestartingIMED(probes=probes), bandit, rho, rounds, 750_000 + i + seed
                    )
                    found = [t for t in restarts if t > at]
                    late.append(found[0] - at if found else np.inf)
                    cost.append(regret[at - 1])
                shown = [
                    f"{x:,.0f}" if np.isfinite(x) else "-"
                    for x in np.quantile(late, [0.5, 0.95], method="inverted_cdf")
                ]
                print(
                    f"{rho:<6} {height:<9} {probes:<7} {np.isfinite(late).sum():4} of {trials:<4}"
                    f" {shown[0]:>18} {shown[1]:>8} {(np.mean(cost) - base) / at:11.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="added to all seeds")
    asked = parser.parse_args()
    regrets(20 if asked.quick else 200, asked.seed)
    leader_changes(20 if asked.quick else 200, asked.seed)
    rises(4 if asked.quick else 20, asked.seed)
