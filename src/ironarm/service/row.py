"""A verb: one thing that the service can be asked to do, with all that is to say of it.

`verbs.py` has one row for each. Routes and the OpenAPI document are made from the rows,
and the clients ask with them.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from inspect import getdoc
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from . import messages
from .calls import Request

if TYPE_CHECKING:
    from .incoming import Incoming

JSON = "application/json"
LINES = "application/x-ndjson"


class Done(NamedTuple):
    """What came of a request: data for the answer, and whether this request did it."""

    data: Any
    new: bool = False


class Raw(NamedTuple):
    """An answer that is not plain JSON."""

    data: str | bytes
    media: str


class Stream(NamedTuple):
    """An answer that goes on; `ended` is called at its end, however it comes."""

    chunks: AsyncIterator[bytes]
    ended: Callable[[], None]


@dataclass(frozen=True, eq=False)
class Body:
    """What a request carries: its type, and an example."""

    kind: type
    example: Any
    _: KW_ONLY
    lines: bool = False
    """Whether each line is one of them. None at all is fine too."""
    needed: bool = True
    long: bool = False
    """Whether it may be as long as many lines are together."""

    @cached_property
    def read(self) -> Callable[[bytes], Any]:
        """What reads a body, or one line."""
        return messages.reader(self.kind)


class InLines(NamedTuple):
    """An answer of many lines, each of this kind; `or_else` has other media types."""

    text: str
    kind: type
    or_else: Mapping[str, Any] = {}


@dataclass(frozen=True, eq=False)
class Verb:
    """One thing that the service can be asked to do."""

    method: str
    path: str
    scope: str | None
    """What the key must allow; None if no key is needed."""
    do: Callable[[Incoming], Awaitable[Done | Raw | Stream]]
    """Does it. Its docstring is the verb's summary and text."""
    _: KW_ONLY
    answers: dict[int, Any]
    """By status: a type, lines of one, or media types with what OpenAPI says of them.
    201 is for what is new."""
    problems: tuple[int, ...] = ()
    """The statuses of refusals that the rest of the row does not imply.

    All imply 403; a scope 401, 429 and 503; a name in the path 404, unless the verb
    makes the agent; a body 413, 415 and, unless it has lines, 422; `once` 422.
    """
    body: Body | None = None
    once: bool = False
    """Whether it takes an Idempotency-Key. All others can be repeated without one."""
    makes: bool = False
    """Whether it makes the agent in its path."""
    query: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """What can be asked for in its query: descriptions and schemas."""
    links: dict[str, Any] = field(default_factory=dict)
    counts: tuple[str, str] = ("", "")
    """The events it counts as in the metrics: when it is new, and when it is not."""
    route: str = ""
    """Its name in the metrics, if that is not its id."""
    client: str | None = ""
    """The method of both clients that asks for it, if not its id; None for none."""
    proves_done: type[Exception] | None = None
    """The error that shows, if a try was lost, that it had been carried out."""

    def __post_init__(self) -> None:
        if "{arm}" in self.path and not self.path.endswith("{arm}"):
            raise ValueError(f"{self.path}: an arm's name may have slashes, so it must be last.")

    @property
    def id(self) -> str:
        """Its name."""
        return self.do.__name__

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in its path."""
        return tuple(name for _, name, _, _ in Formatter().parse(self.path) if name)

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return _documented(self.do)[0].removesuffix(".")

    @property
    def text(self) -> str:
        """What else is to say."""
        return " ".join(" ".join(_documented(self.do)[1:]).split())

    def request(self, body: Any = None, /, **given: object) -> Request:
        """Return the request for it, the same however often it is sent.

        `given` says what the names in its path and its query stand for.
        """
        path = self.path.format(**{name: _in_path(str(given[name])) for name in self.names})
        query = {name: given[name] for name in self.query if given.get(name) is not None}
        return Request(
            self.method,
            f"{path}?{urlencode(query)}" if query else path,
            None if body is None else messages.encode(body),
            secrets.token_hex(16) if self.once else None,
            self.proves_done,
        )


def _documented(function: Callable[..., Any]) -> list[str]:
    return (getdoc(function) or function.__name__).splitlines()


def _in_path(text: str) -> str:
    """Return text as one part of a path, also "..", which would lead upwards."""
    return quote(text, safe="").replace(".", "%2E") if set(text) <= {"."} else quote(text, safe="")
