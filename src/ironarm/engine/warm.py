"""Compile on two processors what a simulation needs.

Numba compiles one function at a time in a process, so threads cannot help. When several
policies are to be compiled for the first time, a second process compiles half of them,
and the tape and the attack. Both write to the cache on disk, so what the second has
compiled is then only loaded. If it cannot be started, or fails, everything is compiled
here.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from ..attacks import ATTACKS
from ..attacks import make as make_attack
from ..naming.own_faults import constants_of
from ..policies import POLICIES, Policy, from_dict
from . import elsewhere
from .adversary import Adversary, compiled_attack
from .kept import for_next_time
from .machine import Machine, machine_for
from .streams import streams
from .tape import Tape


def compile_all(
    policies: Sequence[Policy],
    adversary: Adversary,
    arms: int,
    horizon: int,
    say: Callable[[str], None],
    entries: Sequence[str] = (),
) -> None:
    """Compile the simulator's loops of all policies and the attack.

    An attack that sees every reward needs another loop than the others: `entries` names
    the loops, by default the one of this attack. `say` gets what takes its time, as
    text: each policy once, if one of its loops is compiled.
    """
    machines = {
        policy: machine_for(policy, constants_of(policy, arms, horizon)) for policy in policies
    }
    entries = tuple(entries) or (adversary.entry,)
    new = [
        policy
        for policy, machine in machines.items()
        if not all(machine.on_disk(entry) for entry in entries)
    ]
    # side by side in the list are often relatives, which share compiled helpers
    shareable = [policy for policy in new if type(policy) in POLICIES.values()]
    theirs = shareable[(len(shareable) + 1) // 2 :]
    helper = _start(theirs, adversary, entries, arms, horizon) if new else None
    try:
        for policy, machine in machines.items():
            if policy in new:
                say(f"compiling {type(policy).__name__}{for_next_time()}")
            if helper is None or policy not in theirs:
                _compile(machine, entries)
    except BaseException:
        if helper is not None:
            helper.kill()
        raise
    finally:
        if helper is not None:
            helper.wait()
    for machine in machines.values():
        _compile(machine, entries)
    adversary.prepare()


def _compile(machine: Machine, entries: Sequence[str]) -> None:
    for entry in entries:
        machine.call(entry)
    if machine.estimator and machine.estimator.holds_rewards:
        machine.call("repack")


def _start(
    policies: Sequence[Policy],
    adversary: Adversary,
    entries: Sequence[str],
    arms: int,
    horizon: int,
) -> subprocess.Popen[bytes] | None:
    """Start a process that compiles the tape, the attack and these policies."""
    if (os.cpu_count() or 1) < 2:
        return None
    attack = adversary.attack
    request = {
        "policies": [policy.to_dict() for policy in policies],
        "attack": attack.to_dict() if type(attack) in ATTACKS.values() else None,
        "entries": entries,
        "arms": arms,
        "horizon": horizon,
    }
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        return subprocess.Popen(elsewhere.command(serve, request), **quiet)  # type: ignore[call-overload,no-any-return]
    except OSError:
        return None


def serve(request: dict[str, Any]) -> None:
    """Compile what another process has asked for."""
    if request["attack"] is not None:
        compiled_attack(make_attack(request["attack"]["attack"], request["attack"]["parameters"]))
    tape = Tape(8, 0.5, normal=True)
    tape.rewind(*streams(0, 0)[:2])
    tape.next(8)
    for data in request["policies"]:
        policy = from_dict(data)
        constants = constants_of(policy, request["arms"], request["horizon"])
        _compile(machine_for(policy, constants), request["entries"])
