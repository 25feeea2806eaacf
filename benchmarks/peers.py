"""The fastest packaged peers, each through its own natural path, against ironarm's UCB:
K = 10 Gaussian arms, no attack (none of them has one).

Each peer plays UCB, or what it has nearest to it, as its own documentation shows, in a
virtual environment of its own under .bench-venv (they need different NumPys), pinned. A
peer plays as many rounds as take a second or two; the shortest CPU time per round of a
few such runs counts. Before and after each peer ironarm plays too, so that both meet
the same machine. None of them does exactly ironarm's work (some record every reward,
ironarm records regret at checkpoints): the table says how far apart they are, not more.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import ironarm as ia
from measure import PAPER_MEANS, ROOT, alternate, options, show

VENVS = ROOT / ".bench-venv"
TIMER = """
import time
def measure(play, rounds, enough):
    seconds = 0.0
    while seconds < enough / 2:
        start = time.process_time()
        play(rounds)
        seconds = time.process_time() - start
        if seconds < enough / 2:
            rounds *= 2
    best = seconds
    for _ in range(2):
        start = time.process_time()
        play(rounds)
        best = min(best, time.process_time() - start)
    print("ns", best / rounds * 1e9)
"""


@dataclass(frozen=True)
class Peer:
    """A package, what it is pinned to, and a program that defines play(rounds)."""

    name: str
    plays: str
    pins: tuple[str, ...]
    program: str
    rounds: int


PEERS = [
    Peer(
        "river 0.26.1",
        "bandit.UCB: pull, update",
        ("river==0.26.1", "numpy==2.4.6"),
        """
import random
from river import bandit
arms = list(range(10))
def play(rounds):
    policy = bandit.UCB(delta=1, seed=1)
    for _ in range(rounds):
        arm = policy.pull(arms)
        policy.update(arm, random.gauss(2 * arm + 2, 1))
""",
        10_000,
    ),
    Peer(
        "river 0.26.1",
        "bandit.EpsilonGreedy: pull, update",
        ("river==0.26.1", "numpy==2.4.6"),
        """
import random
from river import bandit
arms = list(range(10))
def play(rounds):
    policy = bandit.EpsilonGreedy(epsilon=0.1, seed=1)
    for _ in range(rounds):
        arm = policy.pull(arms)
        policy.update(arm, random.gauss(2 * arm + 2, 1))
""",
        10_000,
    ),
    Peer(
        "PyMAB 2.0.1",
        "UCBPolicy in an Experiment (its Rust loop)",
        ("pymab==2.0.1", "numpy==2.4.6"),
        """
import numpy as np
from pymab import BanditEnvironment, Experiment, ExperimentConfig
from pymab.policies import UCBPolicy
def play(rounds):
    many = max(1, rounds // 100_000)
    config = ExperimentConfig(
        horizon=min(rounds, 100_000), n_replicates=many, seed=1, backend="rust"
    )
    arms = BanditEnvironment(means=np.arange(2.0, 21.0, 2.0))
    policies = {"ucb": UCBPolicy(n_arms=10)}
    Experiment(environment=arms, policies=policies, config=config).run()
""",
        100_000,
    ),
    Peer(
        "SMPyBandits 0.9.7",
        "UCBalpha in an Evaluator",
        ("SMPyBandits==0.9.7", "numpy==1.23.5", "scipy==1.9.3"),
        """
from SMPyBandits.Arms import Gaussian
from SMPyBandits.Environment import Evaluator
from SMPyBandits.Policies import UCBalpha
def play(rounds):
    arms = {"arm_type": Gaussian, "params": [(float(mean), 1.0) for mean in range(2, 21, 2)]}
    policy = {"archtype": UCBalpha, "params": {"alpha": 2.1}}
    how = {"horizon": rounds, "repetitions": 1, "n_jobs": 1, "verbosity": 0}
    evaluator = Evaluator({**how, "environment": [arms], "policies": [policy]})
    for number, environment in enumerate(evaluator.envs):
        evaluator.startOneEnv(number, environment)
""",
        10_000,
    ),
    Peer(
        "MABWiser 2.7.4",
        "UCB1: predict, partial_fit",
        ("mabwiser==2.7.4", "numpy==2.4.6"),
        """
import random
from mabwiser.mab import MAB, LearningPolicy
def play(rounds):
    arms = list(range(10))
    mab = MAB(arms, LearningPolicy.UCB1(alpha=1.25), seed=1)
    mab.fit(decisions=arms, rewards=[random.gauss(2 * arm + 2, 1) for arm in arms])
    for _ in range(rounds):
        arm = mab.predict()
        mab.partial_fit([arm], [random.gauss(2 * arm + 2, 1)])
""",
        2_000,
    ),
]


def python_of(peer: Peer) -> str:
    """Return the interpreter of the peer's virtual environment, made if need be."""
    home = VENVS / peer.pins[0].partition("==")[0].lower()
    python, ready = home / "bin" / "python", home / "pins.txt"
    if not ready.exists() or ready.read_text() != "\n".join(peer.pins):
        subprocess.run(
            [sys.executable, "-m", "venv", "--clear", str(home)], check=True, capture_output=True
        )
        subprocess.run(
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                *peer.pins,
            ],
            check=True,
            capture_output=True,
            timeout=900,
        )
        ready.write_text("\n".join(peer.pins))
    return str(python)


def cost_of(peer: Peer, seconds: float) -> float:
    """Return the peer's nanoseconds per round."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "MPLBACKEND": "Agg"
    }
    program = TIMER + peer.program + f"\nmeasure(play, {peer.rounds}, {seconds})\n"
    out = subprocess.run(
        [python_of(peer), "-W", "ignore", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    ).stdout
    return float(
        next(line for line in reversed(out.splitlines()) if line.startswith("ns ")).split()[1]
    )


def main() -> None:
    quick = options(__doc__).quick
    bandit = ia.GaussianBandit(means=PAPER_MEANS)

    def ironarm() -> ia.Result:
        return ia.simulate(
            ia.UCB(), bandit, horizon=100_000, trials=20, seed=1, workers=1, progress=False
        )

    ironarm()
    ours = alternate({"ironarm": ironarm}, 5)["ironarm"]
    measured: list[tuple[Peer, float]] = []
    for peer in PEERS:
        try:
            measured.append((peer, cost_of(peer, 1.0 if quick else 4.0)))
        except (subprocess.SubprocessError, OSError, StopIteration) as error:
            reason = (getattr(error, "stderr", None) or str(error)).strip()
            lines = (reason.decode() if isinstance(reason, bytes) else reason).splitlines()
            print(
                f"\n{peer.name} is skipped: it cannot be installed or run here "
                f"({lines[-1][:120] if lines else type(error).__name__})."
            )
        ours = min(ours, alternate({"ironarm": ironarm}, 5)["ironarm"])
    each = ours / 2_000_000 * 1e9
    rows = [[f"ironarm {ia.__version__}", "UCB in simulate", f"{each:.0f}", "1"]]
    rows += [
        [peer.name, peer.plays, f"{cost:.0f}", f"{cost / each:.0f}"] for peer, cost in measured
    ]
    show(
        "Packaged peers, K = 10, Gaussian, no attack",
        ["package", "plays", "ns/round", "ironarm's UCB is faster by"],
        rows,
    )


if __name__ == "__main__":
    main()
