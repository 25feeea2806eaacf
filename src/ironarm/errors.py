"""Every error that ironarm raises on purpose.

    IronarmError
    ├── InvalidInput (also a ValueError)      a value that cannot be used
    │   ├── UnknownArm (also a LookupError)   no arm of that name
    │   ├── UnknownDecision (also a LookupError)
    │   │                                     no open decision of that id
    │   └── BadFile                           truncated, foreign or newer
    ├── PolicyFault (also a TypeError)        a policy or an attack that cannot be
    │                                         compiled or breaks its contract
    ├── MissingExtra (also an ImportError)    an optional dependency is missing
    ├── NodeLost                              a node of the radio testbed died and
    │                                         did not return in time
    └── RadioFault                            a radio fell silent, or takes nothing
                                              more to send

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


class BadFile(InvalidInput):
    """A file that is truncated, foreign, or written by a newer version."""


class PolicyFault(IronarmError, TypeError):
    """A policy or an attack cannot be compiled, or breaks its contract."""


class MissingExtra(IronarmError, ImportError):
    """An optional dependency is not installed."""


class NodeLost(IronarmError):
    """A node of the radio testbed died or fell silent, and did not return in time."""


class RadioFault(IronarmError):
    """A radio fell silent, takes nothing more to send, or was closed while in use."""


def missing_extra(what: str, extra: str) -> MissingExtra:
    """Return the error to raise when an optional dependency is not installed."""
    return MissingExtra(
        f"{what} needs packages that are not installed; they come with the extra '{extra}': pip "
        f"install '.[{extra}]' in the project's folder."
    )
