"""What the service answers, and what it stores."""

import asyncio
import json
import math
import sqlite3
import time
from contextlib import asynccontextmanager, closing

import httpx
import pytest

import ironarm as ia
from ironarm.agent import logged, replay
from ironarm.agent.sqlite import SqliteStore
from ironarm.cli import main
from ironarm.service import node as node_module
from ironarm.service import verbs
from ironarm.service.app import App
from ironarm.service.incoming import Incoming
from ironarm.service.keys import make_key
from ironarm.service.location import StoreLocation
from ironarm.service.node import Limits, Node


@asynccontextmanager
async def service(folder, limits=None):
    """A node in this process, and a client for it."""
    node = Node(StoreLocation(folder), limits)
    await node.start()
    try:
        while not node.ready:
            await asyncio.sleep(0.01)
        transport = httpx.ASGITransport(App(node), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            client.node = node
            yield client
    finally:
        await node.stop()


def scenario(work):
    """Turn a coroutine that takes a client into a test."""

    def test(tmp_path):
        async def run():
            async with service(tmp_path / "agents") as client:
                await work(client)

        asyncio.run(run())

    test.__doc__, test.__name__ = work.__doc__, work.__name__
    return test


async def make(client, name="ads", **more):
    body = {"arms": ["a", "b"], "seed": 1, "policy": "UCB", **more}
    answer = await client.put(f"/v1/agents/{name}", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def entries(client, name="ads"):
    answer = await client.get(f"/v1/agents/{name}/log")
    return [json.loads(line) for line in answer.text.splitlines()]


@scenario
async def test_an_agent_is_created_once(client):
    """The same again is fine; another one of that name is refused."""
    found = await make(client)
    assert (found["policy"], found["decisions"], found["entries"]) == ("UCB", 0, 1)
    body = {"arms": ["a", "b"], "policy": "UCB"}
    assert (await client.put("/v1/agents/ads", json=body)).status_code == 200
    for other in ({"arms": ["a"]}, {"policy": "RUCB"}, {"seed": 2}, {"reward_within": 3}):
        answer = await client.put("/v1/agents/ads", json={**body, **other})
        assert answer.status_code == 409, other
        assert "already" in answer.json()["detail"]
    assert (await client.get("/v1/agents")).json() == {"agents": ["ads"]}
    assert len(await entries(client)) == 1


@scenario
async def test_the_list_has_what_was_made_elsewhere(client):
    """At once: the node asks, and does not wait for its next look."""
    with closing(client.node.place.open()) as store, store.transaction():
        store.add_agent("made elsewhere")
    assert (await client.get("/v1/agents")).json() == {"agents": ["made elsewhere"]}


@scenario
async def test_a_first_click_is_no_riddle(client):
    """An agent of which one arm has a single reward of 1 is told of like any other."""
    await make(client, arms=["a", "b", "c"])
    first = (await client.post("/v1/agents/ads/decisions")).json()
    await client.put(f"/v1/decisions/{first['id']}/reward", json={"value": 1})
    answer = await client.get("/v1/agents/ads")
    assert (answer.status_code, answer.json()["can_take_about"]) == (200, None)


@scenario
async def test_bad_agents_are_refused(client):
    """Each with a sentence, and nothing is made."""
    for body in (
        {},
        {"arms": []},
        {"arms": ["a", "a"]},
        {"arms": ["a"], "policy": "Nix"},
        {"arms": ["a"], "policy": "mine.py:Mine"},
        {"arms": ["a"], "policy": "/etc/mine.py:Mine"},
        {"arms": ["a"], "seed": -1},
        {"arms": ["a"], "reward_within": 0},
        {"arms": ["a"], "missing_reward": 1},
        {"arms": ["a"], "colour": "red"},
        {"arms": [True]},
        {"arms": ["\u0000"]},
        {"arms": [2**70]},
        {"arms": ["a", ".."]},
        {"arms": list(range(1001))},
    ):
        answer = await client.put("/v1/agents/ads", json=body)
        assert answer.status_code == 422, (body, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert len(answer.json()["detail"]) > 10
    for name in ("a b", "-a", "a" * 101, "%2e%2e", "ä"):
        answer = await client.put(f"/v1/agents/{name}", json={"arms": ["a"]})
        assert answer.status_code in (404, 422), name
    assert (await client.get("/v1/agents")).json() == {"agents": []}


def test_a_policy_does_not_tell_which_files_there_are(tmp_path, monkeypatch):
    """The answer is the same for one that is there and for one that is not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.py").write_text("raise SystemExit")

    async def run():
        async with service(tmp_path / "agents") as client:
            for form in ("{}.py", " {}.py ", "{}.py:Mine", "{}.py:Mine()", "./{}.py", ".\\{}.py"):
                found = [
                    await client.put(
                        "/v1/agents/ads", json={"arms": ["a"], "policy": form.format(name)}
                    )
                    for name in ("here", "gone")
                ]
                assert [answer.status_code for answer in found] == [422, 422]
                assert found[0].json() == found[1].json(), form
                assert "files are not loaded here" in found[0].json()["detail"]

    asyncio.run(run())


@scenario
async def test_a_reward_is_stored_once(client):
    """Again: the same answer. Another one: 409. Unknown: 404. Cancelled: 410."""
    await make(client)
    first = (await client.post("/v1/agents/ads/decisions")).json()
    second = (await client.post("/v1/agents/ads/decisions")).json()
    path = f"/v1/decisions/{first['id']}/reward"
    for stored in ("now", "before"):
        answer = await client.put(path, json={"value": 2, "source": "user 1"})
        assert (answer.status_code, answer.json()["stored"]) == (200, stored)
    assert (await client.put(path, json={"value": 3})).status_code == 409
    assert (await client.put("/v1/decisions/1.x/reward", json={"value": 3})).status_code == 404
    assert (await client.put("/v1/decisions/77.x/reward", json={"value": 3})).status_code == 404
    assert (await client.delete(f"/v1/decisions/{second['id']}")).status_code == 200
    assert (await client.delete(f"/v1/decisions/{second['id']}")).json()["stored"] == "before"
    late = await client.put(f"/v1/decisions/{second['id']}/reward", json={"value": 3})
    assert late.status_code == 410
    kinds = [entry["kind"] for entry in await entries(client)]
    assert kinds == ["created", "decided", "decided", "rewarded", "cancelled"]
    assert client.node.counts.events["ads", "late"] == 1


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "\ufeff{}",
        '{"value": NaN}',
        '{"value": -Infinity}',
        '{"value": 1e999}',
        '{"value": "3"}',
        '{"value": true}',
        '{"value": 1, "failed": true}',
        '{"value": 1, "x": 2}',
        '{"value": 1, "source": 1.5}',
        '{"value": 1, "source": ""}',
        '{"value": 1, "value": 1}',
        '{"value": 1, "source": 1, "source": 2}',
        '{"value": 1, "\\u0076alue": 2}',
    ],
)
def test_bad_rewards_are_refused(body, tmp_path):
    """And change nothing."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            id = (await client.post("/v1/agents/ads/decisions")).json()["id"]
            answer = await client.put(
                f"/v1/decisions/{id}/reward",
                content=body.encode(),
                headers={"content-type": "application/json"},
            )
            assert answer.status_code == 422
            assert len(await entries(client)) == 2

    asyncio.run(run())


@scenario
async def test_a_failure_is_the_worst_there_is(client):
    """-inf where the policy takes it, else the value that was stated, else refused."""
    await make(client, "median", policy="RUCB")
    await make(client, "mean")
    await make(client, "stated", failed_reward=-5)
    learnt = {}
    for name in ("median", "mean", "stated"):
        id = (await client.post(f"/v1/agents/{name}/decisions")).json()["id"]
        answer = await client.put(f"/v1/decisions/{id}/reward", json={"failed": True})
        again = await client.put(f"/v1/decisions/{id}/reward", json={"failed": True})
        assert again.status_code == answer.status_code
        learnt[name] = [e["value"] for e in await entries(client, name) if e["kind"] == "failed"]
        if name == "mean":
            assert answer.status_code == 422
            assert "failed_reward" in answer.json()["detail"]
    assert learnt == {"median": ["-inf"], "mean": [], "stated": [-5.0]}
    assert (await client.put(f"/v1/decisions/{id}/reward", json={"value": 1})).status_code == 409
    found = (await client.get("/v1/agents/median")).json()
    arm = found["arms"][0]
    del arm["share"]  # of the decisions some seconds ago
    assert arm == {"arm": "a", "rewards": 1, "open": 0, "estimate": None}


@scenario
async def test_a_repeated_request_gets_the_same_decision(client):
    """With an Idempotency-Key: also when the decision is closed."""
    await make(client)
    head = {"Idempotency-Key": "request 17"}
    first = await client.post("/v1/agents/ads/decisions", headers=head)
    again = await client.post("/v1/agents/ads/decisions", headers=head)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    await client.put(f"/v1/decisions/{first.json()['id']}/reward", json={"value": 1})
    again = await client.post("/v1/agents/ads/decisions", headers=head)
    assert first.json() == again.json()
    found = await client.post("/v1/agents/ads/decisions", headers={"Idempotency-Key": "x" * 201})
    assert found.status_code == 422
    assert (await client.get("/v1/agents/ads")).json()["decisions"] == 1


@scenario
async def test_clients_do_not_share_idempotency_keys(client):
    """The same text from another key is another request, and gets its own decision."""
    await make(client)
    with closing(client.node.place.open()) as store:
        keys = [make_key(store, name, ["decide"]) for name in ("one", "other")]
    await client.node.look()
    found = []
    for key in keys:
        head = {"Authorization": f"Bearer {key}", "Idempotency-Key": "request 17"}
        for status in (201, 200):
            answer = await client.post("/v1/agents/ads/decisions", headers=head)
            assert answer.status_code == status
        found.append(answer.json()["id"])
    assert found[0] != found[1]


@scenario
async def test_keys_of_decisions_and_of_observations_do_not_collide(client):
    """Whatever stands in them."""
    await make(client)
    path = "/v1/agents/ads"
    head = {"Idempotency-Key": "zzz"}
    body = b'{"arm": "a", "value": 1}\n' * 2
    await client.post(f"{path}/observations", content=body, headers=head)
    for key in ("zzz", "zzz 0", "zzz 1", "zzz 2", '["zzz", 1]'):
        answer = await client.post(f"{path}/decisions", headers={"Idempotency-Key": key})
        assert answer.status_code == 201, key
    assert [each["kind"] for each in await entries(client)][-5:] == ["decided"] * 5


@scenario
async def test_another_request_with_the_same_key_is_refused(client):
    """A decision among other arms, another observation; and nothing is stored."""
    await make(client, arms=["a", "b", "c"])
    path, head = "/v1/agents/ads/decisions", {"Idempotency-Key": "x"}
    first = await client.post(path, json={"among": ["a", "b"]}, headers=head)
    assert first.status_code == 201
    for closed in (False, True):
        for among in (["c"], [first.json()["arm"]], ["a", "b", "c"], None):
            answer = await client.post(path, json={"among": among}, headers=head)
            assert answer.status_code == 422, (closed, among)
            assert "Idempotency-Key" in answer.json()["detail"]
        again = await client.post(path, json={"among": ["a", "b"]}, headers=head)
        assert (again.status_code, again.json()) == (200, first.json())
        await client.put(f"/v1/decisions/{first.json()['id']}/reward", json={"value": 1})
    head = {"Idempotency-Key": "y"}
    await client.post(path, headers=head)
    assert (await client.post(path, json={"among": ["a"]}, headers=head)).status_code == 422
    assert (await client.post(path, json={"among": None}, headers=head)).status_code == 200
    path, statuses = "/v1/agents/ads/observations", []
    for more in ({}, {}, {"value": 2}, {"arm": "b"}, {"source": "other"}):
        sent = {"arm": "a", "value": 1, "source": "one", **more}
        answer = await client.post(path, json=sent, headers=head)
        statuses.append(json.loads(answer.text)["status"])
    assert statuses == [200, 200, 422, 422, 422]
    kinds = [each["kind"] for each in await entries(client)]
    assert kinds == ["created", "decided", "rewarded", "decided", "observed"]


@scenario
async def test_a_decision_from_before_is_found_by_its_key(client):
    """Entries of older versions do not say what was asked; the arm must be fine."""
    await make(client)
    head = {"Idempotency-Key": "old"}

    def as_before(hosted):
        return hosted.decide(hosted._id(None, "old"), None, ["a"])

    decision = await client.node.writer.submit(1, as_before)
    for among, status in ((None, 200), (["a"], 200), (["b"], 422)):
        answer = await client.post("/v1/agents/ads/decisions", json={"among": among}, headers=head)
        assert answer.status_code == status
        if status == 200:
            assert answer.json() == {"id": decision.id, "arm": "a"}


@scenario
async def test_a_decision_among_some_arms(client):
    """Those that cannot be used this time are left out; unknown ones are refused."""
    await make(client)
    for among, status in ((["b"], 201), (None, 201), (["x"], 422), ([], 422), ("b", 422)):
        answer = await client.post("/v1/agents/ads/decisions", json={"among": among})
        assert answer.status_code == status, among
        if among == ["b"]:
            assert answer.json()["arm"] == "b"
    answer = await client.post("/v1/agents/ads/decisions", json={"amongst": ["b"]})
    assert answer.status_code == 422
    assert len(await entries(client)) == 3


@scenario
async def test_many_rewards_at_once(client):
    """Each line has its own answer."""
    await make(client)
    ids = [(await client.post("/v1/agents/ads/decisions")).json()["id"] for _ in range(3)]
    lines = [{"id": id, "value": k} for k, id in enumerate(ids)] + [{"id": "1.x", "value": 1}]
    body = "\n".join(map(json.dumps, lines)) + "\n{\n\n" + json.dumps(lines[0])
    answer = await client.post(
        "/v1/rewards", content=body, headers={"content-type": "application/x-ndjson"}
    )
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [each["status"] for each in found] == [200, 200, 200, 404, 422, 200]
    assert sorted(each.get("stored", "") for each in found)[-4:] == ["before", "now", "now", "now"]
    assert len(await entries(client)) == 7


@scenario
async def test_observations_need_no_decision(client):
    """Sent twice with one Idempotency-Key, they are stored once."""
    await make(client)
    body = '{"arm": "a", "value": 1}\n{"arm": "a", "value": 1}\n{"arm": "z", "value": 1}'
    head = {"content-type": "application/x-ndjson", "Idempotency-Key": "batch 1"}
    for stored in ("now", "before"):
        answer = await client.post("/v1/agents/ads/observations", content=body, headers=head)
        found = [json.loads(line) for line in answer.text.splitlines()]
        assert [each.get("stored") for each in found] == [stored, stored, None]
        assert found[2]["status"] == 422
    other = await client.post("/v1/agents/ads/observations", content=body[:-60], headers=head)
    assert other.status_code == 200
    assert (await client.get("/v1/agents/ads")).json()["arms"][0]["rewards"] == 2
    await make(client, "weighed", policy="EXP3(gamma=0.2)")
    answer = await client.post("/v1/agents/weighed/observations", content=body, headers=head)
    assert json.loads(answer.text.splitlines()[0])["status"] == 422


@scenario
async def test_arms_come_and_go(client):
    """Also such that the policy refuses in the middle: then nothing has happened."""
    await make(client)
    for status in (201, 200):
        answer = await client.post("/v1/agents/ads/arms", json={"arm": 7})
        assert answer.status_code == status
    assert (await client.delete("/v1/agents/ads/arms/7")).json() == {"arm": 7}
    assert (await client.delete("/v1/agents/ads/arms/7")).status_code == 404
    assert (await client.delete("/v1/agents/ads/arms/a")).status_code == 200
    assert (await client.delete("/v1/agents/ads/arms/b")).status_code == 422
    await make(client, "full", policy="MedEUCB(block=30)")
    wanted = [client.post("/v1/agents/full/decisions") for _ in range(5)]
    more = client.post("/v1/agents/full/arms", json={"arm": "c"})
    *decided, refused = await asyncio.gather(*wanted, more)
    assert refused.status_code == 422
    assert "block" in refused.json()["detail"]
    assert all(answer.status_code == 201 for answer in decided)
    assert len(await entries(client, "full")) == 6
    assert (await client.post("/v1/agents/full/decisions")).status_code == 201


@scenario
async def test_late_decisions_expire(client):
    """With a reward in the place of the missing one, or without; then 410."""
    node_module_tick = node_module.TICK
    await make(client, "dropped", reward_within=0.05)
    await make(client, "valued", reward_within=0.05, missing_reward=-1)
    ids = [
        (await client.post(f"/v1/agents/{name}/decisions")).json()["id"]
        for name in ("dropped", "valued")
    ]
    await asyncio.sleep(0.1)
    for id in ids:  # before the node has looked, or after: the same
        answer = await client.put(f"/v1/decisions/{id}/reward", json={"value": 1})
        assert answer.status_code == 410
    await client.post("/v1/agents/dropped/decisions")
    deadline = time.monotonic() + 180 * node_module_tick
    while (await client.get("/v1/agents/dropped")).json()["open"]:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
    found = await entries(client, "valued")
    assert [(e["kind"], e.get("value")) for e in found[1:]] == [
        ("decided", None),
        ("expired", -1.0),
    ]
    assert (await client.get("/v1/agents/valued")).json()["arms"][0]["estimate"] == -1.0


@scenario
async def test_an_archived_agent_can_only_be_read(client):
    """Its log stays."""
    await make(client)
    decision = (await client.post("/v1/agents/ads/decisions")).json()
    for stored in ("now", "before"):
        assert (await client.delete("/v1/agents/ads")).json()["stored"] == stored
    assert (await client.post("/v1/agents/ads/decisions")).status_code == 410
    path = f"/v1/decisions/{decision['id']}/reward"
    assert (await client.put(path, json={"value": 1})).status_code == 410
    again = await client.put("/v1/agents/ads", json={"arms": ["a", "b"], "policy": "UCB"})
    assert again.status_code == 409
    assert (await client.get("/v1/agents/ads")).json()["archived"] is True
    assert [e["kind"] for e in await entries(client)] == ["created", "decided", "archived"]


def test_entries_that_were_pruned_are_gone(tmp_path, monkeypatch, capsys):
    """The answer says so, and not where the service keeps its files."""
    monkeypatch.setattr(replay, "REFRESH", 8)
    monkeypatch.setattr(logged, "REFRESH", 8)
    folder = tmp_path / "agents"

    async def run():
        async with service(folder) as client:
            await make(client)
            for _ in range(20):
                await client.post("/v1/agents/ads/decisions")
            assert main(["log", "prune", str(folder), "--keep", "6"]) == 0
            for after in (3, 14):
                gone = await client.get(f"/v1/agents/ads/log?after={after}")
                assert gone.status_code == 410
                found = gone.json()
                assert found["error"] == "PrunedEntries"
                assert found["detail"] == (
                    "the entries up to 15 were pruned; ask for those after 15."
                )
            for after in (0, 15):
                left = (await client.get(f"/v1/agents/ads/log?after={after}")).text.splitlines()
                assert [json.loads(line)["number"] for line in left] == list(range(16, 23))
            assert (await client.get("/v1/agents/ads/log?after=99")).text == ""

    asyncio.run(run())


@scenario
async def test_the_log_and_the_state_can_be_fetched(client):
    """In pages, as Parquet, and as the file of an agent; never the salt of the ids."""
    await make(client)
    for _ in range(4):
        id = (await client.post("/v1/agents/ads/decisions")).json()["id"]
        await client.put(f"/v1/decisions/{id}/reward", json={"value": 1.5, "source": 4})
    page = (await client.get("/v1/agents/ads/log?after=3&limit=2")).text.splitlines()
    assert [json.loads(line)["number"] for line in page] == [4, 5]
    assert "salt" not in (await client.get("/v1/agents/ads/log")).text
    for bad in ("after=-1", "after=x", "limit=1e3", "format=xml"):
        assert (await client.get(f"/v1/agents/ads/log?{bad}")).status_code == 422
    pq = pytest.importorskip("pyarrow.parquet")
    import io

    data = (await client.get("/v1/agents/ads/log?format=parquet")).content
    table = pq.read_table(io.BytesIO(data))
    assert table.column("value").to_pylist().count(1.5) == 4
    state = (await client.get("/v1/agents/ads/state")).json()
    agent = ia.Agent._of_data(ia.UCB(), state)
    assert agent.rewards == {"a": 2, "b": 2}
    found = (await client.get("/v1/agents/ads/sources")).json()
    assert [each["source"] for each in found["sources"]] == [4]


@scenario
async def test_a_node_tells_how_it_is(client):
    """Health, readiness, counts."""
    await make(client)
    assert (await client.get("/healthz")).json()["status"] == "ok"
    assert (await client.get("/readyz")).json()["status"] == "ready"
    await client.post("/v1/agents/ads/decisions")
    text = (await client.get("/metrics")).text
    assert 'ironarm_events_total{agent="ads",kind="decisions"} 1.0' in text
    assert 'ironarm_requests_total{route="decide",status="201"} 1.0' in text
    assert (await client.get("/nix")).status_code == 404
    assert (await client.post("/healthz")).status_code == 405


def test_keys_say_who_may_do_what(tmp_path):
    """Each scope only its own; other agents' decisions are not there at all."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            await make(client, "other")
            foreign = (await client.post("/v1/agents/other/decisions")).json()["id"]
            store = StoreLocation(tmp_path).open()
            keys = {
                scope: make_key(store, scope, [scope], ["ads"])
                for scope in ("decide", "reward", "read", "admin")
            }
            store.close()
            await client.node.look()
            decision = None
            allowed = {}
            for scope, key in keys.items():
                head = {"Authorization": f"Bearer {key}"}
                decided = await client.post("/v1/agents/ads/decisions", headers=head)
                if decided.status_code == 201:
                    decision = decided.json()["id"]
                asked = [
                    decided,
                    await client.put(
                        f"/v1/decisions/{decision}/reward", json={"value": 1}, headers=head
                    ),
                    await client.get("/v1/agents/ads", headers=head),
                    await client.post("/v1/agents/ads/arms", json={"arm": "a"}, headers=head),
                ]
                allowed[scope] = [answer.status_code < 400 for answer in asked]
                for path, method in (("other/decisions", "POST"), ("other", "GET")):
                    answer = await client.request(method, f"/v1/agents/{path}", headers=head)
                    assert answer.status_code == 403
                answer = await client.put(
                    f"/v1/decisions/{foreign}/reward", json={"value": 1}, headers=head
                )
                assert answer.status_code == (404 if allowed[scope][1] else 403)
            assert allowed == {
                "decide": [True, False, False, False],
                "reward": [False, True, False, False],
                "read": [False, False, True, False],
                "admin": [True, True, True, True],
            }
            head = {"Authorization": f"Bearer {keys['read']}"}
            assert (await client.get("/v1/agents", headers=head)).json() == {"agents": ["ads"]}
            guessed = keys["read"][:-1] + ("B" if keys["read"][-1] == "A" else "A")
            for bad in (None, "Basic x", "Bearer x", f"Bearer {guessed}"):
                head = {} if bad is None else {"Authorization": bad}
                answer = await client.get("/v1/agents", headers=head)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
            store = StoreLocation(tmp_path).open()
            id = keys["read"].split("_")[1]
            assert store.revoke_key(id, time.time()) == 1
            store.close()
            await client.node.look()
            head = {"Authorization": f"Bearer {keys['read']}"}
            assert (await client.get("/v1/agents", headers=head)).status_code == 401

    asyncio.run(run())


def test_limits_hold(tmp_path):
    """Bodies, batches, rates of keys and of sources."""

    async def run():
        limits = Limits(body=200, batch_body=2000, batch=5, source_rate=1.0)
        async with service(tmp_path, limits) as client:
            await make(client)
            ids = [(await client.post("/v1/agents/ads/decisions")).json()["id"] for _ in range(4)]
            path = f"/v1/decisions/{ids[0]}/reward"
            assert (await client.put(path, json={"value": 1, "x": "y" * 300})).status_code == 413
            head = {"content-type": "application/x-ndjson"}
            many = "{}\n" * 6
            answer = await client.post("/v1/rewards", content=many, headers=head)
            assert answer.status_code == 413
            form = {"content-type": "application/x-www-form-urlencoded"}
            assert (await client.put(path, content="a=b", headers=form)).status_code == 415
            statuses = []
            for id in ids:
                body = {"value": 1, "source": "bot"}
                answer = await client.put(f"/v1/decisions/{id}/reward", json=body)
                statuses.append(answer.status_code)
            assert statuses[:2] == [200, 200]
            assert 429 in statuses
            assert int(answer.headers["retry-after"]) >= 1
            store = StoreLocation(tmp_path).open()
            key = make_key(store, "slow", ["read"], rate=1.0)
            store.close()
            await client.node.look()
            head = {"Authorization": f"Bearer {key}"}
            found = [(await client.get("/v1/agents", headers=head)).status_code for _ in range(5)]
            assert found[0] == 200
            assert 429 in found

    asyncio.run(run())


@scenario
async def test_foreign_pages_cannot_use_a_browser(client):
    """Nor a name that points to this machine."""
    await make(client)
    for head in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        answer = await client.post("/v1/agents/ads/decisions", headers=head)
        assert answer.status_code == 403
    answer = await client.get("/v1/agents", headers={"Host": "evil.example"})
    assert answer.status_code == 403
    assert len(await entries(client)) == 1


@scenario
async def test_what_fails_in_the_store_is_503_and_changes_nothing(client):
    """Reading goes on."""
    await make(client)
    first = (await client.post("/v1/agents/ads/decisions")).json()
    store = client.node.writer.stores[0]
    store.connection.execute("PRAGMA query_only = ON")
    answer = await client.put(f"/v1/decisions/{first['id']}/reward", json={"value": 1})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert "cannot be written to" in answer.json()["detail"]
    assert "ironarm.db" not in answer.text  # the log of the service says more
    assert (await client.get("/v1/agents/ads")).json()["open"] == 1
    store.connection.execute("PRAGMA query_only = OFF")
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count = {pages}")
    statuses = []
    while 503 not in statuses:
        statuses.append((await client.post("/v1/agents/ads/decisions")).status_code)
    before = (await client.get("/v1/agents/ads")).json()["decisions"]
    assert before == 1 + statuses.count(201)
    store.connection.execute("PRAGMA max_page_count = 1000000")
    assert (await client.post("/v1/agents/ads/decisions")).status_code == 201
    assert (await client.get("/v1/agents/ads")).json()["decisions"] == before + 1


@scenario
async def test_a_node_that_cannot_write_is_not_ready(client):
    """It says so after the first write that fails, until a try of its own succeeds."""
    await make(client)
    commit = SqliteStore.commit

    def full(store):
        raise ia.StoreError("the disk is full.") from OSError()

    try:
        SqliteStore.commit = full
        assert (await client.post("/v1/agents/ads/decisions")).status_code == 503
        for _ in range(2):
            answer = await client.get("/readyz")
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert "ironarm_ready 0.0" in (await client.get("/metrics")).text
    finally:
        SqliteStore.commit = commit
    assert (await client.get("/readyz")).status_code == 200
    assert "ironarm_ready 1.0" in (await client.get("/metrics")).text
    assert (await client.post("/v1/agents/ads/decisions")).status_code == 201
    assert (await client.get("/readyz")).status_code == 200


def test_a_try_is_a_write(tmp_path):
    """Another connection sees that something was written; nothing grows."""
    place = StoreLocation(tmp_path)
    with closing(place.open(create=True)) as store, closing(place.open()) as other:
        store.try_write()
        seen, count = other.version(), other._rows("SELECT count(*) FROM setting")
        store.try_write()
        assert other.version() != seen
        assert other._rows("SELECT count(*) FROM setting") == count


@scenario
async def test_events_tell_what_changes(client):
    """As server-sent events."""
    await make(client)
    scope = {"type": "http", "head": {}, "path_params": {"agent": "ads"}}
    asked = Incoming(client.node, verbs.events, scope, None)
    await asked.let_in()
    events = await verbs.events.do(asked)
    first = await anext(events.chunks)
    await client.post("/v1/agents/ads/decisions")
    second = await anext(events.chunks)
    await events.chunks.aclose()
    assert first.startswith(b"id: 1\nevent: change\ndata: {")
    assert json.loads(second.split(b"data: ")[1])["decisions"] == 1


@scenario
async def test_an_estimate_that_is_not_finite_is_null(client):
    """JSON has no infinities."""
    await make(client, policy="RUCB")
    id = (await client.post("/v1/agents/ads/decisions")).json()["id"]
    await client.put(f"/v1/decisions/{id}/reward", json={"value": 1e308})
    found = (await client.get("/v1/agents/ads")).json()
    assert math.isclose(found["arms"][0]["estimate"], 1e308)


def test_the_stream_of_a_revoked_key_ends(tmp_path):
    """And so does one that began before there was any key."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            streams = [asyncio.create_task(client.get("/v1/agents/ads/events"))]
            await until(lambda: client.node.streams == 1)
            with closing(client.node.place.open()) as store:
                key = make_key(store, "reader", ["read"])
                head = {"Authorization": f"Bearer {key}"}
                await client.node.look()
                streams.append(
                    asyncio.create_task(client.get("/v1/agents/ads/events", headers=head))
                )
                first = await asyncio.wait_for(streams[0], 120)
                await until(lambda: client.node.streams == 1)
                store.revoke_key(key.split("_")[1], time.time())
            second = await asyncio.wait_for(streams[1], 120)
            assert [each.status_code for each in (first, second)] == [200, 200]
            assert second.text.startswith("id: 1\nevent: change")
            assert client.node.streams == 0

    asyncio.run(run())


def test_streams_are_counted_before_they_begin(tmp_path):
    """However many ask at once; and those that fail or end are not counted."""

    async def run():
        async with service(tmp_path, Limits(streams=2)) as client:
            await make(client)
            with closing(client.node.place.open()) as store, store.transaction():
                store.add_agent("never-made")
            answer = await client.get("/v1/agents/never-made/events")
            assert (answer.status_code, client.node.streams) == (404, 0)
            asked = [asyncio.create_task(client.get("/v1/agents/ads/events")) for _ in range(5)]
            await until(lambda: sum(task.done() for task in asked) == 3)
            client.node.ready = False  # as at the end: streams are not waited for
            statuses = [answer.status_code for answer in await asyncio.gather(*asked)]
            assert sorted(statuses) == [200, 200, 503, 503, 503]
            assert client.node.streams == 0

    asyncio.run(run())


async def until(condition):
    """Wait until something is so."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def test_a_damaged_log_is_told_without_the_servers_paths(tmp_path):
    """The reader hears that it is damaged; the service's own log says where."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            await client.post("/v1/agents/ads/decisions")
            connection = sqlite3.connect(tmp_path / "ironarm.db")
            with connection:
                connection.execute("UPDATE log SET chance = 0.5 WHERE number = 2")
            connection.close()
            answer = await client.get("/v1/agents/ads/log")
            assert answer.status_code == 500
            assert "is damaged" in answer.json()["detail"]
            assert str(tmp_path) not in answer.text

    asyncio.run(run())
