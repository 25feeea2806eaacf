"""Print the tables of docs/sources.md: policies with hostile sources.

python docs/examples/sources_table.py --trials 200 --seed 2027
python docs/examples/sources_table.py --trials 20 --policies KLUCB ThompsonBeta
python docs/examples/sources_table.py --trials 5 --only 2,000
python docs/examples/sources_table.py --trials 10 --only 2,000 --slots 512
python docs/examples/sources_table.py --shifts --trials 20 --seed 5
python docs/examples/sources_table.py --speed
python docs/examples/sources_table.py --memory

Each row is one simulation: who sends, how many of them are hostile, and what they send.
Each cell has the share of the best arm in the second half of the rounds, how many
trials end stuck on a wrong arm, and the mean regret.
"""

import argparse
import random
import tempfile
import time
import tracemalloc
from pathlib import Path

import ironarm as ia

CLICKS = ia.BernoulliBandit([0.04, 0.06, 0.08, 0.10, 0.12])
THUMBS = ia.BernoulliBandit([0.5, 0.55, 0.6, 0.7])
ATTACKS = {
    "blatant": lambda rho: ia.attacks.FakeClicks(rho),
    "medium": lambda rho: ia.attacks.FakeClicks(rho, runner_up=0.3, others=None),
    "subtle": lambda rho: ia.attacks.FakeClicks(rho, shift=0.06),
    "none": lambda rho: ia.NoAttack(),
}
SENDERS = [
    ("400, 15 %", ia.Sources(400), 0.15),
    ("400, 15 %, five times as active", ia.Sources(400, active=5), 0.15),
    ("400, 30 %", ia.Sources(400), 0.3),
    ("2,000, 15 %, five times as active", ia.Sources(2000, active=5), 0.15),
]
ROWS = [
    (name, kind, CLICKS, sources, rho, 100_000)
    for kind in ("blatant", "medium", "subtle")
    for name, sources, rho in SENDERS
]
ROWS += [
    ("400, none", "none", CLICKS, ia.Sources(400), 0.0, 100_000),
    ("20, none", "none", CLICKS, ia.Sources(20), 0.0, 300_000),
    ("20, 4 of them", "blatant", CLICKS, ia.Sources(20), 0.2, 300_000),
    ("100 (Zipf 1), 20 of them", "blatant", CLICKS, ia.Sources(100, zipf=1), 0.2, 300_000),
    ("1,000, 100 of them", "blatant", CLICKS, ia.Sources(1000), 0.1, 300_000),
    (
        "400, 60 of them, five times as active",
        "blatant",
        CLICKS,
        ia.Sources(400, active=5),
        0.15,
        300_000,
    ),
    (
        "thumbs, 200 (Zipf 1/2), 30 of them",
        "blatant",
        THUMBS,
        ia.Sources(200, zipf=0.5),
        0.15,
        100_000,
    ),
]


def second_half(result, i):
    """Return the mean share of the best arm in the second half of the rounds."""
    half, end = result.optimal[i, :, -2:].T
    return (2 * end - half).mean()


def shifts(trials, seed, workers):
    """Print what common lies of several sizes do."""
    print("| shift | 15 % hostile | 30 % | 40 % |\n|---|---|---|---|")
    for shift in (0.02, 0.03, 0.04, 0.06, 0.1):
        shares = []
        for rho in (0.15, 0.3, 0.4):
            result = ia.simulate(
                ia.TrustThompson(),
                CLICKS,
                ia.attacks.FakeClicks(rho, shift=shift),
                sources=ia.Sources(400),
                horizon=100_000,
                trials=trials,
                seed=seed,
                workers=workers,
                checkpoints=[50_000],
                progress=False,
            )
            shares.append(f" {second_half(result, 0):.3f} |")
        print(f"| {shift:g} |" + "".join(shares), flush=True)


def speed():
    """Print the time of a reward with 100,000 sources, the simulator's included."""
    for policy in (ia.TrustThompson(slots=2**17), ia.UCB(sigma=0.5)):
        for horizon in (1_000, 1_000_000):  # the first one compiles
            start = time.process_time()
            ia.simulate(
                policy,
                CLICKS,
                sources=ia.Sources(100_000),
                horizon=horizon,
                trials=1,
                seed=1,
                workers=1,
                progress=False,
            )
            taken = time.process_time() - start
        print(f"simulated, {policy.label}: {1e6 * taken / horizon:.2f} us a reward")
    world = random.Random(1)
    names = [f"user {i}" for i in range(100_000)]
    senders = world.choices(names, k=1_000_000)
    rewards = [float(world.random() < 0.1) for _ in senders]
    for policy in (ia.TrustThompson(slots=2**17), ia.UCB(sigma=0.5)):
        plain = lived(policy, rewards, [None] * len(rewards))
        signed = lived(policy, rewards, senders)
        print(f"live, {policy.label}: {signed:.2f} us a decision and its reward,", end=" ")
        print(f"{plain:.2f} without sources")


