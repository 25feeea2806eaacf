"""Compile on two processors what a simulation needs.

Numba compiles one function at a time in a process, so threads cannot help. When
policies are to be compiled for the first time, a second process takes the tape, the
attack, the small entry points and about half of the policies; both write to the cache
on disk, and what the second has compiled is then only loaded. If it cannot be started,
or fails, everything is compiled here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..attacks import ATTACKS, Attack
from ..attacks import make as make_attack
from ..policies import Policy, from_dict
from .adversary import Adversary, compiled_attack
from .machine import Machine, machine_for
from .streams import streams
from .tape import Tape

COST = {
    "LowerMedian": 4.0,
    "UpperMedian": 4.0,
    "OrderedMedian": 4.0,
    "TrimmedMean": 4.0,
    "Catoni": 5.0,
    "Mean": 1.5,
    "None": 1.5,
}
"""Seconds, roughly, by estimator; only their proportions matter."""


def compile_all(
    policies: Sequence[Policy],
    adversary: Adversary,
    arms: int,
    horizon: int,
    say: Callable[[str], None],
) -> None:
    """Compile the simulator's loops of all policies, the attack, and the tape; `say`
    is told what takes its time.
    """
    machines = [machine_for(policy, policy.constants(arms, horizon), arms) for policy in policies]
    new = [
        policy for policy, machine in zip(policies, machines, strict=True) if not machine.on_disk()
    ]
    theirs = _second_half(new)
    helper = (
        _start(
            theirs,
            [policy for policy in new if policy not in theirs],
            adversary.attack,
            arms,
            horizon,
        )
        if new
        else None
    )
    elsewhere = (
        {machine_for(policy, policy.constants(arms, horizon), arms) for policy in theirs}
        if helper
        else set()
    )
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
        machine.call("run")
        _compile_repack(machine)
    _ = adversary.pointer


def _compile_repack(machine: Machine) -> None:
    if machine.estimator and machine.estimator.holds_rewards:
        machine.call("repack")


def _is_built_in(thing: Policy | Attack) -> bool:
    """Say whether another process can make the same from its name; others may live
    where it cannot import them.
    """
    return type(thing).__module__.startswith("ironarm.")


def _second_half(policies: Sequence[Policy]) -> list[Policy]:
    """Return the policies for the second process: whole groups that share an
    estimator, and with it most of their code.
    """
    groups: dict[str, list[Policy]] = {}
    for policy in policies:
        if _is_built_in(policy):
            groups.setdefault(policy.estimator.__name__ if policy.estimator else "None", []).append(
                policy
            )
    halves: tuple[list[Policy], list[Policy]] = ([], [])
    costs = [0.0, 0.0]
    for name, group in sorted(
        groups.items(), key=lambda item: -COST.get(item[0], 3.0) * len(item[1])
    ):
        lighter = costs.index(min(costs))
        halves[lighter].extend(group)
        costs[lighter] += COST.get(name, 3.0) * len(group)
    return halves[1] if halves[0] else []


def _start(
    policies: Sequence[Policy], others: Sequence[Policy], attack: Attack, arms: int, horizon: int
) -> subprocess.Popen[bytes] | None:
    """Start a process that compiles the tape, the attack, these policies, and the
    small entry points of the others.
    """
    if (os.cpu_count() or 1) < 2:
        return None
    request = {
        "path": sys.path,
        "policies": [policy.to_dict() for policy in policies],
        "others": [policy.to_dict() for policy in others if _is_built_in(policy)],
        "attack": attack.to_dict() if type(attack) in ATTACKS.values() else None,
        "arms": arms,
        "horizon": horizon,
    }
    code = (
        "import json, sys; request = json.loads(sys.argv[1]); sys.path[:] = request['path']; from "
        "ironarm.engine.warm import serve; serve(request)"
    )
    try:
        return subprocess.Popen(
            [sys.executable, "-c", code, json.dumps(request)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def serve(request: dict[str, Any]) -> None:
    """Compile what another process has asked for."""

    def machine(data: dict[str, Any]) -> Machine:
        policy = from_dict(data)
        return machine_for(
            policy, policy.constants(request["arms"], request["horizon"]), request["arms"]
        )

    if request["attack"] is not None:
        compiled_attack(make_attack(request["attack"]["attack"], request["attack"]["parameters"]))
    tape = Tape(8, 0.5, normal=True)
    tape.rewind(*streams(0, 0)[:2])
    tape.next(8)
    for data in request["policies"]:
        machine(data).call("run")
    for data in [*request["others"], *request["policies"]]:
        _compile_repack(machine(data))
