"""What schemathesis cannot know: how lines of JSON are made, sent and answered."""

import json

import schemathesis

LINES = "application/x-ndjson"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Let it make lines: OpenAPI 3.1 calls them text, and names a line's schema aside.

    The id of a decision is also tried in a line.
    """
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {})
            if LINES in content:
                items = content[LINES]["x-itemSchema"]
                example = [json.loads(content[LINES]["example"])]
                schema = {"type": "array", "items": items, "maxItems": 8}
                content[LINES] = {"schema": schema, "example": example}
    made = raw_schema["paths"]["/v1/agents/{agent}/decisions"]["post"]["responses"]["201"]
    line = {"id": "$response.body#/id", "value": 1.5}
    made["links"]["rewards"] = {"operationId": "rewards", "requestBody": [line, line]}


@schemathesis.serializer(LINES)
def lines(context, value):
    """Write each of a list as a line; what violates the schema becomes text."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        return b"\n".join(json.dumps(each).encode() for each in value)
    return str(value).encode("utf8", "replace")


@schemathesis.check
def each_line_has_an_answer(ctx, response, case):
    """As many answers as lines: each says that it is stored, or why it is refused."""
    if case.operation.definition.raw["operationId"] not in ("rewards", "observe"):
        return
    if response.status_code != 200 or not isinstance(case.body, list):
        return
    answers = [json.loads(line) for line in response.content.splitlines()]
    assert len(answers) == len(case.body), f"{len(answers)} answers to {len(case.body)} lines"
    for answer in answers:
        if answer["status"] == 200:
            assert answer["stored"] in ("now", "before")
        else:
            assert 400 <= answer["status"] < 500, answer
            assert answer["detail"].endswith((".", "?")), answer
