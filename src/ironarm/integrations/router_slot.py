"""The slot of LiteLLM's Router for a strategy: the one file that knows what is private.

LiteLLM has no public place for a strategy that decides among the deployments that can
be used. This one takes the place of LiteLLM's own latency-based handler, because the
Router asks that one last, for calls with and without asyncio, and with all that it
knows.

If a release renamed the slot, every request of the user would fail. So the Router is
first asked whom it asks. One that does not ask the slot is left as it was, and an error
says so.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import litellm
from litellm.router_strategy.lowest_latency import RoutingArgs

from ..errors import MissingExtra

SLOT = "latency-based-routing"
"""The strategy whose place is taken."""
PROBE = [{"role": "user", "content": "which deployment?"}]


class InSlot:
    """What the Router expects of an object in the slot, besides choosing."""

    routing_args = RoutingArgs()  # the Router shows those of the handler in this place


class _Probe(InSlot):
    """Finds out whether the Router asks what is in its slot."""

    was_asked = False

    def get_available_deployments(
        self, model_group: str, healthy_deployments: list[Any], **more: Any
    ) -> Any:
        self.was_asked = True
        return healthy_deployments[0]

    async def async_get_available_deployments(self, *given: Any, **more: Any) -> Any:
        # a request that comes in between
        return self.get_available_deployments(*given, **more)


def take(router: Any, strategy: InSlot) -> None:
    """Let a strategy route the Router's calls, or leave the Router as it was."""
    before = getattr(router, "lowestlatency_logger", None), router.routing_strategy
    router.routing_strategy = SLOT
    if before[0] is not strategy and not _is_asked(router):
        router.lowestlatency_logger, router.routing_strategy = before
        raise MissingExtra(
            f"LiteLLM {version('litellm')} does not ask ironarm's strategy for "
            "deployments, so the Router was left as it was. Install a release that "
            "ironarm names: pip install --upgrade 'ironarm[litellm]'."
        )
    router.lowestlatency_logger = strategy
    if before[0] not in (None, strategy):
        litellm.logging_callback_manager.remove_callback_from_all_lists(before[0])


def _is_asked(router: Any) -> bool:
    """Have the Router look for a deployment, and say whether it asks its slot.

    A Router without models cannot be asked.
    """
    names = router.get_model_names()
    probe = router.lowestlatency_logger = _Probe()
    for name in names:  # one may have a strategy of its own
        with suppress(Exception):
            router.get_available_deployment(model=name, messages=PROBE)
        if probe.was_asked:
            break
    return probe.was_asked or not names


def leave(router: Any, strategy: InSlot) -> None:
    """Give a Router its simple strategy back, if there is one and it has this one."""
    if getattr(router, "lowestlatency_logger", None) is strategy:
        router.lowestlatency_logger = None
        router.routing_strategy_init("simple-shuffle", {})
        router.routing_strategy = "simple-shuffle"


def router_of_proxy() -> Any:
    """Return the Router of LiteLLM's proxy; None if this process has none."""
    return getattr(sys.modules.get("litellm.proxy.proxy_server"), "llm_router", None)
