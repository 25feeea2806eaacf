"""What answers carry, as types: for the interface's description, and its tests."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .messages import Name


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """The base of all answers: fields that are not described are mistakes."""


class Decided(Answer):
    """A decision: the arm to use, and the id for its reward."""

    id: str
    arm: Name


class Stored(Answer):
    """Something is stored: by this request now, or by the same one before."""

    id: str
    stored: Literal["now", "before"]


class StoredArm(Answer):
    """An arm is there."""

    arm: Name
    stored: Literal["now", "before"]


class RemovedArm(Answer):
    """An arm is gone."""

    arm: Name


class Archived(Answer):
    """An agent is at its end."""

    agent: str
    stored: Literal["now", "before"]


class ArmSummary(Answer):
    """What is known of an arm."""

    arm: Name
    rewards: int
    open: int
    estimate: float | None
    share: float | msgspec.UnsetType | None = msgspec.UNSET
    """Of the recent decisions."""


class AgentSummary(Answer):
    """What is known of an agent."""

    agent: str
    policy: str
    decisions: int
    minimize: bool
    best: Name
    arms: list[ArmSummary]
    open: int
    entries: int
    archived: bool
    corrupt_share: float | msgspec.UnsetType | None = msgspec.UNSET
    can_take: float | msgspec.UnsetType | None = msgspec.UNSET
    """The share of corrupt rewards that the arms can take at least, surely."""
    can_take_about: float | msgspec.UnsetType | None = msgspec.UNSET
    can_take_at_most: float | msgspec.UnsetType | None = msgspec.UNSET
    warning: str | msgspec.UnsetType | None = msgspec.UNSET
    """Why the policy does not suit the rewards, if it does not."""
    reward_within: float | msgspec.UnsetType = msgspec.UNSET
    missing_reward: float | msgspec.UnsetType = msgspec.UNSET
    failed_reward: float | msgspec.UnsetType = msgspec.UNSET


class Agents(Answer):
    """The names of agents."""

    agents: list[str]


class SourceSummary(Answer):
    """What is known of a source; see `Agent.sources`."""

    source: Name | None
    rewards: int
    difference: float | None
    far: float | None
    chance: float | None


class KnownSources(Answer):
    """What is known of the sources."""

    sources: list[SourceSummary]


class Health(Answer):
    """A node, and how it is."""

    status: Literal["ok", "ready"]
    node: str


class RewardAnswer(Answer):
    """A line of the answer to many rewards."""

    id: str
    status: Literal[200]
    stored: Literal["now", "before"]


class ObservationAnswer(Answer):
    """A line of the answer to observations."""

    status: Literal[200]
    stored: Literal["now", "before"]


class ProblemDetails(Answer):
    """Why a request was refused (RFC 9457); `error` is the library's error."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    error: str


class LogEntry(Answer):
    """An entry of the log, without what it does not carry; infinities are text."""

    number: int
    time: float
    kind: str
    decision: str | msgspec.UnsetType = msgspec.UNSET
    arm: Name | msgspec.UnsetType = msgspec.UNSET
    value: float | Literal["inf", "-inf"] | msgspec.UnsetType = msgspec.UNSET
    source: Name | msgspec.UnsetType = msgspec.UNSET
    chance: float | msgspec.UnsetType = msgspec.UNSET
    extra: str | msgspec.UnsetType = msgspec.UNSET
    key: str | msgspec.UnsetType = msgspec.UNSET


# The interface had these names before other classes of ironarm did.
AgentSummary.__name__ = "Summary"
KnownSources.__name__ = "Sources"

EXAMPLES: dict[type[Answer], dict[str, Any]] = {
    Decided: {"id": "1.q3JrXN0Jq7mJd0XcVw5m2A", "arm": "red"},
    Stored: {"id": "1.q3JrXN0Jq7mJd0XcVw5m2A", "stored": "now"},
    StoredArm: {"arm": "blue", "stored": "now"},
    RemovedArm: {"arm": "blue"},
    Archived: {"agent": "ads", "stored": "now"},
    AgentSummary: {
        "agent": "ads",
        "policy": "CoherentIMED",
        "decisions": 3,
        "minimize": False,
        "best": "green",
        "arms": [
            {"arm": "red", "rewards": 1, "open": 1, "estimate": 1.5},
            {"arm": "green", "rewards": 1, "open": 0, "estimate": 3.2},
        ],
        "open": 1,
        "entries": 6,
        "archived": False,
        "reward_within": 3600.0,
    },
    Agents: {"agents": ["ads", "colours"]},
    KnownSources: {
        "sources": [
            {"source": "user 3", "rewards": 200, "difference": 0.7, "far": 0.0, "chance": 1e-09}
        ]
    },
    Health: {"status": "ok", "node": "2f1098a0"},
    RewardAnswer: {"id": "1.q3JrXN0Jq7mJd0XcVw5m2A", "status": 200, "stored": "now"},
    ObservationAnswer: {"status": 200, "stored": "now"},
    ProblemDetails: {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "there is no agent 'ads'.",
        "error": "UnknownAgent",
    },
    LogEntry: {
        "number": 2,
        "time": 1754000000.0,
        "kind": "decided",
        "decision": "1.q3JrXN0Jq7mJd0XcVw5m2A",
        "arm": "red",
        "chance": 1.0,
    },
}
"""One of each; a test reads them by their types."""
