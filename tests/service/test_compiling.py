"""A new policy is compiled in a process of its own; other agents answer meanwhile."""

import asyncio
import json
import logging
import sys

import ironarm as ia
from ironarm.engine import elsewhere
from ironarm.engine.machine import Machine
from ironarm.engine.state import State
from ironarm.service import compiling

from .test_api import make, scenario, service


def never_prepared(monkeypatch):
    monkeypatch.setattr(State, "prepared", property(lambda state: False))


def test_others_go_on_while_a_policy_is_compiled(tmp_path, monkeypatch, caplog):
    """The new agent waits for the other process, which does end well."""
    asked, go_on, original = [], asyncio.Event(), compiling._run

    async def held_up(command):
        asked.append(json.loads(command[-1])[-1])
        await go_on.wait()
        await original(command)

    # nothing of the new policy is compiled or loaded in this process before
    made, call = [], Machine.call

    def noted(machine, name):
        if machine.policy is ia.KLUCB:
            made.append(name)
        return call(machine, name)

    async def run():
        async with service(tmp_path) as client:
            await make(client, "old")
            monkeypatch.setattr(compiling, "_run", held_up)
            monkeypatch.setattr(Machine, "call", noted)
            never_prepared(monkeypatch)
            new = asyncio.create_task(make(client, "new", policy="KLUCB"))
            while not asked:
                await asyncio.sleep(0.01)
            for _ in range(5):
                assert (await client.post("/v1/agents/old/decisions")).status_code == 201
            assert (await client.get("/v1/agents/new")).status_code == 404
            assert not new.done()
            assert made == []
            go_on.set()
            await new
            assert (await client.post("/v1/agents/new/decisions")).status_code == 201

    asyncio.run(run())
    assert [request["policy"]["policy"] for request in asked] == ["KLUCB"]
    assert asked[0]["arms"] == 2
    assert [each for each in caplog.records if each.name == "ironarm"] == []


def test_the_other_process_compiles_what_the_agent_needs(monkeypatch):
    """The same machine, and every entry point of live use."""
    found = []
    monkeypatch.setattr(State, "prepare", lambda state: found.append(state.machine))
    for policy in (ia.MedEUCB(), ia.CoherentIMED(), ia.KLUCB(reward_range=(0.0, 5.0))):
        for minimize in (False, True):
            request = {
                "policy": policy.to_dict(),
                "arms": 2,
                "memory": "exact",
                "minimize": minimize,
            }
            compiling.compile_here(json.loads(json.dumps(request)))
            made = ia.Agent(policy, arms=["a", "b"], minimize=minimize)
            assert found.pop() is made._core.state.machine


@scenario
async def test_what_is_compiled_starts_no_process(client):
    """The node has loaded the default policy; a new agent only loads its own."""
    before = compiling._run
    compiling._run = None  # calling it would fail
    try:
        await make(client, "ads", policy="CoherentIMED")
    finally:
        compiling._run = before


def test_a_process_that_fails_is_told_and_done_without(monkeypatch, caplog):
    """Then this one compiles for itself."""
    never_prepared(monkeypatch)
    monkeypatch.setattr(elsewhere, "START", "raise SystemExit('no room')")
    asyncio.run(compiling.Compiler().prepare(ia.UCB(), 2))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    asyncio.run(compiling.Compiler().prepare(ia.UCB(), 2))
    told = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert len(told) == 2
    assert "no room" in told[0]
    assert "No such file" in told[1]


def test_who_stops_the_node_stops_the_compiler(monkeypatch):
    """The process does not outlive who waits for it."""
    started = []
    original = asyncio.create_subprocess_exec

    async def noted(*command, **how):
        started.append(await original(*command, **how))
        return started[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)

    async def run():
        task = asyncio.create_task(
            compiling._run([sys.executable, "-c", "import time; time.sleep(600)"])
        )
        while not started:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await started[0].wait()

    assert asyncio.run(run()) != 0
