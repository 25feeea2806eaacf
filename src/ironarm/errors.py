"""Every error that ironarm raises on purpose.

    IronarmError
    ├── InvalidInput (also a ValueError)      a value that cannot be used
    │   ├── UnknownArm (also a LookupError)   no arm with that name
    │   ├── UnknownDecision (also a LookupError)
    │   │   │                                 no open decision with that id
    │   │   └── ClosedDecision                closed without a reward
    │   ├── UnknownAgent (also a LookupError) the service has no agent with that name
    │   ├── OtherReward                       the decision has a different reward
    │   ├── OtherAgent                        the name belongs to a different agent
    │   ├── PrunedEntries                     entries of a log that were deleted
    │   └── BadFile                           truncated, foreign or newer
    ├── PolicyFault (also a TypeError)        a policy or an attack that cannot be
    │                                         compiled or breaks its contract
    ├── ContractFault (also an AssertionError)
    │                                         an agent or a store differs from ours
    ├── MissingExtra (also an ImportError)    an optional dependency is missing
    ├── StoreError                            an agent's log cannot be read or written,
    │                                         or its service cannot be reached
    ├── NotAllowed (also a PermissionError)   the key is missing, or not enough
    ├── NodeLost                              a node of the radio testbed died and
    │                                         did not return in time
    ├── RadioFault                            a radio fell silent, or accepts nothing
    │                                         more to send
    └── RouterFault                           a router under test crashed, was too late,
                                              or chose an unknown deployment

Each message is one or two sentences: what, expected, got, what to do.
"""

from __future__ import annotations

__all__ = [
    "BadFile",
    "ClosedDecision",
    "ContractFault",
    "InvalidInput",
    "IronarmError",
    "MissingExtra",
    "NodeLost",
    "NotAllowed",
    "OtherAgent",
    "OtherReward",
    "PolicyFault",
    "PrunedEntries",
    "RadioFault",
    "RouterFault",
    "StoreError",
    "UnknownAgent",
    "UnknownArm",
    "UnknownDecision",
]


class IronarmError(Exception):
    """The base of all errors raised by ironarm."""


class InvalidInput(IronarmError, ValueError):
    """A value that cannot be used; nothing was changed."""


class UnknownArm(InvalidInput, LookupError):
    """There is no arm with that name."""


class UnknownDecision(InvalidInput, LookupError):
    """There is no open decision with that id."""


class ClosedDecision(UnknownDecision):
    """The decision was closed without a reward.

    It was cancelled, it expired, or its arm was removed.
    """


class UnknownAgent(InvalidInput, LookupError):
    """The service has no agent with that name."""


class OtherReward(InvalidInput):
    """The decision already has a different reward."""


class OtherAgent(InvalidInput):
    """There is already a different agent with that name."""


class PrunedEntries(InvalidInput):
    """Entries of a log that `ironarm log prune` has deleted."""


class BadFile(InvalidInput):
    """A file that is truncated, foreign, or written by a newer version."""


class PolicyFault(IronarmError, TypeError):
    """A policy or an attack cannot be compiled, or breaks its contract."""


class ContractFault(IronarmError, AssertionError):
    """A live agent or a store does not do what all of its kind do."""


class MissingExtra(IronarmError, ImportError):
    """An optional dependency is not installed, or its release does not fit."""


class StoreError(IronarmError):
    """An agent's log cannot be read or written; nothing was stored.

    A client that got no answer cannot know whether anything was stored; its message
    says so.
    """


class NotAllowed(IronarmError, PermissionError):
    """The service needs a key, or the key does not allow this."""


class NodeLost(IronarmError):
    """A node of the radio testbed died or fell silent, and did not return in time."""


class RadioFault(IronarmError):
    """A radio fell silent, accepts nothing more to send, or was closed while in use."""


class RouterFault(IronarmError):
    """A router under test crashed, was too late, or chose an unknown deployment."""


def missing_extra(what: str, extra: str) -> MissingExtra:
    """Return the error to raise when an optional dependency is not installed."""
    return MissingExtra(
        f"{what} needs packages that are not installed; install the extra '{extra}' as you "
        f"installed ironarm: pip install '.[{extra}]' in the project's folder, or the wheel's name "
        f"with [{extra}] after it."
    )
