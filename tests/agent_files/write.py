"""Writes agents of this version: files that every later version must load.

    python -m tests.agent_files.write

The folder is named after the version. It holds an agent of every policy, saved in the
middle of its work, and in `next.json` what each of them did next: the choices that an
agent loaded from the file must make. A file is written once and never again; a policy
that came after the folder was written is added to it.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import ironarm as ia
from tests.every_policy import EVERY_POLICY

HERE = Path(__file__).parent
BEFORE, AFTER = 100, 50
"""Rounds before an agent is saved, and after."""
LONGER = {"MedEUCB-bounded": 400, "RUCB-bounded": 400, "MedianOfMeansUCB": 1040}
"""Those that need more: for a bounded memory to forget, for forced pulls to end."""

MINIMIZING = ("MedEpsilonGreedy", "UCB", "TrimmedUCB", "CountIMED", "EXP3", "BARBAR")
BOUNDED = ("MedEUCB", "RUCB")
"""They are written a second time, with bounded memory."""
ANY_REWARD = ("MedEUCB", "MedEpsilonGreedy", "RUCB", "TrimmedUCB", "CRUCB", "CountIMED")
"""They also get infinite rewards."""


def agents() -> dict[str, ia.Agent]:
    """Return a new agent for each file, by the file's name."""
    found = {}
    for seed, policy in enumerate(EVERY_POLICY):
        name = type(policy).__name__
        options: dict[str, Any] = {"arms": ["a", "b", 3], "seed": seed}
        found[name] = ia.Agent(policy, minimize=name in MINIMIZING, **options)
        if name in BOUNDED:
            found[f"{name}-bounded"] = ia.Agent(policy, memory="bounded", **options)
    return found


def reward(agent: ia.Agent, arm: str | int, i: int) -> float:
    """Return a made-up reward: later arms are better, by a little."""
    name = type(agent.policy).__name__
    if name in ANY_REWARD and i % 11 == 5:
        return math.inf if i % 2 else -math.inf
    value = 1 + 0.2 * agent.arms.index(arm) + math.sin(37.0 * i)
    if hasattr(agent.policy, "reward_range"):
        value /= 3
    return round(value, 3)


def play(agent: ia.Agent, rounds: int) -> list[ia.Decision]:
    """Let it work, with an arm that comes late, and leave decisions open."""
    for i in range(rounds):
        arm = agent.select()
        agent.update(arm, reward(agent, arm, i))
        if i == rounds // 2:
            agent.add_arm("late")
    agent.select()
    return [agent.decide() for _ in range(3)]


def continued(agent: ia.Agent, open_decisions: list[ia.Decision]) -> dict[str, Any]:
    """Return what the agent does next: the decisions it learns, then (arm, reward)."""
    first, second, _ = open_decisions
    learnt = [[d.id, reward(agent, d.arm, 7)] for d in (second, first)]
    for id, x in learnt:
        agent.learn(id, x)
    rounds = []
    for i in range(AFTER):
        arm = agent.select()
        x = reward(agent, arm, i)
        agent.update(arm, x)
        rounds.append([arm, x])
    return {"learn": learnt, "rounds": rounds}


def plain(value: Any) -> Any:
    """Replace infinities by strings: JSON has none, and `float` reads them back."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def main() -> int:
    """Write the folder of this version, or add the policies that it lacks."""
    warnings.simplefilter("ignore", ia.RewardWarning)
    folder = HERE / ia.__version__
    if folder.exists():
        afterwards = json.loads((folder / "next.json").read_text())
        missing = {name: agent for name, agent in agents().items() if name not in afterwards}
        write(folder, missing, afterwards)
        print(f"{folder.name} is there; added {', '.join(missing) or 'nothing'}.", file=sys.stderr)
        return 0
    unfinished = HERE / f"{ia.__version__}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    write(unfinished, agents(), {})
    unfinished.rename(folder)
    print(f"wrote {folder.relative_to(HERE.parent.parent)}")
    return 0


def write(folder: Path, new: dict[str, ia.Agent], afterwards: dict[str, Any]) -> None:
    """Write new agents, and what they and the others do next."""
    for name, agent in new.items():
        open_decisions = play(agent, LONGER.get(name, BEFORE))
        agent.save(folder / f"{name}.json")
        afterwards[name] = plain(continued(agent, open_decisions))
    lines = [f"{json.dumps(name)}: {json.dumps(what)}" for name, what in afterwards.items()]
    (folder / "next.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    raise SystemExit(main())
