"""The interface as an OpenAPI document, made from the verbs.

Bodies and answers are the types of `messages` and `answers`. Tests hold the document
against the running service, in both directions.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from . import answers, messages
from .keys import NAME
from .row import JSON, LINES, Body, InLines, Verb
from .verbs import VERBS

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

IN_PATH: dict[str, tuple[str, dict[str, Any]]] = {
    "agent": ("The agent's name.", {"pattern": f"^{NAME.pattern}$"}),
    "id": ("The decision's id.", {"minLength": 1}),
    "arm": ("The arm's name, percent-encoded; a whole number as text.", {"minLength": 1}),
}
"""What the names in paths stand for, and their schemas."""
ONCE = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "pattern": "^[!-~]([ -~]{0,198}[!-~])?$"},
    "description": "Chosen by the client, for example at random. The same request with the same "
    "key is carried out once, however often it is sent; a different one is refused with 422.",
}

INTRODUCTION = """\
Decide, then send the reward under the decision's id; late, in any order, or never.
An answer means that it is stored on disk. Every request can be sent again without being
carried out twice: rewards are set for one decision, and decisions and observations carry an
Idempotency-Key. Errors are problem details (RFC 9457) with the library's sentences.
Redirects are never sent, and unknown fields are refused."""


@cache
def document(with_keys: bool) -> dict[str, Any]:
    """Return the document of a service that has keys, or none."""
    kinds = (*(verb.body.kind for verb in VERBS if verb.body), *answers.EXAMPLES)
    _, schemas = messages.schemas(tuple(dict.fromkeys(kinds)))
    for name in ("Reward", "RewardLine"):
        schemas[name]["oneOf"] = _value_or_failed()
    for schema in schemas.values():
        if "description" in schema:
            schema["description"] = " ".join(schema["description"].split())
    paths: dict[str, Any] = {}
    for verb in VERBS:
        paths.setdefault(verb.path, {})[verb.method.lower()] = _described(verb, with_keys)
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


def _described(verb: Verb, with_keys: bool) -> dict[str, Any]:
    needs = "" if verb.scope is None else f" The key needs the scope `{verb.scope}`."
    found: dict[str, Any] = {
        "operationId": verb.id,
        "summary": verb.summary,
        "description": (verb.text + needs).strip() or verb.summary,
        "security": [{"key": []}] if with_keys and verb.scope is not None else [],
        "responses": {
            str(status): _answer(status, given, verb) for status, given in verb.answers.items()
        }
        | {
            str(status): {"$ref": f"#/components/responses/{status}"}
            for status in sorted(_problems(verb))
        },
    }
    parameters = [
        *(_parameter(name, "path", *IN_PATH[name]) for name in verb.names),
        *([ONCE] if verb.once else ()),
        *(_parameter(name, "query", *asked) for name, asked in verb.query.items()),
    ]
    if parameters:
        found["parameters"] = parameters
    if verb.body is not None:
        found["requestBody"] = {"required": verb.body.needed, "content": _content(verb.body)}
    return found


def _problems(verb: Verb) -> set[int]:
    """Return the statuses of all refusals: what a verb takes says which there are."""
    found = {403, *verb.problems}
    if verb.scope is not None:
        found |= {401, 429, 503}
    if verb.names and not verb.makes:
        found.add(404)
    if verb.body is not None:
        found |= {413, 415}
    # each of many lines has an answer of its own
    if verb.once or (verb.body is not None and not verb.body.lines):
        found.add(422)
    return found


def _parameter(name: str, where: str, text: str, schema: dict[str, Any]) -> dict[str, Any]:
    if where == "query":
        return {"name": name, "in": where, "description": text, "schema": schema}
    described = {"schema": {"type": "string", **schema}, "description": text}
    return {"name": name, "in": where, "required": True, **described}


def _content(body: Body) -> dict[str, Any]:
    if body.lines:
        return _lines(body.kind, f"A {body.kind.__name__} on each line.", body.example)
    return {JSON: {"schema": _reference(body.kind), "example": body.example}}


def _lines(kind: type, text: str, example: Any) -> dict[str, Any]:
    """Return what is said of lines of JSON. OpenAPI 3.1 cannot say what a line is."""
    return {
        LINES: {
            "schema": {"type": "string", "description": text},
            "x-itemSchema": _reference(kind),
            "example": messages.encode(example).decode() + "\n",
        }
    }


def _reference(kind: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _answer(status: int, given: Any, verb: Verb) -> dict[str, Any]:
    if isinstance(given, InLines):
        lines = _lines(given.kind, given.text, answers.EXAMPLES[given.kind])
        given = {**lines, **given.or_else}
    if isinstance(given, dict):
        return {"description": verb.summary + ".", "content": given}
    found: dict[str, Any] = {
        "description": " ".join((given.__doc__ or "").split()),
        "content": {JSON: {"schema": _reference(given), "example": answers.EXAMPLES[given]}},
    }
    if verb.links and status == 201:
        found["links"] = verb.links
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
