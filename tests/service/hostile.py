"""Hostile requests to a running service: no 500, no entry in any log, no way in.

    python tests/service/hostile.py --requests 100000 --seed 1

It starts two services of its own on this machine, one with keys and one without, and
sends requests of many kinds, mixed, over 32 connections. Meanwhile slow senders hold
connections open. Each request says which answers are right; any other is a way in. At
the end the logs must be what they were, and an honest client must still be served.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import ironarm as ia
from ironarm.service.keys import SCOPES
from ironarm.service.location import StoreLocation
from tests.service.hostile_requests import (
    CLOSED,
    GOOD,
    KINDS,
    Attempt,
    World,
    http,
    reward_path,
)
from tests.service.running import ask
from tests.service.serving import Service, rows, serving

READ_SECONDS = 2.0
LIMITS = f"Limits(read_seconds={READ_SECONDS})"


class Connection:
    """A connection that is opened again when the service has closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, raw: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
        """Send a request; return the status (0 for none), the headers and the body."""
        for fresh in (False, True):
            if self._writer is None:
                self._reader, self._writer = await asyncio.open_connection(
                    "127.0.0.1", self._port, limit=2**20
                )
                fresh = True
            try:
                self._writer.write(raw)
                with suppress(ConnectionError):  # an answer may be there all the same
                    await self._writer.drain()
                return await asyncio.wait_for(self._answer(), 60)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if fresh:
                    return CLOSED, {}, b""
        raise AssertionError

    async def _answer(self) -> tuple[int, dict[bytes, bytes], bytes]:
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head.strip().split(b"\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (ln.partition(b":") for ln in lines)
        }
        status = int(first.split(b" ")[1])
        body = await self._reader.readexactly(int(headers.get(b"content-length", b"0")))
        if headers.get(b"connection") == b"close" or status in (400, 413):
            self.close()
        return status, headers, body

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None


@dataclass
class Outcome:
    """What came of it."""

    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    ways_in: list[str] = field(default_factory=list)
    slow: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def judge(self, kind: str, attempt: Attempt, status: int, headers: Any, body: bytes) -> None:
        """Note an answer, and whether it is a right one."""
        self.counts[kind, status] += 1
        fine = status in attempt.right
        if fine and attempt.lines:
            found = [json.loads(line)["status"] for line in body.splitlines()]
            fine = bool(found) and all(400 <= each < 500 for each in found)
        if fine and headers.get(b"content-type", b"").startswith(b"application/"):
            # nobody's browser takes an answer for a page
            fine = headers.get(b"x-content-type-options") == b"nosniff"
        elif status and status != 400 and not attempt.lines:
            fine = False  # 400 is uvicorn's own, as text
        if not fine:
            self.ways_in.append(f"{kind}: {status} {body[:200]!r} to {attempt.raw[:300]!r}")


async def send_all(
    world: World, ports: dict[str, int], requests: int, say: Callable[[str], None]
) -> Outcome:
    """Send so many requests over 32 connections, and keep slow senders waiting."""
    outcome, began, sent = Outcome(), time.monotonic(), 0
    names, weights = [kind[0] for kind in KINDS], [kind[1] for kind in KINDS]
    make = {name: function for name, _, function in KINDS}
    # every kind at least once, the others by weight
    chosen = names + world.luck.choices(names, weights, k=max(0, requests - len(names)))
    todo: Iterator[str] = iter(chosen)
    said = began

    async def work() -> None:
        nonlocal sent, said
        lines = {service: Connection(port) for service, port in ports.items()}
        for kind in todo:
            attempt = make[kind](world)
            outcome.judge(kind, attempt, *await lines[attempt.service].send(attempt.raw))
            sent += 1
            if time.monotonic() - said > 5:
                said = time.monotonic()
                say(f"{sent:,} of {len(chosen):,} requests, {sent / (said - began):,.0f} a second")
        for line in lines.values():
            line.close()

    slow = [asyncio.create_task(slow_sender(ports["keyed"], world)) for _ in range(20)]
    await asyncio.gather(*(work() for _ in range(32)))
    outcome.slow = list(await asyncio.gather(*slow))
    outcome.seconds = time.monotonic() - began
    return outcome


async def slow_sender(port: int, world: World) -> float:
    """Send a request a byte at a time; return after how many seconds it was cut off."""
    raw = http("PUT", reward_path(world.open_ids[0]), world.keys["reward"], GOOD * 100)
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with suppress(ConnectionError):
        for byte in raw:
            writer.write(bytes([byte]))
            await writer.drain()
            with suppress(TimeoutError):
                if await asyncio.wait_for(reader.read(1), 0.1) == b"":
                    break
    writer.close()
    return time.monotonic() - began


