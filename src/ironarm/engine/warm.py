"""Compile several policies on two processors.

Numba compiles one function at a time in a process, so threads cannot help. When policies are to be compiled for the first time, a second process takes the tape and about half
of them; both write to the cache on disk, and what the second has compiled is then only loaded. If it cannot be started, or fails, everything is compiled here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..policies import Policy, from_dict
from .machine import Machine, machine_for
from .streams import streams
from .tape import Tape

COST = {"LowerMedian": 4.0, "UpperMedian": 4.0, "OrderedMedian": 4.0, "TrimmedMean": 4.0, "Catoni": 5.0, "Mean": 1.5, "None": 1.5}
"""Seconds, roughly, by estimator; only their proportions matter."""


def compile_all(policies: Sequence[Policy], arms: int, horizon: int, say: Callable[[str], None]) -> None:
    """Compile the simulator's loops of all policies, and the tape; `say` is told what takes its time."""
    machines = [machine_for(policy, policy.constants(arms, horizon), arms) for policy in policies]
    new = [policy for policy, machine in zip(policies, machines, strict=True) if not machine.on_disk()]
    theirs = _second_half(new)
    helper = _start(theirs, arms, horizon) if new else None
    elsewhere = {machine_for(policy, policy.constants(arms, horizon), arms) for policy in theirs} if helper else set()
    try:
        for machine in machines:
            if not machine.on_disk():
                say(f"compiling {machine.policy.__name__} (kept for the next time)")
            if machine not in elsewhere:
                machine.call("run")
    except BaseException:
        if helper is not None:
            helper.kill()
        raise
    finally:
        if helper is not None:
            helper.wait()
    for machine in machines:
        _compile(machine)


def _compile(machine: Machine) -> None:
    machine.call("run")
    if machine.estimator and machine.estimator.holds_rewards:
        machine.call("repack")


def _second_half(policies: Sequence[Policy]) -> list[Policy]:
    """Return the policies for the second process: whole groups that share an estimator, and with it most of their code."""
    groups: dict[str, list[Policy]] = {}
    for policy in policies:
        if type(policy).__module__.startswith("ironarm."):  # others may live where another process cannot import them
            groups.setdefault(policy.estimator.__name__ if policy.estimator else "None", []).append(policy)
    halves: tuple[list[Policy], list[Policy]] = ([], [])
    costs = [0.0, 0.0]
    for name, group in sorted(groups.items(), key=lambda item: -COST.get(item[0], 3.0) * len(item[1])):
        lighter = costs.index(min(costs))
        halves[lighter].extend(group)
        costs[lighter] += COST.get(name, 3.0) * len(group)
    return halves[1] if halves[0] else []


def _start(policies: Sequence[Policy], arms: int, horizon: int) -> subprocess.Popen[bytes] | None:
    """Start a process that compiles the tape and these policies."""
    if (os.cpu_count() or 1) < 2:
        return None
    request = json.dumps({"path": sys.path, "policies": [policy.to_dict() for policy in policies], "arms": arms, "horizon": horizon})
    code = "import json, sys; request = json.loads(sys.argv[1]); sys.path[:] = request['path']; from ironarm.engine.warm import serve; serve(request)"
    try:
        return subprocess.Popen([sys.executable, "-c", code, request], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return None


def serve(request: dict[str, Any]) -> None:
    """Compile what another process has asked for."""
    tape = Tape(8, 0.5, normal=True)
    tape.rewind(*streams(0, 0)[:2])
    tape.next(8)
    for data in request["policies"]:
        policy = from_dict(data)
        _compile(machine_for(policy, policy.constants(request["arms"], request["horizon"]), request["arms"]))