def lived(policy, rewards, senders):
    """Return the microseconds that a live agent takes for a decision and its reward."""
    agent = ia.Agent(policy, arms=5, seed=1).prepare()
    start = time.process_time()
    for x, sender in zip(rewards, senders, strict=True):
        agent.update(agent.select(), x, sender)
    return 1e6 * (time.process_time() - start) / len(rewards)


def memory():
    """Print what is held of 100,000 sources that have sent to one or two of ten arms.

    And of a flood: a name for each reward. The names' own text is not counted, unless
    nobody else has it.
    """
    world = random.Random(1)
    names = [f"user {i}" for i in range(100_000)]
    sent = [(name, arm) for name in names for arm in world.sample(range(10), world.choice((1, 2)))]
    world.shuffle(sent)
    ia.Agent(ia.UCB(sigma=0.5), arms=10, seed=1).prepare().update(0, 1.0)  # compiles
    tracemalloc.start()
    agent = ia.Agent(ia.UCB(sigma=0.5), arms=10, seed=1)
    for name, arm in sent:
        agent.update(arm, float(world.random() < 0.1), source=name)
    held = tracemalloc.get_traced_memory()[0]
    print(f"{len(sent):,} pairs of 100,000 sources and 10 arms: {held / 1e6:.0f} MB,", end=" ")
    pairs, every_pair = 8 * len(sent) * (1 + 3), 8 * 100_000 * 10 * 3
    print(f"{pairs / 1e6:.0f} MB of it for the pairs; all would be {every_pair / 1e6:.0f} MB")
    del agent
    before = tracemalloc.get_traced_memory()[0]
    agent = ia.Agent(ia.UCB(sigma=0.5), arms=10, seed=1)
    for i in range(1, 400_001):
        agent.update(i % 10, 1.0, source=f"invented {i}")
        if i % 100_000 == 0:
            held = tracemalloc.get_traced_memory()[0] - before
            print(f"{i:,} invented names: {held / 1e6:.0f} MB")
    tracemalloc.stop()
    agent = ia.Agent(ia.TrustThompson(slots=2**17), arms=10, seed=1)
    for name, arm in sent:
        agent.update(arm, float(world.random() < 0.1), source=name)
    with tempfile.TemporaryDirectory() as folder:
        agent.save(Path(folder) / "agent.json")
        size = (Path(folder) / "agent.json").stat().st_size
    start = time.process_time()
    agent.sources()
    taken = time.process_time() - start
    print(f"its file, with {agent.policy.label}: {size / 1e6:.0f} MB; sources() {taken:.1f} s")


def main() -> None:
    """Print one row of the table after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--workers", type=int, help="threads; all cores without it")
    parser.add_argument("--policies", nargs="+", default=["TrustThompson"])
    parser.add_argument("--slots", type=int, default=4096, help="sources that are told apart")
    parser.add_argument("--only", default="", help="rows that hold this text")
    parser.add_argument("--shifts", action="store_true", help="common lies of several sizes")
    parser.add_argument("--speed", action="store_true", help="time a reward")
    parser.add_argument("--memory", action="store_true", help="what a live agent holds")
    asked = parser.parse_args()
    if asked.speed:
        return speed()
    if asked.memory:
        return memory()
    if asked.shifts:
        return shifts(asked.trials, asked.seed, asked.workers)
    policies = [
        ia.TrustThompson(slots=asked.slots) if name == "TrustThompson" else getattr(ia, name)()
        for name in asked.policies
    ]
    print("| sources, hostile ones | they are | rounds |", end="")
    print("".join(f" {policy.label} |" for policy in policies))
    print("|---|---|---|" + "---|" * len(policies))
    for name, kind, bandit, sources, rho, horizon in ROWS:
        if asked.only not in f"{name} {kind}":
            continue
        result = ia.simulate(
            policies,
            bandit,
            ATTACKS[kind](rho),
            sources=sources,
            horizon=horizon,
            trials=asked.trials,
            seed=asked.seed,
            workers=asked.workers,
            checkpoints=[horizon // 2],
            progress=False,
        )
        cells = []
        for i in range(len(policies)):
            share = second_half(result, i)
            stuck, regret = result.stuck[i].sum(), result.regret[i, :, -1].mean()
            cells.append(f" {share:.3f} / {stuck} / {regret:,.0f} |")
        print(f"| {name} | {kind} | {horizon:,} |" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
