"""LiteLLM's own routing strategies on a scenario, from the installed package.

Its real `Router` chooses, with all its filters. What a scenario calls an outcome is
told to the strategy's own callback, with times that make it that long.
"""

from __future__ import annotations

import os
import random
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from importlib.metadata import version as version_of
from importlib.util import find_spec
from typing import Any

from ...errors import MissingExtra
from .scenario import Scenario

GROUP = "group"
ASK = [{"role": "user", "content": "hello"}]
BEGAN = datetime(2024, 1, 1)
STRATEGIES: dict[str, tuple[str, dict[str, Any]]] = {
    "LiteLLM latency-based": ("latency-based-routing", {}),
    "LiteLLM latency-based, buffer 0.5": (
        "latency-based-routing",
        {"lowest_latency_buffer": 0.5},
    ),
    "LiteLLM simple-shuffle": ("simple-shuffle", {}),
}


def is_installed() -> bool:
    """Say whether LiteLLM is there, without loading it."""
    return find_spec("litellm") is not None


def version() -> str:
    """Return the installed version."""
    return version_of("litellm")


class LiteLLMRouter:
    """LiteLLM's `Router` with one of its strategies."""

    def __init__(self, strategy: str, arguments: dict[str, Any]) -> None:
        # else importing it fetches a list of prices
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            router: Any = import_module("litellm").Router
        except ImportError:
            raise MissingExtra("LiteLLM is not installed; run pip install litellm.") from None
        self._make = partial(router, routing_strategy=strategy, routing_strategy_args=arguments)

    def start(self, scenario: Scenario) -> None:
        """Begin with a new Router, at the first request."""
        self._router: Any = None
        self._names: list[str] = []
        random.seed(scenario.seed)  # LiteLLM draws from Python's own generator

    def choose(self, request: int, deployments: list[str]) -> str:
        """Let the Router choose."""
        if deployments != self._names:
            models = [_model(name) for name in deployments]
            if self._router is None:
                self._router = self._make(model_list=models)
            else:
                self._router.set_model_list(models)
            self._names = list(deployments)
        chosen = self._router.get_available_deployment(model=GROUP, messages=ASK)
        return str(chosen["model_info"]["id"])

    def outcome(self, request: int, deployment: str, value: float) -> None:
        """Tell the strategy how long a request took, as LiteLLM does."""
        handler = getattr(self._router, "lowestlatency_logger", None)
        if handler is not None:
            call = {
                "litellm_params": {
                    "metadata": {"model_group": GROUP},
                    "model_info": {"id": deployment},
                }
            }
            handler.log_success_event(call, None, BEGAN, BEGAN + timedelta(seconds=value))

    def end(self) -> None:
        """Let the Router go."""
        if self._router is not None:
            self._router.discard()
        self._router = None


def _model(name: str) -> dict[str, Any]:
    """Return a deployment as LiteLLM's configuration has it; nothing calls it."""
    return {
        "model_name": GROUP,
        "litellm_params": {"model": f"openai/{name}", "api_key": "none"},
        "model_info": {"id": name},
    }
