"""Faults at full size: nodes are killed, cut off, and lose their database, under load.

    python -m tests.service.faults kill --rounds 100
    python -m tests.service.faults nodes --seconds 60
    python -m tests.service.faults database --rounds 20

Clients decide and send every reward twice. What was acknowledged is compared with the
log at the end: nothing lost, nothing doubled, and the state is what the log adds up to.
`test_faults.py` runs all three in small.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ironarm.agent.store import Store
from ironarm.service.directory import opened
from ironarm.service.location import StoreLocation

from .running import Talk, ask

ARMS = ["a", "b", "c"]


class Clients:
    """Clients in threads: each decides, and sends every reward twice."""

    def __init__(self, ports: list[int], count: int) -> None:
        self.decided: dict[str, str] = {}
        self.rewarded: dict[str, float] = {}
        self.statuses: dict[int, int] = {}
        self.bad: list[str] = []
        self.answered = dict.fromkeys(ports, 0)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, args=(k, ports), daemon=True) for k in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish what it does."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, k: int, ports: list[int]) -> None:
        world = random.Random(k)
        talks = {port: Talk(port, timeout=10) for port in ports}
        while not self._stop.is_set():
            self._play(k, world, talks)
        for talk in talks.values():
            talk.close()

    def _play(self, k: int, world: random.Random, talks: dict[int, Talk]) -> None:
        """Make a decision, and reward it twice."""
        head = {"Idempotency-Key": f"client {k} {world.random()}"}
        found = self._try(world, talks, "POST", "/v1/agents/ads/decisions", None, head)
        if found is None:
            return
        with self._lock:
            if self.decided.setdefault(found["id"], found["arm"]) != found["arm"]:
                self.bad.append(f"{found['id']} was given twice, for different arms")
        x = round(world.gauss(ARMS.index(found["arm"]), 1.0), 6)
        path = f"/v1/decisions/{found['id']}/reward"
        for _ in range(2):
            if self._try(world, talks, "PUT", path, {"value": x}) is not None:
                with self._lock:
                    self.rewarded[found["id"]] = x

    def _try(
        self,
        world: random.Random,
        talks: dict[int, Talk],
        method: str,
        path: str,
        body: Any,
        headers: Any = None,
    ) -> Any:
        """Send a request until it is answered, to any node; None if told to stop."""
        while True:
            port = world.choice(list(talks))
            status = 0
            with suppress(OSError, ValueError):
                status, found = talks[port].ask(method, path, body, headers)
            with self._lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1
                if status in (200, 201):
                    self.answered[port] += 1
                elif status not in (0, 503):
                    self.bad.append(f"{method} {path}: {status} {found}")
            if status in (200, 201):
                return found
            if status not in (0, 503) or self._stop.is_set():
                return None
            time.sleep(0.02)


def check(store: Store, clients: Clients) -> dict[str, int]:
    """Compare what was acknowledged with the log; return what was counted."""
    assert not clients.bad, clients.bad[:3]
    number = store.agents()["ads"]
    hosted = opened(store, number)
    hosted.log.verify()
    hosted.log.rewind()
    decided: dict[str, Any] = {}
    rewarded: dict[str, float] = {}
    for entry in hosted.log.unread():
        if entry.kind == "decided":
            assert entry.decision not in decided, "a decision is there twice"
            decided[str(entry.decision)] = entry.arm
        elif entry.kind == "rewarded":
            assert entry.decision not in rewarded, "a reward is there twice"
            rewarded[str(entry.decision)] = float(entry.value or 0.0)
    lost = [id for id, arm in clients.decided.items() if decided.get(id) != arm]
    lost += [id for id, x in clients.rewarded.items() if rewarded.get(id) != x]
    assert not lost, f"{len(lost)} lost, the first is {lost[0]}"
    return {
        "decisions acknowledged": len(clients.decided),
        "rewards acknowledged": len(clients.rewarded),
        "decisions in the log": len(decided),
        "rewards in the log": len(rewarded),
        "refused with 503": clients.statuses.get(503, 0),
        "connections broken": clients.statuses.get(0, 0),
    }


def same_state(store: Store, states: list[Any]) -> None:
    """Check that what nodes hold is the sum of the log, to the last bit."""
    number = store.agents()["ads"]
    store.drop_snapshots(number)
    expected = comparable(opened(store, number).replay.copied()())
    for state in states:
        assert comparable(state) == expected


def comparable(state: dict[str, Any]) -> Any:
    """Return a saved agent without what may differ: where rewards lie in memory.

    How they lie depends on how they came there, and no choice depends on it. The stream
    is set anew before each decision.
    """
    from ironarm.files import json_ready

    plain = json_ready(state)
    inner = dict(plain["state"])
    inner["rewards"] = [sorted(map(float, held)) for held in inner.get("rewards", [])]
    kept = ("policy", "arms", "minimize", "memory", "seed", "next_id", "tickets")
    return {**{name: plain[name] for name in kept}, "state": inner}


def state_of(port: int) -> Any:
    """Return what a node holds."""
    status, found = ask(port, "GET", "/v1/agents/ads/state")
    assert status == 200, found
    return found


def until(there: Callable[[], bool], what: str) -> None:
    """Wait until something is so; on a busy machine that takes its time."""
    deadline = time.monotonic() + 180
    while not there():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)


def make_agent(port: int) -> None:
    """Create the agent that the clients use."""
    body = {"arms": ARMS, "seed": 3, "policy": "CoherentIMED"}
    status, found = ask(port, "PUT", "/v1/agents/ads", body)
    assert status in (200, 201), found


def kill_again_and_again(folder: Path, rounds: int, count: int, seconds: float) -> dict[str, int]:
    """Kill a node on SQLite without warning, again and again, under load."""
    from .running import Running, free_port

    place, port, world = StoreLocation(folder), free_port(), random.Random(1)
    node = Running(place, port).wait()
    make_agent(port)
    clients = Clients([port], count)
    try:
        for k in range(rounds):
            time.sleep(world.uniform(0.3, 1.0) * seconds)
            node.kill()
            node = Running(place, port).wait()
            print(f"killed {k + 1} of {rounds}", flush=True)
        time.sleep(seconds)
        until(lambda: bool(clients.rewarded), "a reward is acknowledged")
        clients.stop()
        state = state_of(port)
    finally:
        clients.stop()
        node.stop()
    store = place.open()
    try:
        found = check(store, clients)
        same_state(store, [state])
    finally:
        store.close()
    return {"kills": rounds, **found}


def nodes_lost(seconds: float, count: int) -> dict[str, int]:
    """Three nodes on PostgreSQL: one is killed, one cut off from the database."""
    from .database import database
    from .proxy import Proxy
    from .running import Running

    with database() as server:
        assert server is not None, "PostgreSQL is not installed"
        proxy = Proxy(server.port)
        cut = StoreLocation(database=f"postgresql://ironarm@127.0.0.1:{proxy.port}/postgres")
        place = StoreLocation(database=server.url)
        nodes = [Running(place).wait(), Running(place).wait(), Running(cut).wait()]
        make_agent(nodes[0].port)
        clients = Clients([node.port for node in nodes], count)
        try:
            time.sleep(seconds / 4)
            nodes[1].kill()
            proxy.cut()
            before = clients.answered[nodes[0].port]
            # the database keeps the agent for the node that is cut off for two seconds
            time.sleep(max(6.0, seconds / 4))
            until(lambda: clients.answered[nodes[0].port] > before, "the node left answers")
            on = clients.answered[nodes[0].port] - before
            nodes[1] = Running(place, nodes[1].port).wait()
            proxy.mend()
            before = clients.answered[nodes[2].port]
            until(lambda: clients.answered[nodes[2].port] > before, "the lost node comes back")
            time.sleep(seconds / 4)
            clients.stop()
            states = [state_of(node.port) for node in nodes]
        finally:
            proxy.mend()
            clients.stop()
            for node in nodes:
                node.stop()
            proxy.close()
        store = place.open()
        found = check(store, clients)
        same_state(store, states)
        store.close()
        return {"answered by the others meanwhile": on, **found}


def database_restarted(rounds: int, count: int, seconds: float) -> dict[str, int]:
    """PostgreSQL itself is stopped as if killed, and started again, under load."""
    from .database import database
    from .running import Running

    with database() as server:
        assert server is not None, "PostgreSQL is not installed"
        place = StoreLocation(database=server.url)
        node = Running(place).wait()
        make_agent(node.port)
        clients = Clients([node.port], count)
        try:
            for k in range(rounds):
                time.sleep(seconds)
                server.stop()
                time.sleep(seconds / 2)
                refused = clients.statuses.get(503, 0)
                until(
                    lambda before=refused: clients.statuses.get(503, 0) > before,  # type: ignore[misc]
                    "clients are refused",
                )
                status, found = ask(node.port, "POST", "/v1/agents/ads/decisions")
                assert status == 503, (status, found)
                server.start()
                print(f"restarted {k + 1} of {rounds}", flush=True)
            time.sleep(seconds)
            before = clients.answered[node.port]
            until(lambda: clients.answered[node.port] > before, "the node comes back")
            clients.stop()
            state = state_of(node.port)
        finally:
            clients.stop()
            node.stop()
        store = place.open()
        found = check(store, clients)
        same_state(store, [state])
        store.close()
        return {"restarts": rounds, **found}


def main() -> None:
    """Run one kind of fault at full size, and print what was counted."""
    import tempfile

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["kill", "nodes", "database"])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0, help="of load between faults")
    given = parser.parse_args()
    if given.what == "kill":
        with tempfile.TemporaryDirectory() as folder:
            found = kill_again_and_again(Path(folder), given.rounds, given.clients, given.seconds)
    elif given.what == "nodes":
        found = nodes_lost(given.seconds, given.clients)
    else:
        found = database_restarted(given.rounds, given.clients, given.seconds)
    for name, value in found.items():
        print(f"{name}: {value:,}")
    print("nothing acknowledged was lost or doubled; the state is what the log adds up to")


if __name__ == "__main__":
    main()
