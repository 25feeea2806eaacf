"""A routing strategy for LiteLLM: the `Router` and the proxy.

    RobustRouting().install(router)                            # a Router of your own
    litellm_settings: {callbacks: ironarm.integrations.litellm.proxy}      # the proxy

Every call of a deployment is a decision with a ticket: a retry and a fallback are
decisions of their own. LiteLLM selects the deployments that can be used (health,
cooldowns, limits, tags, order), the agent of the model group decides among them, and
LiteLLM's callbacks close the ticket: with the reward of the answer, with the worst
reward there is if the deployment failed, or without one if nothing can be blamed on it.
A ticket that no callback closes expires.

`router_slot.py` says how the Router comes to ask the strategy, `model_groups.py` where
agents are kept, `routing.py` what is learnt, `upkeep.py` what happens when agents fail.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

from ..agent.contract import LiveAgent
from ..agent.input import reward_of
from ..errors import InvalidInput, MissingExtra, StoreError, missing_extra
from ..policies import Policy
from ..validation import choice, number
from .model_groups import ModelGroups
from .routing import REWARDS, Outcome, PendingDecision, failures, of_outcome
from .upkeep import Rest, Troubles, closed, overdue

try:
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    from .router_slot import InSlot, leave, router_of_proxy, take
except ImportError as error:
    raise missing_extra("the routing strategy for LiteLLM", "litellm") from error

__all__ = ["Outcome", "RobustRouting"]

TICKET = "ironarm_ticket"
"""The key in a deployment's model_info under which its ticket travels to callbacks."""
DEPLOYMENTS_OWN = frozenset({401, 402, 403, 404, 408, 429})
"""Statuses 4xx that are the deployment's fault: its key, its address, its limits. The
others are the caller's, who could else make a deployment look bad by bad requests."""

log = logging.getLogger(__name__)


