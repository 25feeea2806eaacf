"""med-E-UCB in the simulator against the same work in pure Python and in NumPy: K = 10,
T = 100,000, the paper's setting, rho = 0.125.

The Python loop is what a good programmer writes: two heapq heaps per arm for the lower
median, cached 1/sqrt(n), local names, draws and the attack by the `random` module. The
NumPy loop appends to an array per arm that doubles and calls np.median. The lazy
leader, ironarm's own trick, is shown in a second Python row, for information. The
np.median loop takes over a minute, so it is run once; with --quick it plays only 10,000
rounds, where it is not yet as slow, and is not judged.
"""

from __future__ import annotations

import math
import random
from heapq import heappush, heappushpop

import numpy as np

import ironarm as ia
from measure import PAPER_MEANS, alternate, at_least, options, show

RHO, SCALE = 0.125, 1800.0
B, OMEGA, BLOCK = 4.0, 4.0, 1000


class HeapMedian:
    """The lower median: a max-heap (negated) of the lower half, a min-heap of the
    upper.
    """

    __slots__ = ("high", "low")

    def __init__(self) -> None:
        self.low: list[float] = []
        self.high: list[float] = []

    def add(self, x: float) -> float:
        """Add a value and return the median."""
        low, high = self.low, self.high
        if len(low) == len(high):
            heappush(low, -heappushpop(high, x))
        else:
            heappush(high, -heappushpop(low, -x))
        return -low[0]


class ArrayMedian:
    """np.median over an array that doubles."""

    def __init__(self) -> None:
        self.values = np.empty(64)
        self.count = 0

    def add(self, x: float) -> float:
        """Add a value and return the median."""
        if self.count == len(self.values):
            self.values = np.concatenate([self.values, np.empty(self.count)])
        self.values[self.count] = x
        self.count += 1
        return float(np.median(self.values[: self.count]))


def forced_total(k: int) -> int:
    return math.ceil(B * math.log((k + 1) * BLOCK))


def play(horizon: int, median: type, lazy: bool = False, seed: int = 1) -> float:
    """Play one trial and return the regret."""
    generator = random.Random(seed)
    gauss, coin, log, sqrt = generator.gauss, generator.random, math.log, math.sqrt
    means = [float(m) for m in PAPER_MEANS]
    arms, best = len(means), max(range(len(means)), key=means.__getitem__)
    add = [median().add for _ in means]
    n, estimate, spread = [0] * arms, [-math.inf] * arms, [0.0] * arms
    window_start, each, window_end = 1, forced_total(0), arms * forced_total(0)
    replan, leader, threat, threat_until, later = window_end + 1, 0, math.inf, 0, 0.0
    everyone = range(arms)
    for t in range(1, horizon + 1):
        if t >= replan:
            k = (t - 1) // BLOCK
            each = forced_total(k) - forced_total(k - 1) if k else 0
            window_start, window_end, replan = (
                k * BLOCK + 1,
                k * BLOCK + arms * each,
                (k + 1) * BLOCK + 1,
            )
        if t <= window_end:
            a = (t - window_start) // each
        elif lazy and t <= threat_until and estimate[leader] > threat:
            a = leader
        else:
            c = sqrt(OMEGA * log(t))
            index = [e + c * s for e, s in zip(estimate, spread)]  # noqa: B905
            a = index.index(max(index))
            if lazy:
                leader, threat_until = a, t + t // 16 + 8
                later = sqrt(OMEGA * log(threat_until))
                threat = max(estimate[i] + later * spread[i] for i in everyone if i != a)
        x = gauss(means[a], 1.0)
        if coin() < RHO:
            x += -SCALE * coin() if a == best else SCALE * coin()
        n[a] += 1
        estimate[a] = add[a](x)
        spread[a] = 1.0 / sqrt(n[a])
        if lazy and a != leader:
            threat = max(threat, estimate[a] + later * spread[a])
    return sum((means[best] - m) * count for m, count in zip(means, n, strict=True))


def main() -> None:
    quick = options(__doc__).quick
    horizon, trials = 100_000, 10
    slow_horizon = 10_000 if quick else horizon
    bandit, attack = ia.GaussianBandit(means=PAPER_MEANS), ia.OppositeUniform(rho=RHO, scale=SCALE)

    def ironarm() -> ia.Result:
        return ia.simulate(
            ia.MedEUCB(b=B, omega=OMEGA, block=BLOCK),
            bandit,
            attack,
            horizon=horizon,
            trials=trials,
            seed=1,
            workers=1,
            progress=False,
        )

    expected = float(np.median(ironarm().regret[0, :, -1]))
    if any(
        abs(play(horizon, HeapMedian, lazy) - expected) > 0.1 * expected for lazy in (False, True)
    ):
        raise SystemExit("The Python loop does not do the same work: its regret is another.")
    best = alternate(
        {
            "ironarm": ironarm,
            "heapq": lambda: play(horizon, HeapMedian),
            "lazy": lambda: play(horizon, HeapMedian, lazy=True),
        },
        5 if quick else 12,
    )
    slow = alternate({"numpy": lambda: play(slow_horizon, ArrayMedian)}, 1)
    ours = best["ironarm"] / trials / horizon * 1e9
    heaps, lazy, numpy = (
        best["heapq"] / horizon * 1e9,
        best["lazy"] / horizon * 1e9,
        slow["numpy"] / slow_horizon * 1e9,
    )
    judged = ("", "T = 1e4 only, not judged") if quick else at_least(numpy / ours, 8000)
    show(
        "med-E-UCB against Python, K = 10, T = 1e5",
        ["", "ns/round", "ironarm is faster by", "target", ""],
        [
            ["ironarm", f"{ours:.0f}", "1", "", ""],
            ["two heapq heaps", f"{heaps:.0f}", f"{heaps / ours:.0f}", *at_least(heaps / ours, 40)],
            [
                "two heapq heaps and the lazy leader",
                f"{lazy:.0f}",
                f"{lazy / ours:.0f}",
                "",
                "for information",
            ],
            ["np.median over a growing array", f"{numpy:.0f}", f"{numpy / ours:.0f}", *judged],
        ],
    )


if __name__ == "__main__":
    main()
