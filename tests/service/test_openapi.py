"""The OpenAPI document says what the service does, and the service does that."""

import json
import re
import urllib.request

import jsonschema
import msgspec
import pytest

from ironarm.service import answers, messages
from ironarm.service.openapi import PROBLEMS, document
from ironarm.service.verbs import VERBS
from tests.service import described
from tests.service.running import ask


@pytest.fixture(scope="module", params=[False, True], ids=["without keys", "with keys"])
def service(request, tmp_path_factory):
    with described.prepared(tmp_path_factory.mktemp("service"), request.param) as running:
        yield running
        assert "Traceback" not in running.errors.read_text()


def test_the_service_does_what_the_document_says(service, tmp_path):
    """A small version of `described.py`; without a key also requests at random."""
    if service.admin is None:
        run = described.asked(service, tmp_path, "--max-examples", "6")
    else:
        run = described.asked(service, tmp_path, "--phases", "examples,coverage")
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    assert f"Tested: {len(VERBS) - 2}" in run.stdout  # all but events, and the document
    if service.admin is None:
        links = re.search(r"API Links:\s+(\d+) covered", run.stdout)
        assert links is not None, run.stdout[-6000:]
        assert int(links[1]) > 0  # chains, such as a decision and its reward


def test_the_document_is_the_running_services_own(service):
    """It asks for a key where one is needed, and only if there are keys."""
    status, found = ask(service.port, "GET", "/openapi.json")
    assert status == 200
    assert json.loads(json.dumps(document(service.admin is not None))) == found
    for verb in VERBS:
        security = found["paths"][verb.path][verb.method.lower()]["security"]
        assert bool(security) == (service.admin is not None and verb.scope is not None)


def test_schemas_are_schemas_and_examples_are_examples():
    """What the document shows can be sent and received."""
    found = document(True)
    assert set(PROBLEMS) == set(map(int, found["components"]["responses"]))
    for name in found["components"]["schemas"]:
        jsonschema.Draft202012Validator.check_schema(schema_of(name))
    for kind, example in answers.EXAMPLES.items():
        assert msgspec.to_builtins(msgspec.convert(example, kind)) == example
        jsonschema.validate(example, schema_of(kind.__name__))
    for verb in VERBS:
        if verb.body is not None:
            msgspec.json.decode(messages.encode(verb.body.example), type=verb.body.kind)
            jsonschema.validate(verb.body.example, schema_of(verb.body.kind.__name__))


def schema_of(name):
    """Return a schema of the document that can be used by itself."""
    return {"$ref": f"#/components/schemas/{name}", "components": document(True)["components"]}


@pytest.mark.parametrize(
    ("given", "good"),
    [
        ({"value": 1.0}, True),
        ({"failed": True}, True),
        ({"value": None, "failed": True, "source": 7}, True),
        ({"value": 1.0, "failed": False}, True),
        ({}, False),
        ({"failed": False}, False),
        ({"value": None}, False),
        ({"value": 1.0, "failed": True}, False),
        ({"value": True}, False),
        ({"value": "1"}, False),
        ({"value": 1.0, "more": 1}, False),
        ({"value": 1.0, "source": ""}, False),
        ({"value": 1.0, "source": 2**63}, False),
    ],
)
def test_schema_and_service_agree_on_what_a_reward_is(service, given, good):
    """The document's rule is the service's."""
    id = decided(service)
    status, _ = ask(service.port, "PUT", f"/v1/decisions/{id}/reward", given, service.admin)
    assert (200 if good else 422) == status
    assert good == jsonschema.Draft202012Validator(schema_of("Reward")).is_valid(given)


@pytest.mark.parametrize(
    ("given", "good"),
    [
        (-2161.0, True),
        (7, True),
        (1e3, True),
        (1.5, False),
        (2.0**63, False),
        (2**63, False),
        (True, False),
        (None, False),
        ("x", True),
        ("", False),
    ],
)
def test_schema_and_service_agree_on_what_a_name_is(service, given, good):
    """A whole number may have a point: to a schema it is the same number."""
    path = "/v1/agents/lines/arms"
    status, found = ask(service.port, "POST", path, {"arm": given}, service.admin)
    assert (status in (200, 201)) == good, found
    assert (status == 422) != good
    assert good == jsonschema.Draft202012Validator(schema_of("NewArm")).is_valid({"arm": given})
    if good:
        _, line = ask(
            service.port,
            "POST",
            "/v1/agents/lines/observations",
            {"arm": given, "value": 1.0, "source": given},
            service.admin,
        )
        assert json.loads(line)["status"] == 200
        ask(service.port, "DELETE", f"{path}/{found['arm']}", None, service.admin)
        assert isinstance(found["arm"], str if isinstance(given, str) else int)


@pytest.mark.parametrize(
    ("seed", "good"), [(3, True), (3.0, True), (3.5, False), (-1, False), (10**30, True)]
)
def test_schema_and_service_agree_on_what_a_seed_is(service, seed, good):
    """Also a long one."""
    body = {"arms": ["a"], "policy": "RUCB", "seed": seed}
    name = f"seeded{seed}".replace("-", "m")
    status, _ = ask(service.port, "PUT", f"/v1/agents/{name}", body, service.admin)
    assert status == (201 if good else 422)
    assert good == jsonschema.Draft202012Validator(schema_of("NewAgent")).is_valid(body)


def decided(service):
    """Return the id of a new decision."""
    return ask(service.port, "POST", "/v1/agents/lines/decisions", None, service.admin)[1]["id"]


def test_lines_and_events_are_as_described(service):
    """What schemathesis cannot see into: NDJSON, and server-sent events."""
    ids = [decided(service) for _ in range(2)]
    sent = [{"id": ids[0], "value": 1.0}, {"id": ids[1], "failed": True}, {"id": "x", "value": 1}]
    check_lines(service, "/v1/rewards", sent, "RewardAnswer", [200, 200, 404])
    sent = [{"arm": "red", "value": 1.0}, {"arm": "nobody", "value": 1.0}, {"value": 1.0}, []]
    path = "/v1/agents/lines/observations"
    check_lines(service, path, sent, "ObservationAnswer", [200, 422, 422, 422])
    _, log = ask(service.port, "GET", "/v1/agents/lines/log", None, service.admin)
    log = log.splitlines()
    assert len(log) > 4
    for line in log:
        jsonschema.validate(json.loads(line), schema_of("LogEntry"))
    key = {"Authorization": f"Bearer {service.admin}"} if service.admin else {}
    request = urllib.request.Request(f"{service.url}/v1/agents/lines/events", headers=key)
    with urllib.request.urlopen(request, timeout=30) as stream:
        id, event, data, end = (stream.readline().decode().rstrip("\n") for _ in range(4))
    assert ("event: change", "") == (event, end)
    summary = json.loads(data.removeprefix("data: "))
    assert f"id: {summary['entries']}" == id
    jsonschema.validate(summary, schema_of("Summary"))


def check_lines(service, path, sent, kind, statuses):
    """Send lines; the answers have these statuses, and are of this kind or problems."""
    body = b"\n".join(json.dumps(each).encode() for each in sent)
    _, answer = ask(service.port, "POST", path, body, service.admin)
    found = [json.loads(line) for line in answer.splitlines()]
    assert statuses == [each["status"] for each in found]
    for each in found:
        jsonschema.validate(each, schema_of(kind if each["status"] == 200 else "ProblemDetails"))
