"""The interface as an OpenAPI document.

Bodies and answers are the types of `messages` and `answers`. Tests hold the document
against the running service, in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from . import answers, messages
from .keys import NAME

LINES = "application/x-ndjson"
PROBLEM = "application/problem+json"
PROBLEMS = {
    401: "No key, or one that is unknown or revoked.",
    403: "The key does not allow this, or the request comes from a page of another site.",
    404: "There is none with this name or id, or the key may not see it.",
    409: "Something different is already stored there.",
    410: "It is closed: expired, cancelled, its arm removed, or the agent archived; or pruned.",
    413: "Too long, or too many lines.",
    415: "The body is not sent as JSON.",
    422: "Something has a value that cannot be used. Nothing is changed.",
    429: "Too many requests with this key, or rewards of this source.",
    501: "This service cannot do that; a package is missing.",
    503: "The service cannot answer now. Try again after Retry-After seconds.",
}
BODY = (413, 415, 422)
DECISION = "1.q3JrXN0Jq7mJd0XcVw5m2A"

AGENT = {
    "name": "agent",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": f"^{NAME.pattern}$"},
    "description": "The agent's name.",
}
ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1},
    "description": "The decision's id.",
}
ARM = {
    "name": "arm",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1},
    "description": "The arm's name, percent-encoded; a whole number as text.",
}
ONCE = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "pattern": "^[!-~]([ -~]{0,198}[!-~])?$"},
    "description": "Chosen by the client, for example at random. The same request with the same "
    "key is carried out once, however often it is sent; a different one is refused with 422.",
}


def _query(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": schema}


LOG_QUERY = (
    _query("after", "Entries with a higher number.", type="integer", minimum=0, maximum=10**15 - 1),
    _query(
        "limit",
        "How many; at most 10,000 are returned.",
        type="integer",
        minimum=0,
        maximum=10**15 - 1,
    ),
    _query("format", "Lines of JSON, or Parquet.", enum=["ndjson", "parquet"]),
)


@dataclass(frozen=True)
class Operation:
    """What one request does. `scope` is what the key must allow, None for no key."""

    method: str
    path: str
    id: str
    summary: str
    scope: str | None
    answers: dict[int, Any]
    """By status: a type, or media types with their schemas."""
    problems: tuple[int, ...] = ()
    parameters: tuple[dict[str, Any], ...] = ()
    body: tuple[str, type, Any] | None = None
    """The media type, the type, an example."""
    text: str = ""
    links: dict[str, Any] = field(default_factory=dict)


def _lines(kind: type, text: str) -> dict[str, Any]:
    """Return the schema of lines of JSON. OpenAPI 3.1 cannot say what a line is."""
    return {
        LINES: {
            "schema": {"type": "string", "description": text},
            "x-itemSchema": {"$ref": f"#/components/schemas/{kind.__name__}"},
            "example": messages.encode(answers.EXAMPLES[kind]).decode() + "\n",
        }
    }


FOR_DECISION = {
    name: {
        "operationId": name,
        "parameters": {"id": "$response.body#/id"},
        "description": text,
    }
    for name, text in (("reward", "Its reward."), ("cancel", "It will have no reward."))
}
REWARD = {"value": 3.2, "source": "user 17"}

OPERATIONS = (
    Operation(
        "post",
        "/v1/agents/{agent}/decisions",
        "decide",
        "Decide which arm to use now",
        "decide",
        {201: answers.Decided, 200: answers.Decided},
        (404, 410, *BODY),
        (AGENT, ONCE),
        ("application/json", messages.NewDecision, {"among": None}),
        "201 for a new decision; 200 for the earlier one with the same Idempotency-Key. Without "
        "a body, the choice is among all arms.",
        links=FOR_DECISION,
    ),
    Operation(
        "put",
        "/v1/decisions/{id}/reward",
        "reward",
        "Learn the reward of a decision",
        "reward",
        {200: answers.Stored},
        (404, 409, 410, *BODY),
        (ID,),
        ("application/json", messages.Reward, REWARD),
        "A finite value, or `failed`: the worst possible reward. Repeating it changes nothing; "
        "a different one is refused with 409.",
    ),
    Operation(
        "delete",
        "/v1/decisions/{id}",
        "cancel",
        "Close a decision that will never get a reward",
        "decide",
        {200: answers.Stored},
        (404, 409, 410),
        (ID,),
    ),
    Operation(
        "post",
        "/v1/rewards",
        "rewards",
        "Learn many rewards",
        "reward",
        {200: _lines(answers.RewardAnswer, "A RewardAnswer or ProblemDetails for each line.")},
        (413, 415),
        (),
        (LINES, messages.RewardLine, {"id": DECISION, **REWARD}),
        "Each line is a reward and has its own answer, in the same order. If a line is refused, "
        "the others are still stored.",
    ),
    Operation(
        "post",
        "/v1/agents/{agent}/observations",
        "observe",
        "Learn rewards without a decision",
        "reward",
        {200: _lines(answers.ObservationAnswer, "An ObservationAnswer or ProblemDetails each.")},
        (404, *BODY),
        (AGENT, ONCE),
        (LINES, messages.ObservationLine, {"arm": "red", "value": 1.5}),
    ),
    Operation(
        "get",
        "/v1/agents",
        "agents",
        "List the agents that the key may read",
        "read",
        {200: answers.Agents},
    ),
    Operation(
        "put",
        "/v1/agents/{agent}",
        "create",
        "Create an agent",
        "admin",
        {201: answers.Summary, 200: answers.Summary},
        (409, *BODY),
        (AGENT,),
        ("application/json", messages.NewAgent, {"arms": ["red", "green"], "reward_within": 3600}),
        "200 if the same agent already exists, 409 if a different one does.",
    ),
    Operation(
        "get",
        "/v1/agents/{agent}",
        "summary",
        "Return what is known about an agent",
        "read",
        {200: answers.Summary},
        (404,),
        (AGENT,),
    ),
    Operation(
        "delete",
        "/v1/agents/{agent}",
        "archive",
        "End an agent; its log stays",
        "admin",
        {200: answers.Archived},
        (404,),
        (AGENT,),
    ),
    Operation(
        "post",
        "/v1/agents/{agent}/arms",
        "add_arm",
        "Add an arm; an existing one stays as it is",
        "admin",
        {201: answers.StoredArm, 200: answers.StoredArm},
        (404, 410, *BODY),
        (AGENT,),
        ("application/json", messages.NewArm, {"arm": "blue"}),
    ),
    Operation(
        "delete",
        "/v1/agents/{agent}/arms/{arm}",
        "remove_arm",
        "Remove an arm, and close its open decisions",
        "admin",
        {200: answers.RemovedArm},
        (404, 410, 422),
        (AGENT, ARM),
    ),
    Operation(
        "get",
        "/v1/agents/{agent}/sources",
        "sources",
        "Return who sends rewards, and whose differ from the others'",
        "read",
        {200: answers.Sources},
        (404,),
        (AGENT,),
    ),
    Operation(
        "get",
        "/v1/agents/{agent}/state",
        "state",
        "Return the agent as a file for Agent.load",
        "read",
        {200: {"application/json": {"schema": {"type": "object"}}}},
        (404,),
        (AGENT,),
    ),
    Operation(
        "get",
        "/v1/agents/{agent}/log",
        "log",
        "Return entries of the log",
        "read",
        {
            200: {
                **_lines(answers.LogEntry, "A LogEntry each."),
                "application/vnd.apache.parquet": {
                    "schema": {"type": "string", "contentMediaType": "application/octet-stream"}
                },
            }
        },
        (404, 410, 422, 501),
        (AGENT, *LOG_QUERY),
    ),
    Operation(
        "get",
        "/v1/agents/{agent}/events",
        "events",
        "Send the summary whenever something changes, at most once a second",
        "read",
        {
            200: {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": "id: 6\nevent: change\ndata: {}\n\n",
                }
            }
        },
        (404,),
        (AGENT,),
        text="The data of an event is a Summary; its id is the number of entries.",
    ),
    Operation(
        "get", "/healthz", "health", "Say that the process answers", None, {200: answers.Health}
    ),
    Operation(
        "get",
        "/readyz",
        "is_ready",
        "Say whether the node can serve",
        None,
        {200: answers.Health},
        (503,),
    ),
    Operation(
        "get",
        "/metrics",
        "metrics",
        "Return counts for Prometheus",
        "read",
        {200: {"text/plain": {"schema": {"type": "string"}}}},
        text="Not for keys that are for some agents only: the counts cover all.",
    ),
    Operation(
        "get",
        "/openapi.json",
        "openapi",
        "Describe the interface",
        None,
        {200: {"application/json": {"schema": {"type": "object"}}}},
    ),
)

INTRODUCTION = """\
Decide, then send the reward under the decision's id; late, in any order, or never.
An answer means that it is stored on disk. Every request can be sent again without being
carried out twice: rewards are set for one decision, and decisions and observations carry an
Idempotency-Key. Errors are problem details (RFC 9457) with the library's sentences.
Redirects are never sent, and unknown fields are refused."""


@cache
def document(with_keys: bool) -> dict[str, Any]:
    """Return the document of a service that has keys, or none."""
    kinds = (
        *(operation.body[1] for operation in OPERATIONS if operation.body),
        *answers.EXAMPLES,
    )
    _, schemas = messages.schemas(tuple(dict.fromkeys(kinds)))
    for name in ("Reward", "RewardLine"):
        schemas[name]["oneOf"] = _value_or_failed()
    for schema in schemas.values():
        if "description" in schema:
            schema["description"] = " ".join(schema["description"].split())
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, with_keys)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ironarm",
            "version": "1",
            "summary": "Decisions among options, from feedback that an attacker can corrupt",
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key from `ironarm keys add`, with scopes.",
                }
            },
            "responses": {str(status): _problem(status) for status in PROBLEMS},
        },
    }


def _value_or_failed() -> list[dict[str, Any]]:
    return [
        {
            "required": ["value"],
            "properties": {"value": {"type": "number"}, "failed": {"const": False}},
        },
        {
            "required": ["failed"],
            "properties": {"failed": {"const": True}, "value": {"type": "null"}},
        },
    ]


def _described(operation: Operation, with_keys: bool) -> dict[str, Any]:
    asks_key = operation.scope is not None
    problems: Iterable[int] = {403, *operation.problems, *((401, 429, 503) if asks_key else ())}
    needs = "" if operation.scope is None else f" The key needs the scope `{operation.scope}`."
    found: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "description": (operation.text + needs).strip() or operation.summary,
        "security": [{"key": []}] if with_keys and asks_key else [],
        "responses": {
            str(status): _answer(status, given, operation)
            for status, given in operation.answers.items()
        }
        | {
            str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(problems)
        },
    }
    if operation.parameters:
        found["parameters"] = list(operation.parameters)
    if operation.body is not None:
        # no lines at all is a batch too, and a decision may be among all arms
        needed = operation.body[0] != LINES and operation.body[1] is not messages.NewDecision
        found["requestBody"] = {"required": needed, "content": _content(*operation.body)}
    return found


def _content(media: str, kind: type, example: Any) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{kind.__name__}"}
    if media != LINES:
        return {media: {"schema": reference, "example": example}}
    line = messages.encode(example).decode() + "\n"
    text = f"A {kind.__name__} on each line."
    return {
        LINES: {
            "schema": {"type": "string", "description": text},
            "x-itemSchema": reference,
            "example": line,
        }
    }


def _answer(status: int, given: Any, operation: Operation) -> dict[str, Any]:
    if isinstance(given, dict):
        return {"description": operation.summary + ".", "content": given}
    found: dict[str, Any] = {
        "description": " ".join((given.__doc__ or "").split()),
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{given.__name__}"},
                "example": answers.EXAMPLES[given],
            }
        },
    }
    if operation.links and status == 201:
        found["links"] = operation.links
    return found


def _problem(status: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "description": PROBLEMS[status],
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
    headers = {
        401: ("WWW-Authenticate", {"const": "Bearer"}),
        429: ("Retry-After", {"type": "integer"}),
        503: ("Retry-After", {"type": "integer"}),
    }
    if status in headers:
        name, schema = headers[status]
        found["headers"] = {name: {"required": True, "schema": schema}}
    return found