class RobustRouting(InSlot, CustomLogger):  # type: ignore[misc]  # LiteLLM is not followed by mypy
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
        self.serial = secrets.randbits(63)  # LiteLLM keeps one of several loggers that look alike
        if callable(reward):
            self._reward = of_outcome(reward)
        else:
            self._reward = REWARDS[choice("reward", reward, REWARDS)]
        self._worst = failures(reward_of(worst))
        self._expire_after = number("expire_after", expire_after, above=0)
        self._groups = ModelGroups(
            policy=policy,
            path=path,
            service=service,
            key=key,
            agent=agent,
            seed=seed,
            expire_after=self._expire_after,
        )
        # an agent in memory answers in microseconds; others wait for a disk or a
        # network, and must not hold up the event loop
        self._worker = (
            None
            if self._groups.in_memory
            else ThreadPoolExecutor(1, thread_name_prefix="ironarm litellm")
        )
        self._rest = Rest("agents", monotonic)
        self._troubles = Troubles(log, monotonic)
        self._tickets: dict[int, PendingDecision] = {}
        self._next_expiry = 0.0
        self._router: Any = None
        self._refused: Any = None
        self._late = 0

    def install(self, router: Any) -> RobustRouting:
        """Let this strategy route the Router's calls, and return the strategy.

        Repeating it changes nothing. A Router has one strategy, and a strategy has one
        Router. A Router that would not ask this strategy is refused and stays as it
        was.
        """
        if self._router is not None and self._router is not router:
            log.info("a new Router takes the place of the one before")
            leave(self._router, self)
        take(router, self)
        if self._router is not router:
            log.info("ironarm routes the calls of a Router")
        self._router = router
        if self not in litellm.callbacks:
            litellm.logging_callback_manager.add_litellm_callback(self)
        return self

    def expire(self, older_than: float) -> int:
        """Close all decisions older than this many seconds; return how many.

        Requests do this from time to time, with `expire_after`.
        """
        limit = monotonic() - number("older_than", older_than, at_least=0)
        for key, ticket in list(self._tickets.items()):
            if ticket.made <= limit:
                self._tickets.pop(key, None)
        return sum(agent.expire(older_than) for agent in self.agents.values())

    def close(self) -> None:
        """Give the Router its simple strategy back, and close the agents' files."""
        leave(self._router, self)
        litellm.logging_callback_manager.remove_callback_from_all_lists(self)
        self._router = None
        if self._worker is not None:
            self._worker.shutdown()
        self._groups.close()

    # what is known

    @property
    def agents(self) -> dict[str, Any]:
        """The agents by model group."""
        return self._groups.agents

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
        return self._troubles.count

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
            self._troubles.report(f"no decision for {model_group!r}, so one at random", error)
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
        return self._chosen(model_group, healthy_deployments)

    # LiteLLM's request leaves the processor's caches cold, and every line here costs
    # five times of what it takes in a loop; so there are few

    def _chosen(self, model_group: str, deployments: list[dict[str, Any]]) -> dict[str, Any]:
        by_id = {str(each["model_info"]["id"]): each for each in deployments}
        now = monotonic()
        try:
            group, decision = self._rest.asked(self._decided, model_group, by_id, now)
            chosen = by_id[decision.arm]
        except Exception as error:  # a request is more than what is learnt from it
            self._troubles.report(f"no decision for {model_group!r}, so one at random", error)
            return random.choice(deployments)
        # nobody may guess one: a caller's own model_info comes to callbacks too
        ticket = secrets.randbits(63)
        self._tickets[ticket] = PendingDecision(
            group, decision.arm, decision.id, datetime.now(), now
        )
        return {**chosen, "model_info": {**chosen["model_info"], TICKET: ticket}}

    def _decided(self, model_group: str, by_id: dict[str, dict[str, Any]], now: float) -> Any:
        """Return the model group, and its agent's decision."""
        group = self._groups.of(model_group, by_id, self._router)
        if now >= self._next_expiry:
            self._expire_some(now)
        return group, group.decide(list(by_id), self._router)

    def _expire_some(self, now: float) -> None:
        """Close decisions whose callback has not come, few in the event loop."""
        if self._worker is not None:  # also those of other processes, and of a crash
            self._next_expiry = now + self._expire_after / 10
            self.expire(self._expire_after)
            return
        with suppress(RuntimeError, KeyError):  # a thread was faster; there is a next time
            for key in overdue(self._tickets, now - self._expire_after):
                self._tell(self._tickets.pop(key), None)
            oldest = next((ticket.made for ticket in self._tickets.values()), now)
            self._next_expiry = oldest + self._expire_after

    # LiteLLM's callbacks

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Learn from an answer."""
        ticket, value = self._answered(kwargs, response_obj, end_time)
        if type(value) is not float and inspect.isawaitable(value):
            try:
                value = await value
            except asyncio.CancelledError as error:  # LiteLLM gives a callback 20 seconds
                self._troubles.report("the reward function was cut off", error)
                self._finish(ticket, None)
                raise
            except Exception as error:
                self._troubles.report("the reward function failed", error)
                value = None
        self._finish(ticket, value)

    def log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Learn from an answer to a call without asyncio."""
        ticket, value = self._answered(kwargs, response_obj, end_time)
        if inspect.iscoroutine(value):
            value.close()
            value = None
            self._troubles.report(
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
        router = router_of_proxy()
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

    def _answered(
        self, call: dict[str, Any], response: Any, end: Any
    ) -> tuple[PendingDecision | None, Any]:
        """Return a call's ticket and reward; None if there is nothing to learn."""
        ticket = self._take(call.get("litellm_params"))
        if ticket is None or call.get("cache_hit") is True:
            return ticket, None  # not a call of ours, or the cache answered
        try:
            return ticket, self._reward(ticket, call, response, end or datetime.now())
        except Exception as error:  # the function is the user's
            self._troubles.report("the reward function failed", error)
            return ticket, None

    def _failed(self, carrier: Any, exception: Any) -> None:
        ticket = self._take(carrier)
        self._finish(
            ticket, next(self._worst) if ticket and is_deployments_fault(exception) else None
        )

    def _finish(self, ticket: PendingDecision | None, value: Any) -> None:
        """Close a decision, with a reward or without; None: the call is not ours."""
        if ticket is None:
            return
        if self._worker is None:
            self._tell(ticket, value)
        else:
            with suppress(RuntimeError):  # closed meanwhile; the decision will expire
                self._worker.submit(self._tell, ticket, value)

    def _tell(self, ticket: PendingDecision, value: Any) -> None:
        try:
            self._late += not self._rest.asked(closed, ticket.group.agent, ticket.decision, value)
        except Exception as error:
            self._troubles.report(f"nothing learnt from a call of {ticket.deployment!r}", error)
            if value is not None and not isinstance(error, StoreError):  # that one will expire
                self._tell(ticket, None)


def is_deployments_fault(exception: Any) -> bool:
    """Say whether a failed call is the deployment's fault, and not the caller's."""
    if isinstance(exception, (litellm.BudgetExceededError, ImportError)):
        return False  # nobody was called
    try:
        status = int(exception.status_code)
    except (AttributeError, TypeError, ValueError):
        return True
    return not 400 <= status < 500 or status in DEPLOYMENTS_OWN


def __getattr__(name: str) -> Any:
    """Make the proxy's strategy when its configuration asks for it."""
    if name == "proxy":
        globals()[name] = RobustRouting()
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
