"""The same bits through every way in which a policy can run.

Machine code that comes with ironarm, that was compiled here just now or by an earlier
process, and plain Python: every entry point of every policy gives what is recorded.
`make test` runs this file in several steps, with another way in each.

    python -m tests.engine.test_every_way            records what is new
    python -m tests.engine.test_every_way NAME ...   and anew what names hold NAME
    python -m tests.engine.test_every_way --print    all, without recording
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ironarm as ia
from ironarm.agent.input import estimator_for
from ironarm.attacks import ATTACKS
from ironarm.engine import entry_point, shipped, switches
from ironarm.engine.machine import machine_for
from ironarm.errors import InvalidInput
from ironarm.naming.own_faults import constants_of
from tests.every_policy import USUAL

# what these rewards are is not the point here
pytestmark = pytest.mark.filterwarnings("ignore::ironarm.RewardWarning")

RECORDED = Path(__file__).with_name("every_way.json")
ROOT = Path(__file__).parents[2]
ROUNDS = 400
ARMS = ["a", "b", "c", "d"]
SOME = (
    "MedEUCB(b=4.0, omega=4.0, block=None), live",
    "EXP3(horizon=None, gamma=None, reward_range=(0.0, 1.0)), run",
)
"""What is compiled here anew; all would take two minutes."""
OLD = "SandyBridge"
"""A processor without AVX2 and FMA; NumPy itself does not start on older ones here."""
QEMU = shutil.which("qemu-x86_64")


def simulated(policy, attack=None, bandit=None, **more):
    """A digest of a simulation."""
    bandit = bandit or ia.GaussianBandit([0.0, 0.5, 1.0, 3.0])
    attack = attack or ia.OppositeUniform(rho=0.2, scale=30)
    result = ia.simulate(
        policy, bandit, attack, horizon=ROUNDS, trials=2, seed=5, workers=1, **more
    )
    return digest(result.regret.tolist(), result.pulls.tolist())


def live(policy, **more):
    """A digest of an agent's choices and estimates, by everything an agent can do."""
    if getattr(policy, "horizon", 0) is None:
        policy = replace(policy, horizon=ROUNDS)
    agent = ia.Agent(policy, arms=ARMS, seed=3, **more)
    draw, chosen = np.random.default_rng(7).normal, []

    def reward(arm):
        return float(draw()) * 0.3 + "abcde".index(arm) / 2

    for i in range(ROUNDS):
        if i == 100:
            agent.add_arm("e")
        elif i == 180:
            agent.remove_arm("b")
        elif i == 260:
            agent = reloaded(agent)
        if i % 4 < 2:
            chosen.append(agent.select())
            if i % 12:
                agent.update(chosen[-1], reward(chosen[-1]))
        else:
            some = agent.arms[: 2 + i % 3] if i % 4 == 3 else None
            chosen.append(agent.decide(some).arm)
        if i % 7 == 6 and agent.open_decisions:
            agent.cancel(agent.open_decisions[0])
        while len(waiting := agent.open_decisions) > 3:
            decision = waiting[i % 3]
            agent.learn(decision, reward(decision.arm), source=f"user {i % 5}")
    return digest(chosen, list(agent.estimates.items()), list(agent.rewards.items()), agent.best())


