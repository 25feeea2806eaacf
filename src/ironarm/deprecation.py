"""How a public name says that it will go.

What is public and is to go first warns for at least one minor version: deprecated in
0.4, it can be gone in 0.5.
"""

from __future__ import annotations

import sys
import warnings


def deprecated(what: str, *, instead: str, since: str, removed_in: str) -> None:
    """Warn that something will go, at the line of the user's code that uses it.

    Call it first in the function, method or `__post_init__` that is to go, or where a
    parameter is used that is.

    Parameters
    ----------
    what : what will go, as the user writes it, for example "Agent.pull()".
    instead : what to write in its place, for example "Agent.select()".
    since : the first version that warns.
    removed_in : the first version without it.

    Examples
    --------
    >>> def pull():
    ...     deprecated("pull()", instead="select()", since="0.4", removed_in="0.5")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     pull()
    >>> print(caught[0].message)
    pull() is deprecated since ironarm 0.4 and will be removed in 0.5; use select().
    """
    warnings.warn(
        f"{what} is deprecated since ironarm {since} and will be removed in {removed_in}; "
        f"use {instead}.",
        DeprecationWarning,
        stacklevel=_first_outside(),
    )


def _first_outside() -> int:
    """Return how far above `deprecated` the first frame outside ironarm is."""
    level, frame = 2, sys._getframe(2)  # whoever called `deprecated`
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        level, frame = level + 1, frame.f_back
    return level


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "ironarm"
