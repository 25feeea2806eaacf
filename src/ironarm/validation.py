"""Checks of parameters, with errors that say what was expected and what was given."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TypeVar

from .errors import InvalidInput

T = TypeVar("T")
NUMBERS = (Real, Decimal)
"""What counts as a number."""


def number(
    name: str,
    value: object,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    at_most: float = math.inf,
) -> float:
    """Return `value` as a finite float within the bounds; refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        raise InvalidInput(f"{name} must be a number, got {value!r}.")
    try:
        x = float(value)
    except OverflowError:
        x = math.inf
    except ValueError:  # a signalling NaN of `decimal`
        x = math.nan
    if not (math.isfinite(x) and x > above and x >= at_least and x < below and x <= at_most):
        wanted = [
            text
            for text, used in (
                (f"above {above:g}", above > -math.inf),
                (f"at least {at_least:g}", at_least > -math.inf),
                (f"below {below:g}", below < math.inf),
                (f"at most {at_most:g}", at_most < math.inf),
            )
            if used
        ]
        if not math.isfinite(x):
            wanted.insert(0, "finite")
        raise InvalidInput(f"{name} must be {' and '.join(wanted)}, got {_shown(value)}.")
    return x


def whole(name: str, value: object, *, at_least: int = 0, below: int | None = None) -> int:
    """Return `value` as an int of at least `at_least`; refuse anything else."""
    if (
        isinstance(value, NUMBERS)
        and not isinstance(value, (bool, Integral))
        and math.isfinite(value)
        and float(value).is_integer()
    ):
        value = int(float(value))  # 1e5 is what people write for a horizon
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or int(value) < at_least
        or (below is not None and int(value) >= below)
    ):
        too_large = below is not None and isinstance(value, Integral) and int(value) >= below
        most = "" if below is None else f"{below:,}" if below < 10**6 else f"{below:.0e}"
        wanted = f"below {most}" if too_large else f"of at least {at_least}"
        raise InvalidInput(f"{name} must be a whole number {wanted}, got {_shown(value)}.")
    return int(value)


def optional(check: Callable[..., T], name: str, value: object, **bounds: float) -> T | None:
    """Return None for None, else what the check returns."""
    return None if value is None else check(name, value, **bounds)


def _shown(value: object) -> str:
    """Return a value as text that is not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"


def instance(name: str, value: object, kind: type[T], example: str, more: str = "") -> T:
    """Return `value` if it is of that kind; if not, say what it is instead."""
    if isinstance(value, kind):
        return value
    if isinstance(value, type):
        got = f"the class {value.__name__}; write {value.__name__}(...), with its parameters."
    elif isinstance(value, str):
        got = f"the text {value!r}; text is for the command line."
    else:
        got = f"{value!r}.{more}"
    raise InvalidInput(f"expected {name}, for example {example}, got {got}")


def choice(name: str, value: object, options: Iterable[str]) -> str:
    """Return `value` if it is one of `options`; if not, suggest the closest one."""
    names = list(options)
    if not isinstance(value, str) or value not in names:
        raise InvalidInput(
            f"{name} must be one of {', '.join(map(repr, names))}, got "
            f"{value!r}.{did_you_mean(value, names)}"
        )
    return value


def did_you_mean(value: object, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the closest option, or nothing."""
    by_folded = {option.lower(): option for option in options}
    close = get_close_matches(str(value).lower(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean {by_folded[close[0]]!r}?" if close else ""
