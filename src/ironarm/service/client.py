"""Clients of the service: one that waits, one that awaits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, Generic, Self, TypeVar
from urllib.parse import urlsplit

from ..agent.input import Name, names_of
from ..errors import InvalidInput, missing_extra
from ..policies import Policy
from ..policy import require_policy
from ..validation import number

try:
    import httpx

    from . import verbs
    from .calls import Awaited, Direct, Lost, Pause, Reply, Request, Steps, call
    from .keys import agent_name
    from .remote import AsyncRemoteAgent, Connection, RemoteAgent
except ImportError:
    raise missing_extra("a client of the service", "serve") from None

__all__ = ["AsyncClient", "AsyncRemoteAgent", "Client", "RemoteAgent"]

A = TypeVar("A", RemoteAgent, AsyncRemoteAgent)
T = TypeVar("T")


class ClientCalls(Generic[A]):
    """What can be asked of the service, as steps."""

    _agent: Callable[..., A]

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        patience: float = 30.0,
        **options: Any,
    ) -> None:
        seconds = number("timeout", timeout, above=0)
        self._line = Connection(url, number("patience", patience, at_least=0))
        if key is not None and not (key.isascii() and key.isprintable() and key.split() == [key]):
            raise InvalidInput("a key is text such as ia_..., without spaces or line ends.")
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        try:
            parts = urlsplit(url)  # httpx would take what cannot be reached
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
                raise ValueError("it must begin with http:// or https://, and name a machine")
            # a thread may wait for a free connection as long as it likes
            wait = httpx.Timeout(seconds, pool=None)
            self._http = self._connect(base_url=url, headers=headers, timeout=wait, **options)
        except (httpx.InvalidURL, TypeError, ValueError) as error:
            raise InvalidInput(
                f"cannot use the address {url!r}: {error}. An address looks like "
                "http://127.0.0.1:8321."
            ) from None

    def _connect(self, **options: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._line.address!r})"

    def _built(self, request: Request) -> Any:
        if self._http.is_closed:
            raise InvalidInput("the client is closed; create a new one.")
        headers = {"content-type": "application/json"} if request.body is not None else {}
        if request.once is not None:
            headers["idempotency-key"] = request.once
        return self._http.build_request(
            request.method, request.path, content=request.body, headers=headers
        )

    def agent(self, name: str) -> A:
        """Return the agent with this name. Nothing is sent yet."""
        return self._agent(self, self._line, agent_name(name))

    @call
    def agents(self) -> Steps[list[str]]:
        """Return the names of the agents that the key may read."""
        return (yield from self._line.ask(verbs.agents))["agents"]

    @call
    def create(
        self,
        name: str,
        policy: Policy | str | None = None,
        arms: Iterable[Name] | int | None = None,
        *,
        seed: int | None = None,
        minimize: bool = False,
        memory: str | None = None,
        reward_within: float | None = None,
        missing_reward: float | None = None,
        failed_reward: float | None = None,
    ) -> Steps[A]:
        """Create an agent and return it; if it already exists and matches, return it.

        Parameters
        ----------
        name : 1 to 100 letters, digits, dots, dashes and underscores.
        policy, arms, seed, minimize, memory : as for `Agent`. A policy may be text. A
            policy of your own must be installed where the service runs.
        reward_within : seconds after which a decision without a reward expires. None:
            it waits for ever.
        missing_reward : the reward to learn when a decision expires; None for nothing.
        failed_reward : the reward to learn from a failure. None for the worst possible
            one, which policies that need finite rewards refuse.
        """
        if arms is None:
            raise InvalidInput(
                'arms is missing; give a list of names, for example arms=["a", "b"].'
            )
        if policy is not None and not isinstance(policy, str):
            require_policy(policy)
            policy = repr(policy)
        rules = {
            "reward_within": reward_within,
            "missing_reward": missing_reward,
            "failed_reward": failed_reward,
        }
        given = {
            "policy": policy,
            "arms": names_of(arms),
            "seed": seed,
            "minimize": bool(minimize),
            "memory": memory,
            **{rule: None if x is None else number(rule, x) for rule, x in rules.items()},
        }
        yield from self._line.ask(verbs.create, given, agent=agent_name(name))
        return self._agent(self, self._line, name, bool(minimize))


class Client(ClientCalls[RemoteAgent], Direct):
    """A client of `ironarm serve`.

        client = ia.Client("http://127.0.0.1:8321", key="ia_...")
        agent = client.create("ads", arms=["red", "green", "blue"])
        decision = agent.decide()
        agent.learn(decision.id, 3.2)

    `client.agent("ads")` has the methods of `Agent`, so you can switch between the two
    by changing one line. The errors are the library's own.

    If the service does not answer, or asks to come back later, the client tries again.
    That never does anything twice: every decision carries a key by which the service
    recognises it, and every reward belongs to one decision. If it still fails after
    `patience` seconds, the call raises `StoreError`.

    You can call all methods from several threads. `with ia.Client(...) as client:`
    closes the connections at the end.

    Parameters
    ----------
    url : the address of the service.
    key : a key of the service; None for a service without keys.
    timeout : seconds that one answer may take.
    patience : how long, in seconds, a call is retried; 0 for no retry.
    options : more options for `httpx.Client`, such as `verify` or `proxy`.
    """

    _agent = RemoteAgent

    def _connect(self, **options: Any) -> httpx.Client:
        return httpx.Client(**options)

    def _run(self, steps: Steps[T]) -> T:
        answer: Reply | Lost | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                answer = None
            else:
                try:
                    answer = _answer(self._http.send(self._built(step)))
                except httpx.RequestError as error:
                    answer = _lost(error)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class AsyncClient(ClientCalls[AsyncRemoteAgent], Awaited):
    """A client of `ironarm serve` for asyncio; see `Client`.

        async with ia.AsyncClient("http://127.0.0.1:8321", key="ia_...") as client:
            agent = client.agent("ads")
            decision = await agent.decide()
            await agent.learn(decision.id, 3.2)
            print(await agent.estimates)

    Await every call, and every property that asks the service.
    """

    _agent = AsyncRemoteAgent

    def _connect(self, **options: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(**options)

    async def _run(self, steps: Steps[T]) -> T:
        answer: Reply | Lost | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                answer = None
            else:
                try:
                    answer = _answer(await self._http.send(self._built(step)))
                except httpx.RequestError as error:
                    answer = _lost(error)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()


def _answer(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.content, response.headers.get("retry-after"))


def _lost(error: httpx.RequestError) -> Lost:
    sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
    return Lost(str(error) or type(error).__name__, sent)
