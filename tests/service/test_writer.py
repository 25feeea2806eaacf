"""The writer: many requests share one commit."""

import asyncio
import threading

from ironarm.agent.store import SqliteStore

from .test_api import make, service


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
