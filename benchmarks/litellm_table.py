"""Routing with corrupt feedback: LiteLLM's own latency-based handler against ironarm's
strategy, both in the real Router.

    python benchmarks/litellm_table.py            20 seeds, some minutes
    python benchmarks/litellm_table.py --quick    4 seeds
    python benchmarks/litellm_table.py --whole    all through acompletion, for hours

Five deployments whose latencies are lognormal with medians .5, .75, 1, 1.25 and 1.5 s
and a spread of 0.3; 2,000 requests, one after the other. A table cell is the share of
requests in the second half that go to the fastest deployment: the mean over the seeds,
and a 95 % interval for it. All contenders meet the same latencies and the same coins.

No second passes: the clock is ours. The Router chooses with all its filters, and
LiteLLM's callbacks are called as LiteLLM calls them. As a check, the first requests of
every cell are also played whole, through `Router.acompletion` with mocked deployments,
and both ways must make the same choices.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import time
import types
from collections.abc import Callable
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any
from unittest.mock import patch

import numpy as np

from measure import ROOT, show

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
sys.path.insert(0, str(ROOT))

import litellm
from tests.integrations.mock_deployments import (
    ASK,
    GROUP,
    TOKENS,
    Mock,
    forget_callbacks,
    mocked_router,
    until,
)

import ironarm as ia
from ironarm.integrations import litellm as integration
from ironarm.integrations.litellm import RobustRouting

MEDIANS = [0.5, 0.75, 1.0, 1.25, 1.5]
NAMES = [f"d{i}" for i in range(len(MEDIANS))]
SPREAD = 0.3  # of the logarithm
REQUESTS = 2000
WHOLE = 150  # requests of each cell that are also played whole

CONTENDERS: dict[str, Callable[[int], Any]] = {
    "LiteLLM's handler": lambda seed: None,
    "UCB with the true spread": lambda seed: RobustRouting(policy=ia.UCB(sigma=SPREAD), seed=seed),
    "ironarm's default": lambda seed: RobustRouting(seed=seed),
}
SETTINGS = {
    "none": ("stalls", 0.0),
    "2 % stalls of 30 to 60 s on any": ("stalls", 0.02),
    "10 % stalls": ("stalls", 0.1),
    "2 % stalls on the best, 10 ms error pages on the others": ("both", 0.02),
    "10 % of that": ("both", 0.1),
    "20 % of that": ("both", 0.2),
}


def latencies(kind: str, rho: float, seed: int) -> np.ndarray:
    """Return what every deployment would take for every request, in seconds."""
    draw = np.random.default_rng(seed)
    table = np.array(MEDIANS) * np.exp(SPREAD * draw.standard_normal((REQUESTS, len(MEDIANS))))
    stalls = draw.uniform(30, 60, table.shape)
    hit = draw.random((REQUESTS, 1)) < rho
    if kind == "stalls":
        return np.where(hit, stalls, table)
    corrupt = np.full(table.shape, 0.01)
    corrupt[:, 0] = stalls[:, 0]
    return np.where(hit, corrupt, table)


class Clock:
    """A clock that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1)

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.now += timedelta(seconds=seconds)

    @contextmanager
    def shown(self) -> Any:
        """Let LiteLLM and the strategy see this clock."""
        clock = self

        class Shown(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
                return clock.now

        module = types.ModuleType("datetime")
        vars(module).update({**vars(sys.modules["datetime"]), "datetime": Shown})
        with (
            patch.object(litellm.utils, "datetime", module),
            patch.object(integration, "datetime", Shown),
        ):
            yield


async def play(make: Callable[[int], Any], table: np.ndarray, seed: int, whole: bool) -> list[int]:
    """Make the requests; return the number of the deployment that served each."""
    random.seed(seed)  # LiteLLM's handler draws from it
    clock, chosen = Clock(), []

    async def behave(name: str) -> None:
        chosen.append(NAMES.index(name))
        clock.advance(table[len(chosen) - 1, chosen[-1]])

    Mock(behave)
    routing = make(seed)
    strategy = "latency-based-routing" if routing is None else "simple-shuffle"
    router = mocked_router(NAMES, routing_strategy=strategy)
    if routing is None:
        handler = router.lowestlatency_logger
    else:
        handler = routing.install(router)
    heard = Heard()
    if whole:
        litellm.callbacks.append(heard)
    try:
        with clock.shown():
            for i in range(len(table)):
                if whole:
                    await router.acompletion(GROUP, ASK)
                    await until(lambda i=i: heard.count == i + 1)  # type: ignore[misc]
                else:
                    await one_request(router, handler, behave, clock)
    finally:
        if routing is not None:
            routing.close()
        forget_callbacks()
    return chosen


class Heard(litellm.integrations.custom_logger.CustomLogger):
    """The last of the callbacks: when it is called, the strategy knows the outcome."""

    count = 0

    async def async_log_success_event(self, *args: Any, **kwargs: Any) -> None:
        """Count it."""
        self.count += 1


ANSWER = litellm.ModelResponse(
    usage=litellm.Usage(prompt_tokens=1, completion_tokens=TOKENS, total_tokens=6)
)


async def one_request(router: Any, handler: Any, behave: Any, clock: Clock) -> None:
    """Choose as the Router does, and report as LiteLLM does."""
    request = {"metadata": {"model_group": GROUP}}
    chosen = await router.async_get_available_deployment(GROUP, request, ASK)
    start = clock.now
    await behave(chosen["model_info"]["id"])
    call = {
        "litellm_params": {"metadata": request["metadata"], "model_info": chosen["model_info"]},
        "call_type": "acompletion",
    }
    await handler.async_log_success_event(call, ANSWER, start, clock.now)


def share(chosen: list[int]) -> float:
    """Return the share of requests in the second half to the fastest deployment."""
    half = chosen[len(chosen) // 2 :]
    return half.count(0) / len(half)


def cell(shares: list[float]) -> str:
    """Return the mean with a 95 % interval, from Student's law."""
    from scipy import stats

    mean = float(np.mean(shares))
    if len(shares) < 2:
        return f"{mean:.3f}"
    half = stats.t.ppf(0.975, len(shares) - 1) * np.std(shares, ddof=1) / len(shares) ** 0.5
    return f"{mean:.3f} ± {half:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="4 seeds")
    parser.add_argument("--seeds", type=int, help="how many; 20 unless given")
    parser.add_argument("--whole", action="store_true", help="all requests through acompletion")
    chosen = parser.parse_args()
    seeds = range(1, 1 + (chosen.seeds or (4 if chosen.quick else 20)))
    rows, same, start = [], True, time.monotonic()
    for number, (setting, (kind, rho)) in enumerate(SETTINGS.items()):
        row = [setting]
        for name, make in CONTENDERS.items():
            shares = []
            for seed in seeds:
                table = latencies(kind, rho, seed)
                served = asyncio.run(play(make, table, seed, chosen.whole))
                shares.append(share(served))
            table = latencies(kind, rho, seeds[0])[:WHOLE]
            pair = [asyncio.run(play(make, table, seeds[0], whole)) for whole in (False, True)]
            same = same and pair[0] == pair[1]
            row.append(cell(shares))
            done = f"{number + 1} of {len(SETTINGS)} settings, {name}: {row[-1]}"
            print(f"{done}; {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        rows.append(row)
    show(
        f"Share of requests to the fastest deployment, LiteLLM {version('litellm')}",
        ["corrupt readings", *CONTENDERS],
        rows,
        note=f"{len(seeds)} seeds. Played whole, the first {WHOLE} requests of every cell make "
        f"{'the same choices' if same else 'OTHER CHOICES: the table is wrong'}. Both "
        "policies learn from the logarithm of the latency, in ironarm's strategy. Half of the "
        "trouble of LiteLLM's handler is that it does not explore: it leaves a deployment after "
        "one slow answer, and comes back only when the others have been slow too.",
    )
    if not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
