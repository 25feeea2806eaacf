"""Every error that ironarm raises on purpose.

    IronarmError
    ├── InvalidInput (also a ValueError)      a value that cannot be used
    │   ├── UnknownArm (also a LookupError)   no arm of that name
    │   ├── UnknownDecision (also a LookupError)
    │   │   │                                 no open decision of that id
    │   │   └── ClosedDecision                closed without a reward
    │   ├── UnknownAgent (also a LookupError) the service has no agent of that name
    │   ├── OtherReward                       the decision has another reward already
    │   ├── OtherAgent                        an agent of that name is there already
    │   └── BadFile                           truncated, foreign or newer
    ├── PolicyFault (also a TypeError)        a policy or an attack that cannot be
    │                                         compiled or breaks its contract
    ├── MissingExtra (also an ImportError)    an optional dependency is missing
    ├── StoreError                            an agent's log cannot be read or written,
    │                                         or the service that keeps it not reached
    ├── NotAllowed (also a PermissionError)   the service wants a key, or another one
    ├── NodeLost                              a node of the radio testbed died and
    │                                         did not return in time
    ├── RadioFault                            a radio fell silent, or takes nothing
    │                                         more to send
    └── RouterFault                           a router under test crashed, was too late,
                                              or chose what is not there

Each message is one or two sentences: what, expected, got, what to do.
"""

from __future__ import annotations


class IronarmError(Exception):
    """The base of all errors raised by ironarm."""


class InvalidInput(IronarmError, ValueError):
    """A value that cannot be used; nothing was changed."""


class UnknownArm(InvalidInput, LookupError):
    """There is no arm of that name."""


class UnknownDecision(InvalidInput, LookupError):
    """There is no open decision of that id."""


class ClosedDecision(UnknownDecision):
    """The decision was closed without a reward: cancelled, expired, its arm removed."""


class UnknownAgent(InvalidInput, LookupError):
    """The service has no agent of that name."""


class OtherReward(InvalidInput):
    """The decision has a reward already, and it is another one."""


class OtherAgent(InvalidInput):
    """There is an agent of that name already, and it is another one."""


class BadFile(InvalidInput):
    """A file that is truncated, foreign, or written by a newer version."""


class PolicyFault(IronarmError, TypeError):
    """A policy or an attack cannot be compiled, or breaks its contract."""


class MissingExtra(IronarmError, ImportError):
    """An optional dependency is not installed."""


class StoreError(IronarmError):
    """An agent's log cannot be read or written; nothing was stored.

    A client that got no answer cannot know that; its message says so.
    """


class NotAllowed(IronarmError, PermissionError):
    """The service wants a key, or the key does not allow this."""


class NodeLost(IronarmError):
    """A node of the radio testbed died or fell silent, and did not return in time."""


class RadioFault(IronarmError):
    """A radio fell silent, takes nothing more to send, or was closed while in use."""


class RouterFault(IronarmError):
    """A router under test crashed, was too late, or chose what is not there."""


def missing_extra(what: str, extra: str) -> MissingExtra:
    """Return the error to raise when an optional dependency is not installed."""
    return MissingExtra(
        f"{what} needs packages that are not installed; they come with the extra '{extra}': pip "
        f"install '.[{extra}]' in the project's folder."
    )
