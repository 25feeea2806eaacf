"""An OpenFeature provider: flags whose variants are arms of an agent.

Evaluating a flag is a decision, tracking an event is its reward:

    api.set_provider(AgentProvider({"button": ia.Agent(arms=["green", "red"])}))
    client = api.get_client()
    colour = client.get_string_value("button", "green", EvaluationContext("user 17"))
    client.track("button", EvaluationContext("user 17"), TrackingEventDetails(3.5))

Nothing that goes wrong here reaches the application: it gets its default value, and the
trouble goes to the log `ironarm.openfeature` and to OpenFeature's events.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Any, TypeVar

from ..agent import Agent
from ..agent.contract import LiveAgent
from ..errors import InvalidInput, missing_extra
from ..validation import number, optional, whole
from .flag import Flag, Waiting
from .upkeep import Troubles

try:
    from openfeature.evaluation_context import EvaluationContext
    from openfeature.event import ProviderEventDetails
    from openfeature.exception import ErrorCode
    from openfeature.flag_evaluation import FlagResolutionDetails, Reason
    from openfeature.provider import AbstractProvider, Metadata
    from openfeature.track import TrackingEventDetails
except ImportError:  # also an old SDK, which cannot track
    raise missing_extra("ironarm.integrations.openfeature", "openfeature") from None

__all__ = ["AgentProvider"]
TICKET = "decision"
"""The name of a decision's ticket, in a flag's metadata and in tracking attributes."""
T = TypeVar("T")


class AgentProvider(AbstractProvider):
    """Flags that learn: each evaluation is a decision, each tracked event a reward.

    A user is the targeting key of the evaluation context. While a user's decision waits
    for its reward, that user gets the same variant, and no new decision is made. An
    event rewards the user's open decision, once: a hundred events are not a hundred
    rewards. Without a targeting key, every evaluation is a decision; return its ticket,
    `details.flag_metadata["decision"]`, in the attributes of the event, as "decision".
    A ticket takes precedence over a targeting key.

    Parameters
    ----------
    agents : the flags: an agent for each flag's key. Its arms are the variants.
    events : the names of events that reward a flag, by the flag's key. Without an
        entry, it is the event with the flag's own name. One event may reward several
        flags.
    values : what a variant stands for, by the flag's key, such as {"on": True, "off":
        False}. Without an entry, each variant stands for its name, and the flag is a
        string flag.
    missing : the reward of a decision for which no event comes: 0 for clicks and
        purchases, where silence is an answer; an event without a value then counts as
        1. None: such a decision is cancelled, and an event without a value is ignored.
    patience : seconds to wait for an event.
    most_open : how many decisions of a flag may wait at a time; beyond that, the oldest
        is closed.
    sources : True to tell the agent who sent a reward: the targeting key.

    Examples
    --------
    >>> import ironarm as ia
    >>> from openfeature import api
    >>> from openfeature.evaluation_context import EvaluationContext
    >>> from openfeature.track import TrackingEventDetails
    >>> agent = ia.Agent(ia.KLUCB(), arms=["green", "red"], seed=7)
    >>> provider = AgentProvider(
    ...     {"button": agent}, events={"button": ["sale"]}, missing=0
    ... )
    >>> api.set_provider_and_wait(provider)
    >>> client = api.get_client()
    >>> user = EvaluationContext("user 17")
    >>> client.get_string_value("button", "green", user)
    'green'
    >>> client.get_string_value("button", "green", user)  # the same decision
    'green'
    >>> client.track("sale", user, TrackingEventDetails(value=1))
    >>> agent.rewards
    {'green': 1, 'red': 0}
    >>> api.clear_providers()
    """

    def __init__(
        self,
        agents: Mapping[str, LiveAgent],
        *,
        events: Mapping[str, str | Iterable[str]] | None = None,
        values: Mapping[str, Mapping[str, Any]] | None = None,
        missing: float | None = None,
        patience: float = 3600.0,
        most_open: int = 100_000,
        sources: bool = False,
    ) -> None:
        super().__init__()
        self._waiting = Waiting(
            number("patience", patience, above=0),
            optional(number, "missing", missing),
            whole("most_open", most_open, at_least=1),
        )
        self._sources = bool(sources)
        self._flags: dict[str, Flag] = {}
        self._changing = threading.Lock()
        self._troubles = Troubles(logging.getLogger("ironarm.openfeature"), monotonic)
        self._failing = False
        self._ended = False
        self.unmatched = 0
        """Events that belonged to no open decision."""
        events, values = events or {}, values or {}
        for name, given in (("events", events), ("values", values)):
            for key in given:
                if key not in agents:
                    raise InvalidInput(
                        f"{name} names the flag {key!r}; expected one of {', '.join(agents)}."
                    )
        for key, agent in agents.items():
            self._flags[key] = Flag(
                self._waiting, self._troubles, key, agent, events.get(key), values.get(key)
            )

    @property
    def troubles(self) -> int:
        """Calls that failed; the log says why."""
        return self._troubles.count

    def add_flag(
        self,
        key: str,
        agent: LiveAgent,
        events: str | Iterable[str] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a flag, or replace one; OpenFeature's clients are notified.

        If the agent is the same, decisions keep waiting for their events; if it is
        another one, they are closed.
        """
        flag = Flag(self._waiting, self._troubles, key, agent, events, values)
        flag.prepare()
        with self._changing:
            before = self._flags.get(key)
            if before is not None and before.agent is agent:
                flag.take_over(before)
            self._flags = {**self._flags, key: flag}
        if before is not None and before.agent is not agent:
            self._guarded(f"the flag {key!r}", before.close_all)
        self.emit_provider_configuration_changed(ProviderEventDetails(flags_changed=[key]))

    def remove_flag(self, key: str) -> None:
        """Remove a flag, and close its decisions; its agent stays as it is."""
        with self._changing:
            before = self._flags.get(key)
            self._flags = {name: flag for name, flag in self._flags.items() if name != key}
        if before is not None:
            self._guarded(f"the flag {key!r}", before.close_all)
        self.emit_provider_configuration_changed(ProviderEventDetails(flags_changed=[key]))

    # what OpenFeature calls

    def get_metadata(self) -> Metadata:
        """Return the provider's name."""
        return Metadata(name="ironarm")

    def initialize(self, evaluation_context: EvaluationContext) -> None:
        """Compile what the agents need, so that no evaluation has to."""
        for flag in self._flags.values():
            flag.prepare()
        self._ended = False

    def shutdown(self) -> None:
        """Write waiting entries to the disk. The agents are yours, and stay open."""
        self._ended = True
        for flag in self._flags.values():
            if hasattr(flag.agent, "flush"):
                self._guarded("shutdown", flag.agent.flush)

    def resolve_string_details(
        self,
        flag_key: str,
        default_value: str,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[str]:
        """Decide, and return the variant's name or what it stands for."""
        return self._resolve(str, flag_key, default_value, evaluation_context)

    def resolve_boolean_details(
        self,
        flag_key: str,
        default_value: bool,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[bool]:
        """Decide, and return what the variant stands for."""
        return self._resolve(bool, flag_key, default_value, evaluation_context)

    def resolve_integer_details(
        self,
        flag_key: str,
        default_value: int,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[int]:
        """Decide, and return what the variant stands for."""
        return self._resolve(int, flag_key, default_value, evaluation_context)

    def resolve_float_details(
        self,
        flag_key: str,
        default_value: float,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[float]:
        """Decide, and return what the variant stands for."""
        return self._resolve(float, flag_key, default_value, evaluation_context)

    def resolve_object_details(
        self, flag_key: str, default_value: Any, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[Any]:
        """Decide, and return what the variant stands for."""
        return self._resolve((dict, list), flag_key, default_value, evaluation_context)

    async def resolve_string_details_async(
        self,
        flag_key: str,
        default_value: str,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[str]:
        """Decide without blocking the event loop."""
        return await self._resolve_async(str, flag_key, default_value, evaluation_context)

    async def resolve_boolean_details_async(
        self,
        flag_key: str,
        default_value: bool,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[bool]:
        """Decide without blocking the event loop."""
        return await self._resolve_async(bool, flag_key, default_value, evaluation_context)

    async def resolve_integer_details_async(
        self,
        flag_key: str,
        default_value: int,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[int]:
        """Decide without blocking the event loop."""
        return await self._resolve_async(int, flag_key, default_value, evaluation_context)

    async def resolve_float_details_async(
        self,
        flag_key: str,
        default_value: float,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[float]:
        """Decide without blocking the event loop."""
        return await self._resolve_async(float, flag_key, default_value, evaluation_context)

    async def resolve_object_details_async(
        self, flag_key: str, default_value: Any, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[Any]:
        """Decide without blocking the event loop."""
        return await self._resolve_async((dict, list), flag_key, default_value, evaluation_context)

    def track(
        self,
        tracking_event_name: str,
        evaluation_context: EvaluationContext | None = None,
        tracking_event_details: TrackingEventDetails | None = None,
    ) -> None:
        """Reward the decisions that an event belongs to; ignore other events."""
        for flag in self._flags.values():
            if isinstance(tracking_event_name, str) and tracking_event_name in flag.events:
                self._guarded(
                    f"the event {tracking_event_name!r}",
                    self._reward,
                    flag,
                    evaluation_context,
                    tracking_event_details,
                )

    # inside

    def _resolve(
        self,
        kind: Any,
        flag_key: str,
        default_value: T,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[T]:
        """Decide, and return the variant's name or what it stands for."""
        flag = self._flags.get(flag_key)
        if self._ended:
            return _default(
                default_value, ErrorCode.PROVIDER_NOT_READY, "the provider is shut down"
            )
        if flag is None:
            return _default(
                default_value, ErrorCode.FLAG_NOT_FOUND, f"there is no flag {flag_key!r}"
            )
        if not flag.has_type(kind):
            return _default(
                default_value,
                ErrorCode.TYPE_MISMATCH,
                f"the flag {flag_key!r} has values of another type; give values for its variants",
            )
        found = self._guarded(
            f"the flag {flag_key!r}", lambda: flag.decide(_user(evaluation_context) or None)
        )
        if isinstance(found, Exception):
            return _default(default_value, ErrorCode.GENERAL, str(found))
        decision, value, repeated = found
        return FlagResolutionDetails(
            value=value,
            variant=decision.arm,
            reason=Reason.CACHED if repeated else Reason.SPLIT,
            flag_metadata={TICKET: decision.ticket},
        )

    async def _resolve_async(
        self,
        kind: Any,
        flag_key: str,
        default_value: T,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[T]:
        """Decide without blocking the event loop."""
        flag = self._flags.get(flag_key)
        if flag is None or isinstance(flag.agent, Agent):  # microseconds
            return self._resolve(kind, flag_key, default_value, evaluation_context)
        return await asyncio.to_thread(
            self._resolve, kind, flag_key, default_value, evaluation_context
        )

    def _reward(
        self,
        flag: Flag,
        context: EvaluationContext | None,
        details: TrackingEventDetails | None,
    ) -> None:
        user = _user(context)
        value = None if details is None else details.value
        if value is None:
            if self._waiting.missing is None:
                raise InvalidInput(
                    f"an event for the flag {flag.key!r} has no value, so it is ignored; give it "
                    "a value, or give the provider missing=0 if silence counts as 0."
                )
            value = 1.0
        given: Any = None if details is None else details.attributes.get(TICKET)
        sender = user if self._sources else None
        if given is None:
            done = flag.learn(None, user, value, sender)
        else:
            if not isinstance(given, (str, list, tuple)):
                raise InvalidInput(f"{TICKET!r} must be a ticket or a list of them, got {given!r}.")
            tickets = map(str, [given] if isinstance(given, str) else given)
            mine = [one for one in tickets if one.rpartition("/")[0] == flag.key]
            done = sum(flag.learn(one, user, value, sender) for one in mine) > 0
        self.unmatched += not done

    def _guarded(self, what: str, work: Callable[..., T], *given: Any) -> T | Exception:
        """Do some work; return what it returns, or what went wrong.

        Those who listen are told when trouble begins, and when it is over.
        """
        try:
            done = work(*given)
        except Exception as error:
            self._troubles.report(what, error)
            if not isinstance(error, InvalidInput) and not self._failing:
                self._failing = True
                self.emit_provider_error(
                    ProviderEventDetails(message=str(error), error_code=ErrorCode.GENERAL)
                )
            return error
        if self._failing:
            self._failing = False
            self.emit_provider_ready(ProviderEventDetails(message="the agents answer again"))
        return done


def _user(context: EvaluationContext | None) -> str | None:
    """Return the targeting key, which end users may have a hand in."""
    key = None if context is None else context.targeting_key
    if key is not None and not isinstance(key, str):
        raise InvalidInput(f"a targeting key must be text, got {key!r}.")
    return key


def _default(value: T, code: ErrorCode, message: str) -> FlagResolutionDetails[T]:
    return FlagResolutionDetails(
        value=value, reason=Reason.ERROR, error_code=code, error_message=message
    )
