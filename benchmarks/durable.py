"""Durable agents: decide and learn with every entry on disk, against the disk's own
rate; batched commits; how long opening a long log takes; how long saving holds
decisions up.

The default policy on five arms. The disk's rate is that of appending 100 bytes and
fdatasync, in the same folder and the same run. One decide and learn are two commits.
"""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from pathlib import Path

import ironarm as ia
from ironarm.agent.log import Log
from measure import at_least, at_most, options, show

ARMS = [f"server {letter}" for letter in "abcde"]


def fsync_rate(folder: str, seconds: float) -> float:
    """Return how many appends a second reach the disk."""
    with open(Path(folder) / "probe", "wb", buffering=0) as file:
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            file.write(b"x" * 100)
            os.fdatasync(file.fileno())
            count += 1
    return count / seconds


def rate(agent: ia.DurableAgent, seconds: float) -> float:
    """Return how many decisions with their reward an agent takes a second."""
    world, count, end = random.Random(1), 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        decision = agent.decide()
        agent.learn(decision.id, world.gauss(ARMS.index(decision.arm), 1.0))
        count += 1
    return count / seconds


def speed(folder: str, seconds: float) -> None:
    disk = fsync_rate(folder, seconds / 2)
    with ia.DurableAgent(Path(folder) / "safe.db", arms=ARMS, seed=1) as agent:
        safe = rate(agent.prepare(), seconds)
    with ia.DurableAgent(
        Path(folder) / "batched.db", arms=ARMS, seed=1, commit_within=0.01
    ) as agent:
        batched = rate(agent.prepare(), seconds)
    disk = max(disk, fsync_rate(folder, seconds / 2))
    share = 2 * safe / disk
    show(
        "Decide and learn, one process, a second",
        ["", "pairs", "entries", "commits / the disk's fdatasyncs", "target", ""],
        [
            [
                "every entry on disk at once",
                f"{safe:,.0f}",
                f"{2 * safe:,.0f}",
                f"{share:.2f}",
                "",
                "for information",
            ],
            [
                "at most 10 ms later",
                f"{batched:,.0f}",
                f"{2 * batched:,.0f}",
                "",
                *at_least(2 * batched, 20_000),
            ],
        ],
        f"The disk: {disk:,.0f} fdatasyncs a second.",
    )


def opening(folder: str, entries: int) -> None:
    path = Path(folder) / "long.db"
    with ia.DurableAgent(path, arms=ARMS, seed=1, commit_within=1.0) as agent:
        world = random.Random(1)
        while agent._log.last < entries:
            decision = agent.decide()
            agent.learn(decision.id, world.gauss(ARMS.index(decision.arm), 1.0))
    took = {}
    for start in ("from a snapshot", "from entry 1"):
        began = time.perf_counter()
        ia.DurableAgent(path).close()
        took[start] = time.perf_counter() - began
        log = Log.open(path, create=False)
        log.drop_snapshots()
        log.close()
    show(
        f"Opening a log of {entries:,} entries",
        ["", "seconds", "target", ""],
        [
            [start, f"{seconds:.2f}", *at_most(seconds, 2 if "snapshot" in start else 20)]
            for start, seconds in took.items()
        ],
    )


def saving(folder: str, rewards: int) -> None:
    agent = ia.Agent(ia.MedEUCB(), arms=ARMS, seed=1).prepare()
    world = random.Random(1)
    agent.warm_start([(ARMS[i % 5], world.gauss(i % 5, 1.0)) for i in range(rewards)])
    done, longest = threading.Event(), 0.0

    def save() -> None:
        agent.save(Path(folder) / "agent.json")
        done.set()

    thread = threading.Thread(target=save)
    began = time.perf_counter()
    thread.start()
    while not done.is_set():
        start = time.perf_counter()
        agent.update(agent.select(), 1.0)
        longest = max(longest, time.perf_counter() - start)
    took = time.perf_counter() - began
    thread.join()
    show(
        f"Saving an agent with {rewards:,} rewards while it decides",
        ["", "milliseconds"],
        [
            ["the save", f"{1000 * took:,.0f}"],
            ["the longest select + update", f"{1000 * longest:.1f}"],
        ],
    )


def main() -> None:
    quick = options(__doc__).quick
    with tempfile.TemporaryDirectory(dir=".") as folder:
        speed(folder, 1 if quick else 5)
        opening(folder, 100_000 if quick else 1_000_000)
        saving(folder, 100_000 if quick else 400_000)


if __name__ == "__main__":
    main()
