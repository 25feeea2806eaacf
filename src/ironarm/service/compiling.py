"""Compile a new policy in a process of its own.

Numba compiles in Python, for seconds, and hardly lets other threads of the process run.
A process of its own writes what it compiles to the cache that all processes share; then
this one only loads it, which takes tens of milliseconds. An `Agent` compiles when it is
made, so this comes before. Where nothing can be kept on disk, the node compiles for
itself, and others wait.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..agent.input import estimator_for
from ..engine import elsewhere, kept
from ..engine.announce import reason
from ..engine.state import State
from ..files import json_ready
from ..policies import Policy, from_dict

log = logging.getLogger("ironarm")


def state_like(policy: Policy, arms: int, memory: str, minimize: bool) -> State:
    """Return a state that needs the same compiled code as such an agent; as it is."""
    used = policy.mirrored() if minimize else policy
    return State(used, arms, live=True, estimator=estimator_for(policy, memory))


def compile_here(request: dict[str, Any]) -> None:
    """Compile what a node has asked for; in the other process."""
    policy = from_dict(request["policy"])
    state_like(policy, request["arms"], request["memory"], request["minimize"]).prepare()


class Compiler:
    """Has policies compiled, one at a time."""

    def __init__(self, say: Callable[[str], None] = log.info) -> None:
        self._one, self._say = asyncio.Lock(), say

    async def prepare(
        self, policy: Policy, arms: int, memory: str = "exact", minimize: bool = False
    ) -> None:
        """Load or compile what an agent with so many arms needs."""
        request = {
            "policy": json_ready(policy.to_dict()),
            "arms": arms,
            "memory": memory,
            "minimize": minimize,
        }

        def look() -> tuple[State, bool]:
            state = state_like(policy, arms, memory, minimize)
            return state, state.prepared or kept.directory() is None

        async with self._one:
            state, as_it_is = await asyncio.to_thread(look)
            started = time.monotonic()
            if not as_it_is:
                why = state.machine.entry_point("select").why_not()
                self._say(f"compiling {type(policy).__name__} ({reason(why)})")
                await _run(elsewhere.command(compile_here, request))
            await asyncio.to_thread(state.prepare)
            if not as_it_is:
                self._say(f"compiled in {time.monotonic() - started:.1f} s")

    async def prepare_created(self, described: str) -> None:
        """Do the same for an agent whose first entry carries this."""
        data = json.loads(described)
        policy = from_dict(data["policy"])
        await self.prepare(policy, len(data["arms"]), data["memory"], data["minimize"])


async def _run(command: list[str]) -> None:
    """Run a command; if it fails, say so: then the node compiles for itself."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE
        )
    except OSError as error:
        log.warning("a policy is compiled in this process: %s", error)
        return
    try:
        _, said = await process.communicate()
    except BaseException:
        with suppress(ProcessLookupError):
            process.kill()
        raise
    if process.returncode:
        last = said.decode(errors="replace").strip().splitlines()[-1:] or ["it was ended"]
        log.warning("a policy is compiled in this process: %s", last[0][:300])
