"""A routing strategy for LiteLLM: the `Router` and the proxy.

    RobustRouting().install(router)                            # a Router of your own
    litellm_settings: {callbacks: ironarm.integrations.litellm.proxy}      # the proxy

Every call of a deployment is a decision with a ticket: a retry and a fallback are
decisions of their own. LiteLLM selects the deployments that can be used (health,
cooldowns, limits, tags, order), the agent of the model group decides among them, and
LiteLLM's callbacks close the ticket: with the reward of the answer, with the worst
reward there is if the deployment failed, or without one if nothing can be blamed on it.
A ticket that no callback closes expires.

The strategy takes the place of LiteLLM's own latency-based handler, because the Router
asks that one last, for calls with and without asyncio, and with all that it knows.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import logging
import math
import random
import secrets
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from ..agent import Agent, DurableAgent
from ..agent.contract import LiveAgent
from ..agent.input import reward_of
from ..errors import (
    InvalidInput,
    IronarmError,
    MissingExtra,
    StoreError,
    UnknownArm,
    UnknownDecision,
    missing_extra,
)
from ..policies import Policy
from ..validation import choice, number
from ..which_policy import default_policy
from .routing import (
    REWARDS,
    Outcome,
    PendingDecision,
    agent_name,
    failures,
    file_name,
    of_outcome,
)

try:
    import litellm
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.router_strategy.lowest_latency import RoutingArgs
except ImportError as error:
    raise missing_extra("the routing strategy for LiteLLM", "litellm") from error

__all__ = ["Outcome", "RobustRouting"]

TICKET = "ironarm_ticket"
"""The key in a deployment's model_info under which its ticket travels to callbacks."""
PROBE = [{"role": "user", "content": "which deployment?"}]
SLOT = "latency-based-routing"
"""The strategy whose place is taken."""
DEPLOYMENTS_OWN = frozenset({401, 402, 403, 404, 408, 429})
"""Statuses 4xx that are the deployment's fault: its key, its address, its limits. The
others are the caller's, who could else make a deployment look bad by bad requests."""
AT_ONCE = 20
"""Decisions that expire in one call; each call makes at most one."""
COMMIT_WITHIN = 0.01  # seconds for which entries of a log share a commit
ANSWER_WITHIN = 2.0  # seconds that the service may take for an answer
REST = 5.0  # seconds for which agents that failed are left alone
REPORT_EVERY = 60.0  # seconds between two reports of trouble in the log

log = logging.getLogger(__name__)
_serial = itertools.count(1)


class _Group:
    """A model group: its agent, and which deployments the Router has had."""

    def __init__(self, name: str, agent: LiveAgent) -> None:
        self.name, self.agent = name, agent
        self.seen: set[str] = set()


