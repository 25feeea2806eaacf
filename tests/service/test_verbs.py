"""The table of verbs: what is made from a row, and that a row is enough."""

import asyncio
import inspect
import json

import httpx
import msgspec
import pytest

import ironarm as ia
from ironarm.service import answers, app, openapi, remote, verbs
from ironarm.service.client import ClientCalls
from ironarm.service.keys import SCOPES
from ironarm.service.row import Body, Done, Verb

from .test_api import make, service


class Waiting(msgspec.Struct):
    """The decisions that wait for a reward."""

    waiting: int


async def waiting(asked):
    """Count the decisions that wait for a reward.

    Of one arm, if the query names one.
    """
    arm = asked.asked_for("arm", "")
    found = await asked.ask(lambda hosted: hosted.core.summary()["arms"])
    return Done({"waiting": sum(each["open"] for each in found if arm in ("", each["arm"]))})


WAITING = Verb(
    "GET",
    "/v1/agents/{agent}/waiting",
    "read",
    waiting,
    query={"arm": ("Of this one.", {"type": "string"})},
    answers={200: Waiting},
)


@pytest.fixture
def one_more(monkeypatch):
    """A service with one more verb, which is a row and nothing else."""
    monkeypatch.setitem(answers.EXAMPLES, Waiting, {"waiting": 1})
    openapi.document.cache_clear()
    verbs.VERBS.append(WAITING)
    remote.add_methods(remote.AgentCalls, [WAITING])
    yield
    verbs.VERBS.remove(WAITING)
    del remote.AgentCalls.waiting
    openapi.document.cache_clear()


def test_a_row_is_a_verb(one_more, tmp_path):
    """It is served, described, counted, and both clients have it."""

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            for _ in range(3):
                await client.post("/v1/agents/ads/decisions")
            answer = await client.get("/v1/agents/ads/waiting")
            assert (answer.status_code, answer.json()) == (200, {"waiting": 3})
            assert (await client.get("/v1/agents/nobody/waiting")).status_code == 404
            assert (await client.post("/v1/agents/ads/waiting")).headers["allow"] == "GET, HEAD"
            assert client.node.counts.requests["waiting", 200] == 1
            described = (await client.get("/openapi.json")).json()["paths"]
            found = described["/v1/agents/{agent}/waiting"]["get"]
            assert found["summary"] == "Count the decisions that wait for a reward"
            assert found["description"] == (
                "Of one arm, if the query names one. The key needs the scope `read`."
            )
            assert set(found["responses"]) == {"200", "401", "403", "404", "429", "503"}
            assert [each["name"] for each in found["parameters"]] == ["agent", "arm"]
            remote_client = ia.AsyncClient("http://localhost", transport=client._transport)
            agent = remote_client.agent("ads")
            counts = [(await agent.waiting(arm))["waiting"] for arm in (None, "a", "b")]
            assert counts[0] == counts[1] + counts[2] == 3
            with pytest.raises(TypeError, match="argument"):
                await agent.waiting("a", "b")
            assert list(inspect.signature(agent.waiting).parameters) == ["arm"]
            assert inspect.getdoc(agent.waiting) == inspect.getdoc(waiting)
            assert list(inspect.signature(agent.cancel).parameters) == ["id"]

    asyncio.run(run())


def test_an_arm_ends_its_path():
    """Its name may have slashes, which would take what follows for the name's."""
    with pytest.raises(ValueError, match="must be last"):
        Verb("GET", "/v1/agents/{agent}/arms/{arm}/more", "read", waiting, answers={})


async def estimate(asked):
    """Return the estimate of an arm."""
    return Done(await asked.ask(lambda hosted: hosted.core.name_of(asked.arm_in_path(hosted))))


def test_an_unknown_arm_in_a_path_is_not_found(monkeypatch, tmp_path):
    """For every verb, without a word in its row."""
    row = Verb("GET", "/v1/agents/{agent}/estimates/{arm}", "read", estimate, answers={200: dict})
    monkeypatch.setattr(verbs, "VERBS", [*verbs.VERBS, row])
    monkeypatch.setattr(app, "VERBS", verbs.VERBS)

    async def run():
        async with service(tmp_path) as client:
            await make(client)
            assert (await client.get("/v1/agents/ads/estimates/a")).json() == "a"
            refused = await client.get("/v1/agents/ads/estimates/z/z")
            assert (refused.status_code, refused.json()["error"]) == (404, "UnknownArm")

    asyncio.run(run())


def test_clients_ask_with_the_verbs():
    """Of each verb, the method that its row names; both clients share it."""
    for verb in verbs.VERBS:
        if verb.client is not None:
            name = verb.client or verb.id
            assert hasattr(remote.AgentCalls, name) or hasattr(ClientCalls, name), verb.id


def test_rows_are_whole():
    """What is made from them needs every part."""
    ids = [verb.id for verb in verbs.VERBS]
    assert len(set(ids)) == len(ids)
    for verb in verbs.VERBS:
        assert verb.scope is None or verb.scope in SCOPES
        assert verb.summary
        assert not verb.summary.endswith(".")
        assert set(verb.names) <= set(openapi.IN_PATH)
        assert set(verb.problems) <= set(openapi.PROBLEMS)


@pytest.mark.parametrize(
    ("verb", "body", "given", "path"),
    [
        (verbs.cancel, None, {"id": "1.x"}, "/v1/decisions/1.x"),
        (verbs.remove_arm, None, {"agent": "a", "arm": "b/c d"}, "/v1/agents/a/arms/b%2Fc%20d"),
        (verbs.remove_arm, None, {"agent": "a", "arm": ".."}, "/v1/agents/a/arms/%2E%2E"),
        (verbs.remove_arm, None, {"agent": "a", "arm": 7}, "/v1/agents/a/arms/7"),
        (verbs.log, None, {"agent": "a", "after": 3, "limit": None}, "/v1/agents/a/log?after=3"),
        (verbs.reward, {"value": 1.0}, {"agent": "a", "id": "1.x"}, "/v1/decisions/1.x/reward"),
    ],
)
def test_a_request_says_what_its_row_says(verb, body, given, path):
    """Names become parts of one path, whatever they hold."""
    request = verb.request(body, **given)
    assert (request.method, request.path) == (verb.method, path)
    assert body == (None if request.body is None else json.loads(request.body))
    assert request.once is None
    assert httpx.URL("http://x" + path).raw_path == path.encode()


def test_only_what_could_be_done_twice_carries_a_key():
    """A new one for each request, and the same however often that is sent."""
    first, second = (verbs.decide.request(agent="a") for _ in range(2))
    assert len(first.once) == 32
    assert first.once != second.once


def test_a_body_is_read_by_its_type():
    """Unknown fields are refused."""
    body = Body(verbs.add_arm.body.kind, {"arm": "x"})
    assert body.read(b'{"arm": "y"}').arm == "y"
    with pytest.raises(msgspec.ValidationError):
        body.read(b'{"arm": "y", "more": 1}')
