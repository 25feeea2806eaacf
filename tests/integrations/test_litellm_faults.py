"""Many requests at once through LiteLLM's Router, with everything that goes wrong.

    python -m tests.integrations.test_litellm_faults               10,000 requests
    python -m tests.integrations.test_litellm_faults --durable     with agents on disk

Failures, timeouts, bad requests, streams that break or are left, retries, cancelled
tasks: every decision is closed once and only once, and nothing is left behind. The
command also says how long our calls held up the event loop: by their own CPU time, less
that of Python's garbage collector, which now and then walks through all that LiteLLM
has in memory, and does so in whichever call comes next.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip(
    "litellm", reason="THE LITELLM STRATEGY IS NOT TESTED: pip install 'ironarm[litellm]'"
)

import litellm

from ironarm.integrations import litellm as integration
from ironarm.integrations.litellm import RobustRouting
from tests.integrations.mock_deployments import (
    ASK,
    GROUP,
    Mock,
    error,
    forget_callbacks,
    mocked_router,
    until,
)

AT_ONCE = 50  # requests
NAMES = ["east", "west", "north", "south", "centre"]
OUR_CALLS = ("_chosen", "_take", "_answered", "_finish", "_failed")
FAULTS: list[Any] = [
    litellm.InternalServerError,
    litellm.RateLimitError,
    litellm.Timeout,
    litellm.BadRequestError,
]


class Collector:
    """How much CPU time Python's garbage collector has taken in each thread."""

    def __init__(self) -> None:
        self.longest = self._begun = 0.0
        self._spent: defaultdict[int, float] = defaultdict(float)

    @property
    def spent(self) -> float:
        """In this thread, in seconds."""
        return self._spent[threading.get_ident()]

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Be told that it starts or stops."""
        if phase == "start":
            self._begun = time.thread_time()
        else:
            pause = time.thread_time() - self._begun
            self._spent[threading.get_ident()] += pause
            self.longest = max(self.longest, pause)


class Ledger:
    """Counts what is done to each decision, and how long our own calls take in the
    thread of the event loop; those in a thread of ours hold nobody up.
    """

    def __init__(self, routing: RobustRouting) -> None:
        self.made: set[Any] = set()
        self.closed: Counter[Any] = Counter()
        self.cpu = self.wall = 0.0  # the longest call: its own work, and with waiting
        self.collector = Collector()
        gc.callbacks.append(self.collector)
        for name in OUR_CALLS:
            setattr(routing, name, self._timed(getattr(routing, name)))
        make = routing._groups.make
        routing._groups.make = lambda group, ids: self._watched(make(group, ids))

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                return call(*given)
            start, begun = time.thread_time(), time.perf_counter()
            others = self.collector.spent
            try:
                return call(*given)
            finally:
                others = self.collector.spent - others
                self.cpu = max(self.cpu, time.thread_time() - start - others)
                self.wall = max(self.wall, time.perf_counter() - begun)

        return timed

    def _watched(self, agent: Any) -> Any:
        decide, learn, cancel, expire = agent.decide, agent.learn, agent.cancel, agent.expire

        def watched_decide(among: Any = None) -> Any:
            decision = decide(among)
            self.made.add(decision.id)
            return decision

        def watched_learn(id: Any, reward: float) -> None:
            learn(id, reward)
            self.closed[id] += 1

        def watched_cancel(id: Any) -> None:
            cancel(id)
            self.closed[id] += 1

        def watched_expire(older_than: float) -> int:
            before = {each.id for each in agent.open_decisions}
            count: int = expire(older_than)
            for id in before - {each.id for each in agent.open_decisions}:
                self.closed[id] += 1
            return count

        agent.decide, agent.learn = watched_decide, watched_learn
        agent.cancel, agent.expire = watched_cancel, watched_expire
        return agent


class Stalls:
    """Measures how long the event loop was not free, whoever held it up."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        """Look every millisecond, until cancelled."""
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.perf_counter() - start - 0.001)


async def request(router: Any, world: random.Random) -> str:
    """Make a request of a random kind; say how it ended."""
    kind = world.choices(["plain", "stream", "leave", "cancel"], [6, 2, 1, 1])[0]
    try:
        if kind == "plain":
            await router.acompletion(GROUP, ASK)
        elif kind == "cancel":
            task = asyncio.create_task(router.acompletion(GROUP, ASK))
            await asyncio.sleep(world.random() * 0.01)
            task.cancel()
            await task
        else:
            stream = await router.acompletion(GROUP, ASK, stream=True)
            async for _ in stream:
                if kind == "leave":
                    break
    except asyncio.CancelledError:
        return "cancelled"
    except Exception as problem:
        return type(problem).__name__
    return kind


async def play(router: Any, requests: int, world: random.Random) -> Counter[str]:
    """Make requests, `AT_ONCE` at a time; return how they ended."""
    left = iter(range(requests))
    ends: Counter[str] = Counter()

    async def caller() -> None:
        for i in left:
            ends[await request(router, world)] += 1
            if sys.stderr.isatty() and i % 100 == 0:
                print(f"\r{i:,} of {requests:,} requests", end="", file=sys.stderr)

    await asyncio.gather(*(caller() for _ in range(AT_ONCE)))
    return ends


def kept() -> int:
    """Return how many of our objects of single requests are still in memory."""
    gc.collect()
    kinds = (integration.Outcome, integration.PendingDecision)
    # by type: a weak proxy of what is gone raises an error if it is asked more
    return sum(issubclass(type(each), kinds) for each in gc.get_objects())


def run(requests: int, seed: int = 1, **options: Any) -> tuple[dict[str, Any], Ledger]:
    """Play with faults; return a report, and what was done to each decision."""
    world = random.Random(seed)

    async def behave(name: str) -> None:
        await asyncio.sleep(world.random() * 0.004)
        if world.random() < (0.3 if name == "east" else 0.1):
            raise error(world.choice(FAULTS), name)

    mock = Mock(behave)
    router = mocked_router(NAMES, num_retries=2, disable_cooldowns=False, cooldown_time=0.05)
    routing = RobustRouting(**options).install(router)
    ledger, stalls = Ledger(routing), Stalls()

    async def all_of_it() -> Counter[str]:
        await play(router, AT_ONCE, world)  # LiteLLM's own first calls are slow
        stalls.longest = 0.0
        watch = asyncio.create_task(stalls.watch())
        ends = await play(router, requests, world)
        watch.cancel()
        await until(lambda: finished(routing, ledger), 60)
        return ends

    def finished(routing: RobustRouting, ledger: Ledger) -> bool:
        """Say whether only decisions are left for which no callback will come."""
        seen = len(ledger.closed)
        time.sleep(0.05)
        return seen == len(ledger.closed) and (
            routing._worker is None or routing._worker._work_queue.empty()
        )

    try:
        ends = asyncio.run(all_of_it())
        expired = routing.expire(0)
        collection = ledger.collector.longest
        agent = routing.agents[GROUP]
        report = {
            "requests": requests,
            "calls of deployments": len(mock.calls),
            "decisions": len(ledger.made),
            "closed": len(ledger.closed),
            "closed more than once": sum(n > 1 for n in ledger.closed.values()),
            "left open": len(agent.open_decisions) + routing.open_tickets,
            "expired": expired,
            "late": routing.late,
            "troubles": routing.troubles,
            "rewards": sum(agent.rewards.values()),
            "objects of requests that are kept": kept(),
            "longest of our calls, ms of CPU": 1e3 * ledger.cpu,
            "the same with waiting, ms": 1e3 * ledger.wall,
            "longest garbage collection, ms": 1e3 * collection,
            "longest stall of the loop, ms": 1e3 * stalls.longest,
            "ends": dict(ends),
        }
        return report, ledger
    finally:
        gc.callbacks.remove(ledger.collector)
        routing.close()
        forget_callbacks()


# LiteLLM makes coroutines that it does not start if a request is cancelled in between
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("durable", [False, True])
def test_every_decision_is_closed_once_and_only_once(durable, tmp_path):
    """Whatever happens to its request. The command at the top has 10,000 of them."""
    report, ledger = run(120, **({"path": tmp_path} if durable else {"seed": 1}))
    assert report["decisions"] >= 120
    assert set(ledger.closed) == ledger.made
    assert report["closed more than once"] == report["left open"] == 0
    assert report["late"] == report["troubles"] == report["objects of requests that are kept"] == 0
    assert 0 < report["expired"] < report["rewards"] < report["decisions"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--durable", action="store_true", help="agents on disk")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report, _ = run(
            chosen.requests, chosen.seed, **({"path": folder} if chosen.durable else {})
        )
    for name, value in report.items():
        print(f"{name:>36}  {f'{value:.2f}' if isinstance(value, float) else value}")
    whole = report["decisions"] == report["closed"]
    kept_some = report["objects of requests that are kept"]
    once = not (report["closed more than once"] or report["left open"] or kept_some)
    quick = report["longest of our calls, ms of CPU"] <= 5
    print(
        "every decision closed once and only once, nothing kept:", "yes" if whole and once else "NO"
    )
    print("no call of ours takes more than 5 ms:", "yes" if quick else "NO")
    return 0 if whole and once and quick else 1


if __name__ == "__main__":
    raise SystemExit(main())
