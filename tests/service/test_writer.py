"""The writer: many requests share one commit."""

import asyncio
import threading
from collections import Counter
from contextlib import nullcontext

import pytest

from ironarm.agent.sqlite import SqliteStore
from ironarm.errors import StoreError
from ironarm.service import writer as writer_module
from ironarm.service.writer import AT_ONCE, Busy, Writer

from .test_api import entries, make, service


def test_what_comes_while_an_agent_is_awaited_joins_the_transaction(tmp_path, monkeypatch):
    """Another node holds the agent for a while: then all that waits is one commit.

    What is for other agents stays in the queue, and is done next.
    """
    waits, free, original = threading.Event(), threading.Event(), SqliteStore.hold

    def held_elsewhere(store, agents):
        waits.set()
        assert free.wait(60)
        return original(store, agents)

    async def run():
        async with service(tmp_path) as client:
            await make(client, "ads")
            await make(client, "other")
            writer = client.node.writer
            monkeypatch.setattr(SqliteStore, "hold", held_elsewhere)
            before = writer.commits
            asks = [asyncio.create_task(client.post("/v1/agents/ads/decisions"))]
            await asyncio.to_thread(waits.wait, 60)
            for name in ["ads"] * 8 + ["other"]:
                asks.append(asyncio.create_task(client.post(f"/v1/agents/{name}/decisions")))
            while writer.waiting < 9:
                await asyncio.sleep(0.01)
            free.set()
            answers = await asyncio.gather(*asks)
            assert [answer.status_code for answer in answers] == [201] * 10
            assert len({answer.json()["id"] for answer in answers}) == 10
            assert writer.commits - before == 2
            assert writer.waiting == 0

    asyncio.run(run())


def test_of_a_transaction_that_fails_nothing_is_left(tmp_path):
    """Neither in memory nor among the rows to be stored, also for other agents."""
    waits, free = threading.Event(), threading.Event()

    def first(hosted):
        waits.set()
        assert free.wait(60)

    def decides(hosted):
        return hosted.decide_once(None, None)

    def fails(hosted):
        raise StoreError("the database is gone.")

    async def run():
        async with service(tmp_path) as client:
            await make(client, "ads")
            await make(client, "other")
            writer = client.node.writer
            ads, other = [await client.node.number_of(name) for name in ("ads", "other")]
            asks = [asyncio.create_task(writer.submit(ads, first))]
            await asyncio.to_thread(waits.wait, 60)
            # both are in the next transaction
            for agent, work in ((ads, decides), (other, fails)):
                asks.append(asyncio.create_task(writer.submit(agent, work)))
                await asyncio.sleep(0)
            free.set()
            errors = await asyncio.gather(*asks, return_exceptions=True)
            assert [str(error) for error in errors[1:]] == ["the database is gone."] * 2
            assert (await client.get("/v1/agents/ads")).json()["decisions"] == 0
            assert (await client.post("/v1/agents/ads/decisions")).status_code == 201
            assert [each["kind"] for each in await entries(client)] == ["created", "decided"]

    asyncio.run(run())


def test_the_same_request_twice_in_one_transaction_is_done_once(tmp_path):
    """A client sends it again while the first waits: the second finds the first."""
    waits, free = threading.Event(), threading.Event()

    def first(hosted):
        waits.set()
        assert free.wait(60)

    async def run():
        async with service(tmp_path) as client:
            await make(client, "ads")
            writer = client.node.writer
            number = await client.node.number_of("ads")
            held = asyncio.create_task(writer.submit(number, first))
            await asyncio.to_thread(waits.wait, 60)
            path, head = "/v1/agents/ads/observations", {"Idempotency-Key": "x"}
            body, before = b'{"arm":"a","value":1}\n' * 3, writer.commits
            asks = [
                asyncio.create_task(client.post(path, content=body, headers=head)) for _ in range(2)
            ]
            while writer.waiting < 6:
                await asyncio.sleep(0.01)
            free.set()
            answers = [(await ask).text for ask in asks]
            await held
            assert writer.commits - before == 2
            assert [[text.count(word) for word in ("now", "before")] for text in answers] == [
                [3, 0],
                [0, 3],
            ]
            assert (await client.get("/v1/agents/ads")).json()["arms"][0]["rewards"] == 3

    asyncio.run(run())


class FakeStore:
    """A store that keeps nothing."""

    def begin(self):
        pass

    commit = roll_back = close = begin

    def hold(self, agents):
        return agents

    def after_each(self, last):
        return {}

    def give_up(self, after):
        pass


class FakeLog:
    last, unsealed = 0, None

    def looked_up(self, ids):
        return nullcontext()

    def mark(self):
        return 0

    def take_waiting(self):
        return []


