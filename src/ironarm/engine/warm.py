"""Compile on all processors what a simulation needs.

Numba compiles one function at a time in a process, so threads cannot help. Where
several policies are to be compiled, other processes take a part of them. All write to
the folder of compiled code, so what one has compiled is then only loaded. If they
cannot be started, or fail, everything is compiled here.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

from ..attacks import ATTACKS
from ..attacks import make as make_attack
from ..naming.own_faults import constants_of
from ..policies import POLICIES, Policy, from_dict
from . import elsewhere
from .adversary import Adversary, compiled_attack
from .announce import announced_by, compiling, listed
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
    the loops, by default the one of this attack. `say` gets, as text, what is compiled
    and at last how long it took.
    """
    machines = {
        policy: machine_for(policy, constants_of(policy, arms, horizon)) for policy in policies
    }
    entries = tuple(entries) or (adversary.entry,)
    # policies of one kind share a machine
    new = list({m: p for p, m in machines.items() if not _is_there(m, entries)}.values())

    def left() -> list[str]:
        return [type(p).__name__ for p in new if not _is_there(machines[p], entries)]

    with announced_by(say):
        if new:
            names = left() if adversary.is_there() else [*left(), type(adversary.attack).__name__]
            # what is one's own is no reason for the others
            why = {machines[p].entry_point(entries[0]).why_not() for p in new}
            still = lambda: listed(left() or names)  # noqa: E731
            with compiling(listed(names), "; ".join(sorted(why)), still):
                processes = min(os.cpu_count() or 1, len(new))
                with _others(new, adversary, entries, arms, horizon, processes) as wait:
                    for policy in _turns(new, 0, processes):
                        if not _is_there(machines[policy], entries):
                            _compile(machines[policy], entries)
                    wait(lambda: not left())
                for machine in machines.values():
                    _compile(machine, entries)
                adversary.prepare()
        for machine in machines.values():
            _compile(machine, entries)
        adversary.prepare()


def _is_there(machine: Machine, entries: Sequence[str]) -> bool:
    return all(machine.is_there(entry) for entry in machine.needed(entries))


def _compile(machine: Machine, entries: Sequence[str]) -> None:
    for entry in machine.needed(entries):
        machine.call(entry)


def _turns(policies: Sequence[Policy], number: int, of: int) -> list[Policy]:
    """Return all policies in the order in which this one of the processes takes them.

    First its own part, forwards: side by side are often relatives, which share compiled
    helpers. Then what others have not yet done, from the end of their parts; but never
    the first of a part, at which its process is at work from the beginning.
    """
    ends = [i * len(policies) // of for i in range(of + 1)]
    parts = [list(policies[start:end]) for start, end in pairwise(ends)]
    others = parts[number + 1 :] + parts[:number]
    return parts[number] + [policy for part in others for policy in reversed(part[1:])]


@contextmanager
def _others(
    policies: Sequence[Policy],
    adversary: Adversary,
    entries: Sequence[str],
    arms: int,
    horizon: int,
    processes: int,
) -> Iterator[Callable[[Callable[[], bool]], None]]:
    """Let other processes compile meanwhile.

    Lends what waits for them, until something is true at the longest. Whatever they are
    still at then is done already, and they are ended.
    """
    # what a class of one's own needs, only this process knows
    attack = adversary.attack
    request = {
        "attack": attack.to_dict() if ATTACKS.has(type(attack)) else None,
        "entries": entries,
        "arms": arms,
        "horizon": horizon,
    }
    started: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(1, processes):
            turns = [
                policy.to_dict()
                for policy in _turns(policies, number, processes)
                if POLICIES.has(type(policy))
            ]
            started += _start({**request, "policies": turns})

        def wait(is_done: Callable[[], bool]) -> None:
            for process in started:
                while process.poll() is None and not is_done():
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(0.1)

        yield wait
    finally:
        for process in started:
            process.kill()
            process.wait()


def _start(request: dict[str, Any]) -> list[subprocess.Popen[bytes]]:
    """Start a process that compiles what a request names."""
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        return [subprocess.Popen(elsewhere.command(serve, request), **quiet)]  # type: ignore[call-overload]
    except OSError:
        return []


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
        machine = machine_for(policy, constants)
        if not _is_there(machine, request["entries"]):
            _compile(machine, request["entries"])
