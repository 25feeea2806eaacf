"""A round of every policy, in CPU nanoseconds: machine code that ships against what is
compiled here, by this version or another, and code for several processors.

    python benchmarks/rounds.py
    python benchmarks/rounds.py --before OTHER/bin/python
    python benchmarks/rounds.py --processors

`--processors` is about the loops over rounds; the tape is for the newest there.
`--before` is the interpreter of an environment with another version of ironarm. Each
figure is the smallest of fifteen, in three processes that take turns with the others.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile

from cold_start import environment
from measure import at_most, show

ROUNDS = """
import sys, time, ironarm as ia
bandit, attack = ia.GaussianBandit(means=range(2, 21, 2)), ia.OppositeUniform(rho=.1)
policy = eval("ia.policies." + sys.argv[1])
def play(rounds):
    start = time.process_time()
    ia.simulate(policy, bandit, attack, horizon=rounds, trials=1, seed=1, workers=1,
                checkpoints=[rounds], progress=False)
    return time.process_time() - start
play(10)
rounds = 1000
while play(rounds) < .1:
    rounds *= 2
print(min(play(rounds) for _ in range(5)) / rounds * 1e9)
"""
GIVEN = {
    "TrimmedUCB": "alpha=.2",
    "TrimmedEpsilonGreedy": "alpha=.2",
    "CRUCB": "alpha=.2",
    "HuberUCB": "epsilon=.1",
    "TruncatedMeanUCB": "u=600",
    "CRIMED": "epsilon=.1",
    "CRIMEDStar": "epsilon=.1",
    "CountIMED": "epsilon=.1",
    "SlidingMedUCB": "window=1000",
    "SlidingWindowUCB": "window=1000",
    "DiscountedUCB": "discount=.999",
}
"""What must be given, of the policies that need something."""
FOR_PROCESSOR = """
import ironarm.engine.objects as objects
from llvmlite import binding
newest = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
found = {{"v2": ("x86-64-v2", ""), "v3": ("x86-64-v3", ""), "this one": newest}}[{!r}]
objects.machine_code_for = lambda level: found if level == objects.USUAL else newest
"""


def nanoseconds(python: str, policy: str, folder: str, prelude: str = "", **more: str) -> float:
    """Return what a round takes, in a new process."""
    command = [python, "-c", prelude + ROUNDS, f"{policy}({GIVEN.get(policy, '')})"]
    env = environment(folder, **more)
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{policy}: {done.stderr}")
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one process instead of three")
    parser.add_argument("--before", metavar="PYTHON", help="of one with another version")
    parser.add_argument("--processors", action="store_true", help="code for several processors")
    chosen = parser.parse_args()
    here, unshipped = sys.executable, {"IRONARM_SHIPPED": "0"}
    contenders: dict[str, tuple[str, str, dict[str, str]]] = {
        "shipped": (here, "", {}),
        "compiled": (chosen.before or here, "", unshipped),
    }
    if chosen.processors:
        names = ("this one", "v3", "v2")
        contenders = {name: (here, FOR_PROCESSOR.format(name), unshipped) for name in names}
    from ironarm.policies import POLICIES

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for policy in POLICIES:
            best = dict.fromkeys(contenders, float("inf"))
            for _ in range(1 if chosen.quick else 3):
                for which, (python, prelude, more) in contenders.items():
                    took = nanoseconds(python, policy, f"{folder}/{which}", prelude, **more)
                    best[which] = min(best[which], took)
            each = [f"{took:.1f}" for took in best.values()]
            first, *_, last = best.values()
            ratio = last / first if chosen.processors else first / last
            rows.append([policy, *each, f"{ratio:.2f}", *at_most(ratio, 1.05)])
            print(f"{policy}: {ratio:.2f}", file=sys.stderr, flush=True)
    ratio = "v2 / this one" if chosen.processors else "ratio"
    show("A round, ns", ["", *contenders, ratio, "goal", ""], rows)


if __name__ == "__main__":
    main()
