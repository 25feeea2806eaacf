"""LiteLLM's model groups: an agent for each, and where the agents are kept."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..agent import Agent, DurableAgent
from ..agent.contract import LiveAgent
from ..errors import InvalidInput, IronarmError, StoreError, UnknownArm
from ..policies import Policy

COMMIT_WITHIN = 0.01  # seconds for which entries of a log share a commit
ANSWER_WITHIN = 2.0  # seconds that the service may take for an answer


class ModelGroup:
    """A model group: its agent, and which deployments the Router has had."""

    def __init__(self, name: str, agent: LiveAgent) -> None:
        self.name, self.agent = name, agent
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def decide(self, ids: list[str], router: Any) -> Any:
        """Decide among deployments of the Router."""
        if len(self._seen) != len(ids) or not self._seen.issuperset(ids):
            self._follow(ids, router)
        try:
            return self.agent.decide(among=ids)
        except UnknownArm:  # new here, or another process has removed it
            self._add_missing(ids)
            return self.agent.decide(among=ids)

    def _follow(self, ids: list[str], router: Any) -> None:
        """Remove the arms of deployments that this Router had, and has no more."""
        with self._lock:
            self._seen.update(ids)
            for arm in self._seen.difference(ids):
                if not router.has_model_id(arm):
                    self._seen.discard(arm)
                    self._add_missing(ids)  # the last arm cannot be removed
                    with suppress(IronarmError):  # another process was faster
                        self.agent.remove_arm(arm)

    def _add_missing(self, ids: list[str]) -> None:
        known = set(self.agent.arms)
        for id in ids:
            if id not in known:
                with suppress(InvalidInput):  # another process was faster
                    self.agent.add_arm(id)


class ModelGroups:
    """All model groups that were asked for. `RobustRouting` explains the options."""

    def __init__(
        self,
        *,
        policy: Policy | None,
        path: str | Path | None,
        service: str | None,
        key: str | None,
        agent: Callable[[str, Sequence[str]], LiveAgent] | None,
        seed: int | None,
        expire_after: float,
    ) -> None:
        if agent is not None and any(x is not None for x in (policy, path, service, key, seed)):
            raise InvalidInput(
                "agent makes the agents, so leave out policy, path, service, key and seed."
            )
        if path is not None and service is not None:
            raise InvalidInput("agents are kept in path or by service; leave one of them out.")
        if key is not None and service is None:
            raise InvalidInput("key belongs to a service; give its address as service.")
        self.in_memory = agent is None and path is None and service is None
        """Whether all agents are certain to answer in microseconds."""
        self.make = agent or (self._own_agent if service is None else self._served_agent)
        self._policy, self._seed, self._expire_after = policy, seed, expire_after
        self._path = None if path is None else _folder(Path(path))
        self._client: Any = None if service is None else _client(service, key)
        self._lock = threading.Lock()
        self._groups: dict[str, ModelGroup] = {}
        if agent is None and service is None:  # compile before serving
            Agent(policy, arms=2, seed=0).prepare()

    @property
    def agents(self) -> dict[str, LiveAgent]:
        """The agents by model group."""
        return {name: group.agent for name, group in list(self._groups.items())}

    def of(self, name: str, by_id: Mapping[str, Mapping[str, Any]], router: Any) -> ModelGroup:
        """Return the model group of that name, made if need be.

        That of a wildcard is the wildcard: callers invent names under it, and every
        agent takes memory.
        """
        if name not in self._groups and name not in router.model_names:
            name = str(next(iter(by_id.values()))["model_name"])
        if name not in self._groups:
            with self._lock:
                if name not in self._groups:
                    self._groups[name] = ModelGroup(name, self.make(name, list(by_id)))
        return self._groups[name]

    def close(self) -> None:
        """Close the agents' files, and the way to the service."""
        for each in (*self.agents.values(), self._client):
            if hasattr(each, "close"):
                each.close()

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


def file_name(group: str) -> str:
    """Return a file name for a model group, its own for each.

    >>> file_name("gpt-4o"), file_name("openai/*")
    ('gpt-4o', 'openai%2f%2a')
    """
    return _escaped(group, r"[^a-z0-9._-]", "%")


def agent_name(group: str) -> str:
    """Return a name at the service for a model group, its own for each.

    >>> agent_name("gpt-4o"), agent_name("openai/*")
    ('litellm.gpt-4o', 'litellm.openai_2f_2a')
    """
    return f"litellm.{_escaped(group, r'[^A-Za-z0-9.-]', '_')}"


def _escaped(text: str, pattern: str, mark: str) -> str:
    """Replace each character of the pattern by its bytes, with a mark before each."""
    return re.sub(pattern, lambda m: "".join(f"{mark}{b:02x}" for b in m[0].encode()), text)