class RobustRouting(CustomLogger):  # type: ignore[misc]  # LiteLLM is not followed by mypy
    """A routing strategy for LiteLLM that withstands corrupt feedback.

    Each model group has its own agent, whose arms are the group's deployments. Stalls,
    error pages that return fast and bribed judges do not mislead it, as long as they
    are a minority; see `CoherentIMED`, the default policy.

    Parameters
    ----------
    reward : "latency", minus the logarithm of the seconds; "first-token", the same up
        to the first token; "cost", minus the dollars; or a function of an `Outcome`. It
        may be `async`, and returns a number (larger is better), or None if there is
        nothing to learn from this answer.
    policy : what decides; None for the default, which needs no parameters.
    path : a folder for the agents' logs. The agents then survive restarts, and
        processes on one machine share them. None: in memory only.
    service, key : the address of an `ironarm serve`, and a key with the scope `admin`
        if the service has keys. The agents then survive restarts, and proxies on many
        machines share them.
    agent : instead of all of these, a function of a model group's name and the ids of
        its deployments that returns the agent; see `LiveAgent`.
    worst : the reward of a failure or a timeout: less than any answer can earn. After
        one such reward, a policy based on means never uses the deployment again; give
        it a number not far below the others, such as -7 for latencies.
    expire_after : seconds until a decision whose callback never comes is closed. Make
        it longer than your longest timeout.
    seed : a whole number makes the choices repeatable; None for a fresh one.

    Examples
    --------
    >>> from litellm import Router
    >>> from ironarm.integrations.litellm import RobustRouting
    >>> router = Router(
    ...     model_list=[
    ...         {
    ...             "model_name": "chat",
    ...             "litellm_params": {"model": f"openai/{name}", "api_key": "-"},
    ...             "model_info": {"id": name},
    ...         }
    ...         for name in ("east", "west")
    ...     ]
    ... )
    >>> routing = RobustRouting(seed=1).install(router)
    >>> for _ in range(4):
    ...     ask = [{"role": "user", "content": "hi"}]
    ...     answer = router.completion("chat", ask, mock_response="hello")
    >>> routing.agents["chat"].decisions
    4
    >>> routing.close()
    """

    routing_args = RoutingArgs()  # the Router shows those of the handler in this place

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        # the proxy looks for this hook in a callback's own class, not in its bases
        cls.async_pre_call_hook = cls.async_pre_call_hook  # type: ignore[method-assign]

    def __init__(
        self,
        reward: str | Callable[[Outcome], Any] = "latency",
        *,
        policy: Policy | None = None,
        path: str | Path | None = None,
        service: str | None = None,
        key: str | None = None,
        agent: Callable[[str, Sequence[str]], LiveAgent] | None = None,
        worst: float = -1e6,
        expire_after: float = 600.0,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        if agent is not None and any(x is not None for x in (policy, path, service, key, seed)):
            raise InvalidInput(
                "agent makes the agents, so leave out policy, path, service, key and seed."
            )
        if path is not None and service is not None:
            raise InvalidInput("agents are kept in path or by service; leave one of them out.")
        if key is not None and service is None:
            raise InvalidInput("key belongs to a service; give its address as service.")
        self.serial = next(_serial)  # LiteLLM keeps one of several loggers that look alike
        if callable(reward):
            self._reward = of_outcome(reward)
        else:
            self._reward = REWARDS[choice("reward", reward, REWARDS)]
        self._worst = failures(reward_of(worst))
        self._expire_after = number("expire_after", expire_after, above=0)
        self._policy, self._seed = policy, seed
        self._path = None if path is None else _folder(Path(path))
        self._client: Any = None if service is None else _client(service, key)
        self._make = agent or (self._own_agent if service is None else self._served_agent)
        # an agent in memory answers in microseconds; others wait for a disk or a
        # network, and must not hold up the event loop
        self._worker = (
            None
            if agent is None and path is None and service is None
            else ThreadPoolExecutor(1, thread_name_prefix="ironarm litellm")
        )
        self._lock = threading.Lock()
        self._groups: dict[str, _Group] = {}
        self._tickets: dict[int, PendingDecision] = {}
        self._next_expiry = 0.0
        self._router: Any = None
        self._refused: Any = None
        self._probing: int | None = None  # the thread that installs
        self._was_asked = False
        self._late = self._troubles = 0
        self._last_report = self._rest_until = -math.inf
        if agent is None and service is None:  # compile before serving
            Agent(policy or default_policy(), arms=2, seed=0).prepare()

    def install(self, router: Any) -> RobustRouting:
        """Let this strategy route the Router's calls, and return the strategy.

        Repeating it changes nothing. A Router has one strategy, and a strategy has one
        Router. A Router that would not ask this strategy is refused and stays as it
        was.
        """
        if self._router is not None and self._router is not router:
            log.info("a new Router takes the place of the one before")
            self._leave(self._router)
        if self._router is not router:
            log.info("ironarm routes the calls of a Router")
        before = getattr(router, "lowestlatency_logger", None), router.routing_strategy
        router.lowestlatency_logger, router.routing_strategy = self, SLOT
        if before[0] is not self:
            if not self._is_asked_by(router):
                router.lowestlatency_logger, router.routing_strategy = before
                raise MissingExtra(
                    f"LiteLLM {version('litellm')} does not ask ironarm's strategy for "
                    "deployments, so the Router was left as it was. Install a release that "
                    "ironarm names: pip install --upgrade 'ironarm[litellm]'."
                )
            if before[0] is not None:
                litellm.logging_callback_manager.remove_callback_from_all_lists(before[0])
        self._router = router
        if self not in litellm.callbacks:
            litellm.logging_callback_manager.add_litellm_callback(self)
        return self

    def _is_asked_by(self, router: Any) -> bool:
        """Have the Router look for a deployment, and say whether it asks here.

        Its slot for a strategy is not public: if a release renamed it, every request of
        the user would fail. A Router without models cannot be asked.
        """
        names = router.get_model_names()
        self._probing, self._was_asked = threading.get_ident(), not names
        try:
            for name in names:  # one may have a strategy of its own
                if self._was_asked:
                    break
                with suppress(Exception):
                    router.get_available_deployment(model=name, messages=PROBE)
        finally:
            self._probing = None
        return self._was_asked

    def expire(self, older_than: float) -> int:
        """Close all decisions older than this many seconds; return how many.

        Requests do this from time to time, with `expire_after`.
        """
        limit = monotonic() - number("older_than", older_than, at_least=0)
        for key, ticket in list(self._tickets.items()):
            if ticket.made <= limit:
                self._tickets.pop(key, None)
        return sum(group.agent.expire(older_than) for group in list(self._groups.values()))

    def close(self) -> None:
        """Give the Router its simple strategy back, and close the agents' files."""
        if self._router is not None:
            self._leave(self._router)
        litellm.logging_callback_manager.remove_callback_from_all_lists(self)
        self._router = None
        if self._worker is not None:
            self._worker.shutdown()
        for group in self._groups.values():
            close = getattr(group.agent, "close", None)
            if close is not None:
                close()
        if self._client is not None:
            self._client.close()

    def _leave(self, router: Any) -> None:
        """Give a Router its simple strategy back."""
        if router.lowestlatency_logger is self:
            router.lowestlatency_logger = None
            router.routing_strategy_init("simple-shuffle", {})
            router.routing_strategy = "simple-shuffle"

    # what is known

    @property
    def agents(self) -> dict[str, Any]:
        """The agents by model group."""
        return {name: group.agent for name, group in self._groups.items()}

    @property
    def open_tickets(self) -> int:
        """How many decisions are waiting for a callback."""
        return len(self._tickets)

    @property
    def late(self) -> int:
        """How many outcomes came after their decision had been closed."""
        return self._late

    @property
    def troubles(self) -> int:
        """How often the agent or the reward function failed; the log says why."""
        return self._troubles

    # the Router asks for a deployment

    async def async_get_available_deployments(
        self,
        model_group: str,
        healthy_deployments: list[dict[str, Any]],
        messages: Any = None,
        input: Any = None,
        request_kwargs: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Choose one of the deployments that can be used."""
        if self._worker is None:
            return self._chosen(model_group, healthy_deployments)
        try:
            chosen = asyncio.get_running_loop().run_in_executor(
                self._worker, self._chosen, model_group, healthy_deployments
            )
        except RuntimeError as error:  # closed meanwhile
            self._report(f"no decision for {model_group!r}, so one at random", error)
            return random.choice(healthy_deployments)
        return await chosen

    def get_available_deployments(
        self,
        model_group: str,
        healthy_deployments: list[dict[str, Any]],
        messages: Any = None,
        input: Any = None,
        request_kwargs: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Choose one of the deployments that can be used."""
        if self._probing == threading.get_ident():
            self._was_asked = True
            return healthy_deployments[0]
        return self._chosen(model_group, healthy_deployments)

    # LiteLLM's request leaves the processor's caches cold, and every line here costs
    # five times of what it takes in a loop; so there are few

    def _chosen(self, model_group: str, deployments: list[dict[str, Any]]) -> dict[str, Any]:
        by_id = {str(each["model_info"]["id"]): each for each in deployments}
        now = monotonic()
        try:
            if now < self._rest_until:
                self._refuse()
            group = self._groups.get(model_group) or self._group_of(model_group, by_id)
            decision = self._decide(group, list(by_id), now)
            chosen = by_id[decision.arm]
        except Exception as error:  # a request is more than what is learnt from it
            self._rest_after(error)
            self._report(f"no decision for {model_group!r}, so one at random", error)
            return random.choice(deployments)
        # nobody may guess one: a caller's own model_info comes to callbacks too
        ticket = secrets.randbits(63)
        self._tickets[ticket] = PendingDecision(
            group.name, decision.arm, group.agent, decision.id, datetime.now(), now
        )
        return {**chosen, "model_info": {**chosen["model_info"], TICKET: ticket}}

    def _group_of(self, model_group: str, by_id: dict[str, dict[str, Any]]) -> _Group:
        """Return the model group, made if need be; that of a wildcard is the wildcard.

        Callers invent names under a wildcard, and every agent takes memory.
        """
        ids = list(by_id)
        known = model_group in self._router.model_names
        name = model_group if known else str(by_id[ids[0]]["model_name"])
        with self._lock:
            if name not in self._groups:
                self._groups[name] = _Group(name, self._make(name, ids))
            return self._groups[name]

    def _decide(self, group: _Group, ids: list[str], now: float) -> Any:
        if len(group.seen) != len(ids) or not group.seen.issuperset(ids):
            self._follow(group, ids)
        if now >= self._next_expiry:
            self._expire_some(now)
        try:
            return group.agent.decide(among=ids)
        except UnknownArm:  # new here, or another process has removed it
            self._add_missing(group.agent, ids)
            return group.agent.decide(among=ids)

    def _expire_some(self, now: float) -> None:
        """Close decisions whose callback has not come, few in the event loop."""
        if self._worker is not None:  # also those of other processes, and of a crash
            self._next_expiry = now + self._expire_after / 10
            self.expire(self._expire_after)
            return
        with suppress(RuntimeError):  # another thread has closed one; there is a next time
            for _ in range(AT_ONCE):
                oldest = next(iter(self._tickets.items()), None)
                made = now if oldest is None else oldest[1].made
                if oldest is None or made + self._expire_after > now:
                    self._next_expiry = made + self._expire_after
                    return
                if self._tickets.pop(oldest[0], None) is not None:
                    self._tell(oldest[1], None)

    def _own_agent(self, group: str, ids: Sequence[str]) -> LiveAgent:
        if self._path is None:
            return Agent(self._policy, arms=ids, seed=self._seed)
        file = self._path / f"{file_name(group)}.db"
        if file.exists():  # perhaps made with other deployments, so they are left out
            with suppress(StoreError):  # a crash has left it empty; or the error comes again
                return DurableAgent(file, self._policy, commit_within=COMMIT_WITHIN)
        return DurableAgent(file, self._policy, ids, seed=self._seed, commit_within=COMMIT_WITHIN)

    def _served_agent(self, group: str, ids: Sequence[str]) -> LiveAgent:
        client, name = self._client, agent_name(group)
        try:
            return client.create(
                name, self._policy, ids, seed=self._seed, reward_within=self._expire_after
            )
        except InvalidInput:  # another proxy has made it, perhaps with other deployments
            if name not in client.agents():
                raise
            return client.agent(name)

    def _follow(self, group: _Group, ids: list[str]) -> None:
        """Remove the arms of deployments that this Router had, and has no more."""
        with self._lock:
            group.seen.update(ids)
            for arm in group.seen.difference(ids):
                if not self._router.has_model_id(arm):
                    group.seen.discard(arm)
                    self._add_missing(group.agent, ids)  # the last arm cannot be removed
                    with suppress(IronarmError):  # another process was faster
                        group.agent.remove_arm(arm)

    def _add_missing(self, agent: LiveAgent, ids: list[str]) -> None:
        known = set(agent.arms)
        for id in ids:
            if id not in known:
                with suppress(InvalidInput):  # another process was faster
                    agent.add_arm(id)

    # LiteLLM's callbacks

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Learn from an answer."""
        ticket = self._take(kwargs.get("litellm_params"))
        if ticket is None:
            return
        value = self._value(ticket, kwargs, response_obj, end_time)
        if type(value) is not float and inspect.isawaitable(value):
            try:
                value = await value
            except asyncio.CancelledError as error:  # LiteLLM gives a callback 20 seconds
                self._report("the reward function was cut off", error)
                self._finish(ticket, None)
                raise
            except Exception as error:
                self._report("the reward function failed", error)
                value = None
        self._finish(ticket, value)

    def log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Learn from an answer to a call without asyncio."""
        ticket = self._take(kwargs.get("litellm_params"))
        if ticket is None:
            return
        value = self._value(ticket, kwargs, response_obj, end_time)
        if inspect.iscoroutine(value):
            value.close()
            value = None
            self._report(
                "an async reward function cannot be used for calls without asyncio",
                InvalidInput("use acompletion, or a reward function without async"),
            )
        self._finish(ticket, value)

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Learn that a call failed."""
        self._failed(kwargs.get("litellm_params"), kwargs.get("exception"))

    def log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Learn that a call without asyncio failed."""
        self._failed(kwargs.get("litellm_params"), kwargs.get("exception"))

    async def async_post_call_failure_deployment_hook(
        self,
        request_data: Mapping[str, Any],
        exception: Exception,
        call_type: Any,
        fallback_depth: int | None = None,
    ) -> None:
        """Learn that a call failed, retries and fallbacks included.

        In the proxy the failure events above come once for a request, whatever the
        number of its calls.
        """
        self._failed(request_data, exception)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any
    ) -> None:
        """In the proxy: make sure that its Router uses this strategy.

        The proxy makes its Router after its callbacks, and again when its settings
        change.
        """
        proxy_server = sys.modules.get("litellm.proxy.proxy_server")
        router = getattr(proxy_server, "llm_router", None)
        if router is None or router is self._refused:
            return
        try:
            self.install(router)
        except MissingExtra as error:  # LiteLLM goes on as it would without this
            self._refused = router
            log.error("%s", error)

    # closing

    def _take(self, carrier: Any) -> PendingDecision | None:
        """Return the ticket of a call, to one caller only."""
        try:
            return self._tickets.pop(carrier["model_info"][TICKET], None)
        except (KeyError, TypeError):  # not a call of ours
            return None

    def _value(self, ticket: PendingDecision, call: dict[str, Any], response: Any, end: Any) -> Any:
        """Return the reward of an answer; None if there is nothing to learn."""
        if call.get("cache_hit") is True:
            return None  # the cache answered
        try:
            return self._reward(ticket, call, response, end or datetime.now())
        except Exception as error:  # the function is the user's
            self._report("the reward function failed", error)
            return None

    def _failed(self, carrier: Any, exception: Any) -> None:
        ticket = self._take(carrier)
        if ticket is not None:
            self._finish(ticket, next(self._worst) if is_deployments_fault(exception) else None)

    def _finish(self, ticket: PendingDecision, value: Any) -> None:
        """Close a decision, with a reward or without."""
        if self._worker is None:
            self._tell(ticket, value)
        else:
            with suppress(RuntimeError):  # closed meanwhile; the decision will expire
                self._worker.submit(self._tell, ticket, value)

    def _tell(self, ticket: PendingDecision, value: Any) -> None:
        try:
            if monotonic() < self._rest_until:
                self._refuse()
            if value is None:
                ticket.agent.cancel(ticket.decision)
            else:
                ticket.agent.learn(ticket.decision, value)
        except UnknownDecision:  # it has expired, or its arm is gone
            self._late += 1
        except StoreError as error:  # the decision will expire
            self._rest_after(error)
            self._report(f"nothing learnt from a call of {ticket.deployment!r}", error)
        except Exception as error:
            self._report(f"nothing learnt from a call of {ticket.deployment!r}", error)
            if value is not None:
                self._tell(ticket, None)

    # a service that does not answer takes a while to say so, and those who wait for it
    # wait for each other: so it is left alone for some seconds

    def _refuse(self) -> NoReturn:
        raise StoreError(f"agents failed less than {REST:g} seconds ago; not asked again yet")

    def _rest_after(self, error: Exception) -> None:
        if isinstance(error, StoreError) and monotonic() >= self._rest_until:
            self._rest_until = monotonic() + REST

    def _report(self, what: str, error: BaseException) -> None:
        self._troubles += 1
        if monotonic() - self._last_report >= REPORT_EVERY:
            self._last_report = monotonic()
            why = str(error) or type(error).__name__
            log.warning("%s: %s (%d troubles so far)", what, why, self._troubles)


def is_deployments_fault(exception: Any) -> bool:
    """Say whether a failed call is the deployment's fault, and not the caller's."""
    if isinstance(exception, (litellm.BudgetExceededError, ImportError)):
        return False  # nobody was called
    try:
        status = int(exception.status_code)
    except (AttributeError, TypeError, ValueError):
        return True
    return not 400 <= status < 500 or status in DEPLOYMENTS_OWN


def _folder(path: Path) -> Path:
    """Make the folder for agents, so that a fault shows at once and not in the log."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"path: {path} cannot be created: {error.strerror}.") from None
    return path


def _client(address: str, key: str | None) -> Any:
    from .. import Client  # needs an extra of its own

    return Client(address, key, timeout=ANSWER_WITHIN, patience=0)


def __getattr__(name: str) -> Any:
    """Make the proxy's strategy when its configuration asks for it."""
    if name == "proxy":
        globals()[name] = RobustRouting()
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
