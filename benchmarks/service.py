"""The decision service: requests a second, latency, CPU a request, start, memory.

Each node is a real `ironarm serve` process with keys and the default policy; `wrk`
(Debian's package of that name) sends decisions and rewards, mixed, over 32 connections
to this machine. PostgreSQL is started in a folder of its own if it is installed. The
machine shares its processors between the load, the nodes and the database, so rates are
lower bounds; CPU a request is what the nodes themselves used.

    python benchmarks/service.py --quick
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from ironarm.service.keys import make_key
from ironarm.service.location import StoreLocation
from measure import ROOT, at_least, at_most, options, show

sys.path.insert(0, str(ROOT))
from tests.service.database import postgres
from tests.service.running import ask, running

ARMS = [f"server {letter}" for letter in "abcde"]


def told(port: int, path: str, method: str = "GET", key: str = "", body: object = None) -> dict:
    status, found = ask(port, method, path, body, key or None)
    if status not in (200, 201):
        raise RuntimeError(f"{method} {path}: {status} {found}")
    return found


@contextmanager
def node(place: StoreLocation) -> Iterator[tuple[int, int]]:
    """Start a node; yield its port and its process number when it is ready."""
    with running(place) as started:
        yield started.port, started.process.pid


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def load(ports: list[int], key: str, agents: int, seconds: float, connections: int = 32) -> dict:
    """Send requests to all ports at once; return the sum of the rates, worst p99."""
    script = str(Path(__file__).with_name("service.lua"))
    how = ["wrk", "-t1", f"-c{connections // len(ports)}", f"-d{seconds:.0f}s", "-s", script]
    runs = [
        subprocess.Popen(
            [*how, f"http://127.0.0.1:{port}"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "KEY": key, "AGENTS": str(agents)},
        )
        for port in ports
    ]
    found = [json.loads(run.communicate()[0].split("RESULT ", 1)[1]) for run in runs]
    return {
        "requests": sum(each["requests"] for each in found),
        "rate": sum(each["requests"] / each["seconds"] for each in found),
        "p50": max(each["p50"] for each in found),
        "p99": max(each["p99"] for each in found),
        "errors": sum(each["errors"] for each in found),
    }


def measured(place: StoreLocation, nodes: int, agents: int, seconds: float) -> dict:
    store = place.open(create=True)
    key = make_key(store, "benchmark", ["admin"])
    store.close()
    with ExitStack() as stack:
        running = [stack.enter_context(node(place)) for _ in range(nodes)]
        ports = [port for port, _ in running]
        for k in range(agents):
            told(ports[0], f"/v1/agents/a{k}", "PUT", key, {"arms": ARMS, "seed": k})
        load(ports, key, agents, 2)  # warm
        before = sum(cpu_seconds(pid) for _, pid in running)
        commits = sum(commits_of(port, key) for port in ports)
        found = load(ports, key, agents, seconds)
        used = sum(cpu_seconds(pid) for _, pid in running) - before
        commits = sum(commits_of(port, key) for port in ports) - commits
    return {
        **found,
        "cpu": 1e6 * used / found["requests"],
        "together": found["requests"] / commits,
    }


def commits_of(port: int, key: str) -> int:
    """Return how many transactions a node has committed."""
    text = ask(port, "GET", "/metrics", key=key)[1].decode()
    return int(float(re.search(r"^ironarm_commits_total (\S+)", text, re.MULTILINE)[1]))


def creating() -> None:
    """How long others wait while an agent with a policy that is new here is made."""
    import threading

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        before = os.environ.get("IRONARM_CACHE_DIR")
        os.environ["IRONARM_CACHE_DIR"] = cache
        try:
            with node(StoreLocation(Path(folder))) as (port, _):
                told(port, "/v1/agents/old", "PUT", body={"arms": ARMS})
                usual = [_wait(port) for _ in range(100)]
                began, waits = time.perf_counter(), []
                made = threading.Thread(
                    target=told,
                    args=(port, "/v1/agents/new", "PUT", "", {"arms": ARMS, "policy": "KLUCB"}),
                )
                made.start()
                while made.is_alive():
                    waits.append(_wait(port))
                took = time.perf_counter() - began
        finally:
            del os.environ["IRONARM_CACHE_DIR"]
            if before is not None:
                os.environ["IRONARM_CACHE_DIR"] = before
    show(
        f"Decisions of another agent while KLUCB is compiled for the first time ({took:.1f} s)",
        ["", "decisions", "median ms", "longest ms"],
        [
            [name, len(each), f"{1000 * median(each):.1f}", f"{1000 * max(each):.0f}"]
            for name, each in (("before", usual), ("meanwhile", waits))
        ],
    )


def _wait(port: int) -> float:
    began = time.perf_counter()
    told(port, "/v1/agents/old/decisions", "POST")
    return time.perf_counter() - began


def row(name: str, found: dict, *targets: str) -> list[str]:
    return [
        name,
        f"{found['rate']:,.0f}",
        f"{found['p50']:.1f}",
        f"{found['p99']:.1f}",
        f"{found['cpu']:.0f}",
        f"{found['together']:.1f}",
        str(found["errors"]),
        *targets,
    ]


def speed(seconds: float) -> None:
    head = ["", "requests/s", "p50 ms", "p99 ms", "CPU us/request", "requests/commit"]
    head += ["errors", "target", ""]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        found = measured(StoreLocation(Path(folder)), 1, 1, seconds)
        rows.append(row("SQLite, one agent", found, *at_most(found["cpu"], 200)))
        rows.append([""] * 7 + list(at_least(found["rate"], 3000)))
        rows.append([""] * 7 + list(at_most(found["p99"], 40)))
    with postgres() as url:
        if url is None:
            print("PostgreSQL is not installed: skipped")
        else:
            one = measured(StoreLocation(database=url), 1, 16, seconds)
            rows.append(row("PostgreSQL, 1 node, 16 agents", one, *at_least(one["rate"], 1000)))
    with postgres() as url:
        if url is not None:
            three = measured(StoreLocation(database=url), 3, 16, seconds)
            more = at_least(three["rate"] / one["rate"], 1)
            rows.append(row("PostgreSQL, 3 nodes, 16 agents", three, *more))
    rates = []
    for nodes in (1, 3):
        with postgres() as url:
            if url is not None:
                found = measured(StoreLocation(database=url), nodes, 1, seconds)
                rates.append(found["rate"])
                target = at_least(rates[-1] / rates[0], 1) if nodes > 1 else ("", "")
                rows.append(row(f"PostgreSQL, {nodes} nodes, 1 agent", found, *target))
    show("Decide and reward, 32 connections, keys checked, default policy", head, rows)


def start(entries: int) -> None:
    """How long a node takes to be ready on a long log, and its memory."""
    import random

    with tempfile.TemporaryDirectory() as folder:
        place = StoreLocation(Path(folder))
        from ironarm.agent.logged import keep_snapshot
        from ironarm.service.directory import create, opened
        from ironarm.service.hosted import planned

        store = place.open(create=True)
        new, described = planned(arms=ARMS, seed=1)
        create(store, "long", described, True)
        hosted = opened(store, 1)
        hosted._snapshot_due = lambda frozen: kept.append(frozen)
        kept: list = []
        world = random.Random(1)
        new.prepare()
        while hosted.log.last < entries:
            with store.transaction():
                for _ in range(2000):
                    decision = hosted.decide()
                    hosted.reward(decision.id, world.gauss(ARMS.index(decision.arm), 1.0))
                hosted.log.hand_over()
            if kept:
                keep_snapshot(store, 1, kept.pop())
        rows = []
        with tempfile.TemporaryDirectory() as empty:
            rows.append(["without any agent", *_started(StoreLocation(Path(empty)))[1:], "", ""])
        for name, limit in (("from a snapshot", 2), ("from entry 1", 20)):
            took, *cells = _started(place)
            rows.append([name, *cells, *at_most(took, limit)])
            store.drop_snapshots(1)
        store.close()
        show(
            f"Start on a log of {entries:,} entries (Python and imports included)",
            ["", "seconds until ready", "CPU seconds", "MB", "target", ""],
            rows,
            "The shortest of three starts. On a busy machine only the CPU seconds mean anything.",
        )


def _started(place: StoreLocation) -> tuple[float, str, str, str]:
    """Start a node three times; return the seconds that the fastest took, and cells."""
    found = []
    for _ in range(3):
        began = time.perf_counter()
        with node(place) as (_, pid):
            found.append((time.perf_counter() - began, cpu_seconds(pid), memory_mb(pid)))
    took, cpu, memory = (min(each) for each in zip(*found, strict=True))
    return took, f"{took:.1f}", f"{cpu:.1f}", f"{memory:.0f}"


def idle() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = StoreLocation(Path(folder))
        store = place.open(create=True)
        key = make_key(store, "benchmark", ["admin"])
        store.close()
        with node(place) as (port, _):
            told(port, "/v1/agents/a", "PUT", key, {"arms": ARMS})
        with node(place) as (port, pid):  # nothing is compiled in this one
            for _ in range(20):
                id = told(port, "/v1/agents/a/decisions", "POST", key)["id"]
                told(port, f"/v1/decisions/{id}/reward", "PUT", key, {"value": 1.0})
            memory = memory_mb(pid)
        show(
            "Memory of an idle node with one agent",
            ["", "MB", "target", ""],
            [["one agent, nothing compiled", f"{memory:.0f}", *at_most(memory, 200)]],
        )


def main() -> None:
    quick = options(__doc__).quick
    idle()
    creating()
    start(100_000 if quick else 1_000_000)
    if shutil.which("wrk") is None:
        print("\nThe rates need wrk: install Debian's package of that name.")
        return
    speed(4 if quick else 15)


if __name__ == "__main__":
    main()
