"""Cold start: CPU seconds of whole processes, from the interpreter's start to its end,
with nothing compiled that does not come with the install; and live calls.

    python benchmarks/cold_start.py
    python benchmarks/cold_start.py --python WHEEL/bin/python --before OTHER/bin/python

`--python` is the interpreter of an environment where ironarm is installed, by default
this one; `--before` one with another version of it, which takes turns with the first.
Each figure is the smallest of ten. A process's own processes count, too.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from measure import at_most, show

FIVE_LINES = """
import ironarm as ia
bandit = ia.GaussianBandit(means=range(2, 21, 2))
attack = ia.OppositeUniform(rho=0.3)
policies = [ia.CoherentIMED(), ia.MedEUCB(), ia.UCB()]
print(ia.simulate(policies, bandit, attack, horizon=10_000, trials=20, seed=7).summary())
"""
DECISION = """
import ironarm as ia
agent = ia.Agent(arms=["north", "south", "west"], seed=7)
agent.update(agent.select(), 20.0)
"""
OWN = """
from dataclasses import dataclass
import ironarm as ia
from ironarm.extend import highest_index, hot
from ironarm.policies.med_e_ucb import forced_arm
@dataclass(frozen=True)
class Mine(ia.MedEUCB):
    @staticmethod
    @hot
    def choose(s, t, g):
        arm = forced_arm(s, t)
        return arm if arm >= 0 else highest_index(s, t, s.coefficient)
bandit = ia.GaussianBandit(means=range(2, 21, 2))
ia.simulate(Mine(), bandit, ia.OppositeUniform(rho=0.3), horizon=100, trials=1, seed=7)
"""
LIVE = """
import time, ironarm as ia
def nanoseconds(policy):
    agent, best = ia.Agent(policy, arms=list("abcdefghij"), seed=1), 1e9
    select, update, rewards = agent.select, agent.update, [i % 7 * 0.3 for i in range(5000)]
    for _ in range(20):
        start = time.process_time()
        for reward in rewards:
            update(select(), reward)
        best = min(best, time.process_time() - start)
    return best / 5000 * 1e9
print(nanoseconds({}))
"""


def environment(cache: str, **more: str) -> dict[str, str]:
    """Return the environment of a measured process."""
    mine = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "IRONARM_"))}
    return {**mine, "IRONARM_CACHE_DIR": cache, "PYTHONWARNINGS": "ignore", **more}


def spent() -> float:
    """Return the CPU seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(command: Sequence[str], cache: str) -> float:
    """Return the CPU seconds that a process and its own processes take."""
    before = spent()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env=environment(cache), **quiet)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stderr.decode()}")
    return spent() - before


def printed(command: Sequence[str], cache: str, **more: str) -> str:
    """Return what a process prints."""
    env = environment(cache, **more)
    return subprocess.run(command, check=True, env=env, capture_output=True, text=True).stdout


def ironarm(python: str, *words: str) -> list[str]:
    """Return the command line of an environment."""
    return [str(Path(python).with_name("ironarm")), *words]


def start_of_service(python: str, cache: str) -> float:
    """Return the CPU seconds of a service from its start until it is ready, its end
    included.
    """
    before = spent()
    with tempfile.TemporaryDirectory() as folder:
        command = ironarm(python, "serve", "--data", folder, "--port", "0")
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(command, env=environment(cache), **quiet) as service:
            address = next(
                word for line in service.stdout for word in line.split() if "http://" in word
            )
            while not is_ready(address.rstrip(".,;")):
                pass  # asking takes time enough
            service.terminate()
            service.communicate()
    return spent() - before


def is_ready(address: str) -> bool:
    """Ask a service whether it is ready."""
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=10) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def in_new_folder(measured: Callable[[str], float]) -> float:
    """Measure with an empty folder of compiled code."""
    with tempfile.TemporaryDirectory() as cache:
        return measured(cache)


def second_time(python: str, program: str) -> float:
    """Return what a process takes that finds what another has compiled."""
    with tempfile.TemporaryDirectory() as cache:
        seconds([python, "-c", program], cache)
        return seconds([python, "-c", program], cache)


CASES: dict[str, tuple[Callable[[str], float], float]] = {
    "the README's five lines": (
        lambda python: in_new_folder(lambda c: seconds([python, "-c", FIVE_LINES], c)),
        0.5,
    ),
    "the first decision of an agent": (
        lambda python: in_new_folder(lambda c: seconds([python, "-c", DECISION], c)),
        0.3,
    ),
    "import ironarm": (
        lambda python: in_new_folder(lambda c: seconds([python, "-c", "import ironarm"], c)),
        0.2,
    ),
    "ironarm --help": (
        lambda python: in_new_folder(lambda c: seconds(ironarm(python, "--help"), c)),
        0.1,
    ),
    "ironarm policies": (
        lambda python: in_new_folder(lambda c: seconds(ironarm(python, "policies"), c)),
        0.3,
    ),
    "a policy of one's own, the first time": (
        lambda python: in_new_folder(lambda c: seconds([python, "-c", OWN], c)),
        3.3,
    ),
    "a policy of one's own, the second time": (lambda python: second_time(python, OWN), 0.35),
    "a service, from start to ready": (
        lambda python: in_new_folder(lambda c: start_of_service(python, c)),
        1.5,
    ),
}
LIVE_GOAL = 500


def start_table(pythons: dict[str, str], repeats: int) -> None:
    """Measure whole processes, in turns."""
    rows = []
    for name, (measured, goal) in CASES.items():
        best = dict.fromkeys(pythons, float("inf"))
        for turn in range(repeats):
            # what takes long is measured often enough after three times
            for which, python in pythons.items():
                if turn < 3 or best[which] < 3:
                    best[which] = min(best[which], measured(python))
        rows.append([name, *(f"{best[w]:.2f}" for w in pythons), *at_most(best["now"], goal)])
        print(f"{name}: {best['now']:.2f} s", file=sys.stderr, flush=True)
    show("Cold start, CPU seconds", ["", *pythons, "goal", ""], rows)


def live_table(pythons: dict[str, str], repeats: int) -> None:
    """Measure live calls, in turns."""
    rows = []
    exp3 = "EXP3(horizon=200_000, reward_range=(0, 2))"
    for policy in ("UCB()", "MedEUCB()", "CoherentIMED()", exp3):
        best = dict.fromkeys(pythons, float("inf"))
        for _ in range(repeats):
            for which, python in pythons.items():
                program = LIVE.format(f"ia.policies.{policy}")
                with tempfile.TemporaryDirectory() as cache:
                    best[which] = min(best[which], float(printed([python, "-c", program], cache)))
        judged = at_most(best["now"], LIVE_GOAL) if policy in ("UCB()", "MedEUCB()") else ("", "")
        rows.append([policy, *(f"{best[w]:.0f}" for w in pythons), *judged])
    show("Live, select and update, ns for both", ["", *pythons, "goal", ""], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--python", default=sys.executable, help="of the environment to measure")
    parser.add_argument("--before", metavar="PYTHON", help="of one with another version")
    parser.add_argument("--only", choices=["start", "live"], help="one of the tables")
    chosen = parser.parse_args()
    pythons = {"now": chosen.python} | ({"before": chosen.before} if chosen.before else {})
    repeats = 2 if chosen.quick else 10
    if chosen.only in (None, "start"):
        start_table(pythons, repeats)
    if chosen.only in (None, "live"):
        live_table(pythons, 1 if chosen.quick else 3)


if __name__ == "__main__":
    main()
