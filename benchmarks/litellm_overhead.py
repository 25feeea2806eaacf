"""What ironarm's strategy adds to a request through LiteLLM's Router.

Five mocked deployments that answer at once. Every contender has a Router of its own;
they take turns, a request each, and only the one whose turn it is has its callbacks
registered. A time is the CPU time of all threads for a request, its callbacks included.

LiteLLM itself takes milliseconds, a hundred times of what is to be measured, and other
work on the machine makes a request longer, never shorter. So contenders are compared by
the tenth of their requests that were the fastest: by the 10 % quantile, with a 95 %
interval for the difference from 1,000 resamples. Python's garbage collector waits until
a request is over.

A strategy that does nothing, with a callback that does nothing, shows what LiteLLM
takes for every strategy but its simplest, whatever the strategy does.

The second table leaves the rest of LiteLLM out: choosing a deployment and closing the
decision, called as LiteLLM calls them; each contender keeps its shortest time.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from measure import ROOT, at_most, options, show

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
sys.path.insert(0, str(ROOT))

import litellm
from litellm.integrations.custom_logger import CustomLogger
from litellm.router_strategy.lowest_latency import RoutingArgs
from tests.integrations.mock_deployments import ASK, GROUP, Mock, mocked_router, until

from ironarm.integrations.litellm import RobustRouting

NAMES = [f"d{i}" for i in range(5)]
TARGET = 50.0  # us
FASTEST = 0.1  # of the requests
LISTS = (
    "callbacks",
    "success_callback",
    "failure_callback",
    "_async_success_callback",
    "_async_failure_callback",
    "input_callback",
)


class Empty(CustomLogger):
    """A strategy that does nothing, in the place where ours is."""

    routing_args = RoutingArgs()

    def install(self, router: Any) -> None:
        """Take the place."""
        router.lowestlatency_logger = self
        router.routing_strategy = "latency-based-routing"
        litellm.callbacks.append(self)

    async def async_get_available_deployments(
        self, model_group: str, healthy_deployments: list[Any], **more: Any
    ) -> Any:
        """Return the first."""
        return healthy_deployments[0]

    async def async_log_success_event(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""


class Contender:
    """A Router with a strategy, and the callbacks that belong to it."""

    def __init__(self, strategy: str, routing: RobustRouting | Empty | None = None) -> None:
        for name in LISTS:
            setattr(litellm, name, [])
        self.router = mocked_router(NAMES, routing_strategy=strategy)
        if routing is not None:
            routing.install(self.router)
        self.routing = routing if isinstance(routing, RobustRouting) else None
        self.heard = Heard()
        litellm.callbacks.append(self.heard)
        self._callbacks = {name: getattr(litellm, name) for name in LISTS}
        self.asked = 0

    async def request(self) -> float:
        """Make a request; return its CPU time in microseconds."""
        for name, callbacks in self._callbacks.items():
            setattr(litellm, name, callbacks)
        start = time.process_time()
        await self.router.acompletion(GROUP, ASK)
        self.asked += 1
        while self.heard.count < self.asked or (self.routing and self.routing.open_tickets):
            await asyncio.sleep(0)
        return (time.process_time() - start) * 1e6


class Heard(CustomLogger):
    """Says when the callbacks of a request have come; every contender has one."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    async def async_log_success_event(self, *args: Any, **kwargs: Any) -> None:
        """Count it."""
        self.count += 1


