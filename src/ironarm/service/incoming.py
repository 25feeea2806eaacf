"""A request as the function of a verb sees it: who asks, for what, and what was sent.

All that is the same for every verb is done here, before its function is called.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect

from ..agent.input import plain_name
from ..errors import InvalidInput, UnknownAgent
from . import messages
from .batch import Read, answers_to
from .hosted import Hosted
from .keys import Key, agent_name
from .messages import Name
from .problems import Problem, refusal, unknown_decision
from .row import JSON, LINES, Raw, Verb
from .writer import Work

if TYPE_CHECKING:
    from .node import Node

WHOLE = re.compile(r"(-?[0-9]{1,19})(\.0+)?")
"""A whole number in a path, as JSON may write it."""


class Incoming:
    """A request that has been let in."""

    body: Any = None
    """What it carries, read; None if it carries nothing, or lines."""
    agent = 0
    """The number of its agent, if its path names one."""
    name = ""
    """The agent's name."""
    id = ""
    """The decision's id, if its path names one."""
    once: str | None = None
    """Its Idempotency-Key."""
    key: Key | None = None

    def __init__(self, node: Node, verb: Verb, scope: Any, receive: Any) -> None:
        # without Starlette's own request, which costs a tenth more
        self.node, self.verb, self._scope, self._receive = node, verb, scope, receive

    async def let_in(self) -> None:
        """Look who asks and what for; refuse what cannot be."""
        verb, names = self.verb, self._scope["path_params"]
        if verb.scope is not None:
            name = names.get("agent")
            self.key = await self.node.allow(self._key_sent(), verb.scope, name)
            if "id" in names:
                self.id = names["id"]
                self.agent, self.name = await self.node.owner(self.id)
                if not self.may(verb.scope, self.name):
                    # as for one that does not exist: who asks learns nothing of others
                    raise unknown_decision(self.id)
            elif verb.makes:
                self.name = agent_name(name)
            elif name is not None:
                self.agent, self.name = await self.node.number_of(name), name
        if verb.once:
            self.once = self._once_sent()
        body = verb.body
        if body is not None and not body.lines and (body.needed or self._has_body()):
            limits = self.node.limits
            sent = await self._sent(limits.batch_body if body.long else limits.body)
            if sent or body.needed:
                self.body = self.read(sent)

    def may(self, scope: str, agent: str) -> bool:
        """Say whether whoever asks may do this with an agent."""
        return self.key is None or self.key.may(scope, agent)

    @property
    def key_id(self) -> str | None:
        """The id of the key, for the log."""
        return None if self.key is None else self.key.id

    # what was sent

    def _head(self, name: bytes) -> str | None:
        """Return a header."""
        found = self._scope["head"].get(name)
        return None if found is None else found.decode("latin-1")

    def _key_sent(self) -> str | None:
        given = self._head(b"authorization")
        if given is None:
            return None
        kind, _, text = given.partition(" ")
        if kind.lower() != "bearer":
            raise Problem(401, "send a key: 'Authorization: Bearer ia_...'.")
        return text

    def _once_sent(self) -> str | None:
        given = self._head(b"idempotency-key")
        if given is None:
            return None
        if not (0 < len(given) <= 200 and given.isascii() and given.isprintable()):
            raise Problem(422, "an Idempotency-Key has 1 to 200 printable ASCII characters.")
        return given

    def _has_body(self) -> bool:
        head = self._scope["head"]
        return head.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in head

    async def _sent(self, most: int) -> bytes:
        """Return the body."""
        kind = self._head(b"content-type") or JSON
        if kind.partition(";")[0].strip().lower() not in (JSON, LINES):
            raise Problem(415, "the body must be JSON: 'Content-Type: application/json'.")
        length = self._head(b"content-length")
        if length is not None and int(length) > most:
            raise Problem(413, f"the body may have at most {most:,} bytes, got {int(length):,}.")
        chunks: list[bytes] = []
        length_so_far, more = 0, True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk, more = message.get("body", b""), message.get("more_body", False)
            chunks.append(chunk)
            length_so_far += len(chunk)
            if length_so_far > most:
                raise Problem(413, f"the body may have at most {most:,} bytes.")
        return b"".join(chunks)

    def read(self, sent: bytes) -> Any:
        """Read a body, or a line of one."""
        assert self.verb.body is not None
        try:
            return self.verb.body.read(sent)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if self.agent and self.verb.scope == "reward":
                self.node.count(self.agent, "refused")
            raise Problem(422, messages.reading_problem(error)) from None

    async def lines(self, read: Read) -> Raw:
        """Answer each line of a body; they share commits."""
        limits = self.node.limits
        body, most = await self._sent(limits.batch_body), limits.batch
        # counted first: millions of empty lines would take long to split
        lines = [] if body.count(b"\n") > most else body.split(b"\n")
        lines = [line for line in lines if line.strip()]
        if body.count(b"\n") > most or len(lines) > most:
            raise Problem(413, f"a batch has at most {most:,} lines.")
        # the request itself has been charged
        self.node.charge(self.key, max(0, len(lines) - 1))

        async def read_bounded(place: int, line: bytes) -> Any:
            if len(line) > limits.body:
                raise Problem(
                    413, f"a line may have at most {limits.body:,} bytes, got {len(line):,}."
                )
            return await read(place, line)

        return Raw(await answers_to(lines, read_bounded, refusal, self.node.writer), LINES)

    def named(self, what: str, given: Name | float) -> Name:
        """Return the name of an arm or a source, or refuse it."""
        name, longest = messages.whole(given), self.node.limits.name
        # many clients drop "." and ".." from a path, and would remove another thing
        if isinstance(name, float) or (
            isinstance(name, str)
            and not (0 < len(name) <= longest and name.isprintable() and name.strip("."))
        ):
            raise InvalidInput(
                f"{what} is a whole number, or text of 1 to {longest} printable characters, not "
                "all of them dots."
            )
        return plain_name(what, name)

    def arm_named(self, given: Name | float) -> Name:
        """Return the name of an arm, or refuse it."""
        return self.named("an arm's name", given)

    def arm_in_path(self, hosted: Hosted) -> Name:
        """Return the arm that the path names: a whole number is text there.

        It need not exist. `UnknownArm`, if the agent raises it, is answered by 404.
        """
        text: str = self._scope["path_params"]["arm"]
        if text not in hosted.core.arms and (found := WHOLE.fullmatch(text)):
            return int(found[1])
        return text

    def source(self, agent: int, given: Name | float | None) -> Name | None:
        """Return who sent a reward; refuse who sends an agent too many."""
        if given is None:
            return None
        name = self.named("a source", given)
        self.node.check_source(agent, name)
        return name

    def asked_for(self, name: str, usual: str) -> str:
        """Return what the query says."""
        return QueryParams(self._scope["query_string"]).get(name, usual)

    def whole_asked_for(self, name: str, usual: int) -> int:
        """Return a whole number of the query."""
        text = self.asked_for(name, str(usual))
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise Problem(422, f"{name} must be a whole number of at least 0, got {text[:50]!r}.")
        return int(text)

    # the agent

    async def change(self, work: Work, live: bool = True) -> Any:
        """Change the agent, which must be `live`; it is stored when this returns."""
        return await self.node.writer.submit(self.agent, self._known(work, live))

    async def ask(self, work: Work) -> Any:
        """Ask the agent something that changes nothing."""
        return await self.node.ask(self.agent, self._known(work))

    def _known(self, work: Work, live: bool = False) -> Work:
        """Refuse work on an agent that was named, but never made, or is archived."""

        def checked(hosted: Hosted) -> Any:
            if hosted.replay.loaded is None:
                raise UnknownAgent(f"there is no agent {self.name!r}.")
            if live:
                hosted.check_live()
            return work(hosted)

        return checked
