"""Deployments without a network, for the real Router: a provider of one's own, as
LiteLLM lets users add one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import litellm
from litellm import Router
from litellm.llms.custom_llm import CustomLLM

ASK = [{"role": "user", "content": "hi"}]
GROUP = "chat"
TOKENS = 5

Behaviour = Callable[[str], Awaitable[None]]
"""What happens when a deployment of that name is called: it may wait, and may raise."""


async def at_once(name: str) -> None:
    """Answer at once."""


def error(kind: type[Exception], name: str) -> Exception:
    """Return an error as LiteLLM raises it for a deployment's answer."""
    return kind(message="mocked", model=name, llm_provider="mock")  # type: ignore[call-arg]


class Mock(CustomLLM):
    """The provider `mock`: `mock/east` is the deployment `east`."""

    def __init__(self, behave: Behaviour = at_once) -> None:
        super().__init__()
        self.behave = behave
        self.calls: list[str] = []
        self.pause = 0.0  # between two chunks of a stream
        self.breaks_after = -1  # so many chunks
        litellm.custom_provider_map = [{"provider": "mock", "custom_handler": self}]
        litellm.utils.custom_llm_setup()

    async def _called(self, model: str) -> None:
        self.calls.append(model)
        await self.behave(model)

    async def acompletion(self, model: str, *args: Any, **kwargs: Any) -> Any:
        await self._called(model)
        return answer(model, kwargs["model_response"])

    def _called_without_asyncio(self, model: str) -> None:
        # LiteLLM runs an event loop in the caller's thread
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, self._called(model)).result()

    def completion(self, model: str, *args: Any, **kwargs: Any) -> Any:
        self._called_without_asyncio(model)
        return answer(model, kwargs["model_response"])

    async def astreaming(self, model: str, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        await self._called(model)
        for i, chunk in enumerate(chunks()):
            if i == self.breaks_after:
                raise error(litellm.APIConnectionError, model)
            yield chunk
            await asyncio.sleep(self.pause)

    def streaming(self, model: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        self._called_without_asyncio(model)
        for chunk in chunks():
            yield chunk
            time.sleep(self.pause)


def answer(model: str, response: Any) -> Any:
    """Return an answer of one word."""
    response.choices[0].message.content = "hello"
    response.model = model
    response.usage = litellm.Usage(prompt_tokens=1, completion_tokens=TOKENS, total_tokens=6)
    return response


def chunks() -> Iterator[Any]:
    """Return an answer of three words, one by one."""
    for i, word in enumerate(["a", "b", "c"]):
        yield {
            "text": word,
            "is_finished": i == 2,
            "finish_reason": "stop" if i == 2 else "",
            "usage": None,
            "index": 0,
            "tool_use": None,
        }


def model_list(names: Iterable[str], group: str = GROUP) -> list[dict[str, Any]]:
    """Return the Router's description of mocked deployments; their ids are names."""
    return [
        {
            "model_name": group,
            "litellm_params": {"model": f"mock/{name}", "api_key": "-"},
            "model_info": {"id": name},
        }
        for name in names
    ]


def mocked_router(names: Iterable[str] = ("east", "west", "north"), **options: Any) -> Router:
    """Return a Router of mocked deployments that neither retries nor cools down."""
    options = {"num_retries": 0, "disable_cooldowns": True, "retry_after": 0, **options}
    return Router(model_list=model_list(names), **options)


async def until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for LiteLLM's callbacks, which come in the background."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("LiteLLM's callbacks have not come")
        await asyncio.sleep(0.002)


def forget_callbacks() -> None:
    """Remove the callbacks that Routers have left behind."""
    litellm.logging_callback_manager._reset_all_callbacks()
    litellm.custom_provider_map = []
