"""How public names go: with a warning for one minor version, then for good."""

from __future__ import annotations

import warnings


def deprecated(what: str, instead: str, removed_in: str, stacklevel: int = 3) -> None:
    """Warn that something public will go.

    Call it in what is deprecated; the warning names the line that called that.

    >>> def old() -> int:
    ...     deprecated("old()", "new()", removed_in="0.3")
    ...     return 1
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = old()
    >>> str(caught[0].message)
    'old() is deprecated and will be removed in ironarm 0.3; use new() instead.'
    """
    warnings.warn(
        f"{what} is deprecated and will be removed in ironarm {removed_in}; use {instead} instead.",
        DeprecationWarning,
        stacklevel=stacklevel,
    )
