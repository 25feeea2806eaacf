"""Damaged files: each is refused with a sentence, or read as if nothing had happened.

    python -m tests.agent.damage --files 600 --seed 1

It damages the log of a durable agent, the same after a prune, and the file of an agent
in memory: flipped bits, zeros, pages that changed places, a part cut off. It counts
what opening and verifying each of them gives, and fails on a traceback, and on a log
that was opened with other contents than it had. The file of an agent in memory has no
hash, so one that is read may hold other numbers.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import ironarm as ia
from ironarm.agent import logged, replay
from ironarm.agent.sqlite import SqliteStore
from ironarm.agent.verify import verified
from ironarm.errors import IronarmError

PAGE = 4096
ROUNDS = 600
KEPT = ("refused", "as before", "read")
"""What may become of a damaged file; all else is a fault."""


def play(agent: ia.Agent | ia.DurableAgent) -> list[tuple[Any, float]]:
    """Let an agent learn something in the usual ways; return the latest rewards."""
    world = random.Random(1)
    sent = []
    for k in range(ROUNDS):
        decision, value = agent.decide(), world.random()
        if world.random() < 0.9:
            agent.learn(decision, value, source=f"user {k % 7}")
            sent.append((decision.id, value))
    return sent[-100:]


def seen(agent: ia.DurableAgent) -> object:
    """Return what must be the same after opening a file again."""
    return agent.summary(), agent.open_decisions, agent.sources()


def open_log(path: Path, sent: list[tuple[str, float]]) -> object:
    """Open a log, and read all that the agent knows; send known rewards again."""
    with ia.DurableAgent(path) as agent:
        found = seen(agent)
        for id, value in sent:
            agent.learn(id, value)
        return found, seen(agent)


def verify_log(path: Path) -> object:
    """Do what `ironarm log verify` does."""
    store = SqliteStore.open(path, create=False)
    try:
        store.refuse_damage()
        return verified(store, 1)
    finally:
        store.close()


def load_agent(path: Path) -> None:
    """Read the file of an agent in memory, and use it."""
    agent = ia.Agent.load(path)
    repr(agent)
    agent.update(agent.select(), 0.5)


def damaged(data: bytes, world: random.Random) -> bytes:
    """Return data with one kind of damage."""
    kind = world.choice(["bit", "bits", "cut", "zeros", "swap"])
    if kind == "cut":
        return data[: world.randrange(len(data))]
    found = bytearray(data)
    if kind == "zeros":
        at = world.randrange(len(data))
        length = min(world.choice([1, 16, PAGE]), len(data) - at)
        found[at : at + length] = bytes(length)
    elif kind == "swap" and len(data) > 2 * PAGE:
        a, b = (PAGE * world.randrange(len(data) // PAGE) for _ in range(2))
        found[a : a + PAGE], found[b : b + PAGE] = data[b : b + PAGE], data[a : a + PAGE]
    else:
        for _ in range(1 if kind == "bit" else world.randrange(2, 50)):
            # half of them where SQLite keeps what it finds rows by
            page = PAGE * world.randrange(max(1, len(data) // PAGE))
            head = world.random() < 0.5
            at = page + world.randrange(120) if head else world.randrange(len(data))
            found[min(at, len(data) - 1)] ^= 1 << world.randrange(8)
    return bytes(found)


def outcome(work: Callable[[Path], object], path: Path, expected: object) -> str:
    """Return in words what became of a damaged file."""
    try:
        found = work(path)
    except ia.errors.BadFile:
        return "refused"
    except IronarmError as error:
        return f"refused as {type(error).__name__}: {str(error)[-60:]}"
    except Exception as error:
        return f"traceback: {type(error).__name__}: {str(error)[:60]}"
    if expected is None:
        return "read"
    return "as before" if found == expected else "silently different"


def trials(folder: Path) -> dict[str, tuple[bytes, Callable[[Path], object], object]]:
    """Return what is damaged: the bytes, what reads them, and what that gives."""
    path = folder / "whole.db"
    with ia.DurableAgent(path, ia.RUCB(), arms=["a", "b", 3], seed=5, commit_within=1) as agent:
        sent = play(agent)
        for thread in agent._shared.threads[1:]:
            thread.join()  # it writes a snapshot; the first one commits
    found: dict[str, tuple[bytes, Callable[[Path], object], object]] = {}
    opening = partial(open_log, sent=sent)
    for name in ("whole log", "pruned log"):
        if name == "pruned log":
            with ia.DurableAgent(path) as agent:
                agent._shared.logged.prune(keep=300)
        opened, checked = opening(path), verify_log(path)
        data = path.read_bytes()
        found[f"{name}, opened"] = data, opening, opened
        found[f"{name}, verified"] = data, verify_log, checked
    path = folder / "agent.json"
    memory = ia.Agent(ia.RUCB(), arms=["a", "b", 3], seed=5)
    play(memory)
    memory.save(path)
    found["agent's file, read"] = path.read_bytes(), load_agent, None
    return found


def run(files: int, seed: int, folder: Path, keep: Path | None = None) -> dict[str, Counter[str]]:
    """Damage files, and count what becomes of each."""
    counts: dict[str, Counter[str]] = {}
    with (
        mock.patch.object(replay, "REFRESH", 128),
        mock.patch.object(logged, "REFRESH", 128),
        mock.patch.object(logged, "SNAPSHOT", 256),
    ):
        for name, (data, work, expected) in trials(folder).items():
            world = random.Random(f"{name} {seed}")
            count = counts[name] = Counter()
            for k in range(files):
                path = folder / f"damaged{k}"
                broken = damaged(data, world)
                path.write_bytes(broken)
                what = outcome(work, path, expected)
                count[what] += 1
                if keep is not None and what not in KEPT:
                    (keep / f"{name.replace(' ', '_')}{k}").write_bytes(broken)
                for each in folder.glob(f"damaged{k}*"):
                    each.unlink()
    return counts


def main() -> int:
    """Print a table; 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=600, help="of each kind (600)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files that show a fault")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = run(options.files, options.seed, Path(folder), options.keep)
    for name, count in counts.items():
        for what, times in count.most_common():
            print(f"{name:22} {times:6}  {what}")
    return int(any(what not in KEPT for count in counts.values() for what in count))


if __name__ == "__main__":
    sys.exit(main())