def reloaded(agent):
    """The agent, saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        agent.save(Path(folder) / "agent.json")
        return ia.Agent.load(Path(folder) / "agent.json")


def digest(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def observed(policy):
    return simulated(policy, ia.attacks.Overtake(rho=0.2))


def late(policy):
    delay = ia.Delay(mean=5, lost=0.1, expire=40)
    return simulated(policy, sources=ia.Sources(10), delay=delay)


STORIES = {
    "run": simulated,
    "run_observed": observed,
    "run_late": late,
    "live": live,
    "live, minimize": lambda policy: live(policy, minimize=True),
    "live, bounded": lambda policy: live(policy, memory="bounded"),
}


def can(policy, story):
    """Say whether a policy can take part in a story."""
    if story != "live, bounded":
        return True
    try:
        estimator_for(policy, "bounded")
    except InvalidInput:  # it needs all rewards
        return False
    return True


def attacked(kind):
    """A simulation with an attack."""
    bandit = ia.RadioBandit("analytic") if kind is ia.attacks.Jammer else None
    return simulated(ia.MedEUCB(b=1.0), kind(rho=0.2), bandit)


CASES = {
    f"{policy!r}, {story}": (STORIES[story], policy)
    for policy in USUAL
    for story in STORIES
    if can(policy, story)
} | {f"attack {name}": (attacked, kind) for name, kind in ATTACKS.items()}


def play(name):
    story, about = CASES[name]
    return story(about)


@cache
def comes_with_ironarm():
    """Say whether `make objects` has built what is to be tried, of this code."""
    machines = (machine_for(policy, constants_of(policy, 4, ROUNDS)) for policy in USUAL)
    return switches.AS_SHIPPED and all(
        shipped.has(machine.entry_point("run").name) for machine in machines
    )


@pytest.fixture
def only_what_is_there(monkeypatch):
    """Refuse to compile, if what comes with ironarm is to be used."""
    if comes_with_ironarm():
        monkeypatch.setattr(
            entry_point.EntryPoint, "compiled", lambda _, name: pytest.fail(f"compiles {name}")
        )


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_the_recorded_ones(name, only_what_is_there):
    """In simulations of all three loops, and live, of arms that come and go."""
    assert play(name) == json.loads(RECORDED.read_text())[name]


def test_all_is_recorded():
    """And nothing else."""
    assert set(json.loads(RECORDED.read_text())) == set(CASES), (
        "run python -m tests.engine.test_every_way"
    )


def printed(names, python=(sys.executable,), **environment):
    """What another process finds, and the modules that it loaded."""
    command = [*python, "-m", "tests.engine.test_every_way", "--print", *names]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


compiles = pytest.mark.skipif(
    switches.DISABLED or switches.PUBLIC_ONLY, reason="nothing is compiled, or not kept"
)


@compiles
def test_what_is_compiled_here_is_what_comes_with_ironarm(tmp_path):
    """The first process compiles, the next one finds that, and needs no Numba.

    Machine code that comes with ironarm is equal to it, byte for byte.
    """
    recorded = json.loads(RECORDED.read_text())
    expected = {name: recorded[name] for name in SOME}
    kept = {"IRONARM_CACHE_DIR": str(tmp_path / "kept"), "IRONARM_SHIPPED": "0"}
    found, loaded = printed(SOME, **kept)
    assert found == expected
    assert "numba" in loaded
    files = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    found, loaded = printed(SOME, **kept)
    assert found == expected
    assert "numba" not in loaded
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == files
    if comes_with_ironarm():
        for name, data in files.items():
            assert data.partition(b"\n")[2] == shipped.read(name.rpartition("-")[0])[0], name


@pytest.mark.skipif(
    QEMU is None, reason="NOT TESTED: machine code on an old processor; install qemu-user"
)
def test_machine_code_gives_the_same_bits_on_an_old_processor(tmp_path):
    """As QEMU imitates it; all of it comes with ironarm, nothing is compiled for it."""
    if not comes_with_ironarm() or "x86_64" not in shipped.place().name:
        pytest.skip("there is no machine code of this code to try; run: make objects")
    python = (QEMU, "-cpu", OLD, os.path.realpath(sys.executable), "-W", "ignore")
    paths = os.pathsep.join(filter(os.path.isabs, [str(ROOT / "src"), *sys.path]))
    found, loaded = printed([], python, PYTHONPATH=paths, IRONARM_CACHE_DIR=str(tmp_path))
    assert found == json.loads(RECORDED.read_text())
    assert "numba" not in loaded


def recorded_as_json(names):
    """Print digests, and which modules were loaded."""
    found = {name: play(name) for name in names or CASES}
    json.dump([found, sorted(sys.modules)], sys.stdout)


def record(*names):
    """Record what is not recorded yet, and anew what these names are part of."""
    before = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    bits = {}
    for name in CASES:
        anew = name not in before or any(part in name for part in names)
        bits[name] = play(name) if anew else before[name]
        if anew:
            print(f"recorded: {name}")
    RECORDED.write_text(json.dumps(bits, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--print"]:
        recorded_as_json(sys.argv[2:])
    else:
        record(*sys.argv[1:])
