"""What schemathesis cannot know: how lines of JSON are sent."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """The schema of lines is text; what violates it becomes text."""
    return value if isinstance(value, bytes) else str(value).encode("utf8", "replace")
