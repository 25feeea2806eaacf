"""Batches: they hold nobody up, and count by their lines."""

import asyncio
import json
from contextlib import closing
from types import SimpleNamespace

import pytest

from ironarm.service import app, batch, verbs
from ironarm.service.keys import make_key
from ironarm.service.node import Limits
from ironarm.service.writer import AT_ONCE

from . import starving
from .test_api import make, service

LINES = {
    "broken": b"{\n",
    "unknown ids": b'{"id":"1.zzz","value":1}\n',
    "unknown agents": b'{"id":"99.zzz","value":1}\n',
}


async def limited(client, rate):
    """Return the headers of a new key that may send so many requests a second."""
    with closing(client.node.place.open()) as store:
        key = make_key(store, f"{rate:g} a second", ["reward"], rate=rate)
    await client.node.look()
    return {"Authorization": f"Bearer {key}"}


class Counted:
    """Counts what happens between two turns of the event loop."""

    def __init__(self):
        self.now, self.most, self.total, self._ended = 0, 0, 0, False

    def around(self, function):
        def counting(*args):
            self.now += 1
            self.total += 1
            return function(*args)

        return counting

    async def watch(self):
        while not self._ended:
            self.most, self.now = max(self.most, self.now), 0
            await asyncio.sleep(0)

    def end(self):
        # also what came since the last turn: there may have been none at all
        self.most, self._ended = max(self.most, self.now), True


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_the_event_loop_goes_on_while_a_batch_is_answered(line, tmp_path, monkeypatch):
    """After some lines others have their turn, when they are read and answered."""
    read, written = Counted(), Counted()
    monkeypatch.setitem(vars(verbs.rewards.body), "read", read.around(verbs.rewards.body.read))
    monkeypatch.setattr(batch, "encode", written.around(batch.encode))

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            watching = [asyncio.create_task(each.watch()) for each in (read, written)]
            answer = await client.post("/v1/rewards", content=line * 3000)
            for each in (read, written):
                each.end()
            await asyncio.gather(*watching)
            assert len(answer.text.splitlines()) == 3000
            assert all(400 <= json.loads(text)["status"] < 500 for text in answer.text.splitlines())

    asyncio.run(run())
    assert (read.total, written.total) == (3000, 3000)
    assert read.most <= batch.SLICE
    assert written.most <= batch.SLICE


def test_a_decision_of_another_agent_does_not_wait_for_a_batch(tmp_path):
    """It comes when the batch has begun, and is answered before the batch is."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            await make(client, "other")
            before = client.node.writer.commits
            long = client.post("/v1/rewards", content=LINES["unknown ids"] * 10_000)
            batch = asyncio.create_task(long)
            while client.node.writer.commits == before:
                await asyncio.sleep(0)
            assert (await client.post("/v1/agents/other/decisions")).status_code == 201
            assert not batch.done()
            assert (await batch).text.count("\n") == 10_000

    asyncio.run(run())


def test_decisions_are_made_while_batches_come(tmp_path):
    """A small version of `starving.py`, with the real service and three connections."""
    with starving.prepared(tmp_path) as (running, victim):
        for kind in starving.ATTACKS:
            found = starving.measured(running, victim, kind, None, 60, most=5, lines=2000)
            assert len(found["times"]) == 5
            assert found["refused"] == 0
        found = starving.measured(running, victim, "unknown ids", 2.0, 60, most=5, lines=2000)
        assert len(found["times"]) == 5
        assert found["taken"] <= 4  # those that came before the first was counted
        assert "Traceback" not in running.errors.read_text()


@pytest.mark.parametrize("working", [False, True])
def test_a_batch_gives_way_to_the_writer(working, monkeypatch):
    """While the writer works, lines wait: it would else wait for Python's lock."""
    rests, sleep = [], asyncio.sleep

    async def noted(seconds):
        rests.append(seconds)
        await sleep(0)

    async def refused(place, line):
        raise ValueError

    monkeypatch.setattr(asyncio, "sleep", noted)
    writer = SimpleNamespace(working=working)
    lines = [b"{"] * (4 * batch.SLICE)
    asyncio.run(batch.answers_to(lines, refused, lambda error: {}, writer))
    assert rests == [batch.REST if working else 0] * 4