async def whole_requests(contenders: dict[str, Contender], requests: int) -> None:
    """Print what a request takes, and how much more than the simplest strategy."""
    for each in contenders.values():
        for _ in range(30):
            await each.request()
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    gc.freeze()
    gc.disable()
    order = random.Random(1)
    for turn in range(requests):
        # in any order: who comes after himself finds the processor's caches warm
        for name in order.sample(list(contenders), len(contenders)):
            taken[name].append(await contenders[name].request())
        if turn % 10 == 0:
            gc.collect()
        if turn % 50 == 0:
            progress(f"{turn:,} of {requests:,} requests each")
    gc.enable()
    simplest, *others = taken
    rows = [[simplest, f"{quantile(taken[simplest]):,.0f}", "", "", ""]]
    draw = np.random.default_rng(1)
    for name in others:
        more = quantile(taken[name]) - quantile(taken[simplest])
        picks = draw.integers(requests, size=(1000, requests))
        resampled = [
            np.quantile(np.array(taken[each])[picks], FASTEST, axis=1) for each in (name, simplest)
        ]
        low, high = np.quantile(resampled[0] - resampled[1], [0.025, 0.975])
        limits = at_most(more, TARGET) if "in memory" in name else ("", "for information")
        interval = f"{more:+.0f} ({low:+.0f} to {high:+.0f})"
        rows.append([name, f"{quantile(taken[name]):,.0f}", interval, *limits])
    show(
        "A request through Router.acompletion, us of CPU",
        ["strategy", "10 % quantile", "more than the simplest (95 %)", "target", ""],
        rows,
        note=f"{requests:,} requests each.",
    )


def quantile(taken: list[float]) -> float:
    """Return the time below which the fastest tenth of the requests were."""
    return float(np.quantile(taken, FASTEST))


async def choosing(contenders: dict[str, Contender], turns: int, requests: int) -> None:
    """Print what choosing a deployment and closing the decision take."""
    best = dict.fromkeys(contenders, float("inf"))
    for turn in range(turns):
        for name, each in contenders.items():
            start = time.process_time()
            for _ in range(requests):
                await chosen_and_closed(each)
            if each.routing is not None:
                await until(lambda each=each: each.routing.open_tickets == 0)
            best[name] = min(best[name], (time.process_time() - start) / requests * 1e6)
        progress(f"turn {turn + 1} of {turns}, choosing only")
    simplest = next(iter(best.values()))
    show(
        "Choosing a deployment and closing the decision, us of CPU",
        ["strategy", "shortest", "more than the simplest"],
        [[name, f"{t:,.0f}", f"{t - simplest:+.0f}"] for name, t in best.items()],
    )


async def chosen_and_closed(each: Contender) -> None:
    request: dict[str, Any] = {"metadata": {"model_group": GROUP}}
    start = datetime.now()
    chosen = await each.router.async_get_available_deployment(GROUP, request, ASK)
    handler: Any = each.router.lowestlatency_logger
    if handler is not None:
        params = {"metadata": request["metadata"], "model_info": chosen["model_info"]}
        call = {"litellm_params": params, "call_type": "acompletion"}
        await handler.async_log_success_event(call, None, start, datetime.now())


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True, end="\r" if sys.stderr.isatty() else "\n")


async def measure(folder: str, quick: bool) -> None:
    Mock()
    makes: dict[str, Callable[[], Contender]] = {
        "LiteLLM's simple-shuffle": lambda: Contender("simple-shuffle"),
        "the same once more: what is noise": lambda: Contender("simple-shuffle"),
        "a strategy that does nothing: LiteLLM's part": lambda: Contender(
            "simple-shuffle", Empty()
        ),
        "ironarm's, in memory": lambda: Contender("simple-shuffle", RobustRouting(seed=1)),
        "ironarm's, on disk, commits batched": lambda: Contender(
            "simple-shuffle", RobustRouting(path=Path(folder), seed=1)
        ),
        "LiteLLM's latency-based-routing": lambda: Contender("latency-based-routing"),
    }
    contenders = {name: make() for name, make in makes.items()}
    jobs: list[Awaitable[None]] = [
        whole_requests(contenders, 200 if quick else 2000),
        choosing(contenders, *((6, 50) if quick else (20, 200))),
    ]
    for job in jobs:
        await job
    for each in contenders.values():
        if each.routing is not None:
            each.routing.close()


def main() -> None:
    quick = options(__doc__).quick
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(folder, quick))


if __name__ == "__main__":
    main()
