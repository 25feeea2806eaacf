"""Does one agent starve the others? A decision's time, quiet and under attack.

    python -m tests.service.starving --seconds 10

It starts a service of its own on this machine and measures decisions for the agent
`victim`. Then three connections with a key for the agent `attacker` alone send batches
of 10,000 lines, over and over, and decisions for `victim` are measured again. It does
so for each kind of batch, with a key that is limited to two requests a second, and with
one that is not. The limited ones must not make others wait ten times as long. A key
without a limit may use what the machine has; it is shown and not judged.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ironarm as ia
from tests.service.running import Talk
from tests.service.serving import Service, serving

LINES = 10_000
CONNECTIONS = 3
ATTACKS = {
    "unknown ids": b'{"id":"1.zzz","value":1}\n',  # the attacker is agent 1
    "unknown agents": b'{"id":"99.zzz","value":1}\n',
    "broken lines": b"{\n",
    "observations": b'{"arm":"red","value":1}\n',
}
PATHS = {"observations": "/v1/agents/attacker/observations"}


def percentile(seconds: list[float], share: float) -> float:
    """Return the time that this share of the requests did not exceed."""
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


def decisions(port: int, key: str, seconds: float, most: int) -> list[float]:
    """Ask for decisions one after the other; return how long each took."""
    talk, found, end = Talk(port, key, timeout=120), [], time.monotonic() + seconds
    while time.monotonic() < end and len(found) < most:
        began = time.monotonic()
        status, _ = talk.ask("POST", "/v1/agents/victim/decisions")
        assert status == 201, status
        found.append(time.monotonic() - began)
    talk.close()
    return found


def send(port: int, key: str, path: str, body: bytes, count: Any, stop: Any) -> None:
    """Send batches over several connections until told to stop; count the answers.

    If whoever started it is killed, nobody tells it to stop; then it ends with him.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def one() -> None:
        talk = Talk(port, key, timeout=120)
        while not stop.is_set() and parent.is_alive():
            with suppress(OSError):
                status, _ = talk.ask("POST", path, body)
                with count.get_lock():
                    count[0 if status == 200 else 1] += 1
        talk.close()

    threads = [threading.Thread(target=one, daemon=True) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def attacked(service: Service, key: str, kind: str, lines: int) -> Iterator[Any]:
    """Attack in a process of its own; yields counts of batches taken and refused."""
    spawn = multiprocessing.get_context("spawn")
    count, stop = spawn.Array("i", 2), spawn.Event()
    path = PATHS.get(kind, "/v1/rewards")
    process = spawn.Process(
        target=send,
        args=(service.port, key, path, ATTACKS[kind] * lines, count, stop),
        daemon=True,
    )
    process.start()
    try:
        yield count
    finally:
        stop.set()
        process.join(10)
        process.kill()


@contextmanager
def prepared(folder: Path) -> Iterator[tuple[Service, str]]:
    """Start a service with both agents; yields it, and the key for decisions."""
    with serving(folder, keys=True) as service:
        with ia.Client(service.url, service.admin) as client:
            client.create("attacker", ia.RUCB(), arms=["red", "green"], seed=1)
            client.create("victim", ia.RUCB(), arms=["red", "green"], seed=2)
        yield service, service.key("decide", agents=["victim"])


def measured(
    service: Service,
    victim: str,
    kind: str,
    rate: float | None,
    seconds: float,
    most: int = 10**9,
    lines: int = LINES,
) -> dict[str, Any]:
    """Return the times of decisions under one attack, and how many batches came."""
    key = service.key("reward", agents=["attacker"], rate=rate)
    with attacked(service, key, kind, lines) as count:
        deadline = time.monotonic() + 60
        while sum(count[:]) == 0:  # the attack has begun
            assert time.monotonic() < deadline, "no batch was answered"
            time.sleep(0.01)
        found = decisions(service.port, victim, seconds, most)
        taken, refused = count[:]
    return {"times": found, "taken": taken, "refused": refused}


def report(seconds: float, say: Callable[[str], None]) -> float:
    """Measure everything and say it.

    Return the worst ratio of 99th percentiles under attacks with a limited key.
    """
    with tempfile.TemporaryDirectory() as folder, prepared(Path(folder)) as (service, victim):
        decisions(service.port, victim, seconds, 200)  # warm
        quiet = decisions(service.port, victim, seconds, 10**9)
        base = percentile(quiet, 0.99)
        say("| attack | key | decisions | p50 | p99 | worst | ratio of p99 | batches, refused |")
        say("|---|---|---|---|---|---|---|---|")

        def row(name: str, key: str, times: list[float], batches: str) -> float:
            ratio = percentile(times, 0.99) / base
            shown = " | ".join(
                f"{1000 * x:.1f} ms"
                for x in (statistics.median(times), percentile(times, 0.99), max(times))
            )
            say(f"| {name} | {key} | {len(times):,} | {shown} | {ratio:.1f} | {batches} |")
            return ratio

        row("none", "", quiet, "")
        worst = 0.0
        for kind in ATTACKS:
            for rate in (2.0, None):
                found = measured(service, victim, kind, rate, seconds)
                batches = f"{found['taken']:,}, {found['refused']:,}"
                key = "2 a second" if rate else "no limit"
                ratio = row(kind, key, found["times"], batches)
                worst = max(worst, ratio if rate else 0.0)
        assert "Traceback" not in service.errors.read_text()
    return worst


def main() -> int:
    """Measure, and print it; 1 if another agent waits ten times as long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    options = parser.parse_args()
    worst = report(options.seconds, lambda text: print(text, flush=True))
    print(f"\nThe worst ratio with a limited key is {worst:.1f}; it should be below 10.")
    return 0 if worst < 10 else 1


if __name__ == "__main__":
    sys.exit(main())