def test_lines_are_known_again_by_their_place_in_the_whole_batch(tmp_path):
    """Equal ones in several turns of the writer are several, each stored once."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            body, head = b'{"arm":"a","value":1}\n' * (AT_ONCE + 2), {"Idempotency-Key": "x"}
            for stored in ("now", "before"):
                answer = await client.post(
                    "/v1/agents/ads/observations", content=body, headers=head
                )
                found = [json.loads(text) for text in answer.text.splitlines()]
                assert [each["stored"] for each in found] == [stored] * (AT_ONCE + 2)
            summary = (await client.get("/v1/agents/ads")).json()
            assert summary["arms"][0]["rewards"] == AT_ONCE + 2

    asyncio.run(run())


def test_an_agent_that_nobody_knows_is_looked_for_once_for_all_lines(tmp_path, monkeypatch):
    """A look asks the store; a batch of unknown ids must not ask for each line."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            looks, look = [], client.node.look

            async def counted():
                looks.append(1)
                await look()

            monkeypatch.setattr(client.node, "look", counted)
            await client.post("/v1/rewards", content=LINES["unknown agents"] * 100)
            # the clock of the node looks too, once a second
            assert len(looks) < 50

    asyncio.run(run())


def test_a_batch_counts_by_its_lines(tmp_path):
    """It is let in if one request would be; then the key owes the rest."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            for rate, statuses in ((0.001, [200, 429]), (1e6, [200, 200])):
                head = await limited(client, rate)
                found = [
                    await client.post("/v1/rewards", content=LINES["broken"] * 100, headers=head)
                    for _ in statuses
                ]
                assert [answer.status_code for answer in found] == statuses
                if rate < 1:
                    assert 99_000 < int(found[1].headers["retry-after"]) <= 100_000

    asyncio.run(run())


def test_lines_have_bounds(tmp_path):
    """Millions of empty lines are not split, and a line is no longer than a body."""

    async def run():
        async with service(tmp_path, Limits(body=100, batch=1000)) as client:
            await make(client)
            answer = await client.post("/v1/rewards", content=b"\n" * 1001)
            assert answer.status_code == 413
            assert (await client.post("/v1/rewards", content=b"{}\n" * 1000)).status_code == 200
            long = b'{"id":"1.zzz","value":1,"source":"%b"}' % (b"x" * 100)
            answer = await client.post("/v1/rewards", content=b"{}\n" + long)
            assert [json.loads(text)["status"] for text in answer.text.splitlines()] == [422, 413]

    asyncio.run(run())


def test_a_batch_for_many_agents_keeps_the_order(tmp_path):
    """Over several turns of the writer, each answer is in the place of its line."""

    async def run():
        async with service(tmp_path) as client:
            for name in ("one", "two", "three"):
                await make(client, name)
            decided = [
                (await client.post(f"/v1/agents/{name}/decisions")).json()["id"]
                for name in ("one", "two", "three")
            ]
            ids = [
                decided[k % 3] if k % 5 == 0 else f"{1 + k % 3}.x{k}" for k in range(2 * AT_ONCE)
            ]
            body = b"".join(b'{"id":"%b","value":1}\n' % id.encode() for id in ids)
            answer = await client.post("/v1/rewards", content=body)
            found = [json.loads(text) for text in answer.text.splitlines()]
            seen = set()
            for id, each in zip(ids, found, strict=True):
                if id in decided:
                    stored = "before" if id in seen else "now"
                    assert each == {"id": id, "status": 200, "stored": stored}
                    seen.add(id)
                else:
                    assert (each["status"], id in each["detail"]) == (404, True)

    asyncio.run(run())


def test_who_asks_too_often_hears_so_later(tmp_path, monkeypatch):
    """Else a client that asks again at once would keep the service busy."""
    monkeypatch.setattr(app, "PAUSE", 1e6)

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            head = await limited(client, 0.001)
            body = LINES["broken"] * 100
            first = await client.post("/v1/rewards", content=body, headers=head)
            assert first.status_code == 200
            again = asyncio.create_task(client.post("/v1/rewards", content=body, headers=head))
            for _ in range(20):
                assert (await client.get("/healthz")).status_code == 200
            assert not again.done()
            again.cancel()

    asyncio.run(run())


def test_a_batch_of_nothing_counts_as_one_request(tmp_path):
    """Blank lines are no lines, and no refund either."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            head = await limited(client, 1.0)
            found = [
                (await client.post("/v1/rewards", content=b"\n \n", headers=head)).status_code
                for _ in range(5)
            ]
            assert 429 in found

    asyncio.run(run())


def test_sources_are_limited_for_each_agent(tmp_path):
    """Who may send to one agent cannot use up what a source may send to another."""

    async def run():
        async with service(tmp_path, limits=Limits(source_rate=0.001)) as client:
            await make(client)
            await make(client, "other")
            decision = (await client.post("/v1/agents/other/decisions")).json()
            line = b'{"id":"1.zzz","value":1,"source":"pub"}\n'
            answer = await client.post("/v1/rewards", content=line * 60)
            assert b"429" in answer.content
            given = {"value": 1.0, "source": "pub"}
            path = f"/v1/decisions/{decision['id']}/reward"
            assert (await client.put(path, json=given)).status_code == 200

    asyncio.run(run())
