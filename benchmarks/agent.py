"""Live use: `arm = agent.select(); agent.update(arm, x)` for med-E-UCB on ten named
arms, against a class of the same purpose in pure Python.

The Python class is written by hand: two heapq heaps per arm, the forced schedule,
names, and the checks that a sane class has (an unknown arm, a reward that is no
number). It has no lock and no late rewards, which ironarm's agent has. First both must
choose the same arms. Then they take turns on the same attacked rewards, drawn
beforehand; the bare loop's time is included in both. Last, the cost of ironarm's calls
with 10^4 rewards held and with 10^6.
"""

from __future__ import annotations

import math
import random
import time
from heapq import heappush, heappushpop

import ironarm as ia
from measure import PAPER_MEANS, alternate, at_least, at_most, options, show

NAMES = [f"server {letter}" for letter in "abcdefghij"]


class PythonAgent:
    """med-E-UCB as a good programmer writes it without compiled code."""

    def __init__(
        self, arms: list[str], b: float = 4.0, omega: float = 4.0, block: int = 1000
    ) -> None:
        self.names = list(arms)
        self.number = {name: i for i, name in enumerate(arms)}
        self.b, self.omega, self.block, self.t = b, omega, block, 0
        self.n, self.estimate, self.spread = (
            [0] * len(arms),
            [-math.inf] * len(arms),
            [0.0] * len(arms),
        )
        self.low: list[list[float]] = [[] for _ in arms]
        self.high: list[list[float]] = [[] for _ in arms]
        self.window_start, self.each, self.window_end = (
            1,
            self.forced_total(0),
            len(arms) * self.forced_total(0),
        )
        self.replan = self.window_end + 1

    def forced_total(self, k: int) -> int:
        """Return how many forced pulls each arm has had after block k."""
        return math.ceil(self.b * math.log((k + 1) * self.block))

    def select(self) -> str:
        """Decide which arm to use now."""
        self.t = t = self.t + 1
        if t >= self.replan:
            k = (t - 1) // self.block
            self.each = self.forced_total(k) - self.forced_total(k - 1) if k else 0
            self.window_start, self.window_end, self.replan = (
                k * self.block + 1,
                k * self.block + len(self.names) * self.each,
                (k + 1) * self.block + 1,
            )
        if t <= self.window_end:
            return self.names[(t - self.window_start) // self.each]
        c = math.sqrt(self.omega * math.log(t))
        index = [e + c * s for e, s in zip(self.estimate, self.spread)]  # noqa: B905
        return self.names[index.index(max(index))]

    def update(self, arm: str, reward: float) -> None:
        """Learn a reward of an arm."""
        if arm not in self.number:
            raise KeyError(f"unknown arm {arm!r}")
        reward = float(reward)
        if reward != reward:
            raise ValueError("the reward is not a number")
        a = self.number[arm]
        low, high = self.low[a], self.high[a]
        if len(low) == len(high):
            heappush(low, -heappushpop(high, reward))
        else:
            heappush(high, -heappushpop(low, -reward))
        self.n[a] = n = self.n[a] + 1
        self.estimate[a] = -low[0]
        self.spread[a] = 1.0 / math.sqrt(n)


class World:
    """Attacked rewards of the paper's bandit, drawn beforehand: a stretch of noise
    that is used again and again.
    """

    def __init__(self) -> None:
        generator = random.Random(1)
        draw = generator.gauss
        self.noise = [
            draw(0.0, 1.0) + (-1800 * generator.random() if generator.random() < 0.125 else 0.0)
            for _ in range(10_000)
        ]
        self.mean = {name: float(mean) for name, mean in zip(NAMES, PAPER_MEANS, strict=True)}

    def feed(self, agent: ia.Agent | PythonAgent, rounds: int) -> float:
        """Play rounds and return the CPU seconds that they took."""
        select, update, mean = agent.select, agent.update, self.mean
        start = time.process_time()
        for _ in range(rounds // len(self.noise)):
            for noise in self.noise:
                arm = select()
                update(arm, mean[arm] + noise)
        return time.process_time() - start


def main() -> None:
    quick = options(__doc__).quick
    world = World()
    agents = {"ironarm": ia.Agent(ia.MedEUCB(), arms=NAMES, seed=1), "python": PythonAgent(NAMES)}
    choices = [[], []]
    for _ in range(3000):
        for (name, agent), taken in zip(agents.items(), choices, strict=True):
            arm = agent.select()
            taken.append(arm)
            agent.update(arm, world.mean[arm] + world.noise[len(taken)])
            if not isinstance(arm, str):
                raise SystemExit(f"{name} chose {arm!r}")
    if choices[0] != choices[1]:
        raise SystemExit("The two agents do not choose the same arms.")
    best = alternate(
        {name: lambda agent=agent: world.feed(agent, 10_000) for name, agent in agents.items()},
        10 if quick else 40,
    )
    each = {name: seconds / 10_000 * 1e9 for name, seconds in best.items()}
    ratio = each["python"] / each["ironarm"]
    show(
        "Live: select and update, med-E-UCB, 10 arms",
        ["", "ns for both calls", "ironarm is faster by", "target", ""],
        [
            ["ironarm.Agent", f"{each['ironarm']:.0f}", "1", "", ""],
            ["pure Python, heapq", f"{each['python']:.0f}", f"{ratio:.1f}", *at_least(ratio, 2)],
        ],
    )

    small, large = (
        ia.Agent(ia.MedEUCB(), arms=NAMES, seed=1),
        ia.Agent(ia.MedEUCB(), arms=NAMES, seed=1),
    )
    world.feed(large, 1_000_000)
    pace = {"small": math.inf, "large": math.inf}
    for turn in range(10 if quick else 40):
        if turn % 2 == 0:
            small = ia.Agent(ia.MedEUCB(), arms=NAMES, seed=1)  # so that it still is small
            world.feed(small, 10_000)
        pace["small"] = min(pace["small"], world.feed(small, 10_000))
        pace["large"] = min(pace["large"], world.feed(large, 10_000))
    growth = pace["large"] / pace["small"]
    show(
        "Live: cost against the number of rewards held",
        ["rewards held", "ns for both calls", "ratio", "target", ""],
        [
            ["1e4", f"{pace['small'] / 1e4 * 1e9:.0f}", "1", "", ""],
            ["1e6", f"{pace['large'] / 1e4 * 1e9:.0f}", f"{growth:.2f}", *at_most(growth, 1.5)],
        ],
    )


if __name__ == "__main__":
    main()