class FakeReplay:
    loaded = object()


class FakeHosted:
    """An agent that does what it is told."""

    def __init__(self, store, number):
        self.number, self.log, self.replay = number, FakeLog(), FakeReplay()

    def catch_up(self, rows=None):
        pass


def turns_of(queued):
    """Queue operations of these agents in this order; return the turns they are in.

    The writer is held in a first turn, of agent 0, until all are queued.
    """
    turns, waits, free = [], threading.Event(), threading.Event()

    class Store(FakeStore):
        def begin(self):
            turns.append([])

    def first(hosted):
        waits.set()
        assert free.wait(60)

    async def run():
        writer = Writer(Store, FakeHosted, workers=1)
        asked = [asyncio.create_task(writer.submit(0, first))]
        await asyncio.to_thread(waits.wait, 60)
        for agent, count in queued:
            work = [lambda hosted: turns[-1].append(hosted.number)] * count
            asked.append(asyncio.create_task(writer.submit_many(agent, work)))
            await asyncio.sleep(0)  # it is queued
        assert writer.waiting == sum(count for _, count in queued)
        free.set()
        await asyncio.gather(*asked)
        assert writer.waiting == 0
        await asyncio.to_thread(writer.stop, 1.0)

    asyncio.run(run())
    return [Counter(turn) for turn in turns[1:]]


def test_an_agent_that_floods_the_queue_delays_no_other():
    """What another agent wants is in the next turn, and turns have a bounded length."""
    turns = turns_of([(1, 3000), (2, 1)])
    assert turns[0] == {1: AT_ONCE - 1, 2: 1}
    assert max(turn.total() for turn in turns) == AT_ONCE
    assert sum(turns, Counter()) == {1: 3000, 2: 1}


def test_agents_that_want_much_share_a_turn_evenly():
    """Who wants less leaves the rest to the others."""
    turns = turns_of([(1, 3000), (2, 10), (3, 3000)])
    rest = AT_ONCE - 10
    assert turns[0] == {2: 10, 1: rest // 2, 3: rest - rest // 2}
    assert turns[1] == {1: AT_ONCE // 2, 3: AT_ONCE // 2}


def test_with_more_agents_than_a_turn_holds_none_is_served_twice_while_another_waits():
    """They come round: who was served waits behind all others."""
    agents = range(1, 2 * AT_ONCE + 1)
    turns = turns_of([(agent, 2) for agent in agents])
    assert [set(turn) for turn in turns] == [
        set(agents[:AT_ONCE]),
        set(agents[AT_ONCE:]),
        set(agents[:AT_ONCE]),
        set(agents[AT_ONCE:]),
    ]
    assert all(set(turn.values()) == {1} for turn in turns)


def test_what_waits_for_another_node_keeps_its_order():
    """It comes before what came while the other node held the agent."""
    waits, free, done = threading.Event(), threading.Event(), []

    class Store(FakeStore):
        held = False

        def hold(self, agents):
            if self.held:
                return agents
            self.held = True
            waits.set()
            assert free.wait(60)
            return []  # another node has it

    async def run():
        writer = Writer(Store, FakeHosted, workers=1)
        works = [lambda hosted, k=k: done.append(k) for k in range(4)]
        asked = [asyncio.create_task(writer.submit_many(1, works[:2]))]
        await asyncio.to_thread(waits.wait, 60)
        asked.append(asyncio.create_task(writer.submit_many(1, works[2:])))
        await asyncio.sleep(0)
        free.set()
        await asyncio.gather(*asked)
        await asyncio.to_thread(writer.stop, 1.0)

    asyncio.run(run())
    assert done == [0, 1, 2, 3]


def test_who_fills_the_queue_is_refused_and_not_who_comes_then(monkeypatch):
    """Also when all the room is taken."""
    monkeypatch.setattr(writer_module, "WAITING", 100)
    waits, free = threading.Event(), threading.Event()

    def first(hosted):
        waits.set()
        assert free.wait(60)

    async def run():
        writer = Writer(FakeStore, FakeHosted, workers=1)
        asked = [asyncio.create_task(writer.submit(0, first))]
        await asyncio.to_thread(waits.wait, 60)
        asked.append(asyncio.create_task(writer.submit_many(1, [lambda hosted: 1] * 100)))
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="100 requests are waiting"):
            await writer.submit(1, lambda hosted: 1)
        asked.append(asyncio.create_task(writer.submit(2, lambda hosted: 2)))
        await asyncio.sleep(0)
        free.set()
        assert (await asyncio.gather(*asked))[-1] == 2
        await asyncio.to_thread(writer.stop, 1.0)

    asyncio.run(run())