def logs(service: Service) -> dict[str, list[Any]]:
    """Return every entry of every agent, straight from the store."""
    store = StoreLocation(service.folder).open()
    try:
        return {name: list(rows(store, number)) for name, number in store.agents().items()}
    finally:
        store.close()


def prepared(keyed: Service, open_service: Service, seed: int) -> World:
    """Make agents, decisions and keys, and return what the attacker gets of them."""
    with ia.Client(keyed.url, keyed.admin) as client:
        ads = client.create("ads", ia.RUCB(), arms=["red", "green"], seed=1)
        secret = client.create("secret", ia.RUCB(), arms=["red", "green"], seed=2)
        mine = [ads.decide() for _ in range(20)]
        others = [secret.decide() for _ in range(20)]
        ads.learn(mine[0], 1.0)
        ads.cancel(mine[1])
    with ia.Client(open_service.url) as client:
        client.create("ads", ia.RUCB(), arms=["red", "green"], seed=1)
    keys = {scope: keyed.key(scope) for scope in SCOPES}
    keys["ads only"] = keyed.key("decide", "reward", "read", agents=["ads"])
    keys["revoked"] = keyed.key("admin")
    store = StoreLocation(keyed.folder).open()
    store.revoke_key(keys["revoked"].split("_")[1], time.time())
    store.close()
    deadline = time.monotonic() + 120
    while ask(keyed.port, "GET", "/v1/agents", key=keys["revoked"])[0] != 401:
        assert time.monotonic() < deadline, "the service does not notice a revoked key"
        time.sleep(0.1)
    return World(
        random.Random(seed),
        keys,
        [each.id for each in mine[2:]],
        [each.id for each in others],
        mine[0].id,
        mine[1].id,
    )


@dataclass
class Report:
    """The outcome, and what the service was like afterwards."""

    outcome: Outcome
    logs_changed: bool
    errors: str
    megabytes: float


def attack(folder: Path, requests: int, seed: int, say: Callable[[str], None]) -> Report:
    """Start services, attack them, and look at what is left."""
    with ExitStack() as stack:
        keyed = stack.enter_context(serving(folder / "keyed", LIMITS, keys=True))
        without = stack.enter_context(serving(folder / "open", LIMITS))
        world = prepared(keyed, without, seed)
        before = logs(keyed), logs(without)
        ports = {"keyed": keyed.port, "open": without.port}
        outcome = asyncio.run(send_all(world, ports, requests, say))
        changed = (logs(keyed), logs(without)) != before
        status = Path(f"/proc/{keyed.process.pid}/status")
        memory = 0.0
        if status.exists():
            line = next(ln for ln in status.read_text().splitlines() if ln.startswith("VmRSS"))
            memory = int(line.split()[1]) / 1024
        with ia.Client(keyed.url, world.keys["ads only"]) as client:  # honest, and still served
            agent = client.agent("ads")
            for id in world.open_ids:
                agent.learn(id, 1.0)
            agent.update(agent.select(), 1.0)
            assert sum(agent.rewards.values()) == len(world.open_ids) + 2
        errors = keyed.errors.read_text() + without.errors.read_text()
    return Report(outcome, changed, errors, memory)


def main() -> int:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--requests", type=int, default=100_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = attack(
            Path(folder), options.requests, options.seed, lambda text: print(text, flush=True)
        )
    outcome = report.outcome
    print("\n| requests | kind | answers |\n|---|---|---|")
    for name, _, _ in KINDS:
        found = {status: n for (kind, status), n in sorted(outcome.counts.items()) if kind == name}
        shown = ", ".join(f"{s or 'closed'}: {n:,}" for s, n in found.items())
        print(f"| {sum(found.values()):,} | {name} | {shown} |")
    total = sum(outcome.counts.values())
    fives = sum(n for (_, status), n in outcome.counts.items() if status >= 500)
    print(f"\n{total:,} requests in {outcome.seconds:.0f} s.")
    print(f"The node with keys then had {report.megabytes:.0f} MB.")
    print(f"Slow senders: {len(outcome.slow)}, cut off after at most {max(outcome.slow):.1f} s.")
    print(f"Answers of 500 and above: {fives}. Ways in: {len(outcome.ways_in)}.")
    print(f"Logs: {'CHANGED' if report.logs_changed else 'as before, entry by entry'}.")
    print(f"Tracebacks: {report.errors.count('Traceback')}.")
    for each in outcome.ways_in[:20]:
        print(each)
    bad = outcome.ways_in or report.logs_changed or "Traceback" in report.errors
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
